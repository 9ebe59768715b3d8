//! What journals count: `/proc/fs/jbd2/*/info`, and the statistics of XFS and btrfs.

use crate::refusal;
use diskfacts_host::parse::journal::{parse_btrfs_commits, parse_jbd2_info, parse_xfs_stats};

/// Any text has an answer, or a line where it stops to be one.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    if let Err(error) = parse_jbd2_info(input) {
        refusal::points_into(input, &error);
    }
    if let Err(error) = parse_btrfs_commits(input) {
        refusal::points_into(input, &error);
    }
    match parse_xfs_stats(input) {
        Ok(log) => assert!(log.bytes % 512 == 0 || log.bytes == u64::MAX),
        Err(error) => refusal::points_into(input, &error),
    }
}
