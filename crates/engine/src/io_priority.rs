//! The I/O priority of a thread (`ioprio_set(2)`, kernel
//! `Documentation/block/ioprio.rst`).
//!
//! # What is promised
//! * Each measuring thread sets it for itself, before it makes its engine, and asks
//!   the kernel whether it has it. The caller's thread keeps its own.
//! * Threads that an engine makes have it too: a new thread inherits it
//!   (`copy_io` in the kernel's `block/blk-ioc.c`), and those of a ring share the I/O
//!   context of who made it.
//! * An operation of a ring has that of the thread that submits it, unless it says
//!   another, which ours do not (`__io_prep_rw` in `io_uring/rw.c`).
//!
//! # What is not
//! What is written through the page cache is sent to the device later, by a thread
//! of the kernel at that thread's priority. And a scheduler need not look at any:
//! `none` and `kyber` do not.

use crate::error::TrialError;
use diskfacts_plan::IoPriority;

/// Gives this thread a priority, if one is asked for, and sees that it has it.
///
/// # Errors
/// When it may not have it, and what to do.
pub fn enter(asked: Option<IoPriority>) -> Result<(), TrialError> {
    match asked {
        None => Ok(()),
        Some(asked) => system::set(asked)
            .map_err(|source| TrialError::IoPriority {
                asked,
                hint: hint(&source),
                source,
            })
            .and_then(|()| match of_this_thread() {
                Some(found) if found == asked => Ok(()),
                found => Err(TrialError::Engine(format!(
                    "io_priority: {asked} was set and the kernel says {}",
                    found.map_or_else(|| "none".to_owned(), |found| found.to_string())
                ))),
            }),
    }
}

fn hint(error: &std::io::Error) -> &'static str {
    if error.kind() == std::io::ErrorKind::PermissionDenied {
        "\"realtime\" needs root, or the capability CAP_SYS_NICE; put sudo in front of the command, \
         or use io_priority = \"best-effort:0\""
    } else {
        "drop io_priority"
    }
}

/// Whether a thread of this process may have this priority; this thread keeps its own.
///
/// # Errors
/// When it may not, and what to do.
pub fn allowed(asked: IoPriority) -> Result<(), TrialError> {
    std::thread::scope(|scope| {
        let tried = std::thread::Builder::new()
            .name("priority".to_owned())
            .spawn_scoped(scope, || enter(Some(asked)))
            .map_err(|error| TrialError::Thread(format!("could not be started: {error}")))?;
        let gone = || TrialError::Thread("ended without an answer; this is a bug".to_owned());
        tried.join().map_err(|_| gone())?
    })
}

/// The priority that was set for this thread, if one was.
pub fn of_this_thread() -> Option<IoPriority> {
    of_thread(0)
}

/// The priority that was set for a thread, by the kernel's number of it; for this one
/// by 0. Absent where none was set, and where there are none.
pub fn of_thread(thread: u32) -> Option<IoPriority> {
    system::get(thread)
}

#[cfg(target_os = "linux")]
mod system {
    use diskfacts_plan::IoPriority;
    use diskfacts_plan::io_priority::LEVEL_MAX;
    use std::io;

    // include/uapi/linux/ioprio.h of the kernel.
    const WHO_PROCESS: libc::c_int = 1;
    const CLASS_SHIFT: libc::c_int = 13;
    const REALTIME: libc::c_int = 1;
    const BEST_EFFORT: libc::c_int = 2;
    const IDLE: libc::c_int = 3;
    /// Above the level stand hints for the device, since Linux 6.5.
    const LEVEL_MASK: libc::c_int = LEVEL_MAX as libc::c_int;

    pub(super) fn set(asked: IoPriority) -> io::Result<()> {
        let (class, level) = match asked {
            IoPriority::Realtime(level) => (REALTIME, level),
            IoPriority::BestEffort(level) => (BEST_EFFORT, level),
            IoPriority::Idle => (IDLE, 0),
        };
        let value = (class << CLASS_SHIFT) | libc::c_int::from(level);
        // SAFETY: the call takes three numbers, of which 0 is this thread, and
        // touches no memory.
        let answer = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, value) };
        if answer == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    pub(super) fn get(thread: u32) -> Option<IoPriority> {
        // SAFETY: the call takes two numbers and touches no memory.
        let answer = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, thread) };
        let value = libc::c_int::try_from(answer).ok().filter(|n| *n >= 0)?;
        let level = u8::try_from(value & LEVEL_MASK).ok()?;
        match value >> CLASS_SHIFT {
            REALTIME => Some(IoPriority::Realtime(level)),
            BEST_EFFORT => Some(IoPriority::BestEffort(level)),
            IDLE => Some(IoPriority::Idle),
            _ => None,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use diskfacts_plan::IoPriority;
    use std::io;

    pub(super) fn set(_: IoPriority) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(super) fn get(_: u32) -> Option<IoPriority> {
        None
    }
}
