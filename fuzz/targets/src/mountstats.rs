//! `/proc/self/mountstats`.

use crate::refusal;
use diskfacts_host::parse::mountstats::parse_mountstats;

/// Any text has an answer, or a line where it stops to be one, for each folder that it names and
/// for one that it does not; only what is named as NFS has counters.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let named = text.lines().filter_map(|line| {
        let (_, after) = line.split_once(" mounted on ")?;
        Some(after.split(' ').next().unwrap_or_default())
    });
    for folder in named.take(8).chain(["/mnt/nfs", ""]) {
        match parse_mountstats(input, folder) {
            Ok(Some(_)) => assert!(text.contains("fstype nfs")),
            Ok(None) => {}
            Err(error) => refusal::points_into(input, &error),
        }
    }
}
