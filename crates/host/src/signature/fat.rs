//! FAT and exFAT, and the boot sector of NTFS.
//!
//! Source: Microsoft FAT32 File System Specification (2000), 'Boot Sector and
//! BPB'; Microsoft exFAT specification, 3.1; kernel, `fs/ntfs3/ntfs.h`.

use super::reader::Reader;
use super::{Signature, SignatureKind};

const FAT: &str = "Microsoft FAT32 File System Specification, 2000";
const EXFAT: &str = "Microsoft exFAT specification, 3.1";

/// Sizes of a sector that these filesystems know, bytes.
const SECTORS: [u64; 4] = [512, 1024, 2048, 4096];

fn signature(name: &'static str, offset: u64, source: &'static str) -> Signature {
    Signature::new(SignatureKind::Filesystem, name, offset, source)
}

/// The name that its owner gave a FAT.
fn label(reader: &Reader<'_>, offset: u64) -> Option<String> {
    reader.name(offset, 11).filter(|label| label != "NO NAME")
}

pub(super) fn probe(reader: &Reader<'_>) -> Option<Signature> {
    let sector: [u8; 512] = reader.array(0)?;
    match &sector[3..11] {
        b"NTFS    " => return Some(signature("NTFS", 3, "kernel: fs/ntfs3/ntfs.h")),
        b"EXFAT   " => return Some(signature("exFAT", 3, EXFAT)),
        _ => {}
    }
    if &sector[82..90] == b"FAT32   " {
        return Some(signature("FAT32", 82, FAT).labelled(label(reader, 71)));
    }
    if matches!(&sector[54..62], b"FAT12   " | b"FAT16   " | b"FAT     ") {
        return Some(signature("FAT", 54, FAT).labelled(label(reader, 43)));
    }
    // Media of old systems have no such word, only the parameters.
    has_bios_parameters(&sector).then(|| signature("FAT without a name", 11, FAT))
}

/// The second boot sectors: of FAT32 in sector 6, of exFAT in sector 12,
/// whatever this device says its sectors are. `fsck.fat` and `fsck.exfat` put
/// them back. FAT12 and FAT16 have none.
pub(super) fn copies(reader: &Reader<'_>) -> Vec<Signature> {
    let mut found = Vec::new();
    for sector_bytes in SECTORS {
        let place = 6 * sector_bytes;
        if let Some(sector) = reader.array(place)
            && is_fat32_copy(&sector, sector_bytes)
        {
            let label = label(reader, place + 71);
            found.push(signature("FAT32 copy", place + 82, FAT).labelled(label));
        }
        let place = 12 * sector_bytes;
        if let Some(sector) = reader.array(place)
            && is_exfat(&sector, sector_bytes)
        {
            found.push(signature("exFAT copy", place + 3, EXFAT));
        }
    }
    found.into_iter().map(Signature::out_of_wipefs).collect()
}

/// A boot sector of FAT32 that says itself that its copy is in sector 6.
fn is_fat32_copy(sector: &[u8; 512], sector_bytes: u64) -> bool {
    let copy_in_sector = u16::from_le_bytes([sector[50], sector[51]]);
    &sector[82..90] == b"FAT32   "
        && has_bios_parameters(sector)
        && u64::from(u16::from_le_bytes([sector[11], sector[12]])) == sector_bytes
        && copy_in_sector == 6
}

/// The boot sector of exFAT: its name, the room of the BIOS parameters of FAT
/// all zero, and the logarithm of the sector size.
fn is_exfat(sector: &[u8; 512], sector_bytes: u64) -> bool {
    &sector[3..11] == b"EXFAT   "
        && sector[11..64].iter().all(|byte| *byte == 0)
        && 1_u64.checked_shl(u32::from(sector[108])) == Some(sector_bytes)
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
