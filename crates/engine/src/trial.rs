//! One trial: threads, engines, and what they recorded together.

use crate::beside::{self, LEAD_NS};
use crate::clock::Clock;
use crate::cpu::Cpu;
use crate::crew::{Crew, Run, Start};
use crate::error::TrialError;
use crate::live::LiveLatencies;
use crate::lookout::Lookout;
use crate::outcome::{Conditions, TrialOutcome, add_up};
use crate::part::{Part, parts};
use crate::pick::{Picked, pick};
use crate::stream::{Share, Work};
use crate::stream_file::StreamFile;
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{CacheMode, EngineChoice, Operation, Pattern, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The random choices of what runs beside, apart from those of the trial.
pub(crate) const BESIDE_PART: u64 = 0x6265_7369_6465;

/// Watches a trial from outside.
#[derive(Debug, Default)]
pub struct Progress {
    /// Operations completed so far; updated some fifty times a second.
    pub operations: AtomicU64,
    /// The same operations by latency, updated together with them.
    pub latencies: LiveLatencies,
    /// Set to end the trial early, by a signal handler for example.
    pub stop: Arc<AtomicBool>,
    /// Virtual nanoseconds since the trial began, where time is virtual; 0
    /// where it is real.
    pub virtual_ns: Arc<AtomicU64>,
}

/// What is to be done around the measurement, on the caller's thread.
pub trait Prepare {
    /// After every stream is ready, before any starts: drop or warm the cache.
    ///
    /// # Errors
    /// Whatever keeps the trial from being measured.
    fn before(&mut self) -> Result<(), Box<dyn std::error::Error + Send + std::marker::Sync>>;
    /// When the streams are to start, where that was agreed with other hosts; `None` is at
    /// once. It comes back `lead_ns` nanoseconds before that moment, or as soon as it can.
    ///
    /// # Errors
    /// Whatever keeps the trial from being started.
    fn agreed_start(
        &mut self,
        lead_ns: u64,
    ) -> Result<Option<AgreedStart>, Box<dyn std::error::Error + Send + std::marker::Sync>> {
        let _ = lead_ns;
        Ok(None)
    }
    /// Right before the first stream starts, while what is to run beside it runs
    /// already, on these threads of the kernel: start the observers.
    fn window_opens(&mut self, beside: &[u32]) {
        let _ = beside;
    }
    /// Right after the last stream ended.
    fn after(&mut self);
}

/// A start that was agreed with other hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgreedStart {
    /// On `CLOCK_MONOTONIC`, nanoseconds.
    pub monotonic_ns: u64,
    /// Nanoseconds that it may be late.
    pub late_ns_max: u64,
}

/// Before an agreed start, nanoseconds in which observers open their window.
const WINDOW_NS: u64 = 10_000_000;

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

/// Runs one trial. `prepare` brackets the measurement on this thread.
///
/// # Errors
/// When it could not be run; nothing is measured then. What runs beside it may
/// fail while it is measured: the outcome says so.
pub fn run_trial(
    trial: Trial<'_>,
    progress: &Progress,
    prepare: &mut dyn Prepare,
) -> Result<TrialOutcome, TrialError> {
    let clock = Clock::get();
    let workload = trial.workload;
    let (picked, parts) = cast(trial, clock)?;
    let over = Arc::new(AtomicBool::new(false));
    let beside_progress = Progress {
        stop: Arc::clone(&over),
        ..Progress::default()
    };
    let beside = workload.beside.as_deref().map(|workload| Trial {
        workload,
        seed: Rng::for_part(trial.seed, BESIDE_PART).next_u64(),
        ..trial
    });
    let beside_cast = beside.map(|beside| cast(beside, clock)).transpose()?;

    let work = Work {
        trial,
        picked: &picked,
        clock,
        progress,
        drops_behind: false,
    };
    let run = |share: Share<'_>, start: &Start| share.run(start);
    std::thread::scope(|scope| {
        // Ended, whatever happens from here on.
        let _end = EndOf(&over);
        let beside = match (beside, &beside_cast) {
            (Some(trial), Some((picked, parts))) => {
                let work = Work {
                    trial,
                    picked,
                    progress: &beside_progress,
                    drops_behind: trial.workload.cache == CacheMode::Cold
                        && trial.workload.pattern == Pattern::Sequential,
                    ..work
                };
                let shares = parts.iter().map(|part| Share { work, part: *part });
                Some(Crew::hire(scope, shares, &run, "beside", Some(&over))?)
            }
            _ => None,
        };
        let shares = parts.iter().map(|part| Share { work, part: *part });
        let crew = Crew::hire(scope, shares, &run, "stream", None)?;
        let of = (workload, picked.fallbacks.as_slice());
        let operation = workload.beside.as_ref().map(|beside| beside.operation);
        let beside = beside.as_ref().zip(operation);
        let beside = beside.map(|(crew, operation)| (crew, operation, &*over));
        conduct(&crew, beside, of, prepare)
    })
}

