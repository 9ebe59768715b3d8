//! The first line of `/proc/stat`.

use crate::refusal;
use diskfacts_host::parse::stat::parse_stat_cpu;

/// Any text has an answer, or a line where it stops to be one.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    if let Err(error) = parse_stat_cpu(input) {
        refusal::points_into(input, &error);
    }
}
