//! ext2, ext3, ext4, and their journals on a device of their own.
//!
//! Source: kernel, `Documentation/filesystems/ext4/super.rst` and
//! `blockgroup.rst`; offsets are within the superblock.

use super::reader::Reader;
use super::{Signature, SignatureKind};

const SOURCE: &str = "kernel: Documentation/filesystems/ext4/super.rst";
const SUPERBLOCK: u64 = 1024;
const SUPERBLOCK_BYTES: usize = 1024;
/// Where in a superblock its mark stands.
const MAGIC_OFFSET: usize = 56;
const MAGIC: u16 = 0xEF53;

const COMPAT_HAS_JOURNAL: u32 = 0x4;
const INCOMPAT_JOURNAL_DEV: u32 = 0x8;
/// `extents`, `64bit`, `mmp`, `flex_bg` and all later ones, and `meta_bg` not.
const INCOMPAT_EXT4: u32 = !0x1F;
/// `huge_file`, `gdt_csum`, `dir_nlink`, `extra_isize` and all later ones.
const RO_COMPAT_EXT4: u32 = !0x7;

/// The fields of a superblock that are looked at.
struct Superblock {
    blocks: u32,
    first_data_block: u32,
    block_bytes: u64,
    blocks_per_group: u32,
    group: u16,
    name: &'static str,
}

impl Superblock {
    /// The mark has two bytes only: fields that cannot be otherwise tell it from
    /// noise. Blocks of 1 KiB to 64 KiB, revision 0 or 1.
    fn parse(bytes: &[u8; SUPERBLOCK_BYTES]) -> Option<Self> {
        let u16_at = |offset: usize| u16::from_le_bytes([bytes[offset], bytes[offset + 1]]);
        let u32_at =
            |offset: usize| u32::from(u16_at(offset)) | u32::from(u16_at(offset + 2)) << 16;
        let blocks = u32_at(4);
        let log_block_size = u32_at(24);
        let revision = u32_at(76);
        if u16_at(MAGIC_OFFSET) != MAGIC || blocks == 0 || log_block_size > 6 || revision > 1 {
            return None;
        }
        // Revision 0 has no feature words: the bytes mean nothing.
        let feature = |offset| if revision == 0 { 0 } else { u32_at(offset) };
        let incompat = feature(96);
        let name = if incompat & INCOMPAT_JOURNAL_DEV != 0 {
            "ext journal"
        } else if incompat & INCOMPAT_EXT4 != 0 || feature(100) & RO_COMPAT_EXT4 != 0 {
            "ext4"
        } else if feature(92) & COMPAT_HAS_JOURNAL != 0 {
            "ext3"
        } else {
            "ext2"
        };
        Some(Self {
            blocks,
            first_data_block: u32_at(20),
            block_bytes: 1024 << log_block_size,
            blocks_per_group: u32_at(32),
            group: u16_at(90),
            name,
        })
    }

    /// Whether a copy of this superblock belongs at `place`: the first block of
    /// a group but the first one. The kernel before 6.0 left the number of the
    /// group at 0 in copies that it wrote itself.
    fn belongs_at(&self, place: u64) -> bool {
        let first_group = u64::from(self.first_data_block) * self.block_bytes;
        let group_bytes = u64::from(self.blocks_per_group) * self.block_bytes;
        let Some(behind) = place.checked_sub(first_group) else {
            return false;
        };
        if group_bytes == 0 || self.first_data_block > 1 || !behind.is_multiple_of(group_bytes) {
            return false;
        }
        let group = behind / group_bytes;
        let numbered = self.group == 0 || u64::from(self.group) == group & 0xFFFF;
        // Blocks beyond 2^32 are counted elsewhere.
        let inside = place / self.block_bytes < u64::from(self.blocks)
            || place / self.block_bytes > u64::from(u32::MAX);
        group > 0 && numbered && inside
    }
}

pub(super) fn probe(reader: &Reader<'_>) -> Option<Signature> {
    let superblock = Superblock::parse(&reader.array(SUPERBLOCK)?)?;
    let offset = SUPERBLOCK + MAGIC_OFFSET as u64;
    let label = reader.name(SUPERBLOCK + 120, 16);
    let kind = SignatureKind::Filesystem;
    Some(Signature::new(kind, superblock.name, offset, SOURCE).labelled(label))
}

/// The groups that have a copy of the superblock: 1 and the powers of 3, 5 and
/// 7 (`sparse_super`); without that feature all have.
const GROUPS: [u64; 16] = [
    1, 3, 5, 7, 9, 25, 27, 49, 81, 125, 243, 343, 625, 729, 2187, 2401,
];

/// Copies of the superblock, at the places that mke2fs gives them when it is not
/// told how large a group is: `e2fsck -b` begins with any.
pub(super) fn copies(reader: &Reader<'_>) -> Vec<Signature> {
    let mut places: Vec<u64> = Vec::new();
    // As many blocks as a bitmap of one block has bits, 65528 at most. Which
    // block size is usual for which size of a device says how far to look.
    for (block, groups) in [
        (1 << 10, 10),
        (2 << 10, 12),
        (4 << 10, GROUPS.len()),
        (8 << 10, 2),
        (16 << 10, 2),
        (32 << 10, 2),
        (64 << 10, 2),
    ] {
        let first = if block == 1 << 10 { block } else { 0 };
        let group = (8 * block).min(65_528) * block;
        places.extend(GROUPS[..groups].iter().map(|number| first + number * group));
    }
    // `bigalloc`: a bit is a cluster of 8 KiB to 1 MiB, 64 KiB if not told.
    places.extend(
        (8_u64..=1024)
            .filter(|kib| kib.is_power_of_two())
            .map(|kib| kib << 25),
    );
    places.push(3 << 31);
    places.sort_unstable();
    places.dedup();
    places
        .into_iter()
        .filter_map(|place| {
            let superblock = Superblock::parse(&reader.array(place)?)?;
            let name = match superblock.name {
                "ext2" => "ext2 copy",
                "ext3" => "ext3 copy",
                "ext4" => "ext4 copy",
                _ => return None,
            };
            superblock.belongs_at(place).then(|| {
                let offset = place + MAGIC_OFFSET as u64;
                Signature::new(SignatureKind::Filesystem, name, offset, SOURCE)
                    .labelled(reader.name(place + 120, 16))
                    .out_of_wipefs()
            })
        })
        .collect()
}
