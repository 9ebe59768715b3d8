//! Trace and table of the kernel's read-ahead.

use crate::lines;
use diskfacts_report::formats::readahead::{Statistics, Trace};

/// What is read and printed is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    lines::each(input, |line| {
        lines::settles::<Trace>(line);
        lines::settles::<Statistics>(line);
    });
}
