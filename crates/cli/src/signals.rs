//! Ctrl-C and SIGTERM: end the measurement, keep what is complete. A second one
//! ends the process at once.

use crate::exit::{Exit, Failure, OrFail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// Whether a signal came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

impl Signals {
    /// Listens from now on.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or_default();
            // In this order: only when an earlier one set the flag, end now.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&signals.stop))
                .or_failed()?;
            flag::register_usize(signal, Arc::clone(&signals.which), number).or_failed()?;
            flag::register(signal, Arc::clone(&signals.stop)).or_failed()?;
        }
        Ok(signals)
    }

    /// The flag that ends a trial.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// How to exit, if a signal came.
    pub(crate) fn came(&self) -> Option<Exit> {
        self.stop.load(Ordering::Relaxed).then(|| {
            if self.which.load(Ordering::Relaxed) == usize::try_from(SIGTERM).unwrap_or_default() {
                Exit::Terminated
            } else {
                Exit::Interrupted
            }
        })
    }

    /// An error if a signal came: for work before the first trial.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.came() {
            Some(exit) => Err(Failure::interrupted(exit)),
            None => Ok(()),
        }
    }
}

/// Wakes a wait when a signal comes, also one that came just before it.
#[derive(Debug)]
pub(crate) struct Waker {
    wakes: UnixStream,
}

impl Waker {
    /// Wakes from now on; beside [`Signals`], which know what came.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let (wakes, receives) = UnixStream::pair().or_failed()?;
        for signal in [SIGINT, SIGTERM] {
            pipe::register(signal, wakes.try_clone().or_failed()?).or_failed()?;
        }
        Ok(Self { wakes: receives })
    }

    /// Waits until then, or until a signal came.
    pub(crate) fn wait(&self, until: Instant) -> Result<(), Failure> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            let left = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            let mut awaited = [PollFd::new(&self.wakes, PollFlags::IN)];
            match poll(&mut awaited, Some(&left)) {
                // Time is up; or a signal came that is not for us, as of a
                // terminal that is resized, or one that is, and then there is
                // something to read.
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error).or_failed(),
            }
        }
    }
}
