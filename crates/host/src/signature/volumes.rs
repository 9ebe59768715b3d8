//! Marks of encryption, volume managers, caches and stores.

use super::SignatureKind::{Cache, Encryption, Store, Volume};
use super::magic::Magic;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const LUKS1: &str = "LUKS1 On-Disk Format Specification 1.2.3, PHDR layout";
const LUKS2: &str = "LUKS2 On-Disk Format Specification 1.1.1, binary header";
const LVM2: &str = "lvm2: lib/format_text/layout.h, lib/label/label.h";
const DM_ZONED: &str = "kernel: drivers/md/dm-zoned-metadata.c";
const STRATIS: &str = "Stratis Software Design, 'BDA' (stratisd: static_header.rs)";

pub(super) const MAGICS: &[Magic] = &[
    Magic::at(Encryption, "LUKS1", 0, b"LUKS\xba\xbe\x00\x01", LUKS1),
    Magic::at(Encryption, "LUKS2", 0, b"LUKS\xba\xbe\x00\x02", LUKS2).named(24, 48),
    // The second header stands behind the first one, whose size is a power of
    // two; it outlives a wipe of the start of the device.
    Magic::at(Encryption, "LUKS2 copy", 16 * KIB, b"SKUL\xba\xbe", LUKS2),
    Magic::at(Encryption, "LUKS2 copy", 32 * KIB, b"SKUL\xba\xbe", LUKS2),
    Magic::at(Encryption, "LUKS2 copy", 64 * KIB, b"SKUL\xba\xbe", LUKS2),
    Magic::at(Encryption, "LUKS2 copy", 128 * KIB, b"SKUL\xba\xbe", LUKS2),
    Magic::at(Encryption, "LUKS2 copy", 256 * KIB, b"SKUL\xba\xbe", LUKS2),
    Magic::at(Encryption, "LUKS2 copy", 512 * KIB, b"SKUL\xba\xbe", LUKS2),
    Magic::at(Encryption, "LUKS2 copy", MIB, b"SKUL\xba\xbe", LUKS2),
    Magic::at(Encryption, "LUKS2 copy", 2 * MIB, b"SKUL\xba\xbe", LUKS2),
    Magic::at(Encryption, "LUKS2 copy", 4 * MIB, b"SKUL\xba\xbe", LUKS2),
    // The label of LVM2 is in any of the first four sectors.
    Magic::at(Volume, "LVM2 physical volume", 0, b"LABELONE", LVM2),
    Magic::at(Volume, "LVM2 physical volume", 512, b"LABELONE", LVM2),
    Magic::at(Volume, "LVM2 physical volume", 1024, b"LABELONE", LVM2),
    Magic::at(Volume, "LVM2 physical volume", 1536, b"LABELONE", LVM2),
    // The head of the area with the description of all volumes, behind its
    // checksum: `pvck --repair` begins with it when the label is gone.
    Magic::at(Volume, "LVM2 copy", 4 * KIB + 4, b" LVM2 x[5A%r0N*>", LVM2).out_of_wipefs(),
    Magic::at(
        Volume,
        "LVM1 physical volume",
        0,
        b"HM\x01\x00",
        "lvm2 up to 2.02: lib/format1/disk-rep.h",
    ),
    Magic::at(
        Volume,
        "LVM1 physical volume",
        0,
        b"HM\x02\x00",
        "lvm2 up to 2.02: lib/format1/disk-rep.h",
    ),
    Magic::at(
        Volume,
        "dm-snapshot store",
        0,
        b"SnAp",
        "kernel: drivers/md/dm-snap-persistent.c",
    ),
    Magic::at(
        Volume,
        "dm-verity hashes",
        0,
        b"verity\0\0",
        "cryptsetup: lib/verity/verity.c",
    ),
    Magic::at(
        Volume,
        "dm-integrity",
        0,
        b"integrt\0",
        "kernel: drivers/md/dm-integrity.c",
    ),
    Magic::at(
        Volume,
        "VDO",
        0,
        b"dmvdo001",
        "kernel: drivers/md/dm-vdo/vdo-geometry.c",
    ),
    Magic::at(
        Volume,
        "Stratis",
        512 + 4,
        b"!Stra0tis\x86\xff\x02^\x41rh",
        STRATIS,
    ),
    Magic::at(
        Volume,
        "Stratis copy",
        9 * 512 + 4,
        b"!Stra0tis\x86\xff\x02^\x41rh",
        STRATIS,
    ),
    Magic::at(
        Volume,
        "VMFS volume member",
        MIB,
        b"\x0d\xd0\x01\xc0",
        "vmfs-tools: vmfs_volume.h",
    ),
    // Versions 1 and 2.
    Magic::at(Volume, "dm-zoned", 0, b"DBZD\x01\0\0\0", DM_ZONED).out_of_wipefs(),
    Magic::at(Volume, "dm-zoned", 0, b"DBZD\x02\0\0\0", DM_ZONED).out_of_wipefs(),
    Magic::at(
        Volume,
        "UBI",
        0,
        b"UBI#",
        "kernel: drivers/mtd/ubi/ubi-media.h",
    ),
    Magic::at(
        Cache,
        "bcache",
        4 * KIB + 24,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
        "kernel: drivers/md/bcache/bcache_ondisk.h",
    )
    .named(4 * KIB + 72, 32),
    Magic::at(
        Store,
        "Ceph BlueStore",
        0,
        b"bluestore block device",
        "Ceph: src/os/bluestore/bluestore_types.h",
    ),
    Magic::at(
        Store,
        "Oracle ASM",
        32,
        b"ORCLDISK",
        "libblkid: superblocks/ocfs.c",
    ),
    Magic::at(
        Store,
        "QEMU qcow2 image",
        0,
        b"QFI\xfb",
        "QEMU: docs/interop/qcow2.txt",
    ),
    Magic::at(Store, "VHDX image", 0, b"vhdxfile", "MS-VHDX, 2.2.1"),
    Magic::at(
        Store,
        "VMDK image",
        0,
        b"KDMV",
        "VMware Virtual Disks 5.0, Hosted Sparse Extent Header",
    ),
];
