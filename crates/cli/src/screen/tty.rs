//! The terminal of a full screen: its modes, its other screen, what is written and typed.
//!
//! It is `/dev/tty`, so standard output and standard error may be anything. It is opened
//! for this alone, and never waited for: where somebody holds its output (Ctrl-S), or a
//! connection is slow, pictures are left out. There is one, because its modes are the
//! terminal's and not the process's: whoever ends the process ([`restore`]) has to find it.
//!
//! Ctrl-C and Ctrl-\ send their signals as ever. Ctrl-Z is a key here: before the process
//! stops, the terminal has to be as it was.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr,
};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// The other screen (xterm's 1049), and no cursor (DECTCEM).
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
/// Cleared, so that nothing stays where there is no other screen.
const LEAVE: &[u8] = b"\x1b[0m\x1b[2J\x1b[H\x1b[?25h\x1b[?1049l";
/// What a special character is set to that no key shall send (`_POSIX_VDISABLE` of Linux).
const DISABLED: u8 = 0;
/// How long a terminal that takes nothing is given to take the last of it.
const PATIENCE: Duration = Duration::from_millis(500);

static OPEN: Mutex<Option<Tty>> = Mutex::new(None);

/// The terminal.
struct Tty {
    fd: OwnedFd,
    /// Its modes before, while they are changed.
    before: Option<Termios>,
    /// What it has not taken yet.
    pending: Vec<u8>,
}

/// How the terminal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It shows the screen, which has to be drawn from nothing.
    Fresh,
    /// It shows the screen, as it was left.
    Shows,
    /// It belongs to another job, as after `bg`, and is left alone.
    Others,
    /// It is gone.
    Gone,
}

/// Opens the terminal, and changes nothing of it; another descriptor of it, to wait with.
pub(super) fn take() -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = open("/dev/tty", flags, Mode::empty())?;
    tcgetattr(&fd)?;
    let other = fd.try_clone().map_err(|error| {
        // It was the system that said so.
        Errno::from_io_error(&error).unwrap_or(Errno::MFILE)
    })?;
    *lock() = Some(Tty {
        fd,
        before: None,
        pending: Vec::new(),
    });
    Ok(other)
}

fn lock() -> MutexGuard<'static, Option<Tty>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sees to it that the terminal shows the screen, if it is ours to.
pub(super) fn enter() -> State {
    let mut open = lock();
    let Some(tty) = &mut *open else {
        return State::Gone;
    };
    let state = tty.enter();
    if state == Ok(State::Gone) || state.is_err() {
        // Nothing can be put back where nothing is.
        *open = None;
        return State::Gone;
    }
    state.unwrap_or(State::Gone)
}

/// Columns and rows; 80 x 24 where the terminal does not say.
pub(super) fn size() -> (u16, u16) {
    let open = lock();
    let size = open.as_ref().and_then(|tty| tcgetwinsize(&tty.fd).ok());
    let size = size.map(|size| (size.ws_col, size.ws_row));
    size.filter(|size| size.0 > 0 && size.1 > 0)
        .unwrap_or((80, 24))
}

/// Whether all that was written before is taken, so that there is a use in writing more.
pub(super) fn is_ready() -> bool {
    lock().as_mut().is_some_and(|tty| {
        // An error is found again when there is something new to write.
        tty.flush().is_ok() && tty.pending.is_empty()
    })
}

/// Writes as much as the terminal takes now, and the rest when it is asked whether it is
/// ready. One that is gone takes nothing, which is found when it is entered again.
pub(super) fn write(bytes: Vec<u8>) {
    if let Some(tty) = &mut *lock() {
        tty.pending.extend(bytes);
        let _ = tty.flush();
    }
}

/// What was typed.
pub(super) fn read() -> Vec<u8> {
    let mut bytes = vec![0; 64];
    let open = lock();
    let ours = open.as_ref().filter(|tty| tty.before.is_some());
    let read = ours.map(|tty| rustix::io::read(&tty.fd, &mut bytes));
    // Nothing was typed, or the terminal is gone, which is found when it is entered again.
    bytes.truncate(read.and_then(Result::ok).unwrap_or(0));
    bytes
}

/// The terminal is as it was before, until it is entered again.
pub(super) fn leave() {
    if let Some(tty) = &mut *lock() {
        tty.leave();
    }
}

/// The terminal is as it was before, and nobody enters it again: for whoever ends the
/// process at once or panics, on whatever thread.
pub(crate) fn restore() {
    for _ in 0..100 {
        match OPEN.try_lock() {
            Ok(mut open) => return close(&mut open),
            Err(TryLockError::Poisoned(open)) => return close(&mut open.into_inner()),
            // Nobody holds it for long, but perhaps the thread that panics.
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

fn close(open: &mut Option<Tty>) {
    if let Some(mut tty) = open.take() {
        tty.leave();
    }
}

impl Tty {
    fn enter(&mut self) -> Result<State, Errno> {
        // Setting the modes of a terminal from the background would stop the process.
        if tcgetpgrp(&self.fd)? != getpgrp() {
            self.before = None;
            return Ok(State::Others);
        }
        let now = tcgetattr(&self.fd)?;
        let is_line_by_line = now.local_modes.contains(LocalModes::ICANON);
        // A shell that had the terminal meanwhile has set them as it likes them.
        if self.before.is_some() && !is_line_by_line {
            return Ok(State::Shows);
        }
        let mut modes = now.clone();
        modes
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO);
        modes.special_codes[SpecialCodeIndex::VSUSP] = DISABLED;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&self.fd, OptionalActions::Now, &modes)?;
        self.before = Some(now);
        self.pending = ENTER.to_vec();
        Ok(State::Fresh)
    }

    fn leave(&mut self) {
        let Some(before) = self.before.take() else {
            return;
        };
        self.pending.extend(LEAVE);
        if let Ok(false) = self.flush() {
            let patience = Timespec::try_from(PATIENCE).ok();
            let mut writable = [PollFd::new(&self.fd, PollFlags::OUT)];
            // Whatever comes of it, the next write says.
            let _ = poll(&mut writable, patience.as_ref());
            let _ = self.flush();
        }
        self.pending.clear();
        // A terminal that is gone has no modes.
        let _ = tcsetattr(&self.fd, OptionalActions::Now, &before);
    }

    /// Writes what is pending; whether all of it was taken.
    fn flush(&mut self) -> Result<bool, Errno> {
        while !self.pending.is_empty() {
            match rustix::io::write(&self.fd, &self.pending) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => {
                    self.pending.clear();
                    return Err(error);
                }
            }
        }
        Ok(true)
    }
}
