//! `/proc/PID/cgroup`.

use crate::refusal;
use diskfacts_host::parse::cgroup::parse_cgroup;

/// What is read has a path from the root; what is refused says where.
///
/// # Panics
/// When that is not so, or the parser panics.
pub fn run(input: &[u8]) {
    match parse_cgroup(input) {
        Ok(groups) => {
            for group in groups {
                assert!(group.path.starts_with('/'));
                assert!(group.controllers.iter().all(|name| !name.is_empty()));
            }
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
