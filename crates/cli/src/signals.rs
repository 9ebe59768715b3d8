//! Ctrl-C, SIGTERM, SIGHUP and SIGQUIT: end the measurement, keep what is complete. A
//! second one ends the process at once.
//!
//! They are taken on a thread of their own, so that the first is answered, and the
//! second obeyed, while every other thread waits for a device.

use crate::exit::{Exit, Failure, OrFail, say_for_now};
use diskfacts_host::Roots;
use diskfacts_host::signals::{EndSignal, end_now, receive};
use diskfacts_record::Stack;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether a signal came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    /// What ends a trial: a signal, or the hosts that measure together with this one.
    stop_trial: Arc<AtomicBool>,
    /// What ends filling: a signal, or the end of those hosts' group.
    stop_filling: Arc<AtomicBool>,
    /// Number of the last signal, if one came.
    last: Arc<AtomicI32>,
    /// Whether a key ended it in the place of a signal.
    quit: Arc<AtomicBool>,
    stopped: Arc<(Mutex<Stopped>, Condvar)>,
    wakes: Arc<Mutex<Vec<UnixStream>>>,
    awaited: Arc<Mutex<Option<Awaited>>>,
}

/// How often all of this was stopped and continued, with Ctrl-Z, and how long it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stopped {
    pub(crate) times: u64,
    /// Nanoseconds, all together.
    pub(crate) ns: u64,
    is_under_way: bool,
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
            // A shell whose terminal is gone says so to its jobs, and when it ends the kernel says
            // so once more: nobody has asked twice.
            let hung_up = EndSignal::HangUp;
            if signal == hung_up && self.last.load(Ordering::SeqCst) == hung_up.number() {
                return;
            }
            crate::screen::restore();
            end_now(128 + signal.number());
        }
        self.last.store(signal.number(), Ordering::SeqCst);
        self.ends(
            signal.name(),
            match signal {
                EndSignal::Interrupt => "Ctrl-C again",
                EndSignal::Terminate | EndSignal::HangUp | EndSignal::Quit => "a second one",
            },
        );
    }

    /// A key ends it, as Ctrl-C would; what is pressed again changes nothing.
    pub(crate) fn quit(&self) {
        if !self.quit.swap(true, Ordering::SeqCst) && !self.stop.load(Ordering::SeqCst) {
            self.ends("q", "Ctrl-C");
        }
    }

    /// It ends because of `what`, and `again` would end it at once.
    fn ends(&self, what: &'static str, again: &'static str) {
        self.stop.store(true, Ordering::SeqCst);
        self.stop_trial.store(true, Ordering::SeqCst);
        self.stop_filling.store(true, Ordering::SeqCst);
        for mut wakes in self.wakes() {
            // Who waits no longer needs no waking.
            let _ = wakes.write_all(&[0]);
        }
        let awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(awaited) = awaited.clone() {
            // On a thread of its own: nobody may read what is said, and the second
            // signal must be taken all the same. Without that thread nothing is said.
            let _ = std::thread::Builder::new()
                .spawn(move || say_for_now(&awaited.sentence(what, again)));
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

    /// The flag that ends a trial: set also where other hosts call it off.
    pub(crate) fn stop_trial(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop_trial)
    }

    /// The flag that ends filling: set also where the group of hosts has ended.
    pub(crate) fn stop_filling(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop_filling)
    }

    /// Whether there is no group of hosts any more, and no signal ended this.
    pub(crate) fn is_called_off(&self) -> bool {
        self.stop_filling.load(Ordering::SeqCst) && self.came().is_none()
    }

    /// The flag that a signal came.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// How to exit, if a signal came.
    pub(crate) fn came(&self) -> Option<Exit> {
        self.stop.load(Ordering::SeqCst).then(|| {
            // It was stored before `stop` was. A simulated computer that is to be interrupted
            // sets that alone.
            match EndSignal::of_number(self.last.load(Ordering::SeqCst)) {
                Some(signal) => Exit::Stopped(signal),
                None if self.quit.load(Ordering::SeqCst) => Exit::Quit,
                None => Exit::Stopped(EndSignal::Interrupt),
            }
        })
    }

    /// All of this is stopped by `stop`, which answers how long it was: whoever asks what was
    /// stopped meanwhile waits for that.
    pub(crate) fn stopped_by(&self, stop: impl FnOnce() -> Duration) {
        let (stopped, ended) = &*self.stopped;
        let lock = || stopped.lock().unwrap_or_else(PoisonError::into_inner);
        lock().is_under_way = true;
        let time = stop();
        let mut stopped = lock();
        stopped.is_under_way = false;
        stopped.times += 1;
        stopped.ns += u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        ended.notify_all();
    }

    /// What was stopped so far.
    pub(crate) fn stopped(&self) -> Stopped {
        let (stopped, ended) = &*self.stopped;
        let stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = ended.wait_while(stopped, |stopped| stopped.is_under_way);
        *ended.unwrap_or_else(PoisonError::into_inner)
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
    fn sentence(&self, name: &str, again: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_is_gone_is_told_twice_and_ends_nothing_at_once() {
        let signals = Signals::default();
        // A second request would end this process.
        for _ in 0..2 {
            signals.take(EndSignal::HangUp);
        }
        assert_eq!(signals.came(), Some(Exit::Stopped(EndSignal::HangUp)));
    }
}
