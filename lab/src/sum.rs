//! Sums over all of a device, to see that not one bit of it has changed.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// `O_DIRECT` on x86: the disk itself is read, not the page cache before it.
const DIRECT: i32 = 0o40_000;

/// Bytes that are read at once; all devices of the lab are multiples of it.
const BLOCK: usize = 1 << 20;

/// Bytes of a word for each of the four sums.
const ROW: usize = 32;

/// What a direct read's memory must be a multiple of, at most.
const ALIGNMENT: usize = 4096;

/// The sum of all bytes of a device.
///
/// # Errors
/// When it cannot be read to its end.
pub(crate) fn of(device: &str) -> io::Result<u64> {
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(DIRECT)
        .open(Path::new(device))?;
    let mut memory = vec![0_u8; BLOCK + ALIGNMENT];
    let start = memory.as_ptr().align_offset(ALIGNMENT);
    let block = &mut memory[start..start + BLOCK];
    let mut sum = Sum::default();
    loop {
        match file.read(block) {
            Ok(0) => return Ok(sum.value()),
            Ok(length) => sum.add(&block[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Four sums side by side, each a multiplication and a turn for each word: any
/// bit that changes changes all that follow.
struct Sum([u64; 4]);

impl Default for Sum {
    fn default() -> Self {
        Self([1, 2, 3, 4])
    }
}

impl Sum {
    /// Whole rows at a time: a guest has few instructions to spare.
    fn add(&mut self, bytes: &[u8]) {
        let (rows, rest) = bytes.as_chunks::<ROW>();
        for row in rows {
            self.add_row(row);
        }
        if !rest.is_empty() {
            let mut row = [0; ROW];
            row[..rest.len()].copy_from_slice(rest);
            self.add_row(&row);
        }
    }

    fn add_row(&mut self, row: &[u8; ROW]) {
        let (words, _) = row.as_chunks::<8>();
        for (lane, word) in self.0.iter_mut().zip(words) {
            // An odd number near 2^64 divided by the golden ratio: it can be
            // undone, so no two states become one.
            *lane = (*lane ^ u64::from_le_bytes(*word))
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(23);
        }
    }

    fn value(&self) -> u64 {
        let mut all = Self::default();
        for lane in self.0 {
            all.add(&lane.to_le_bytes());
        }
        all.0
            .iter()
            .fold(0, |sum: u64, lane| sum.rotate_left(17) ^ lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(bytes: &[u8]) -> u64 {
        let mut sum = Sum::default();
        sum.add(bytes);
        sum.value()
    }

    #[test]
    fn any_single_bit_changes_the_sum_and_so_does_order() {
        let zeros = vec![0_u8; 4096];
        let plain = sum(&zeros);
        for at in (0..4096).step_by(61) {
            for bit in 0..8 {
                let mut other = zeros.clone();
                other[at] ^= 1 << bit;
                assert_ne!(sum(&other), plain, "byte {at} bit {bit}");
            }
        }
        let mut one = zeros.clone();
        one[8] = 7;
        let mut other = zeros;
        other[8 + 32] = 7;
        assert_ne!(sum(&one), sum(&other));
    }
}
