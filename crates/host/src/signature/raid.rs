//! Marks of RAID by firmware and of mirrors over the network. Linux software
//! RAID is in `md.rs`.

use super::SignatureKind::Raid;
use super::magic::Magic;

const DDF: &str = "SNIA Common RAID Disk Data Format 2.0, anchor header";
const INTEL: &str = "mdadm: super-intel.c";
const DRBD: &str = "DRBD: drbd_int.h, struct meta_data_on_disk_9 (magic big-endian)";

/// DRBD's internal metadata: the last 4 KiB, counted in whole 4 KiB. The magic
/// stands at the same place in versions 8 and 9.
const DRBD_PLACE: (u64, u64) = (4096 - 60, 4096);

pub(super) const MAGICS: &[Magic] = &[
    // Anchors of DDF stand in the last sector, or 256 sectors before it.
    Magic::before_end(Raid, "DDF RAID", (512, 512), b"\xde\x11\xde\x11", DDF),
    Magic::before_end(Raid, "DDF RAID", (257 * 512, 512), b"\xde\x11\xde\x11", DDF),
    Magic::before_end(Raid, "DDF RAID", (4096, 4096), b"\xde\x11\xde\x11", DDF),
    Magic::before_end(
        Raid,
        "Intel Matrix RAID",
        (2 * 512, 512),
        b"Intel Raid ISM Cfg Sig. ",
        INTEL,
    ),
    Magic::before_end(
        Raid,
        "Intel Matrix RAID",
        (2 * 4096, 4096),
        b"Intel Raid ISM Cfg Sig. ",
        INTEL,
    ),
    Magic::before_end(
        Raid,
        "NVIDIA RAID",
        (2 * 512, 512),
        b"NVIDIA  ",
        "libblkid: superblocks/nvidia_raid.c",
    ),
    Magic::before_end(
        Raid,
        "LSI MegaRAID",
        (512, 512),
        b"$XIDE$",
        "libblkid: superblocks/lsi_raid.c",
    ),
    Magic::before_end(
        Raid,
        "Adaptec HostRAID",
        (512, 512),
        b"\x37\xfc\x4d\x1e",
        "libblkid: superblocks/adaptec_raid.c",
    ),
    Magic::at(
        Raid,
        "HighPoint RAID",
        4096 + 544,
        b"\xf0\x16\x78\x5a",
        "libblkid: superblocks/highpoint_raid.c",
    ),
    Magic::before_end(Raid, "DRBD 8", DRBD_PLACE, b"\x83\x74\x02\x6b", DRBD),
    Magic::before_end(
        Raid,
        "DRBD 8.4, in use",
        DRBD_PLACE,
        b"\x83\x74\x02\x6c",
        DRBD,
    ),
    Magic::before_end(Raid, "DRBD 9", DRBD_PLACE, b"\x83\x74\x02\x6d", DRBD),
];
