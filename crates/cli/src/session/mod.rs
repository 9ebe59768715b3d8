//! A run from beginning to end: open the target, give it content, do the trials
//! in rounds, store each as it ends, conclude.

mod around;
mod cache_proof;
mod copy;
mod fit;
mod kernel;
mod leftovers;
mod observing;
#[cfg(test)]
mod planted;
mod precondition;
mod schedule;
mod trial;
mod values;

use crate::args::{CacheProof, Common};
use crate::exit::{Exit, Failure, OrFail};
use crate::progress::Display;
use crate::signals::Signals;
use crate::target::{self, Filling, Measured, Medium, Wanted};
pub(crate) use copy::{CopyRequest, copy};
use diskfacts_engine::overhead_ns_per_io;
use diskfacts_facts::{explain, explain_document};
use diskfacts_host::{Roots, machine};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{EngineChoice, On, Plan};
use diskfacts_record::{Run, RunInfo, SCHEMA, Stack, Status, Target, TargetKind, Trial};
use jiff::Timestamp;
use schedule::Schedule;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The seed of a run on a simulated disk that was given none: such a run is the
/// same every time.
const SIMULATED_SEED: u64 = 1;

/// What to do.
pub(crate) struct Request<'a> {
    /// The target as it was given.
    pub(crate) target: &'a Path,
    /// The plan, with only the stages and as many trials as are wanted.
    pub(crate) plan: Plan,
    /// Whether the plan is one of ours, which adapts to its target.
    pub(crate) built_in: bool,
    /// How long all of it may take, nanoseconds.
    pub(crate) time_ns: u64,
    /// Size of the file that is made in a folder.
    pub(crate) size: Option<u64>,
    /// Whether a loop device is made over it.
    pub(crate) looped: bool,
    /// How the page cache is kept from serving, if not as the plan says.
    pub(crate) cache_proof: Option<CacheProof>,
    /// The uses that a verdict was asked for.
    pub(crate) uses: &'a [String],
    /// Seed of all random choices, if not drawn.
    pub(crate) seed: Option<u64>,
    /// Whose data may be destroyed.
    pub(crate) destroy_data_on: Option<&'a Path>,
    /// Where to store it.
    pub(crate) common: &'a Common,
}

/// A run that has ended.
pub(crate) struct Ended {
    pub(crate) run: Run,
    /// How to exit, when a signal ended it early.
    pub(crate) stopped: Option<Exit>,
    /// Where it is stored.
    pub(crate) store: PathBuf,
    /// Why not all of it is.
    pub(crate) not_stored: Option<Failure>,
}

