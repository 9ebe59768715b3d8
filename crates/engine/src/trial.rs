//! One trial: threads, engines, and what they recorded together.

use crate::buffers::Buffers;
use crate::clock::{Clock, Monotonic, Source, Ticks, Timescale};
use crate::cpu::{Cpu, thread_cpu_ns};
use crate::engine::{Engine, idle_real};
use crate::error::TrialError;
use crate::handling::Handling;
use crate::measure::{Job, measure};
use crate::null::Null;
use crate::outcome::{Conditions, StreamRecord, TrialOutcome, add_up};
use crate::part::{Part, parts};
use crate::pick::{Kind, Picked, pick, sync_each};
use crate::stream_file::StreamFile;
use crate::sync::Sync;
use diskfacts_plan::{BufferAlignment, EngineChoice, Workload};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, mpsc};

/// Watches a trial from outside.
#[derive(Debug, Default)]
pub struct Progress {
    /// Operations completed so far; updated some fifty times a second.
    pub operations: AtomicU64,
    /// Set to end the trial early, by a signal handler for example.
    pub stop: Arc<AtomicBool>,
    /// Virtual nanoseconds since the trial began, where time is virtual; 0
    /// where it is real.
    pub virtual_ns: Arc<AtomicU64>,
}

/// What is to be done around the measurement, on the caller's thread.
pub trait Prepare {
    /// After every stream is ready, before any starts: drop or warm the cache,
    /// start the observers.
    ///
    /// # Errors
    /// Whatever keeps the trial from being measured.
    fn before(&mut self) -> Result<(), Box<dyn std::error::Error + Send + std::marker::Sync>>;
    /// Right after the last stream ended.
    fn after(&mut self);
}

/// Nothing to do.
impl Prepare for () {
    fn before(&mut self) -> Result<(), Box<dyn std::error::Error + Send + std::marker::Sync>> {
        Ok(())
    }
    fn after(&mut self) {}
}

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// On which file.
    pub file: StreamFile<'a>,
    /// What to do; its stop rule must end it.
    pub workload: &'a Workload,
    /// Of every random choice.
    pub seed: u64,
}

