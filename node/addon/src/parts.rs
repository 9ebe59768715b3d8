//! Several buffers as one range of bytes.

use std::io::{IoSlice, IoSliceMut};

use crate::memory::Kept;

/// The bytes of the buffers from byte `start` of all of them together: at most
/// `bytes_max` bytes, of at most `count_max` buffers.
pub(crate) fn slices(
    parts: &[Kept],
    start: usize,
    bytes_max: usize,
    count_max: usize,
) -> Vec<IoSlice<'_>> {
    let mut window = Window::new(start, bytes_max);
    parts
        .iter()
        .filter_map(|part| window.of(part.len()).map(|(from, to)| &part[from..to]))
        .map(IoSlice::new)
        .take(count_max)
        .collect()
}

/// As [`slices`], to be filled.
pub(crate) fn slices_mut(
    parts: &mut [Kept],
    start: usize,
    bytes_max: usize,
    count_max: usize,
) -> Vec<IoSliceMut<'_>> {
    let mut window = Window::new(start, bytes_max);
    parts
        .iter_mut()
        .filter_map(|part| window.of(part.len()).map(|(from, to)| &mut part[from..to]))
        .map(IoSliceMut::new)
        .take(count_max)
        .collect()
}

/// A range of bytes that is laid over one buffer after the other.
struct Window {
    /// How many bytes to pass over yet.
    before: usize,
    /// How many bytes it has yet.
    left: usize,
}

impl Window {
    fn new(start: usize, bytes_max: usize) -> Self {
        Self {
            before: start,
            left: bytes_max,
        }
    }

    /// What of the next buffer, of `length` bytes, lies within: from, to. `None`
    /// when nothing does.
    fn of(&mut self, length: usize) -> Option<(usize, usize)> {
        let from = self.before.min(length);
        self.before -= from;
        let to = from + self.left.min(length - from);
        self.left -= to - from;
        (from < to).then_some((from, to))
    }
}
