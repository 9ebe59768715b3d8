//! `/proc/meminfo`.

use crate::refusal;
use diskfacts_host::parse::meminfo::parse_meminfo;

/// Any text has an answer, or a line where it stops to be one.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    if let Err(error) = parse_meminfo(input) {
        refusal::points_into(input, &error);
    }
}
