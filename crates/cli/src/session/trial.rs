//! One trial, from the schedule to the record.

use super::around::Around;
use super::observing::Chosen;
use super::schedule::Next;
use super::together::Appointment;
use super::{io_weight, kernel};
use crate::progress::{Display, Watched};
use crate::signals::Signals;
use crate::target::{Measured, Medium, OpenFile};
use diskfacts_engine::files::run_file_trial;
use diskfacts_engine::sim::Computer;
use diskfacts_engine::{Progress, Trial as Doing, TrialError, TrialOutcome, run_trial};
use diskfacts_facts::layers;
use diskfacts_host::observe::{BLOCK_LAYER, READ_AHEAD};
use diskfacts_plan::observe::observer;
use diskfacts_plan::{CacheMode, On, Pattern, Stage, Workload};
use diskfacts_record::evidence::Beside;
use diskfacts_record::{Cpu, Evidence, Latency, Stack, Target, Trial};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A trial that was done.
pub(super) struct Done {
    pub(super) trial: Trial,
    /// When its first stream began, nanoseconds on `CLOCK_MONOTONIC`; `None` in virtual time.
    pub(super) started_monotonic_ns: Option<u64>,
}

/// Does one trial, at its moment where it has an appointment with other hosts. On a file or
/// device `stop` ends it early: [`Signals::stop_trial`] where other hosts may call it off alone.
pub(super) fn run(
    next: &Next,
    stage: &Stage,
    measured: &mut Measured,
    stack: &Stack,
    (signals, stop): (&Signals, &Arc<AtomicBool>),
    display: &Display,
    appointment: Option<&mut Appointment<'_>>,
) -> Result<Done, TrialError> {
    let workload = workload_of(next, stage);
    let watched = Watched {
        stage: next.stage,
        number: next.number,
        left: next.left,
        is_virtual: matches!(measured.medium, Medium::Simulated(_)),
    };
    let folder = measured.folder();
    if workload.on == On::File
        && let Some(beside) = &measured.beside
    {
        let target = Target {
            size_bytes: beside.size_bytes,
            ..measured.target.clone()
        };
        let on = (&beside.file, &target, &beside.stack, &*folder);
        let doing = (stage, &workload, next);
        let (outcome, evidence) = on_file(on, doing, stop, display, watched, appointment)?;
        let stack = &beside.stack;
        return Ok(done(stage, next, workload, outcome, evidence, stack));
    }
    let (outcome, evidence) = match &mut measured.medium {
        Medium::Simulated(computer) => on_simulated(
            computer,
            (stage, &workload, next),
            signals,
            display,
            watched,
        )?,
        Medium::File(file) => {
            let on = (&*file, &measured.target, stack, &*folder);
            let doing = (stage, &workload, next);
            on_file(on, doing, stop, display, watched, appointment)?
        }
    };
    Ok(done(stage, next, workload, outcome, evidence, stack))
}

fn done(
    stage: &Stage,
    next: &Next,
    workload: Workload,
    outcome: TrialOutcome,
    evidence: Evidence,
    stack: &Stack,
) -> Done {
    Done {
        started_monotonic_ns: outcome.started_monotonic_ns,
        trial: record(stage, next, workload, outcome, evidence, stack),
    }
}

/// What a trial is to do, and what ends it.
fn workload_of(next: &Next, stage: &Stage) -> Workload {
    let mut workload = Workload {
        stop: next.stop,
        ..stage.workload.clone()
    };
    if workload.cache == CacheMode::Cold && workload.pattern == Pattern::Sequential {
        // The second time round the span would come from memory.
        let blocks = workload.span.map(|span| span / workload.block_size);
        let span = blocks.map(|blocks| blocks * workload.block_size);
        workload.stop.bytes = workload.stop.bytes.into_iter().chain(span).min();
    }
    workload
}

/// One trial on a simulated computer, and what is known of it.
fn on_simulated(
    computer: &mut Computer,
    (stage, workload, next): (&Stage, &Workload, &Next),
    signals: &Signals,
    display: &Display,
    watched: Watched,
) -> Result<(TrialOutcome, Evidence), TrialError> {
    let progress = Arc::new(Progress {
        stop: signals.stop(),
        ..Progress::default()
    });
    let set = computer.set_kernel(&stage.kernel);
    let settings = set.map_err(|error| TrialError::Engine(error.to_string()))?;
    let wanted =
        |name| observer(name).is_some_and(|observer| workload.observe.wants(observer, next.number));
    computer.observe_read_ahead(wanted(READ_AHEAD));
    computer.observe_requests(wanted(BLOCK_LAYER));
    let (outcome, evidence) = display.watch(watched, &progress, || {
        computer.run_trial(workload, next.seed, &progress)
    })?;
    let evidence = Evidence {
        settings,
        ..evidence
    };
    Ok((outcome, evidence))
}

