//! ZFS: four labels of 256 KiB, two at the start and two at the end.
//!
//! Source: ZFS On-Disk Specification (Sun, 2006), 1.2 and 1.3. Each label holds
//! a list of names and values at 16 KiB, and a ring of uberblocks from 128 KiB
//! on. Either marks a member; spares and caches have few uberblocks.

use super::reader::Reader;
use super::{Signature, SignatureKind};

const LABEL_BYTES: u64 = 256 * 1024;
const NAMES: u64 = 16 * 1024;
const RING: u64 = 128 * 1024;
/// The smallest distance of uberblocks; larger sectors make it larger.
const UBERBLOCK_BYTES: usize = 1024;
const UBERBLOCK_MAGIC: u64 = 0x00BA_B10C;

pub(super) fn probe(reader: &Reader<'_>) -> Option<Signature> {
    let whole = reader.size() / LABEL_BYTES * LABEL_BYTES;
    let places = [
        Some(0),
        Some(LABEL_BYTES),
        whole.checked_sub(2 * LABEL_BYTES),
        whole.checked_sub(LABEL_BYTES),
    ];
    places
        .into_iter()
        .flatten()
        .find_map(|label| names(reader, label).or_else(|| ring(reader, label)))
        .map(|offset| {
            let source = "ZFS On-Disk Specification, 1.2 and 1.3";
            Signature::new(SignatureKind::Volume, "ZFS member", offset, source)
        })
}

/// The header of a list in XDR: encoding 1, byte order 0 or 1, two reserved
/// bytes, version 0, flag 'names are unique'.
fn names(reader: &Reader<'_>, label: u64) -> Option<u64> {
    let header: [u8; 12] = reader.array(label + NAMES)?;
    matches!(header, [1, 0 | 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]).then_some(label + NAMES)
}

fn ring(reader: &Reader<'_>, label: u64) -> Option<u64> {
    let ring = reader.bytes(label + RING, (LABEL_BYTES - RING) as usize)?;
    ring.chunks_exact(UBERBLOCK_BYTES)
        .position(|uberblock| {
            uberblock.first_chunk().is_some_and(|magic| {
                let magic = u64::from_le_bytes(*magic);
                magic == UBERBLOCK_MAGIC || magic.swap_bytes() == UBERBLOCK_MAGIC
            })
        })
        .map(|index| label + RING + (index * UBERBLOCK_BYTES) as u64)
}
