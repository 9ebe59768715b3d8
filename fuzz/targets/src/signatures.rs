//! Marks of data on a device.

use diskfacts_host::{ReadAt, signatures};
use std::io;

/// A device of 32 MiB of zeros with a few parts that are not. An image as it is
/// would be mostly zeros, and a fuzzer would hardly reach its far places.
///
/// The input is a list of parts: the sector it begins at (two bytes,
/// little-endian; counted from the end of the device when the highest bit is
/// set), its length (two bytes) and its bytes. A last part may be cut short.
struct Sparse<'a> {
    parts: Vec<(u64, &'a [u8])>,
}

const SIZE: u64 = 32 << 20;
const SECTOR: u64 = 512;

impl<'a> Sparse<'a> {
    fn new(mut input: &'a [u8]) -> Self {
        let mut parts = Vec::new();
        while let [place_low, place_high, length_low, length_high, rest @ ..] = input {
            let place = u16::from_le_bytes([*place_low, *place_high]);
            let length = usize::from(u16::from_le_bytes([*length_low, *length_high]));
            let (part, rest) = rest.split_at(length.min(rest.len()));
            let sectors = u64::from(place & 0x7fff) % (SIZE / SECTOR);
            let offset = if place & 0x8000 == 0 {
                sectors * SECTOR
            } else {
                SIZE - sectors * SECTOR
            };
            parts.push((offset, part));
            input = rest;
        }
        Self { parts }
    }
}

impl ReadAt for Sparse<'_> {
    fn size_bytes(&self) -> u64 {
        SIZE
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = offset.saturating_add(buffer.len() as u64);
        if end > SIZE {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.fill(0);
        for (start, part) in &self.parts {
            let from = offset.max(*start);
            let to = end.min(start + part.len() as u64);
            if from < to {
                let source = &part[(from - start) as usize..(to - start) as usize];
                buffer[(from - offset) as usize..(to - offset) as usize].copy_from_slice(source);
            }
        }
        Ok(())
    }
}

/// Marks lie on the device, in their order, each said once and readable; and
/// nothing was beyond reach.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let probed = signatures(&Sparse::new(input));
    assert!(probed.unread.is_empty(), "{:?}", probed.unread);
    for signature in &probed.found {
        assert!(signature.offset < SIZE, "{signature}");
        assert!(!signature.name.is_empty() && !signature.source.is_empty());
    }
    for pair in probed.found.windows(2) {
        assert!(pair[0].offset <= pair[1].offset, "{pair:?}");
        assert!(pair[0] != pair[1], "{pair:?}");
    }
}
