//! XFS: each allocation group begins with a copy of the superblock, which
//! `xfs_repair` searches for when the first is gone.
//!
//! How large a group is stands in the superblock only. mkfs.xfs divides the
//! device by 4; by 8, 16 or 32 where it has stripes; by the number of processors
//! on flash, since 6.13; and takes the largest, 1 TiB less a block, from 4 TiB
//! on. Where a filesystem was grown, its groups are those of the smaller device,
//! which nobody knows any more: they are not found.
//!
//! Source: kernel, `fs/xfs/libxfs/xfs_format.h` (`struct xfs_dsb`, big-endian);
//! xfsprogs, `libfrog/ag_geometry.c` and `mkfs/xfs_mkfs.c` (`align_ag_geometry`).

use super::reader::Reader;
use super::{Signature, SignatureKind};
use std::ops::Range;

const SOURCE: &str = "kernel: fs/xfs/libxfs/xfs_format.h";
const SECTOR_BYTES: u64 = 512;
const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;
/// The smallest group.
const GROUP_BYTES_MIN: u64 = 16 * MIB;
/// Most groups that a device is thought to be divided into.
const GROUPS_MAX: u64 = 64;
/// Blocks of up to 4 KiB: the number in a group is rounded to either side.
const ROUNDING_BYTES: u64 = 8 << 10;

pub(super) fn copies(reader: &Reader<'_>) -> Vec<Signature> {
    let size = reader.size();
    let mut found = Vec::new();
    for places in places(size) {
        let end = places.end.min(size / SECTOR_BYTES * SECTOR_BYTES);
        let start = places.start / SECTOR_BYTES * SECTOR_BYTES;
        reader.scan(start..end, SECTOR_BYTES as usize, |offset, sector| {
            if is_copy(sector, offset) {
                found.push(
                    Signature::new(SignatureKind::Filesystem, "XFS copy", offset, SOURCE)
                        .labelled(reader.name(offset + 108, 12))
                        .out_of_wipefs(),
                );
            }
        });
    }
    found
}

/// Where copies may begin on a device of `size` bytes.
fn places(size: u64) -> Vec<Range<u64>> {
    let mut places = Vec::new();
    let around = |place: u64, before: u64, behind: u64| {
        place.saturating_sub(before)..place.saturating_add(behind)
    };
    for groups in 2..=GROUPS_MAX {
        let group = size / groups;
        if group < GROUP_BYTES_MIN {
            break;
        }
        // With stripes a group is a multiple of the stripe unit, and one unit
        // less where it would be one of all units.
        let stripes = match groups {
            4 | 8 | 16 | 32 => MIB,
            _ => 0,
        };
        places.push(around(
            group,
            ROUNDING_BYTES + stripes,
            ROUNDING_BYTES + stripes,
        ));
    }
    // The others of four, for what was overwritten further on.
    for number in [2, 3] {
        let group = size / 4;
        if group >= GROUP_BYTES_MIN {
            let rounding = number * ROUNDING_BYTES;
            places.push(around(number * group, rounding, rounding));
        }
    }
    // The largest group is one block less than 1 TiB.
    places.extend((1..=4).map(|number| around(number * TIB, number * (64 << 10), SECTOR_BYTES)));
    places
}

/// A superblock that belongs at `offset`: to be the first block of a group but
/// the first, of a filesystem that begins where the device does.
fn is_copy(sector: &[u8], offset: u64) -> bool {
    if &sector[..4] != b"XFSB" {
        return false;
    }
    let u32_at = |at: usize| {
        sector[at..at + 4]
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let block = u32_at(4);
    let blocks = u32_at(8) << 32 | u32_at(12);
    let group_blocks = u32_at(84);
    let groups = u32_at(88);
    let group_bytes = group_blocks * block;
    (512..=65_536).contains(&block)
        && 1_u64.checked_shl(u32::from(sector[120])) == Some(block)
        && group_bytes > 0
        && offset.is_multiple_of(group_bytes)
        && (1..groups).contains(&(offset / group_bytes))
        && blocks.div_ceil(group_blocks) == groups
}
