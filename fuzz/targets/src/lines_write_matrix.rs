//! Lines of the write benchmark of `@ronomon/direct-io`.

use crate::lines;
use diskfacts_report::formats::write_matrix::Row;

/// What is read and printed is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    lines::each(input, |line| {
        lines::settles::<Row>(line);
    });
}
