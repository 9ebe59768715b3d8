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

/// Who else has a file open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// This open file is certainly the only one of its inode.
    Nobody,
    /// It certainly is not.
    Somebody,
    /// The filesystem has no leases, or the file is another user's.
    Unknown,
}

/// Whether anybody else has the file open.
#[cfg(target_os = "linux")]
pub(super) fn others(file: &File) -> Others {
    let mut others = ask(file);
    for _ in 1..TRIES {
        if others != Others::Somebody {
            break;
        }
        std::thread::sleep(PAUSE);
        others = ask(file);
    }
    others
}

#[cfg(target_os = "linux")]
fn ask(file: &File) -> Others {
    use std::os::fd::AsRawFd;
    let set = |command: libc::c_int, value: libc::c_int| {
        // SAFETY: F_SETSIG and F_SETLEASE take a number and touch no memory; the
        // descriptor is open as long as `file` is borrowed.
        unsafe { libc::fcntl(file.as_raw_fd(), command, value) == 0 }
    };
    // Who opens the file meanwhile has the holder of the lease told by a signal, which
    // ends a process unless it is one that is ignored.
    if !set(F_SETSIG, libc::SIGURG) {
        return Others::Unknown;
    }
    let others = if set(libc::F_SETLEASE, libc::F_WRLCK) {
        set(libc::F_SETLEASE, libc::F_UNLCK);
        Others::Nobody
    } else if std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN) {
        Others::Somebody
    } else {
        Others::Unknown
    };
    set(F_SETSIG, 0);
    others
}

/// `F_SETSIG` (`include/uapi/asm-generic/fcntl.h`), which libc has not on every target.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

#[cfg(not(target_os = "linux"))]
pub(super) fn others(_: &File) -> Others {
    Others::Unknown
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_open_twice_is_told_from_one_that_is_open_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        let file = File::create(&path).expect("a file");
        if others(&file) == Others::Unknown {
            diskfacts_testkit::skip("a lease: this filesystem or user has none");
            return;
        }
        let again = File::open(&path).expect("the file");
        assert_eq!(others(&file), Others::Somebody);
        drop(again);
        // A process that another test starts may have a copy for a moment.
        assert_eq!(others(&file), Others::Nobody);
    }
}
