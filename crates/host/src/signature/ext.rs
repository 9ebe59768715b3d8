//! ext2, ext3, ext4, and their journals on a device of their own.
//!
//! Source: kernel, `Documentation/filesystems/ext4/super.rst`; offsets are
//! within the superblock, which stands at 1024.

use super::reader::Reader;
use super::{Signature, SignatureKind};

const SUPERBLOCK: u64 = 1024;
const MAGIC: u16 = 0xEF53;

const COMPAT_HAS_JOURNAL: u32 = 0x4;
const INCOMPAT_JOURNAL_DEV: u32 = 0x8;
/// `extents`, `64bit`, `mmp`, `flex_bg` and all later ones, and `meta_bg` not.
const INCOMPAT_EXT4: u32 = !0x1F;
/// `huge_file`, `gdt_csum`, `dir_nlink`, `extra_isize` and all later ones.
const RO_COMPAT_EXT4: u32 = !0x7;

pub(super) fn probe(reader: &Reader<'_>) -> Option<Signature> {
    if reader.u16_le(SUPERBLOCK + 56)? != MAGIC {
        return None;
    }
    // The mark has two bytes only: fields that cannot be otherwise tell it from
    // noise. Blocks of 1 KiB to 64 KiB, revision 0 or 1.
    let blocks = reader.u32_le(SUPERBLOCK + 4)?;
    let log_block_size = reader.u32_le(SUPERBLOCK + 24)?;
    let revision = reader.u32_le(SUPERBLOCK + 76)?;
    if blocks == 0 || log_block_size > 6 || revision > 1 {
        return None;
    }
    // Revision 0 has no feature words: the bytes mean nothing.
    let feature = |offset| match revision {
        0 => Some(0),
        _ => reader.u32_le(SUPERBLOCK + offset),
    };
    let compat = feature(92)?;
    let incompat = feature(96)?;
    let ro_compat = feature(100)?;
    let name = if incompat & INCOMPAT_JOURNAL_DEV != 0 {
        "ext journal"
    } else if incompat & INCOMPAT_EXT4 != 0 || ro_compat & RO_COMPAT_EXT4 != 0 {
        "ext4"
    } else if compat & COMPAT_HAS_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    };
    Some(Signature {
        kind: SignatureKind::Filesystem,
        name,
        offset: SUPERBLOCK + 56,
        label: reader.name(SUPERBLOCK + 120, 16),
        source: "kernel: Documentation/filesystems/ext4/super.rst",
    })
}
