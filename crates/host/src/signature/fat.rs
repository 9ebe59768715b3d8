//! FAT, exFAT and NTFS: the boot sectors of the DOS family.
//!
//! Source: Microsoft FAT32 File System Specification (2000), 'Boot Sector and
//! BPB'; Microsoft exFAT specification, 3.1; kernel, `fs/ntfs3/ntfs.h`.

use super::reader::Reader;
use super::{Signature, SignatureKind};

pub(super) fn probe(reader: &Reader<'_>) -> Option<Signature> {
    let sector: [u8; 512] = reader.array(0)?;
    let signature = |name, offset, source| Signature {
        kind: SignatureKind::Filesystem,
        name,
        offset,
        label: None,
        source,
    };
    match &sector[3..11] {
        b"NTFS    " => return Some(signature("NTFS", 3, "kernel: fs/ntfs3/ntfs.h")),
        b"EXFAT   " => {
            return Some(signature("exFAT", 3, "Microsoft exFAT specification, 3.1"));
        }
        _ => {}
    }
    let fat = |name, offset, label| Signature {
        label: reader.name(label, 11).filter(|label| label != "NO NAME"),
        ..signature(
            name,
            offset,
            "Microsoft FAT32 File System Specification, 2000",
        )
    };
    if &sector[82..90] == b"FAT32   " {
        return Some(fat("FAT32", 82, 71));
    }
    if matches!(&sector[54..62], b"FAT12   " | b"FAT16   " | b"FAT     ") {
        return Some(fat("FAT", 54, 43));
    }
    // Media of old systems have no such word, only the parameters.
    has_bios_parameters(&sector).then(|| {
        signature(
            "FAT without a name",
            11,
            "Microsoft FAT32 File System Specification, 2000",
        )
    })
}

/// Whether the BIOS parameter block of a FAT stands in this sector: each field
/// has only a few values that make sense.
fn has_bios_parameters(sector: &[u8; 512]) -> bool {
    let jump = matches!(sector[0], 0xEB | 0xE9);
    let bytes_per_sector = u16::from_le_bytes([sector[11], sector[12]]);
    let sectors_per_cluster = sector[13];
    let reserved_sectors = u16::from_le_bytes([sector[14], sector[15]]);
    let fats = sector[16];
    let media = sector[21];
    jump && matches!(bytes_per_sector, 512 | 1024 | 2048 | 4096)
        && sectors_per_cluster.is_power_of_two()
        && reserved_sectors > 0
        && matches!(fats, 1 | 2)
        && (media == 0xF0 || media >= 0xF8)
}
