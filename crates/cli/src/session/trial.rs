//! One trial, from the schedule to the record.

use super::around::Around;
use super::schedule::Next;
use crate::progress::{Display, Watched};
use crate::signals::Signals;
use crate::target::{Measured, Medium};
use diskfacts_engine::files::run_file_trial;
use diskfacts_engine::{Progress, Trial as Doing, TrialError, TrialOutcome, run_trial};
use diskfacts_facts::layers;
use diskfacts_plan::{CacheMode, Pattern, Plan, Stage, Workload};
use diskfacts_record::{Cpu, Evidence, Latency, Stack, Trial};
use std::path::Path;

/// Does one trial.
pub(super) fn run(
    next: &Next,
    plan: &Plan,
    measured: &mut Measured,
    stack: &Stack,
    signals: &Signals,
    display: &Display,
) -> Result<Trial, TrialError> {
    let stage = &plan.stages[next.stage];
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
    let progress = Progress {
        stop: signals.stop(),
        ..Progress::default()
    };
    let watched = Watched {
        stage: next.stage,
        // Files have many sizes.
        block_size: (!workload.operation.on_files()).then_some(workload.block_size),
        left_ns: next.left_ns,
        is_virtual: matches!(measured.medium, Medium::Simulated(_)),
    };
    let size = measured.target.size_bytes;
    let (outcome, evidence) = match &mut measured.medium {
        Medium::Simulated(computer) => display.watch(watched, &progress, || {
            computer.run_trial(&workload, next.seed, &progress)
        })?,
        Medium::File(file) => {
            let stop = signals.stop();
            let mut around = Around::new(&file.file, &workload, &measured.target, stack, &stop);
            let folder = Path::new(&measured.target.path);
            let doing = Doing {
                file: file.stream_file(size),
                workload: &workload,
                seed: next.seed,
            };
            let outcome = display.watch(watched, &progress, || {
                if workload.operation.on_files() {
                    run_file_trial(folder, &workload, next.seed, &progress, &mut around)
                } else {
                    run_trial(doing, &progress, &mut around)
                }
            })?;
            let mut evidence = Evidence::default();
            around.evidence(&mut evidence);
            (outcome, evidence)
        }
    };
    Ok(record(stage, next, workload, outcome, evidence, stack))
}

fn record(
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
        ..observed
    };
    let histograms = outcome.histograms;
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
    let mixed = workload.operation.has_two_kinds();
    Trial {
        stage: stage.name.clone(),
        number: next.number,
        order: next.order,
        settings: stage.settings.clone(),
        seconds: outcome.seconds,
        bytes,
        ops: outcome.ops,
        errors: outcome.errors,
        throughput_bytes_per_s: per_second(bytes),
        iops: per_second(outcome.ops),
        latency_ns: Latency::from(&histograms.all()),
        latency_read_ns: mixed.then(|| Latency::from(&histograms.read)),
        latency_write_ns: mixed.then(|| Latency::from(&histograms.write)),
        latency_service_ns: histograms.service.as_ref().map(Latency::from),
        layers: layers(&workload, &evidence, stack),
        cpu: Cpu {
            user_ns_per_io: per_io(outcome.user_ns),
            system_ns_per_io: per_io(outcome.system_ns),
            busiest_thread: outcome.busiest_thread,
        },
        workload,
        evidence,
        histograms: (&histograms).into(),
    }
}
