//! APFS: the superblock of a container stands in block 0, and older states of it
//! in the checkpoint area, which begins right behind; a container is mounted
//! from the newest of them.
//!
//! Source: Apple File System Reference, `nx_superblock_t`; the area is that of
//! `newfs_apfs`, which puts it at block 1.

use super::reader::Reader;
use super::{Signature, SignatureKind};

const BLOCK_BYTES: u64 = 4096;
/// 280 blocks are what a container of any usual size has there.
const AREA_BLOCKS: u64 = 280;

pub(super) fn copies(reader: &Reader<'_>) -> Vec<Signature> {
    let end = (AREA_BLOCKS * BLOCK_BYTES).min(reader.size() / BLOCK_BYTES * BLOCK_BYTES);
    let mut found = Vec::new();
    let start = BLOCK_BYTES.min(end);
    reader.scan(start..end, BLOCK_BYTES as usize, |offset, block| {
        // The kind of object, 1, of those that live in the container itself.
        let is_superblock = block[24..28] == [1, 0, 0, 0x80];
        let block_bytes = u32::from_le_bytes([block[36], block[37], block[38], block[39]]);
        if is_superblock
            && &block[32..36] == b"NXSB"
            && block_bytes.is_power_of_two()
            && (4096..=65_536).contains(&block_bytes)
        {
            let source = "Apple File System Reference, nx_superblock_t";
            let kind = SignatureKind::Filesystem;
            found.push(Signature::new(kind, "APFS copy", offset + 32, source).out_of_wipefs());
        }
    });
    found
}
