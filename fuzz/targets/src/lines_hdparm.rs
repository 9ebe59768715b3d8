//! hdparm's lines.

use crate::lines;
use diskfacts_report::formats::hdparm::Row;

/// What is read and printed is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    lines::each(input, |line| {
        lines::settles::<Row>(line);
    });
}
