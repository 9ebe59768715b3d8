//! The threads of a trial: each makes its engine, says that it is ready, waits
//! for the tick at which all start, and measures.

use crate::buffers::Buffers;
use crate::clock::{Clock, Monotonic, Source, Ticks, Timescale};
use crate::cpu::thread_cpu_ns;
use crate::engine::{Engine, idle_real};
use crate::error::TrialError;
use crate::handling::Handling;
use crate::measure::{Job, Record, measure};
use crate::null::Null;
use crate::outcome::StreamRecord;
use crate::part::Part;
use crate::pick::{Kind, Picked, sync_each};
use crate::pool::Pool;
use crate::sync::Sync;
use crate::trial::{Progress, Trial};
use diskfacts_plan::BufferAlignment;
use diskfacts_plan::pattern::Range;
use std::fs::File;
use std::io;
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

/// What the threads of a crew have in common.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) trial: Trial<'a>,
    pub(crate) picked: &'a Picked,
    pub(crate) clock: Clock,
    pub(crate) progress: &'a Progress,
    /// A thread that is done early stays until this is set, so that what the
    /// kernel charged to it can be read to the end.
    pub(crate) lingers: Option<&'a AtomicBool>,
    /// Whether it goes over its range again and again, and drops it from the
    /// page cache after each pass.
    pub(crate) drops_behind: bool,
}

/// Threads that do the same. Dropping it lets those that wait go home.
pub(crate) struct Crew {
    inbox: mpsc::Receiver<Event>,
    starters: Vec<mpsc::Sender<u64>>,
}

fn vanished() -> TrialError {
    TrialError::Thread("ended without a record; this is a bug".to_owned())
}

