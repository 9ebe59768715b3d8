//! Removes an instance.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// Removes the folder of an instance, and says whether there was one: somebody else may
/// have removed it before, or in this moment, when its folder is still found and the
/// instance is not (`instance_rmdir` in `kernel/trace/trace.c`).
///
/// One whose files are open cannot be removed. A process that another thread starts
/// holds a copy of every open file until its program begins, and one that was killed
/// closes its own only when the last of its threads is gone; so that is tried again, so
/// often, 5 ms apart.
///
/// # Errors
/// When somebody has its files open all the time, or the system refuses it.
pub(super) fn remove_instance(folder: &Path, mut tries: u32) -> io::Result<bool> {
    loop {
        tries = tries.saturating_sub(1);
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && tries > 0 => {
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
    }
}
