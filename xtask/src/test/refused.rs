//! Writes that the tests attempted and that were refused, each with a checksum of what must
//! keep its bytes from before and after it. How many ran is counted, because a test that
//! lacks something returns early and passes.

use super::outcome::Outcome;
use std::fs;

/// Fewer than this say little of whose data is safe.
const LEAST: u64 = 120;

/// Says how many there were. Who is root has all that most of them need, so that fewer are a
/// failure; where other tests failed, these are why.
pub(super) fn judge(refused: u64, is_root: bool, outcome: &mut Outcome) -> String {
    if is_root && refused < LEAST && outcome.failed.is_empty() {
        outcome.failed.push(format!(
            "{refused} writes refused, and not {LEAST}: what was skipped says what they lack"
        ));
    }
    format!("{refused} writes refused, each with a checksum before and after")
}

/// Whether this process may make loop devices and mounts; false where there is no procfs.
pub(super) fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    effective_user(&status) == Some("0")
}

/// `Uid:` has the real, effective, saved and filesystem user (`proc_pid_status(5)`).
fn effective_user(status: &str) -> Option<&str> {
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_whitespace().nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_refused_writes_are_a_failure_of_root_alone() {
        let failures = |refused, is_root| {
            let mut outcome = Outcome::default();
            let said = judge(refused, is_root, &mut outcome);
            assert!(said.starts_with(&format!("{refused} writes refused, each")));
            outcome.failed
        };
        assert_eq!(failures(120, true), [""; 0]);
        assert_eq!(failures(0, false), [""; 0]);
        let failed = failures(119, true);
        assert_eq!(failed.len(), 1);
        assert!(failed[0].starts_with("119 writes refused, and not 120"));
    }

    #[test]
    fn the_effective_user_is_the_second() {
        let status = "Name:\tcargo\nUid:\t1000\t0\t1000\t1000\nGid:\t1\t1\t1\t1\n";
        assert_eq!(effective_user(status), Some("0"));
        assert_eq!(effective_user(""), None);
    }
}
