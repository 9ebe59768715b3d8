//! UDF: a descriptor `NSR02` or `NSR03` somewhere in the volume recognition
//! sequence, which starts at 32 KiB. ISO 9660 is in the table of filesystems.
//!
//! Source: ECMA-167, 2/8 and 3/9; kernel, `fs/udf/ecma_167.h`.

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
        matches!(&word, b"NSR02" | b"NSR03").then_some(Signature {
            kind: SignatureKind::Filesystem,
            name: "UDF",
            offset,
            label: None,
            source: "ECMA-167, 3/9.1",
        })
    })
}
