//! Ctrl-C, SIGTERM, SIGHUP and SIGQUIT: end the measurement, keep what is complete. A
//! second one ends the process at once.
//!
//! They are taken on a thread of their own, so that the first is answered, and the
//! second obeyed, while every other thread waits for a device.

use crate::exit::{Exit, Failure, OrFail, say};
use diskfacts_host::Roots;
use diskfacts_host::signals::{EndSignal, end_now, receive};
use diskfacts_record::Stack;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Whether a signal came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    /// Number of the last signal, if one came.
    last: Arc<AtomicI32>,
    wakes: Arc<Mutex<Vec<UnixStream>>>,
    awaited: Arc<Mutex<Option<Awaited>>>,
}

/// What is waited for when a signal has come.
#[derive(Debug, Clone, Default)]
struct Awaited {
    /// The device, as the kernel names it.
    device: Option<String>,
    /// Whether settings of the kernel may have been changed.
    changes: bool,
}

impl Signals {
    /// Listens from now on; once, and before there are other threads.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let signals = Self::default();
        let taken = signals.clone();
        receive(move |signal| taken.take(signal)).or_failed()?;
        Ok(signals)
    }

    fn take(&self, signal: EndSignal) {
        if self.stop.load(Ordering::SeqCst) {
            end_now(128 + signal.number());
        }
        self.last.store(signal.number(), Ordering::SeqCst);
        self.stop.store(true, Ordering::SeqCst);
        for mut wakes in self.wakes() {
            // Who waits no longer needs no waking.
            let _ = wakes.write_all(&[0]);
        }
        let awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(awaited) = awaited.clone() {
            // On a thread of its own: nobody may read what is said, and the second
            // signal must be taken all the same. Without that thread nothing is said.
            let _ = std::thread::Builder::new().spawn(move || say(&awaited.sentence(signal)));
        }
    }

    fn wakes(&self) -> Vec<UnixStream> {
        std::mem::take(&mut *self.wakes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on the first signal is answered with what is waited for: what is under
    /// way on top of this stack. Where nothing is, ending is a matter of moments.
    pub(crate) fn waits_for(&self, stack: &Stack, changes: bool) {
        let awaited = Awaited {
            device: stack.top().map(|device| device.name.clone()),
            changes,
        };
        *self.awaited.lock().unwrap_or_else(PoisonError::into_inner) = Some(awaited);
    }

    /// The flag that ends a trial.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// How to exit, if a signal came.
    pub(crate) fn came(&self) -> Option<Exit> {
        self.stop.load(Ordering::SeqCst).then(|| {
            // It was stored before `stop` was. A simulated computer that is to be interrupted
            // sets that alone.
            let last = EndSignal::of_number(self.last.load(Ordering::SeqCst));
            Exit::Stopped(last.unwrap_or(EndSignal::Interrupt))
        })
    }

    /// An error if a signal came: for work before the first trial.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.came() {
            Some(exit) => Err(Failure::interrupted(exit)),
            None => Ok(()),
        }
    }

    /// What wakes a wait when a signal comes, or has come.
    pub(crate) fn waker(&self) -> Result<Waker, Failure> {
        let (wakes, receives) = UnixStream::pair().or_failed()?;
        self.wakes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(wakes);
        if self.came().is_some() {
            // It may have come before there was anybody to wake.
            drop(self.wakes());
        }
        Ok(Waker { wakes: receives })
    }
}

impl Awaited {
    fn sentence(&self, signal: EndSignal) -> String {
        let name = signal.name();
        let again = match signal {
            EndSignal::Interrupt => "Ctrl-C again",
            EndSignal::Terminate | EndSignal::HangUp | EndSignal::Quit => "a second one",
        };
        let under_way = self.device.as_deref().and_then(|device| {
            let count = diskfacts_host::in_flight(&Roots::default(), device)?;
            match count {
                0 => None,
                1 => Some(format!("waiting for 1 operation at {device}")),
                _ => Some(format!("waiting for {count} operations at {device}")),
            }
        });
        let under_way = under_way.unwrap_or_else(|| "ending what is under way".to_owned());
        let changes = if self.changes {
            ", and what was changed is put back then by the watchdog"
        } else {
            ""
        };
        format!("diskfacts: {name}: {under_way}; {again} ends it now{changes}")
    }
}

/// Wakes a wait when a signal comes, also one that came just before it.
#[derive(Debug)]
pub(crate) struct Waker {
    wakes: UnixStream,
}

impl Waker {
    /// Waits until then, or until a signal came.
    pub(crate) fn wait(&self, until: Instant) -> Result<(), Failure> {
        self.wait_beside(&[], until)
    }

    /// The same, but also until one of these can be read.
    pub(crate) fn wait_beside(&self, others: &[PollFd<'_>], until: Instant) -> Result<(), Failure> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            let left = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            let mut awaited = vec![PollFd::new(&self.wakes, PollFlags::IN)];
            awaited.extend(others.iter().cloned());
            match poll(&mut awaited, Some(&left)) {
                // Time is up; or a signal came that is not for us, as of a
                // terminal that is resized.
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error).or_failed(),
            }
        }
    }
}
