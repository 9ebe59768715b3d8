//! Boot sectors in the last sectors of a volume: what Windows keeps there, of
//! NTFS, `ReFS` and `BitLocker`.
//!
//! The copy stands in the last sector of the partition, behind the last that the
//! volume counts. A volume that is smaller than its partition, and a disk whose
//! table is gone, have it somewhat before: of partitions by Windows, less than
//! 2 MiB.
//!
//! Source: kernel, `fs/ntfs3/super.c` (`ntfs_init_from_boot`, 'alternative
//! boot'); libbde, '`BitLocker` Drive Encryption format'; libblkid,
//! `superblocks/refs.c`.

use super::Signature;
use super::SignatureKind::{Encryption, Filesystem};
use super::reader::Reader;

const TAIL_BYTES: u64 = 2 << 20;
const SECTOR_BYTES: u64 = 512;

pub(super) fn probe(reader: &Reader<'_>) -> Vec<Signature> {
    let end = reader.size() / SECTOR_BYTES * SECTOR_BYTES;
    // The first sector is in the tables of marks at the start.
    let start = end.saturating_sub(TAIL_BYTES).max(SECTOR_BYTES);
    let mut found = Vec::new();
    reader.scan(start..end, SECTOR_BYTES as usize, |offset, sector| {
        let (kind, name, source) = match &sector[3..11] {
            b"NTFS    " if is_ntfs_copy(sector, offset) => {
                (Filesystem, "NTFS copy", "kernel: fs/ntfs3/ntfs.h")
            }
            b"ReFS\0\0\0\0" if &sector[16..20] == b"FSRS" => {
                (Filesystem, "ReFS copy", "libblkid: superblocks/refs.c")
            }
            b"-FVE-FS-" if sector[510..] == [0x55, 0xAA] => (
                Encryption,
                "BitLocker copy",
                "libbde: BitLocker Drive Encryption format",
            ),
            _ => return,
        };
        found.push(Signature::new(kind, name, offset + 3, source).out_of_wipefs());
    });
    found
}

/// A boot sector of NTFS with a sector size, and a number of sectors that fit
/// between the start of the device and this place.
fn is_ntfs_copy(sector: &[u8], offset: u64) -> bool {
    let sector_bytes = u64::from(u16::from_le_bytes([sector[11], sector[12]]));
    let sectors = sector[40..48]
        .iter()
        .rev()
        .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    matches!(sector_bytes, 512 | 1024 | 2048 | 4096)
        && sectors > 0
        && sectors
            .checked_mul(sector_bytes)
            .is_some_and(|bytes| bytes <= offset)
}
