//! Writes that happen wholly or not at all.

use crate::as_file::{AsFile, lend};
use crate::{Error, os};

/// What [`TransferFlags::atomic`](crate::TransferFlags::atomic) may write to one
/// file (`STATX_WRITE_ATOMIC`, statx(2)).
///
/// The length must be a power of 2 from `unit_min` to `unit_max`, the offset a
/// multiple of the length, and the file open for direct I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AtomicWriteLimits {
    /// The smallest length in bytes, a power of 2.
    pub unit_min: u32,
    /// The largest length in bytes, a power of 2.
    pub unit_max: u32,
    /// The most buffers that one write may gather.
    pub segments_max: u32,
}

impl AtomicWriteLimits {
    /// Says why a write of `length` bytes at `offset` could not be atomic; `None`
    /// when it could.
    pub fn explain(&self, length: usize, offset: u64) -> Option<String> {
        let (min, max) = (self.unit_min, self.unit_max);
        let bytes = length as u64;
        if !bytes.is_power_of_two() || bytes < u64::from(min) || bytes > u64::from(max) {
            Some(format!(
                "an atomic write here has a length that is a power of 2 from {min} to {max} bytes: \
                 {length} is not"
            ))
        } else if offset % bytes != 0 {
            Some(format!(
                "an atomic write has an offset that is a multiple of its length: {offset} is no \
                 multiple of {length}"
            ))
        } else {
            None
        }
    }
}

/// What can be written atomically to this open file.
///
/// # Errors
/// [`Error::Unsupported`], with the reason: not Linux 6.11 or later, or a
/// filesystem or device without it.
pub fn atomic_write_limits(file: &impl AsFile) -> Result<AtomicWriteLimits, Error> {
    os::atomic_write_limits(&lend(file))
}

#[cfg(test)]
mod tests {
    use super::AtomicWriteLimits;

    #[test]
    fn a_write_is_atomic_by_its_length_and_its_offset() {
        let limits = AtomicWriteLimits {
            unit_min: 4096,
            unit_max: 65_536,
            segments_max: 1,
        };
        for (length, offset) in [(4096, 4096), (65_536, 0), (8192, 24_576)] {
            assert_eq!(limits.explain(length, offset), None, "{length} at {offset}");
        }
        for (length, offset, word) in [
            (0, 0, "power of 2 from 4096 to 65536"),
            (2048, 0, "2048 is not"),
            (131_072, 0, "131072 is not"),
            (12_288, 0, "12288 is not"),
            (8192, 4096, "4096 is no multiple of 8192"),
        ] {
            let why = limits.explain(length, offset).expect("it cannot be");
            assert!(why.contains(word), "{why}");
        }
    }
}
