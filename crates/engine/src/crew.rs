//! The threads of a trial: each makes its engine, says that it is ready, waits
//! for the tick at which all start, and measures.

use crate::clock::{Clock, Ticks};
use crate::engine::idle_real;
use crate::error::TrialError;
use crate::lookout::Lookout;
use crate::outcome::StreamRecord;
use crate::trial::AgreedStart;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::Scope;
use std::time::Duration;

/// What a thread tells the caller.
enum Event {
    /// It can start; and which thread of the kernel it is.
    Ready(u32),
    Ended(Box<StreamRecord>),
    Failed(TrialError),
    /// It is gone; after `Ended` or `Failed` that is as it should be.
    Gone,
}

/// Tells the caller that the thread is gone, even when it panicked.
struct Farewell(mpsc::Sender<Event>);

impl Drop for Farewell {
    fn drop(&mut self) {
        // The caller stops listening once it has failed.
        let _ = self.0.send(Event::Gone);
    }
}

/// How a share is run, on its thread.
pub(crate) type Run<'a, S> =
    dyn Fn(S, &Start) -> Result<StreamRecord, TrialError> + std::marker::Sync + 'a;

/// Threads that do the same. Dropping it lets those that wait go home.
pub(crate) struct Crew {
    inbox: mpsc::Receiver<Event>,
    starters: Vec<mpsc::Sender<Moment>>,
}

fn vanished() -> TrialError {
    TrialError::Thread("ended without a record; this is a bug".to_owned())
}

/// When all start, ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) start: u64,
    /// When other hosts started, or were to; this one may be late. Their time is over at one
    /// moment, so it counts from here.
    pub(crate) agreed: Option<u64>,
}

/// What a thread waits for before it measures.
pub(crate) struct Start {
    farewell: Farewell,
    started: mpsc::Receiver<Moment>,
}

impl Start {
    /// Says that this thread is ready, and waits for the moment at which all
    /// start; answers which it was.
    ///
    /// # Errors
    /// When the trial was given up.
    pub(crate) fn wait(&self, clock: Clock) -> Result<Moment, TrialError> {
        // Nobody listens any more, or nobody starts us.
        let given_up = || TrialError::Thread("was not started".to_owned());
        let ready = Event::Ready(thread_id());
        self.farewell.0.send(ready).map_err(|_| given_up())?;
        let moment = self.started.recv().map_err(|_| given_up())?;
        idle_real(clock, clock.scale(), moment.start);
        Ok(moment)
    }
}

impl Crew {
    /// Starts a thread for each share, which runs it. With `lingers` a thread that
    /// is done early stays until that is set, so that what the kernel charged to
    /// it can be read to the end.
    ///
    /// # Errors
    /// When one could not be started.
    pub(crate) fn hire<'scope, S: Send + 'scope>(
        scope: &'scope Scope<'scope, '_>,
        shares: impl Iterator<Item = S>,
        run: &'scope Run<'scope, S>,
        name: &str,
        lingers: Option<&'scope AtomicBool>,
    ) -> Result<Self, TrialError> {
        let (events, inbox) = mpsc::channel();
        let mut starters = Vec::new();
        for (thread, share) in (0..).zip(shares) {
            let (sender, receiver) = mpsc::channel::<Moment>();
            starters.push(sender);
            let start = Start {
                farewell: Farewell(events.clone()),
                started: receiver,
            };
            std::thread::Builder::new()
                .name(format!("{name}-{thread}"))
                .spawn_scoped(scope, move || {
                    let ended = run(share, &start);
                    linger(lingers);
                    let event = match ended {
                        Ok(record) => Event::Ended(Box::new(StreamRecord { thread, ..record })),
                        Err(error) => Event::Failed(error),
                    };
                    let _ = start.farewell.0.send(event);
                })
                .map_err(|error| TrialError::Thread(format!("could not be started: {error}")))?;
        }
        Ok(Self { inbox, starters })
    }

    /// Waits until all are ready; answers which threads of the kernel they are.
    ///
    /// # Errors
    /// What kept one from it.
    pub(crate) fn ready(&self) -> Result<Vec<u32>, TrialError> {
        let mut threads = Vec::with_capacity(self.starters.len());
        for _ in &self.starters {
            match self.inbox.recv() {
                Ok(Event::Ready(thread)) => threads.push(thread),
                Ok(Event::Failed(error)) => return Err(error),
                Ok(Event::Ended(_) | Event::Gone) | Err(_) => return Err(vanished()),
            }
        }
        Ok(threads)
    }

    /// Starts all at one tick, soon; each wake-up takes some 50 µs, and all
    /// shall be awake when it comes.
    ///
    /// # Errors
    /// When one is gone.
    pub(crate) fn start(&self, clock: Clock) -> Result<(), TrialError> {
        let start = clock.now() + clock.scale().ticks(self.lead_ns());
        self.start_at(Moment {
            start,
            agreed: None,
        })
    }

    /// Starts all at the tick that was agreed with other hosts, or as soon as it can where
    /// that is over.
    ///
    /// # Errors
    /// When it is too late for it, and nothing is started then; when one is gone.
    pub(crate) fn start_as_agreed(
        &self,
        clock: Clock,
        agreed: AgreedStart,
    ) -> Result<(), TrialError> {
        let scale = clock.scale();
        let agreed_tick = clock.anchor().tick_of(scale, agreed.monotonic_ns);
        let soonest = clock.now() + scale.ticks(self.lead_ns());
        let start = agreed_tick.max(soonest);
        let late_ns = scale.ns(start - agreed_tick);
        if late_ns > agreed.late_ns_max {
            return Err(TrialError::Late {
                late_ns,
                late_ns_max: agreed.late_ns_max,
            });
        }
        self.start_at(Moment {
            start,
            agreed: Some(agreed_tick),
        })
    }

    /// Nanoseconds from a call until all are awake.
    pub(crate) fn lead_ns(&self) -> u64 {
        200_000 + 50_000 * self.starters.len() as u64
    }

    fn start_at(&self, moment: Moment) -> Result<(), TrialError> {
        for starter in &self.starters {
            starter.send(moment).map_err(|_| vanished())?;
        }
        Ok(())
    }

    /// Waits until all have ended, and looks meanwhile.
    ///
    /// # Errors
    /// The first that failed.
    pub(crate) fn collect(&self, lookout: &mut Lookout) -> Result<Vec<StreamRecord>, TrialError> {
        let mut records = Vec::with_capacity(self.starters.len());
        while records.len() < self.starters.len() {
            match lookout.receive(&self.inbox) {
                Ok(Event::Ended(record)) => records.push(*record),
                Ok(Event::Failed(error)) => return Err(error),
                Ok(Event::Ready(_) | Event::Gone) if records.is_empty() => return Err(vanished()),
                Ok(Event::Ready(_) | Event::Gone) => {}
                Err(_) => return Err(vanished()),
            }
        }
        // In the order of the streams, whoever ended first.
        records.sort_by_key(|record| record.thread);
        Ok(records)
    }
}

/// Stays until the trial is over, where that was asked for.
fn linger(over: Option<&AtomicBool>) {
    while over.is_some_and(|over| !over.load(Ordering::Relaxed)) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The kernel's number of this thread; 0 where there is none to look up.
fn thread_id() -> u32 {
    #[cfg(target_os = "linux")]
    {
        rustix::thread::gettid()
            .as_raw_nonzero()
            .get()
            .unsigned_abs()
    }
    #[cfg(not(target_os = "linux"))]
    {
        0
    }
}
