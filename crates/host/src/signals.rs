//! SIGINT and SIGTERM on a thread of their own.
//!
//! A handler runs on whichever thread the kernel picks, the first one above all; where
//! that one waits for a device that does not answer, no handler runs until it does. Here
//! both signals are blocked in every thread but one, which does nothing but take them
//! (sigwait(3)). So they are taken whatever the others wait for, and no system call of
//! theirs is interrupted. Programs that are started have both unblocked, as the standard
//! library does it.

use crate::error::Error;
use std::mem::MaybeUninit;

/// What Ctrl-C sends.
pub const SIGINT: i32 = libc::SIGINT;
/// What `kill` sends.
pub const SIGTERM: i32 = libc::SIGTERM;

/// Gives each [`SIGINT`] and [`SIGTERM`] from now on to `take`, on a thread of its own.
/// To be called once, by the first thread and before it starts others: these inherit
/// that the signals are blocked.
///
/// # Errors
/// When they cannot be blocked, or the thread not started.
pub fn receive(mut take: impl FnMut(i32) + Send + 'static) -> Result<(), Error> {
    let hint = "a process may be near its limit of threads: `ulimit -u`";
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset makes the set that it is given, and the others work on the set
    // that was made; a null pointer asks for no old mask.
    let (set, refused) = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), SIGINT);
        libc::sigaddset(set.as_mut_ptr(), SIGTERM);
        let set = set.assume_init();
        let refused = libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        (set, refused)
    };
    if refused != 0 {
        let error = std::io::Error::from_raw_os_error(refused);
        return Err(Error::on_file("blocking signals in", hint, error));
    }
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            loop {
                let mut signal = 0;
                // SAFETY: both point to values that live through the call.
                let failed = unsafe { libc::sigwait(&raw const set, &raw mut signal) };
                // EINTR is no error of sigwait on Linux; nothing else can fail with a
                // valid set.
                if failed == 0 {
                    take(signal);
                }
            }
        })
        .map(drop)
        .map_err(|error| Error::on_file("starting a thread for signals for", hint, error))
}

/// Ends the process at once: nothing is dropped, no thread is waited for. Threads that
/// wait uninterruptibly for a device keep it in the process table until that answers.
pub fn end_now(code: i32) -> ! {
    // SAFETY: _exit takes a number, and does not return.
    unsafe { libc::_exit(code) }
}
