//! Sums over all of a device, to see that not one bit of it has changed.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// `O_DIRECT` on x86: the disk itself is read, not the page cache before it.
const DIRECT: i32 = 0o40_000;

/// Bytes that are read at once; all devices of the lab are multiples of it.
const BLOCK: usize = 1 << 20;

/// Bytes of a word for each of the four sums.
const ROW: usize = 32;

/// What a direct read's memory must be a multiple of, at most.
const ALIGNMENT: usize = 4096;

/// `EIO`: the kernel's word for a sector that cannot be read.
const UNREADABLE: i32 = 5;

/// Parts of a device that may be unreadable, at most: with more of them a sum would say
/// little.
const UNREADABLE_MAX: usize = 16;

/// The sum of all bytes of a device. Where a few cannot be read, it is one over the others
/// and over the places of these.
///
/// # Errors
/// When more cannot be read.
pub(crate) fn of(device: &str) -> io::Result<u64> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(DIRECT)
        .open(Path::new(device))?;
    let mut memory = vec![0_u8; BLOCK + ALIGNMENT];
    let start = memory.as_ptr().align_offset(ALIGNMENT);
    let block = &mut memory[start..start + BLOCK];
    over(block, |block, at| file.read_at(block, at))
}

/// The sum of what `read` gives into a buffer from a place on, until it gives nothing.
fn over(block: &mut [u8], read: impl Fn(&mut [u8], u64) -> io::Result<usize>) -> io::Result<u64> {
    let (mut sum, mut at) = (Sum::default(), 0);
    let (mut slowly_until, mut unreadable) = (0, 0);
    loop {
        // A block that fails is read once more in parts, to have what can be had.
        let most = if at < slowly_until {
            ALIGNMENT
        } else {
            block.len()
        };
        match read(&mut block[..most], at) {
            Ok(0) => return Ok(sum.value()),
            Ok(length) => {
                // What is short ends at a bad sector or at the end: the parts lie at the
                // same places in every sum.
                let whole = length - length % ALIGNMENT;
                let length = if whole == 0 { length } else { whole };
                sum.add(&block[..length]);
                at += length as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.raw_os_error() != Some(UNREADABLE) => return Err(error),
            Err(_) if most > ALIGNMENT => slowly_until = at + most as u64,
            Err(error) if unreadable == UNREADABLE_MAX => return Err(error),
            Err(_) => {
                unreadable += 1;
                sum.add(&at.to_le_bytes());
                at += ALIGNMENT as u64;
            }
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

    /// The sum of a disk of 256 KiB whose blocks of 4 KiB in `bad` cannot be read.
    fn with_bad(bad: &[u64], changed: u64) -> io::Result<u64> {
        let mut block = vec![0; 16 * ALIGNMENT];
        over(&mut block, |block, at| {
            let end = (at + block.len() as u64).min(4 * 16 * ALIGNMENT as u64);
            let parts = at / ALIGNMENT as u64..end.div_ceil(ALIGNMENT as u64);
            if bad.iter().any(|bad| parts.contains(bad)) {
                return Err(io::Error::from_raw_os_error(UNREADABLE));
            }
            let length = usize::try_from(end.saturating_sub(at)).expect("a length");
            block.fill(0);
            if parts.contains(&changed) {
                block[usize::try_from(changed - parts.start).expect("a place") * ALIGNMENT] = 1;
            }
            Ok(length)
        })
    }

    #[test]
    fn what_lies_beside_an_unreadable_part_is_in_the_sum() {
        let none = u64::MAX;
        let good = with_bad(&[], none).expect("a sum");
        let bad = with_bad(&[20], none).expect("a sum");
        assert_ne!(good, bad);
        assert_eq!(with_bad(&[20], none).expect("a sum"), bad);
        for beside in [0, 19, 21, 63] {
            assert_ne!(with_bad(&[20], beside).expect("a sum"), bad, "{beside}");
        }
        assert_ne!(with_bad(&[21], none).expect("a sum"), bad);
        let all: Vec<u64> = (0..64).collect();
        assert!(with_bad(&all, none).is_err(), "nothing can be read");
    }
}
