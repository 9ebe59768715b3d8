//! Partition tables.
//!
//! Source: UEFI Specification 2.10, chapter 5 (MBR and GPT); kernel,
//! `block/partitions/`.

use super::SignatureKind::PartitionTable;
use super::magic::Magic;
use super::reader::Reader;
use super::{Signature, fat};

const UEFI: &str = "UEFI Specification 2.10, 5.3.2";

pub(super) const MAGICS: &[Magic] = &[
    Magic::at(
        PartitionTable,
        "Apple",
        512,
        b"PM\0\0",
        "Inside Macintosh, Devices, 3-26",
    ),
    Magic::at(
        PartitionTable,
        "BSD",
        512,
        b"\x57\x45\x56\x82",
        "kernel: block/partitions/msdos.c",
    ),
    Magic::at(
        PartitionTable,
        "BSD",
        64,
        b"\x57\x45\x56\x82",
        "kernel: block/partitions/msdos.c",
    ),
    Magic::at(
        PartitionTable,
        "SGI",
        0,
        b"\x0b\xe5\xa9\x41",
        "kernel: block/partitions/sgi.c",
    ),
    Magic::at(
        PartitionTable,
        "Amiga",
        0,
        b"RDSK",
        "kernel: include/uapi/linux/affs_hardblocks.h",
    ),
    Magic::at(
        PartitionTable,
        "AIX",
        0,
        b"\xc9\xc2\xd4\xc1",
        "kernel: block/partitions/aix.c",
    ),
    // Windows dynamic disks: private headers at three fixed places.
    Magic::at(
        PartitionTable,
        "Windows dynamic disk",
        6 * 512,
        b"PRIVHEAD",
        "kernel: block/partitions/ldm.h",
    ),
    // The two others are at the end of the last MiB of the disk.
    Magic::before_end(
        PartitionTable,
        "Windows dynamic disk copy",
        ((2048 - 1856) * 512, 512),
        b"PRIVHEAD",
        "kernel: block/partitions/ldm.h",
    )
    .out_of_wipefs(),
    Magic::before_end(
        PartitionTable,
        "Windows dynamic disk copy",
        (512, 512),
        b"PRIVHEAD",
        "kernel: block/partitions/ldm.h",
    )
    .out_of_wipefs(),
    // Labels of mainframes, in EBCDIC, in block 2 of 4 KiB or of 512 bytes.
    Magic::at(
        PartitionTable,
        "DASD",
        8192,
        b"\xe5\xd6\xd3\xf1",
        "kernel: block/partitions/ibm.c",
    ),
    Magic::at(
        PartitionTable,
        "DASD",
        1024,
        b"\xe5\xd6\xd3\xf1",
        "kernel: block/partitions/ibm.c",
    ),
];

/// GPT: a header in the second sector and its copy in the last one, for
/// sectors of 512 and of 4096 bytes, whatever this device says its sectors are.
pub(super) fn probe_gpt(reader: &Reader<'_>) -> Vec<Signature> {
    let last = |sector: u64| (reader.size() / sector * sector).checked_sub(sector);
    [
        ("GPT", Some(512)),
        ("GPT", Some(4096)),
        ("GPT copy", last(512)),
        ("GPT copy", last(4096)),
    ]
    .into_iter()
    .filter_map(|(name, offset)| {
        let offset = offset?;
        (&reader.array::<8>(offset)? == b"EFI PART")
            .then(|| Signature::new(PartitionTable, name, offset, UEFI))
    })
    .collect()
}

/// The master boot record: `55 AA` at 510 and four entries whose first byte is
/// 0 or 80. Boot sectors of FAT and NTFS end with the same two bytes; in theirs
/// it only counts with an entry that is in use.
pub(super) fn probe_mbr(reader: &Reader<'_>) -> Option<Signature> {
    let sector: [u8; 512] = reader.array(0)?;
    if sector[510..] != [0x55, 0xAA] {
        return None;
    }
    let mut used = 0;
    let mut protective = false;
    for entry in sector[446..510].chunks_exact(16) {
        if !matches!(entry[0], 0x00 | 0x80) {
            return None;
        }
        let sectors = u32::from_le_bytes([entry[12], entry[13], entry[14], entry[15]]);
        if entry[4] != 0 && sectors != 0 {
            used += 1;
            protective |= entry[4] == 0xEE;
        }
    }
    if used == 0 && fat::probe(reader).is_some() {
        return None;
    }
    let name = if protective {
        "protective MBR"
    } else if used == 0 {
        "empty MBR"
    } else {
        "MBR"
    };
    let source = "UEFI Specification 2.10, 5.2.1";
    Some(Signature::new(PartitionTable, name, 510, source))
}
