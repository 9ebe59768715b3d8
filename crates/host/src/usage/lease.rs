//! Whether anybody else has a file open.
//!
//! A write lease (fcntl(2), `F_SETLEASE`) is granted only on a file that nobody else
//! has open, in whatever process, mount namespace, or part of the kernel: a loop device
//! and a swap area have theirs open (`check_conflicting_open` in fs/locks.c). It is
//! given back at once.

use std::fs::File;
#[cfg(target_os = "linux")]
use std::time::Duration;

/// How often it is asked, and how long is waited in between: a program that has just
/// been started by one which has the file open has a copy until it begins, and an
/// indexer looks into each file for a moment.
#[cfg(target_os = "linux")]
const TRIES: u32 = 20;
#[cfg(target_os = "linux")]
const PAUSE: Duration = Duration::from_millis(10);

/// Whether it is certain that this open file is the only one of its inode. Not certain
/// where the filesystem has no leases, or the file is another user's.
#[cfg(target_os = "linux")]
pub(super) fn nobody_else_has_open(file: &File) -> bool {
    (0..TRIES).any(|tries| {
        if tries > 0 {
            std::thread::sleep(PAUSE);
        }
        is_the_only_one(file)
    })
}

#[cfg(target_os = "linux")]
fn is_the_only_one(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    let set = |command: libc::c_int, value: libc::c_int| {
        // SAFETY: F_SETSIG and F_SETLEASE take a number and touch no memory; the
        // descriptor is open as long as `file` is borrowed.
        unsafe { libc::fcntl(file.as_raw_fd(), command, value) == 0 }
    };
    // Who opens the file meanwhile has the holder of the lease told by a signal, which
    // ends a process unless it is one that is ignored.
    if !set(F_SETSIG, libc::SIGURG) {
        return false;
    }
    let granted = set(libc::F_SETLEASE, libc::F_WRLCK);
    if granted {
        set(libc::F_SETLEASE, libc::F_UNLCK);
    }
    set(F_SETSIG, 0);
    granted
}

/// `F_SETSIG` (`include/uapi/asm-generic/fcntl.h`), which libc has not on every target.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

#[cfg(not(target_os = "linux"))]
pub(super) fn nobody_else_has_open(_: &File) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_open_twice_is_told_from_one_that_is_open_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        let file = File::create(&path).expect("a file");
        if !nobody_else_has_open(&file) {
            diskfacts_testkit::skip("a lease: this filesystem or user has none");
            return;
        }
        let again = File::open(&path).expect("the file");
        assert!(!nobody_else_has_open(&file));
        drop(again);
        // A process that another test starts may have a copy for a moment.
        assert!(nobody_else_has_open(&file));
    }
}