/// What a thread tells the caller.
enum Event {
    Ready,
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

/// Runs one trial. `prepare` brackets the measurement on this thread.
///
/// # Errors
/// When it could not be run; nothing is measured then.
pub fn run_trial(
    trial: Trial<'_>,
    progress: &Progress,
    prepare: &mut dyn Prepare,
) -> Result<TrialOutcome, TrialError> {
    let clock = Clock::get();
    let workload = trial.workload;
    let picked = pick(workload, &trial.file, clock)?;
    let parts = parts(
        workload,
        (picked.depth, picked.lanes),
        trial.file.size,
        trial.seed,
    )?;
    let shares = parts.into_iter().map(|part| Share {
        trial,
        picked: &picked,
        clock,
        part,
    });
    let run = |share: Share<'_>, start: &Start| share.run(progress, start);
    on_threads(workload, &picked.fallbacks, shares, &run, prepare)
}

/// What a thread waits for before it measures.
pub(crate) struct Start {
    farewell: Farewell,
    started: mpsc::Receiver<u64>,
}

impl Start {
    /// Says that this thread is ready, and waits for the tick at which all
    /// start.
    fn wait(&self, clock: Clock) -> Result<(), TrialError> {
        // Nobody listens any more, or nobody starts us: the trial was given up.
        let given_up = || TrialError::Thread("was not started".to_owned());
        self.farewell.0.send(Event::Ready).map_err(|_| given_up())?;
        let start = self.started.recv().map_err(|_| given_up())?;
        idle_real(clock, clock.scale(), start);
        Ok(())
    }
}

/// Runs each share on a thread of its own, all from the same tick on, and adds
/// up what they recorded.
pub(crate) fn on_threads<S: Send>(
    workload: &Workload,
    fallbacks: &[String],
    shares: impl Iterator<Item = S>,
    run: &(dyn Fn(S, &Start) -> Result<StreamRecord, TrialError> + std::marker::Sync),
    prepare: &mut dyn Prepare,
) -> Result<TrialOutcome, TrialError> {
    let clock = Clock::get();
    std::thread::scope(|scope| {
        let (events, inbox) = mpsc::channel();
        let mut starters = Vec::new();
        for (thread, share) in shares.enumerate() {
            let (send, started) = mpsc::channel::<u64>();
            starters.push(send);
            let start = Start {
                farewell: Farewell(events.clone()),
                started,
            };
            std::thread::Builder::new()
                .name(format!("stream-{thread}"))
                .spawn_scoped(scope, move || {
                    let event = run(share, &start);
                    let _ = start.farewell.0.send(match event {
                        Ok(record) => Event::Ended(Box::new(record)),
                        Err(error) => Event::Failed(error),
                    });
                })
                .map_err(|error| TrialError::Thread(format!("could not be started: {error}")))?;
        }
        drop(events);
        conduct(fallbacks, workload, clock, &inbox, &starters, prepare)
    })
}

/// Waits until all are ready, prepares, starts all at one tick, collects.
/// Dropping `starters` on the way out of an error lets the others go home.
fn conduct(
    fallbacks: &[String],
    workload: &Workload,
    clock: Clock,
    inbox: &mpsc::Receiver<Event>,
    starters: &[mpsc::Sender<u64>],
    prepare: &mut dyn Prepare,
) -> Result<TrialOutcome, TrialError> {
    let vanished = || TrialError::Thread("ended without a record; this is a bug".to_owned());
    for _ in starters {
        match inbox.recv() {
            Ok(Event::Ready) => {}
            Ok(Event::Failed(error)) => return Err(error),
            Ok(Event::Ended(_) | Event::Gone) | Err(_) => return Err(vanished()),
        }
    }
    prepare.before().map_err(TrialError::Prepare)?;
    let cpu_before = Cpu::of_others();
    let from = clock.anchor();
    // Each wake-up takes some 50 µs; all shall be awake when the tick comes.
    let lead_ns = 200_000 + 50_000 * starters.len() as u64;
    let start = clock.now() + clock.scale().ticks(lead_ns);
    for starter in starters {
        starter.send(start).map_err(|_| vanished())?;
    }
    let mut records = Vec::with_capacity(starters.len());
    while records.len() < starters.len() {
        match inbox.recv() {
            Ok(Event::Ended(record)) => records.push(*record),
            Ok(Event::Failed(error)) => {
                prepare.after();
                return Err(error);
            }
            Ok(Event::Ready | Event::Gone) if records.is_empty() => {
                prepare.after();
                return Err(vanished());
            }
            Ok(Event::Ready | Event::Gone) => {}
            Err(_) => {
                prepare.after();
                return Err(vanished());
            }
        }
    }
    let to = clock.anchor();
    let cpu_after = Cpu::of_others();
    prepare.after();
    let spent = cpu_after.since(cpu_before);
    Ok(add_up(
        workload,
        fallbacks,
        Conditions {
            scale: clock.scale(),
            clock: clock.name(),
            drift_ppm: clock.drift_ppm(from, to),
            user_ns: Some(spent.user_ns),
            system_ns: Some(spent.system_ns),
        },
        records,
    ))
}

/// One thread's part of a trial.
#[derive(Clone, Copy)]
struct Share<'a> {
    trial: Trial<'a>,
    picked: &'a Picked,
    clock: Clock,
    part: Part<'a>,
}