/// One trial on a file or device of this machine, and what was observed.
fn on_file(
    (file, target, stack, folder): (&OpenFile, &Target, &Stack, &Path),
    (stage, workload, next): (&Stage, &Workload, &Next),
    stop: &Arc<AtomicBool>,
    display: &Display,
    watched: Watched,
    appointment: Option<&mut Appointment<'_>>,
) -> Result<(TrialOutcome, Evidence), TrialError> {
    let progress = Arc::new(Progress {
        stop: Arc::clone(stop),
        ..Progress::default()
    });
    let weight = io_weight::enter(stage).map_err(|error| TrialError::Prepare(error.into()))?;
    let observers = Chosen::new(workload, next.number, &file.file, stack);
    // What the record says counts from the beginning of the target.
    let (workload, target) = file.placed(workload, target);
    let (workload, target) = (&*workload, &*target);
    let mut around = Around::new(&file.file, workload, target, observers, stop)
        .beside(display.cpu())
        .dropping(kernel::dropped_before(stage))
        .within(next.prepare_ns)
        .at(appointment);
    let doing = Doing {
        file: file.stream_file(target.size_bytes),
        workload,
        seed: next.seed,
    };
    let mut outcome = display.watch(watched, &progress, || {
        if workload.operation.on_files() {
            run_file_trial(folder, workload, next.seed, &progress, &mut around)
        } else {
            run_trial(doing, &progress, &mut around)
        }
    })?;
    let mut evidence = Evidence::default();
    around.evidence(&mut evidence);
    // What watched it on threads of its own is no cost of the operations.
    let watching = around.watching_cpu();
    outcome.user_ns = without_watching(outcome.user_ns, watching.user_ns);
    outcome.system_ns = without_watching(outcome.system_ns, watching.system_ns);
    let weight = weight.map(|weight| io_weight::in_force(&weight, stage, stack));
    evidence.settings = kernel::dropped(stage).into_iter().chain(weight).collect();
    Ok((outcome, evidence))
}

/// Processor time of a trial without that of its observers and of the display. The kernel adds
/// up both at different moments: of a trial that was shorter than one look of theirs they took
/// nothing, and its time is not 0.
fn without_watching(all_ns: Option<u64>, own_ns: u64) -> Option<u64> {
    all_ns.map(|ns| if own_ns < ns { ns - own_ns } else { ns })
}

/// The record of a trial, from what the engine measured and what was observed.
pub(super) fn record(
    stage: &Stage,
    next: &Next,
    workload: Workload,
    outcome: TrialOutcome,
    observed: Evidence,
    stack: &Stack,
) -> Trial {
    let evidence = Evidence {
        engine: outcome.engine,
        issued: outcome.issued,
        clock: outcome.clock,
        errors: outcome.error_counts,
        intervals: outcome.intervals,
        streams: outcome.streams,
        beside: outcome.beside.map(|beside| Beside {
            process_io: observed.beside.and_then(|observed| observed.process_io),
            ..beside
        }),
        // Of each stage once: a timeline is looked at, and not added up.
        bursts: observed.bursts.filter(|_| next.number == 1),
        ..observed
    };
    let histograms = outcome.histograms;
    let latency_over_time = outcome.latency_over_time.filter(|_| outcome.ops > 0);
    let bytes = outcome.issued.read_bytes + outcome.issued.write_bytes;
    let per_second = |amount: u64| {
        if outcome.seconds > 0.0 {
            amount as f64 / outcome.seconds
        } else {
            0.0
        }
    };
    let per_io = |ns: Option<u64>| {
        ns.filter(|_| outcome.ops > 0)
            .map(|ns| ns as f64 / outcome.ops as f64)
    };
    let mixed = workload.operation.has_two_kinds() || workload.copy.is_some();
    Trial {
        stage: stage.name.clone(),
        number: next.number,
        order: next.order,
        settings: stage.settings.clone(),
        unsaid: Vec::new(),
        line: None,
        seconds: outcome.seconds,
        bytes,
        ops: outcome.ops,
        errors: outcome.errors,
        throughput_bytes_per_s: per_second(bytes),
        iops: per_second(outcome.ops),
        latency_ns: Latency::from(&histograms.measured(&workload)),
        latency_read_ns: mixed.then(|| Latency::from(&histograms.read)),
        latency_write_ns: mixed.then(|| Latency::from(&histograms.write)),
        latency_service_ns: histograms.service.as_ref().map(Latency::from),
        layers: layers(&workload, &evidence, stack),
        cpu: Cpu {
            user_ns_per_io: per_io(outcome.user_ns),
            system_ns_per_io: per_io(outcome.system_ns),
            wait_ns_per_io: per_io(outcome.waited_ns),
            busiest_thread: outcome.busiest_thread,
        },
        workload,
        evidence,
        latency_over_time: latency_over_time.as_ref().map(Into::into),
        histograms: (&histograms).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_who_watches_is_taken_out_and_never_leaves_none() {
        assert_eq!(without_watching(Some(100), 30), Some(70));
        assert_eq!(without_watching(Some(100), 0), Some(100));
        // The trials of files are short, and their time may be no more than that of one look.
        assert_eq!(without_watching(Some(100), 100), Some(100));
        assert_eq!(without_watching(Some(100), 130), Some(100));
        assert_eq!(without_watching(Some(0), 0), Some(0));
        assert_eq!(without_watching(None, 30), None);
    }
}
