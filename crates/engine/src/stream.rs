//! One stream of a trial on a file: its engine, made on the thread that uses it,
//! and its part of the work.

use crate::buffers::Buffers;
use crate::clock::{Clock, Monotonic, Source, Ticks, Timescale};
use crate::cpu::thread_cpu_ns;
use crate::crew::Start;
use crate::engine::{Abilities, Engine};
use crate::error::TrialError;
use crate::handling::Handling;
use crate::io_priority;
use crate::measure::{Job, Record, measure};
use crate::null::Null;
use crate::outcome::StreamRecord;
use crate::part::Part;
use crate::pick::{Kind, Picked, sync_each};
use crate::pool::Pool;
use crate::run_delay::RunDelay;
use crate::sync::Sync;
use crate::trial::{Progress, Trial};
use diskfacts_plan::BufferAlignment;
use diskfacts_plan::pattern::Range;
use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;

/// What the streams of a workload have in common.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) trial: Trial<'a>,
    pub(crate) picked: &'a Picked,
    pub(crate) clock: Clock,
    pub(crate) progress: &'a Progress,
    /// Whether it goes over its range again and again, and drops it from the
    /// page cache after each pass.
    pub(crate) drops_behind: bool,
}

/// One thread's part of a trial.
#[derive(Clone, Copy)]
pub(crate) struct Share<'a> {
    pub(crate) work: Work<'a>,
    pub(crate) part: Part<'a>,
}

impl Share<'_> {
    /// Measures, on its thread.
    pub(crate) fn run(&self, start: &Start) -> Result<StreamRecord, TrialError> {
        // Before the engine is made, whose threads inherit it.
        io_priority::enter(self.work.trial.workload.io_priority)?;
        match self.work.clock.source() {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc => self.run_on(crate::clock::Tsc, start),
            _ => self.run_on(Monotonic, start),
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

    fn run_on<T: Ticks>(&self, ticks: T, start: &Start) -> Result<StreamRecord, TrialError> {
        let workload = self.work.trial.workload;
        let picked = self.work.picked;
        let scale: Timescale = self.work.clock.scale();
        if picked.kind == Kind::Null {
            let engine = Null::new(ticks, scale, picked.depth, workload.block_size);
            return self.go(engine, (false, None), start);
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
                self.go(engine, granted, start)
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
                self.go(engine, granted, start)
            }
            #[cfg(target_os = "linux")]
            Kind::Uring { iopoll, sqpoll } => {
                let options = crate::uring::Options {
                    depth: picked.depth,
                    iopoll,
                    sqpoll,
                    workers: None,
                    nowait: crate::uring::NoWait::Never,
                };
                self.go(uring(opened.file, options)?, granted, start)
            }
            #[cfg(target_os = "linux")]
            Kind::UringWorkers { threads } => {
                let options = crate::uring::Options {
                    depth: picked.depth,
                    workers: Some(threads),
                    ..crate::uring::Options::default()
                };
                self.go(uring(opened.file, options)?, granted, start)
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
                self.go(engine, granted, start)
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
        granted: (bool, Option<String>),
        start: &Start,
    ) -> Result<StreamRecord, TrialError> {
        let mut job = self.part.job(self.work.progress);
        let loops = |engine: &mut E, job: &mut Job<'_>| {
            if self.work.drops_behind {
                self.in_passes(engine, job)
            } else {
                measure(engine, job)
            }
        };
        go(
            &mut engine,
            &mut job,
            loops,
            granted,
            (self.work.clock, start),
        )
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
}

/// Measures one thread's part with `loops`, from the tick on at which all start.
///
/// # Errors
/// When the engine broke, or the trial was given up.
pub(crate) fn go<'j, E: Engine>(
    engine: &mut E,
    job: &mut Job<'j>,
    loops: impl Fn(&mut E, &mut Job<'j>) -> io::Result<Record>,
    (direct, direct_refused): (bool, Option<String>),
    (clock, start): (Clock, &Start),
) -> Result<StreamRecord, TrialError> {
    let abilities = engine.abilities();
    let moment = start.wait(clock)?;
    job.intervals_from = Some(moment.start);
    job.time_from = moment.agreed;
    let mut run_delay = RunDelay::of_this_thread();
    let mut waited = |engine: &mut E| Some(run_delay.as_mut()?.ns()? + engine.servers_waited_ns()?);
    let waited_before = waited(engine);
    let before = thread_cpu_ns();
    let record = loops(engine, job).map_err(|source| TrialError::Broken {
        engine: abilities.name,
        source,
    })?;
    let cpu_ns = thread_cpu_ns().saturating_sub(before);
    let waited_ns = waited(engine)
        .zip(waited_before)
        .map(|(after, before)| after.saturating_sub(before));
    let abilities = Abilities {
        resubmitted: engine.abilities().resubmitted,
        ..abilities
    };
    Ok(StreamRecord {
        // Whoever hired the thread knows.
        thread: 0,
        record,
        abilities,
        direct,
        direct_refused,
        cpu_ns: Some(cpu_ns),
        waited_ns,
        io_priority: io_priority::of_this_thread(),
    })
}

/// Drops a range of a file from the page cache, as far as it is clean: the folios
/// that hold it, which the kernel drops as a whole or not at all and which have up
/// to 2 MiB (`MAX_PAGECACHE_ORDER`, include/linux/pagemap.h).
fn drop_range(file: &File, range: Range) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{Advice, fadvise};
        const FOLIO_BYTES: u64 = 2 << 20;
        let start = range.start / FOLIO_BYTES * FOLIO_BYTES;
        let end = (range.start + range.bytes()).next_multiple_of(FOLIO_BYTES);
        let length = std::num::NonZeroU64::new(end - start);
        fadvise(file, start, length, Advice::DontNeed)?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, range);
    Ok(())
}
