//! The signals that end a process, on a thread of their own.
//!
//! A handler runs on whichever thread the kernel picks, the first one above all; where
//! that one waits for a device that does not answer, no handler runs until it does. Here
//! they are blocked in every thread but one, which does nothing but take them
//! (sigwait(3)). So they are taken whatever the others wait for, and no system call of
//! theirs is interrupted. A program that is started inherits that they are blocked, unless
//! [`may_be_ended`] is asked for it.
//!
//! SIGHUP is what a terminal that is closed and a connection that broke send; who began a
//! process so that it ignores that (`nohup`), or SIGQUIT, has it go on.

use crate::error::Error;
use std::mem::MaybeUninit;

/// What ends a process, and can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndSignal {
    /// SIGINT: what Ctrl-C sends.
    Interrupt,
    /// SIGTERM: what `kill` sends.
    Terminate,
    /// SIGHUP: what a terminal sends that is closed.
    HangUp,
    /// SIGQUIT: what Ctrl-\ sends.
    Quit,
}

impl EndSignal {
    const ALL: [Self; 4] = [Self::Interrupt, Self::Terminate, Self::HangUp, Self::Quit];

    /// Its number.
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::HangUp => libc::SIGHUP,
            Self::Quit => libc::SIGQUIT,
        }
    }

    /// The one of this number.
    pub fn of_number(number: i32) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|signal| signal.number() == number)
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "Ctrl-C",
            Self::Terminate => "SIGTERM",
            Self::HangUp => "SIGHUP",
            Self::Quit => "SIGQUIT",
        }
    }

    /// Whether it is taken. A script's `&` has SIGINT ignored as well, and who sends it
    /// there all the same means it.
    fn is_taken(self) -> bool {
        match self {
            Self::Interrupt | Self::Terminate => true,
            Self::HangUp | Self::Quit => !is_ignored(self.number()),
        }
    }
}

/// Whether this process was begun so that it ignores a signal.
fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null pointer sets no action, and the other is to room for one; it is read
    // only where the call says that it wrote it.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Gives each [`EndSignal`] from now on to `take`, on a thread of its own.
/// To be called once, by the first thread and before it starts others: these inherit
/// that the signals are blocked.
///
/// # Errors
/// When they cannot be blocked, or the thread not started.
pub fn receive(mut take: impl FnMut(EndSignal) + Send + 'static) -> Result<(), Error> {
    let hint = "a process may be near its limit of threads: `ulimit -u`";
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset makes the set that it is given, and the others work on the set
    // that was made; a null pointer asks for no old mask.
    let (set, refused) = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in EndSignal::ALL
            .into_iter()
            .filter(|signal| signal.is_taken())
        {
            libc::sigaddset(set.as_mut_ptr(), signal.number());
        }
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
                if failed == 0
                    && let Some(signal) = EndSignal::of_number(signal)
                {
                    take(signal);
                }
            }
        })
        .map(drop)
        .map_err(|error| Error::on_file("starting a thread for signals for", hint, error))
}

/// Lets a program that will be started be ended by them: it would inherit that they are
/// blocked, and wait for none.
#[cfg(unix)]
pub fn may_be_ended(command: &mut std::process::Command) -> &mut std::process::Command {
    use std::os::unix::process::CommandExt;
    let unblock = || {
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigemptyset makes the set that is set; a null pointer asks for no old mask.
        let refused = unsafe {
            libc::sigemptyset(none.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut())
        };
        match refused {
            0 => Ok(()),
            error => Err(std::io::Error::from_raw_os_error(error)),
        }
    };
    // SAFETY: between fork and exec it only calls sigemptyset(3) and pthread_sigmask(3), which
    // may be called there (signal-safety(7)); nothing is allocated.
    unsafe { command.pre_exec(unblock) }
}

/// Ends the process at once: nothing is dropped, no thread is waited for. Threads that
/// wait uninterruptibly for a device keep it in the process table until that answers.
pub fn end_now(code: i32) -> ! {
    // SAFETY: _exit takes a number, and does not return.
    unsafe { libc::_exit(code) }
}
