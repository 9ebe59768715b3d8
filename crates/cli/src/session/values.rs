//! Content that can be checked, put where stages ask for it before the first
//! trial.

use crate::exit::{Failure, OrFail};
use crate::progress::Display;
use crate::signals::Signals;
use crate::target::OpenFile;
use diskfacts_engine::{Progress, Trial, run_trial};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{
    CacheMode, EngineChoice, Operation, Pattern, Plan, Stop, SyncMode, Values, Workload,
};
use diskfacts_record::{Target, TargetKind};

/// Gives content without a seed that of the run.
pub(super) fn resolve(plan: &mut Plan, seed: u64) {
    for stage in &mut plan.stages {
        if let Some(values) = &mut stage.workload.values {
            values.seed.get_or_insert(seed);
        }
    }
}

/// The content that a file which is made for a plan begins with, if any stage
/// checks some.
pub(super) fn of_plan(plan: &Plan, seed: u64) -> Option<Values> {
    let checked = plan.stages.iter().find_map(|stage| stage.workload.values)?;
    Some(Values {
        fill: true,
        seed: checked.seed.or(Some(seed)),
    })
}

/// Fills the spans of the stages that ask for it, each once, on a target that
/// was there already, or over a file of ours.
pub(super) fn fill(
    plan: &Plan,
    (file, target): (&OpenFile, &Target),
    signals: &Signals,
    display: &Display,
) -> Result<(), Failure> {
    let size_bytes = target.size_bytes;
    let mut filled: Vec<(u64, Option<u64>, Values)> = Vec::new();
    for stage in &plan.stages {
        let asked = &stage.workload;
        let Some(values) = asked.values.filter(|values| values.fill) else {
            continue;
        };
        let place = (asked.offset, asked.span, values);
        if filled.contains(&place) {
            continue;
        }
        filled.push(place);
        let workload = Workload {
            operation: Operation::Write,
            pattern: Pattern::Sequential,
            queue_depth: 1,
            streams: 1,
            cache: CacheMode::Buffered,
            sync: SyncMode::AtEnd,
            rate: None,
            beside: None,
            engine: EngineChoice::Sync,
            stop: Stop {
                fraction: Some(1),
                ..Stop::default()
            },
            ..asked.clone()
        };
        let progress = Progress {
            stop: signals.stop(),
            ..Progress::default()
        };
        let trial = Trial {
            file: file.stream_file(size_bytes),
            workload: &workload,
            seed: 0,
        };
        let bytes = asked.blocks_on(size_bytes) * asked.block_size;
        let what = format!("{} of {} with values", show_size(bytes), target.given);
        let outcome = display
            .watch_filling(&what, bytes, asked.block_size, &progress, || {
                run_trial(trial, &progress, &mut ())
            })
            .or_failed()?;
        if let Some(exit) = signals.came() {
            return Err(match target.kind {
                TargetKind::Loop => Failure::interrupted(exit),
                _ => Failure::interrupted_filling(exit, &target.given),
            });
        }
        if let Some(error) = outcome.error_counts.first() {
            return Err(Failure::failed(format!(
                "filling the span of {} with values failed in {} at offset {}: {}",
                stage.label(),
                error.operation,
                error.first_offset,
                error.message
            )));
        }
    }
    Ok(())
}
