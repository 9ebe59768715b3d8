//! UDF: a descriptor `NSR02` or `NSR03` somewhere in the volume recognition
//! sequence, which starts at 32 KiB, and anchors further on. ISO 9660 is in the
//! table of filesystems.
//!
//! Source: ECMA-167, 2/8, 3/9 and 3/10.2; kernel, `fs/udf/ecma_167.h`.

use super::reader::Reader;
use super::{Signature, SignatureKind};

const START: u64 = 32 * 1024;
/// Descriptors stand in sectors of 2048 bytes, or of the device if larger.
const STEP: u64 = 2048;
/// The standard sets no end; real sequences have three to a dozen.
const DESCRIPTORS: u64 = 64;

pub(super) fn probe(reader: &Reader<'_>) -> Option<Signature> {
    (0..DESCRIPTORS).find_map(|index| {
        let offset = START + index * STEP + 1;
        let word: [u8; 5] = reader.array(offset)?;
        matches!(&word, b"NSR02" | b"NSR03")
            .then(|| Signature::new(SignatureKind::Filesystem, "UDF", offset, "ECMA-167, 3/9.1"))
    })
}

/// Where a volume is described is said at sector 256, at the last sector, and
/// 256 before it, two of them at least: `udffsck` begins with any.
pub(super) fn anchors(reader: &Reader<'_>) -> Vec<Signature> {
    let mut found = Vec::new();
    for sector in [512, 1024, 2048, 4096] {
        let last = (reader.size() / sector).checked_sub(1);
        let places = [Some(256), last.and_then(|last| last.checked_sub(256)), last];
        for place in places.into_iter().flatten() {
            let offset = place * sector;
            let anchor = reader
                .array(offset)
                .is_some_and(|tag| is_anchor(&tag, place));
            if anchor {
                let source = "ECMA-167, 3/10.2";
                let kind = SignatureKind::Filesystem;
                found.push(Signature::new(kind, "UDF copy", offset, source).out_of_wipefs());
            }
        }
    }
    found
}

/// A tag of 16 bytes: identifier 2, version 2 or 3, a sum of its other bytes,
/// and the sector that it stands in.
fn is_anchor(tag: &[u8; 16], sector: u64) -> bool {
    let sum = tag
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != 4)
        .fold(0_u8, |sum, (_, byte)| sum.wrapping_add(*byte));
    let place = u32::from_le_bytes([tag[12], tag[13], tag[14], tag[15]]);
    tag[..2] == [2, 0]
        && matches!(tag[2..4], [2 | 3, 0])
        && tag[4] == sum
        && u64::from(place) == sector
}