/// Makes a run.
pub(crate) fn run(request: &Request<'_>, signals: &Signals) -> Result<Ended, Failure> {
    let began = Instant::now();
    let started = Timestamp::now();
    let simulated = target::simulated::name(request.target).is_some();
    let seed = request.seed.unwrap_or_else(|| {
        if simulated {
            SIMULATED_SEED
        } else {
            drawn(started)
        }
    });
    kernel::check(&request.plan)?;
    let asked = cache_proof::applied(&request.plan, request.cache_proof)?;
    let wanted = wanted(request, seed)?;
    let (mut measured, mut stack) = target::open(&wanted)?;
    // Before the file is filled: what fills it counts for the limit too.
    let _limit = cache_proof::begin(request.cache_proof, &request.plan, &mut measured)?;
    let (plan, notes) = fit::fit(&asked, &measured, request.built_in)?;
    // After all that may be wrong with the call, which must leave no store
    // behind; before anything is measured, which must be kept.
    let mut store = crate::storing::open(request.common)?;
    let mut display = Display::new(&plan);
    // What does no I/O needs no content, and files of a folder are others.
    let does_io = |plan: &Plan| {
        plan.stages.iter().any(|stage| {
            stage.workload.engine != EngineChoice::Null && !stage.workload.operation.on_files()
        })
    };
    let (plan, notes) = if let Medium::File(file) = &measured.medium
        && matches!(measured.target.kind, TargetKind::Folder | TargetKind::Loop)
        && does_io(&plan)
    {
        Filling {
            file,
            target: &mut measured.target,
            notes: &mut measured.notes,
            seed,
            values: values::of_plan(&plan, seed),
            time_ns: request.time_ns / 3,
        }
        .run(signals, &display)?;
        cache_proof::check(request.cache_proof, &measured)?;
        if measured.target.kind == TargetKind::Loop {
            stack = attach(request, &wanted, &mut measured, stack, signals, &display)?;
        }
        // A file that had to be shortened may no longer hold every stage.
        fit::fit(&asked, &measured, request.built_in)?
    } else if measured.target.kind == TargetKind::Loop {
        stack = target::looped::attach(&mut measured, None, stack)?;
        (plan, notes)
    } else {
        (plan, notes)
    };
    signals.check()?;
    measured.notes.extend(notes);
    measured.notes.extend(leftovers::remove(&plan, &measured)?);
    if matches!(measured.medium, Medium::File(_)) {
        measured.notes.extend(observing::leftovers());
        measured.notes.extend(observing::note(&plan, &stack));
    }
    let mut plan = plan;
    values::resolve(&mut plan, seed);
    if let Medium::File(file) = &measured.medium
        && measured.target.kind != TargetKind::Folder
    {
        values::fill(&plan, (file, measured.target.size_bytes), signals, &display)?;
    }

    let overhead_ns_per_io = match measured.medium {
        Medium::File(_) => Some(overhead_ns_per_io().or_failed()?),
        // Measuring costs no virtual time.
        Medium::Simulated(_) => None,
    };
    let mut run = begun(started, seed, &measured.target, stack, plan);
    run.run.budget_ns = Some(request.time_ns);
    run.run.overhead_ns_per_io = overhead_ns_per_io;
    run.run.notes.clone_from(&measured.notes);
    store
        .begin(&run, crate::storing::writer_of("self").as_ref())
        .or_failed()?;
    let stopped = trials(
        &mut run,
        &mut measured,
        &mut |run, trial| match trial {
            Some(trial) => store.add_trial(&run.run.id, trial).or_failed(),
            None => store.finish(run).or_failed(),
        },
        signals,
        &mut display,
        began,
    );
    display.finish();
    run.run.ended = Some(Timestamp::now().to_string());
    conclude(&mut run, request.uses);
    let not_stored = store.finish(&run).or_failed().err();
    Ok(Ended {
        run,
        stopped,
        store: store.path().to_owned(),
        not_stored,
    })
}

fn wanted<'a>(request: &Request<'a>, seed: u64) -> Result<Wanted<'a>, Failure> {
    let plan = &request.plan;
    let mut stages = plan.stages.iter();
    Ok(Wanted {
        given: request.target,
        size: request
            .size
            .or(cache_proof::size(request.cache_proof, request.target)?),
        looped: request.looped,
        writes: !plan.precondition.is_empty()
            || stages.any(|s| s.workload.writes_anything() && !s.workload.operation.on_files()),
        destroy_data_on: request.destroy_data_on,
        seed,
    })
}

/// Makes the loop device over the file that was filled, and before that a file
/// beside it, where stages are done on one.
fn attach(
    request: &Request<'_>,
    wanted: &Wanted<'_>,
    measured: &mut Measured,
    stack: Stack,
    signals: &Signals,
    display: &Display,
) -> Result<Stack, Failure> {
    let mut stages = request.plan.stages.iter();
    let beside = if stages.any(|stage| stage.workload.on == On::File) {
        let mut beside = target::looped::beside(wanted, measured, &stack)?;
        if let Medium::File(file) = &beside.medium {
            Filling {
                file,
                target: &mut beside.target,
                notes: &mut beside.notes,
                seed: wanted.seed.wrapping_add(1),
                values: None,
                time_ns: request.time_ns / 6,
            }
            .run(signals, display)?;
        }
        let size = beside.target.size_bytes;
        match beside.medium {
            Medium::File(file) => Some((file, size)),
            Medium::Simulated(_) => None,
        }
    } else {
        None
    };
    target::looped::attach(measured, beside, stack)
}

/// The record of a run before its first trial.
fn begun(started: Timestamp, seed: u64, target: &Target, stack: Stack, plan: Plan) -> Run {
    Run {
        schema: SCHEMA,
        run: RunInfo {
            id: id(started, seed),
            started: started.to_string(),
            ended: None,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            status: Status::Running,
            seed,
            budget_ns: None,
            overhead_ns_per_io: None,
            notes: Vec::new(),
            source: None,
        },
        machine: machine(&Roots::default()),
        target: target.clone(),
        stack,
        plan,
        preconditioning: Vec::new(),
        trials: Vec::new(),
        figures: Vec::new(),
        findings: Vec::new(),
        limits: Vec::new(),
        verdicts: Vec::new(),
    }
}

