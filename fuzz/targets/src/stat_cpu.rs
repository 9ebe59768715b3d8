//! The first line of `/proc/stat`, and its line of soft interrupts.

use crate::refusal;
use diskfacts_host::parse::stat::{parse_stat_block_softirqs, parse_stat_cpu};

/// Any text has an answer, or a line where it stops to be one.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    if let Err(error) = parse_stat_cpu(input) {
        refusal::points_into(input, &error);
    }
    if let Err(error) = parse_stat_block_softirqs(input) {
        refusal::points_into(input, &error);
    }
}
