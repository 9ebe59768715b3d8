//! `/proc/self/status`.
//!
//! Source: kernel, `Documentation/filesystems/proc.rst` section 1.1.

use super::lines;

/// What of it diskfacts uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessStatus {
    /// Number of the effective user.
    pub effective_user: Option<u32>,
    /// Processors that the process may run on.
    pub cpus: Option<u32>,
}

/// Reads `/proc/PID/status`. What it lacks stays `None`.
pub fn parse_process_status(bytes: &[u8]) -> ProcessStatus {
    let mut status = ProcessStatus::default();
    for (_, line) in lines(bytes) {
        match line.split_once(':') {
            Some(("Uid", users)) => {
                // Real, effective, saved, filesystem.
                status.effective_user = users
                    .split_ascii_whitespace()
                    .nth(1)
                    .and_then(|user| user.parse().ok());
            }
            Some(("Cpus_allowed_list", list)) => status.cpus = count_cpus(list.trim()),
            _ => {}
        }
    }
    status
}

/// How many processors a list like `0-3,8,10-11` names.
fn count_cpus(ranges: &str) -> Option<u32> {
    let mut count = 0_u32;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    (count > 0).then_some(count)
}