/// Runs each share on a thread of its own, all from the same tick on, and adds
/// up what they recorded.
///
/// # Errors
/// When it could not be run; nothing is measured then.
pub(crate) fn on_threads<S: Send>(
    workload: &Workload,
    fallbacks: &[String],
    shares: impl Iterator<Item = S>,
    run: &Run<'_, S>,
    prepare: &mut dyn Prepare,
) -> Result<TrialOutcome, TrialError> {
    std::thread::scope(|scope| {
        let crew = Crew::hire(scope, shares, run, "stream", None)?;
        conduct(&crew, None, (workload, fallbacks), prepare)
    })
}

/// The engine of a workload, and the parts of its threads.
fn cast(trial: Trial<'_>, clock: Clock) -> Result<(Picked, Vec<Part<'_>>), TrialError> {
    let picked = pick(trial.workload, &trial.file, clock)?;
    let shape = (picked.depth, picked.lanes);
    let parts = parts(trial.workload, shape, trial.file.size, trial.seed)?;
    Ok((picked, parts))
}

/// Ends what runs beside when it goes, also on the way out of an error or panic:
/// its threads would be waited for.
struct EndOf<'a>(&'a AtomicBool);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Waits until all are ready, prepares, starts all at one tick, collects.
fn conduct(
    crew: &Crew,
    beside: Option<(&Crew, Operation, &AtomicBool)>,
    (workload, fallbacks): (&Workload, &[String]),
    prepare: &mut dyn Prepare,
) -> Result<TrialOutcome, TrialError> {
    let clock = Clock::get();
    let streams = crew.ready()?;
    let beside_threads = match beside {
        Some((beside, ..)) => beside.ready()?,
        None => Vec::new(),
    };
    prepare.before().map_err(TrialError::Prepare)?;
    let beside_ns = if beside.is_some() { LEAD_NS } else { 0 };
    let lead_ns = WINDOW_NS + beside_ns + crew.lead_ns();
    let agreed = prepare.agreed_start(lead_ns).map_err(TrialError::Prepare)?;
    if let Some((beside, ..)) = beside {
        beside.start(clock)?;
        std::thread::sleep(Duration::from_nanos(LEAD_NS));
    }
    prepare.window_opens(&beside_threads);
    let cpu_before = Cpu::of_others();
    let from = clock.anchor();
    let mut lookout = Lookout::new(clock, &streams);
    let measured = match agreed {
        None => crew.start(clock),
        Some(agreed) => crew.start_as_agreed(clock, agreed),
    }
    .and_then(|()| crew.collect(&mut lookout));
    let to = clock.anchor();
    let cpu_after = Cpu::of_others();
    prepare.after();
    let beside = beside.map(|(crew, operation, over)| {
        over.store(true, Ordering::Relaxed);
        beside::add_up(
            clock.scale(),
            operation,
            crew.collect(&mut Lookout::new(clock, &[])),
        )
    });
    let measured = measured?;
    let starts = measured.iter().map(|stream| stream.record.started);
    let started = starts.min().unwrap_or(0);
    let streams_ns = measured.iter().filter_map(|stream| stream.cpu_ns).sum();
    let spent = cpu_after.since(cpu_before, streams_ns);
    // What ran beside spent processor time of this process too.
    let alone = beside.is_none();
    let mut outcome = add_up(
        workload,
        fallbacks,
        Conditions {
            scale: clock.scale(),
            clock: clock.name(),
            drift_ppm: clock.drift_ppm(from, to),
            user_ns: alone.then_some(spent.user_ns),
            system_ns: alone.then_some(spent.system_ns),
        },
        measured,
    );
    outcome.beside = beside;
    outcome.started_monotonic_ns = Some(from.monotonic_ns_of(clock.scale(), started));
    lookout.tell(started, &mut outcome.engine);
    Ok(outcome)
}

/// What the measuring loop costs here per operation, nanoseconds: a short run
/// of the [`null`](crate::null) engine, one operation at a time. On an emulated
/// processor, where half a million operations take seconds, it is as many as
/// there is time for.
///
/// # Errors
/// When no thread could be started.
pub fn overhead_ns_per_io() -> Result<f64, TrialError> {
    let workload = Workload {
        engine: EngineChoice::Null,
        stop: diskfacts_plan::Stop {
            operations: Some(500_000),
            time_ns: Some(20_000_000),
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
