//! Unmounting what a test mounted.

use crate::{Missing, tool};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How often it is tried, and how long in between.
const TRIES: u32 = 400;
const PAUSE: Duration = Duration::from_millis(5);

/// Unmounts what is mounted at `at`.
///
/// A process that another test starts in this moment holds a copy of every open file
/// until its program begins, and a loop device lets go of its file a little after it was
/// detached; so what is busy is tried again.
///
/// # Errors
/// When something has files there open all the time.
pub(crate) fn unmount(at: &Path) -> Result<(), Missing> {
    for _ in 1..TRIES {
        if tool::run("umount", "mount", [at]).is_ok() {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
    tool::run("umount", "mount", [at]).map(drop)
}
