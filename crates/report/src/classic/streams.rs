//! What people wrote down of readers that run beside each other (seed 001):
//!
//! ```text
//! #dd if=/dev/sdb of=/dev/null bs=64K count=80000
//! a) 102 MB/s
//! b) 102 MB/s
//!
//! Run at the same time:
//! #while true; do dd if=/dev/sdc of=/dev/null bs=64K; done
//! #dd if=/dev/sdb of=/dev/null bs=64K count=80000
//! a) 21,6 MB/s
//! ```
//!
//! The rates are dd's: MB are 10^6 bytes, three digits, with a decimal comma. The
//! other reader is of the same target here, from `skip` blocks on; several
//! streams are one line of what they did together.

use crate::formats::dd::{DecimalMark, Rate, Repeat};
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::{Operation, Pattern, Plan, Workload};
use diskfacts_record::{Run, StageFigures, Trial};
use std::fmt::Write as _;

/// Repeats that have a letter.
const LETTERS: std::ops::RangeInclusive<char> = 'a'..='z';

/// Whether a plan is of readers in order, some of them disturbed or served by
/// several threads.
pub(super) fn has(plan: &Plan) -> bool {
    let reads_in_order = |workload: &Workload| {
        workload.operation == Operation::Read && workload.pattern == Pattern::Sequential
    };
    let workloads = || plan.stages.iter().map(|stage| &stage.workload);
    workloads().all(reads_in_order)
        && workloads().any(|workload| workload.beside.is_some() || workload.pool.is_some())
}

/// A paragraph for each stage, with a line for each trial.
pub(super) fn lines(run: &Run) -> String {
    let mut out = String::new();
    for (i, figures) in run.figures.iter().enumerate() {
        let trials = trials_of(run, figures);
        let Some(first) = trials.first() else {
            continue;
        };
        if i > 0 {
            out.push('\n');
        }
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}:\n", stage_label(&figures.stage, &figures.settings));
        let target = &super::dd_plan::operand(run);
        if let Some(beside) = &first.workload.beside {
            let command = dd(target, beside, None);
            let _ = writeln!(
                out,
                "Run at the same time:\n#while true; do {command}; done"
            );
        }
        let blocks = first.bytes / first.workload.block_size.max(1);
        let _ = writeln!(out, "#{}", dd(target, &first.workload, Some(blocks)));
        for (label, trial) in LETTERS.zip(trials) {
            let repeat = Repeat {
                label,
                rate: Rate::of(trial.bytes, (trial.seconds * 1e9).round() as u64),
                mark: DecimalMark::Comma,
            };
            let _ = writeln!(out, "{repeat}");
        }
    }
    out
}

/// The trials of a stage in their order, without those of which operations
/// failed.
fn trials_of<'r>(run: &'r Run, figures: &StageFigures) -> Vec<&'r Trial> {
    let mut trials: Vec<&Trial> = run
        .trials
        .iter()
        .filter(|t| t.stage == figures.stage && t.settings == figures.settings && t.errors == 0)
        .collect();
    trials.sort_by_key(|trial| trial.number);
    trials
}

/// The command that reads what a workload does.
fn dd(target: &str, workload: &Workload, blocks: Option<u64>) -> String {
    let size = workload.block_size;
    let mut command = format!("dd if={target} of=/dev/null bs={}", short(size));
    if let Some(skip) = workload.offset.checked_div(size).filter(|skip| *skip > 0) {
        let _ = write!(command, " skip={skip}");
    }
    if let Some(count) = blocks {
        let _ = write!(command, " count={count}");
    }
    command
}

/// A size as dd takes it: `64K`, `1M`, `512`.
fn short(bytes: u64) -> String {
    let units = [("G", 1_u64 << 30), ("M", 1 << 20), ("K", 1 << 10)];
    let whole = units
        .into_iter()
        .find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.map_or_else(
        || bytes.to_string(),
        |(name, unit)| format!("{}{name}", bytes / unit),
    )
}

/// Which stages have fewer lines than trials, and why.
pub(super) fn failed(run: &Run) -> Option<String> {
    let mut stages: Vec<String> = Vec::new();
    for figures in run.figures.iter().filter(|figures| figures.errors > 0) {
        stages.push(stage_label(&figures.stage, &figures.settings));
    }
    (!stages.is_empty()).then(|| {
        format!(
            "Left out the trials of {} in which operations failed.",
            crate::text::list(&stages)
        )
    })
}