impl Share<'_> {
    fn run(&self, progress: &Progress, start: &Start) -> Result<StreamRecord, TrialError> {
        match self.clock.source() {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc => self.run_on(crate::clock::Tsc, progress, start),
            _ => self.run_on(Monotonic, progress, start),
        }
    }

    fn run_on<T: Ticks>(
        &self,
        ticks: T,
        progress: &Progress,
        start: &Start,
    ) -> Result<StreamRecord, TrialError> {
        let workload = self.trial.workload;
        let scale: Timescale = self.clock.scale();
        if self.picked.kind == Kind::Null {
            let engine = Null::new(ticks, scale, self.picked.depth, workload.block_size);
            return self.go(engine, (false, None), progress, start);
        }
        let opened = self.trial.file.open(workload)?;
        let fill = workload.operation.writes().then_some(self.part.seed);
        let shift = match workload.buffer {
            BufferAlignment::Aligned => 0,
            BufferAlignment::Unaligned => 1,
        };
        let buffers = Buffers::shifted(
            self.picked.depth,
            workload.block_size,
            (self.trial.file.alignment, shift),
            fill,
        )
        .map_err(TrialError::Buffers)?;
        let granted = (opened.granted.direct, opened.granted.direct_refused);
        let sync_each = sync_each(workload.sync);
        let handling = Handling::of(workload);
        match self.picked.kind {
            Kind::Null | Kind::Sync { .. } => {
                let high_priority = self.picked.kind
                    == Kind::Sync {
                        high_priority: true,
                    };
                let engine = Sync::new(
                    (ticks, scale),
                    opened.file,
                    buffers,
                    sync_each,
                    high_priority,
                )
                .handling(handling);
                self.go(engine, granted, progress, start)
            }
            #[cfg(target_os = "linux")]
            Kind::Uring { iopoll, sqpoll } => {
                let options = crate::uring::Options {
                    depth: self.picked.depth,
                    iopoll,
                    sqpoll,
                };
                let engine = crate::uring::Uring::new(
                    (ticks, scale),
                    opened.file,
                    buffers,
                    sync_each,
                    options,
                )
                .map_err(|source| TrialError::Broken {
                    engine: "io_uring",
                    source,
                })?
                .handling(handling);
                self.go(engine, granted, progress, start)
            }
            #[cfg(target_os = "linux")]
            Kind::Mmap => {
                let engine = crate::mmap::Mmap::new(
                    (ticks, scale),
                    opened.file,
                    buffers,
                    sync_each,
                    handling,
                )
                .map_err(|source| TrialError::Broken {
                    engine: "mmap",
                    source,
                })?;
                self.go(engine, granted, progress, start)
            }
            #[cfg(not(target_os = "linux"))]
            Kind::Mmap => Err(TrialError::Engine(
                "the mmap engine exists on Linux only".into(),
            )),
            #[cfg(not(target_os = "linux"))]
            Kind::Uring { .. } => Err(TrialError::Engine("io_uring exists on Linux only".into())),
        }
    }

    fn go<E: Engine>(
        &self,
        mut engine: E,
        granted: (bool, Option<String>),
        progress: &Progress,
        start: &Start,
    ) -> Result<StreamRecord, TrialError> {
        let mut job = self.part.job(progress);
        go(&mut engine, &mut job, granted, self.clock, start)
    }
}

/// Measures one thread's part, from the tick on at which all start.
pub(crate) fn go<E: Engine>(
    engine: &mut E,
    job: &mut Job<'_>,
    (direct, direct_refused): (bool, Option<String>),
    clock: Clock,
    start: &Start,
) -> Result<StreamRecord, TrialError> {
    let abilities = engine.abilities();
    start.wait(clock)?;
    let before = thread_cpu_ns();
    let record = measure(engine, job).map_err(|source| TrialError::Broken {
        engine: abilities.name,
        source,
    })?;
    let cpu_ns = thread_cpu_ns().saturating_sub(before);
    Ok(StreamRecord {
        record,
        abilities,
        direct,
        direct_refused,
        cpu_ns: Some(cpu_ns),
    })
}

/// What the measuring loop costs here per operation, nanoseconds: a short run
/// of the [`null`](crate::null) engine, one operation at a time.
///
/// # Errors
/// When no thread could be started.
pub fn overhead_ns_per_io() -> Result<f64, TrialError> {
    let workload = Workload {
        engine: EngineChoice::Null,
        stop: diskfacts_plan::Stop {
            operations: Some(500_000),
            ..diskfacts_plan::Stop::default()
        },
        ..Workload::default()
    };
    let trial = Trial {
        file: StreamFile {
            path: Path::new(""),
            size: 1 << 30,
            alignment: 4096,
        },
        workload: &workload,
        seed: 1,
    };
    let outcome = run_trial(trial, &Progress::default(), &mut ())?;
    Ok(outcome.seconds * 1e9 / outcome.ops as f64)
}