/// Keeps what a run has so far: this trial, or what was done before the trials.
type Keep<'a> = dyn FnMut(&Run, Option<&Trial>) -> Result<(), Failure> + 'a;

/// Preconditions the target, does the trials of a run within its budget and gives each
/// to `keep`; sets the status of the run. Says how to exit, when a signal ended them.
fn trials(
    run: &mut Run,
    measured: &mut Measured,
    keep: &mut Keep<'_>,
    signals: &Signals,
    display: &mut Display,
    began: Instant,
) -> Option<Exit> {
    let stack = run.stack.clone();
    let time_ns = run.run.budget_ns.unwrap_or(0);
    let before_ns = measured.elapsed_ns(began);
    let (mut failed, mut broken) = match precondition::run(run, measured, &stack, signals, display)
    {
        Ok(failed) => (failed, None),
        Err(error) => (false, Some(error)),
    };
    if !run.preconditioning.is_empty() && broken.is_none() {
        broken = keep(run, None).err();
    }
    // It takes what time it needs; that of the plan is for the trials.
    let apart_ns = measured.elapsed_ns(began).saturating_sub(before_ns);
    let elapsed_ns = before_ns;
    let mut schedule = Schedule::new(
        &run.plan,
        turns(&stack),
        run.run.seed,
        (time_ns, elapsed_ns),
    );
    let mut rounds = schedule.rounds();
    display.set_trials(rounds);
    let foreseen = schedule.note();
    while let Some(next) = schedule.next(measured.elapsed_ns(began).saturating_sub(apart_ns)) {
        if signals.came().is_some() || broken.is_some() {
            break;
        }
        if next.number > rounds {
            rounds = next.number;
            display.set_trials(rounds);
        }
        let stage = &run.plan.stages[next.stage];
        match trial::run(&next, stage, measured, &stack, signals, display).or_failed() {
            Ok(trial) if signals.came().is_none() => {
                failed |= trial.errors > 0;
                // Seconds of a trial are far below what a float holds exactly.
                schedule.took((trial.seconds * 1e9) as u64, trial.iops);
                broken = keep(run, Some(&trial)).err();
                display.trial_ended(next.stage, &trial);
                run.trials.push(trial);
            }
            // What a signal cut short is no trial of its stage.
            Ok(_) => break,
            Err(error) => broken = Some(error),
        }
        if broken.is_some() {
            break;
        }
    }
    // What came of it says more than what was foreseen.
    run.run.notes.extend(schedule.left_out().or(foreseen));
    if signals.came().is_none() && broken.is_none() {
        run.run.notes.extend(schedule.reached());
    }
    run.run.status = match (&broken, signals.came()) {
        (Some(_), _) => Status::Failed,
        (None, Some(_)) => Status::Interrupted,
        (None, None) if failed => Status::Failed,
        (None, None) => Status::Complete,
    };
    if let Some(broken) = broken {
        let note = format!("The run ended early: {}.", broken.sentence());
        run.run.notes.push(note);
    }
    signals.came()
}

/// Whether one of the disks under the target turns, as far as the kernel knows.
fn turns(stack: &Stack) -> bool {
    stack.leaves().any(|leaf| leaf.rotational == Some(true))
}

/// What follows from a run: figures, findings, limits, and verdicts for the uses that
/// were asked for, or for all.
pub(crate) fn conclude(run: &mut Run, uses: &[String]) {
    explain(run).put_into(run);
    if !uses.is_empty() {
        run.verdicts
            .retain(|verdict| uses.contains(&verdict.profile));
    }
}

/// Works out what follows from the runs of a document, from each and from all
/// of them together.
pub(crate) fn conclude_document(runs: &mut [Run]) {
    let explained = explain_document(runs);
    for (run, explanation) in runs.iter_mut().zip(explained) {
        explanation.put_into(run);
    }
}

/// A seed that no other run has, from the clock and the process.
fn drawn(now: Timestamp) -> u64 {
    let nanoseconds = now.as_nanosecond().unsigned_abs();
    // The low half varies fastest; the seed only has to differ.
    Rng::for_part(nanoseconds as u64, u64::from(std::process::id())).next_u64() >> 11
}

/// Sorts by time; runs of the same second differ by their seed.
pub(crate) fn id(now: Timestamp, seed: u64) -> String {
    let tail = Rng::for_part(seed, u64::from(std::process::id())).next_u64() & 0xffff_ffff;
    format!("{}-{tail:08x}", now.strftime("%Y%m%d-%H%M%S"))
}