impl Crew {
    /// Starts a thread for each part.
    ///
    /// # Errors
    /// When one could not be started.
    pub(crate) fn hire<'scope>(
        scope: &'scope Scope<'scope, '_>,
        work: Work<'scope>,
        parts: Vec<Part<'scope>>,
        name: &str,
    ) -> Result<Self, TrialError> {
        let (events, inbox) = mpsc::channel();
        let mut starters = Vec::with_capacity(parts.len());
        for part in parts {
            let (start, started) = mpsc::channel::<u64>();
            starters.push(start);
            let farewell = Farewell(events.clone());
            let share = Share { work, part };
            std::thread::Builder::new()
                .name(format!("{name}-{}", part.thread))
                .spawn_scoped(scope, move || {
                    let event = share.run(&farewell.0, &started);
                    share.linger();
                    let _ = farewell.0.send(match event {
                        Ok(record) => Event::Ended(Box::new(record)),
                        Err(error) => Event::Failed(error),
                    });
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
        let lead_ns = 200_000 + 50_000 * self.starters.len() as u64;
        let start = clock.now() + clock.scale().ticks(lead_ns);
        for starter in &self.starters {
            starter.send(start).map_err(|_| vanished())?;
        }
        Ok(())
    }

    /// Waits until all have ended.
    ///
    /// # Errors
    /// The first that failed.
    pub(crate) fn collect(&self) -> Result<Vec<StreamRecord>, TrialError> {
        let mut records = Vec::with_capacity(self.starters.len());
        while records.len() < self.starters.len() {
            match self.inbox.recv() {
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

/// One thread's part of a trial.
#[derive(Clone, Copy)]
struct Share<'a> {
    work: Work<'a>,
    part: Part<'a>,
}

impl Share<'_> {
    fn run(
        &self,
        events: &mpsc::Sender<Event>,
        started: &mpsc::Receiver<u64>,
    ) -> Result<StreamRecord, TrialError> {
        match self.work.clock.source() {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc => self.run_on(crate::clock::Tsc, events, started),
            _ => self.run_on(Monotonic, events, started),
        }
    }

    fn buffers(&self, depth: u32, seed: u64) -> Result<Buffers, TrialError> {
        let workload = self.work.trial.workload;
        let fill = workload.operation.writes().then_some(seed);
        let shift = match workload.buffer {
            BufferAlignment::Aligned => 0,
            BufferAlignment::Unaligned => 1,
        };
        let alignment = self.work.trial.file.alignment;
        Buffers::shifted(depth, workload.block_size, (alignment, shift), fill)
            .map_err(TrialError::Buffers)
    }

    fn run_on<T: Ticks>(
        &self,
        ticks: T,
        events: &mpsc::Sender<Event>,
        started: &mpsc::Receiver<u64>,
    ) -> Result<StreamRecord, TrialError> {
        let workload = self.work.trial.workload;
        let picked = self.work.picked;
        let scale: Timescale = self.work.clock.scale();
        if picked.kind == Kind::Null {
            let engine = Null::new(ticks, scale, picked.depth, workload.block_size);
            return self.go(engine, (false, None), events, started);
        }
        let opened = self.work.trial.file.open(workload)?;
        let granted = (opened.granted.direct, opened.granted.direct_refused);
        let sync_each = sync_each(workload.sync);
        let handling = Handling::of(workload);
        #[cfg(target_os = "linux")]
        let uring = |file, options| {
            let buffers = self.buffers(picked.depth, self.part.seed)?;
            let time = (ticks, scale);
            let ring = crate::uring::Uring::new(time, file, buffers, sync_each, options);
            ring.map(|ring| ring.handling(handling))
                .map_err(|source| TrialError::Broken {
                    engine: "io_uring",
                    source,
                })
        };
        match picked.kind {
            Kind::Null | Kind::Sync { .. } => {
                let high_priority = picked.kind
                    == Kind::Sync {
                        high_priority: true,
                    };
                let buffers = self.buffers(picked.depth, self.part.seed)?;
                let engine = Sync::new(
                    (ticks, scale),
                    opened.file,
                    buffers,
                    sync_each,
                    high_priority,
                )
                .handling(handling);
                self.go(engine, granted, events, started)
            }
            Kind::Pool { threads } => {
                let buffers = (0..u64::from(threads))
                    .map(|thread| self.buffers(1, self.part.seed.wrapping_add(thread)))
                    .collect::<Result<_, _>>()?;
                let time = (ticks, scale);
                let work = (sync_each, handling);
                let engine = Pool::new(time, opened.file, buffers, work, picked.depth).map_err(
                    |source| TrialError::Broken {
                        engine: "pool",
                        source,
                    },
                )?;
                self.go(engine, granted, events, started)
            }
            #[cfg(target_os = "linux")]
            Kind::Uring { iopoll, sqpoll } => {
                let options = crate::uring::Options {
                    depth: picked.depth,
                    iopoll,
                    sqpoll,
                    workers: None,
                };
                self.go(uring(opened.file, options)?, granted, events, started)
            }
            #[cfg(target_os = "linux")]
            Kind::UringWorkers { threads } => {
                let options = crate::uring::Options {
                    depth: picked.depth,
                    workers: Some(threads),
                    ..crate::uring::Options::default()
                };
                self.go(uring(opened.file, options)?, granted, events, started)
            }
            #[cfg(target_os = "linux")]
            Kind::Mmap => {
                let buffers = self.buffers(picked.depth, self.part.seed)?;
                let time = (ticks, scale);
                let engine =
                    crate::mmap::Mmap::new(time, opened.file, buffers, sync_each, handling)
                        .map_err(|source| TrialError::Broken {
                            engine: "mmap",
                            source,
                        })?;
                self.go(engine, granted, events, started)
            }
            #[cfg(not(target_os = "linux"))]
            Kind::Mmap => Err(TrialError::Engine(
                "the mmap engine exists on Linux only".into(),
            )),
            #[cfg(not(target_os = "linux"))]
            Kind::Uring { .. } | Kind::UringWorkers { .. } => {
                Err(TrialError::Engine("io_uring exists on Linux only".into()))
            }
        }
    }

    fn go<E: Engine>(
        &self,
        mut engine: E,
        (direct, direct_refused): (bool, Option<String>),
        events: &mpsc::Sender<Event>,
        started: &mpsc::Receiver<u64>,
    ) -> Result<StreamRecord, TrialError> {
        let abilities = engine.abilities();
        let mut job = self.part.job(self.work.progress);
        let clock = self.work.clock;
        // Nobody listens any more, or nobody starts us: the trial was given up.
        let given_up = || TrialError::Thread("was not started".to_owned());
        events
            .send(Event::Ready(thread_id()))
            .map_err(|_| given_up())?;
        let start = started.recv().map_err(|_| given_up())?;
        idle_real(clock, clock.scale(), start);
        let before = thread_cpu_ns();
        let broken = |source| TrialError::Broken {
            engine: abilities.name,
            source,
        };
        let record = if self.work.drops_behind {
            self.in_passes(&mut engine, &mut job)
        } else {
            measure(&mut engine, &mut job)
        }
        .map_err(broken)?;
        let cpu_ns = thread_cpu_ns().saturating_sub(before);
        Ok(StreamRecord {
            thread: self.part.thread,
            record,
            abilities,
            direct,
            direct_refused,
            cpu_ns: Some(cpu_ns),
        })
    }

    /// Measures pass by pass until told to stop, and drops the range from the
    /// page cache after each, as `dd` does when it closes a device: the next one
    /// would come from memory and disturb nobody.
    fn in_passes<E: Engine>(&self, engine: &mut E, job: &mut Job<'_>) -> io::Result<Record> {
        let range = self.part.range();
        job.operations = Some(range.count);
        let file = File::open(self.work.trial.file.path)?;
        let mut sum = measure(engine, job)?;
        while !sum.gave_up && !job.stop.load(Ordering::Relaxed) {
            drop_range(&file, range)?;
            sum.append(measure(engine, job)?);
        }
        Ok(sum)
    }

    /// Stays until the trial is over, where that was asked for.
    fn linger(&self) {
        while self
            .work
            .lingers
            .is_some_and(|over| !over.load(Ordering::Relaxed))
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Drops a range of a file from the page cache, as far as it is clean.
fn drop_range(file: &File, range: Range) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if let Some(length) = std::num::NonZeroU64::new(range.bytes()) {
        use rustix::fs::{Advice, fadvise};
        fadvise(file, range.start, Some(length), Advice::DontNeed)?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, range);
    Ok(())
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
