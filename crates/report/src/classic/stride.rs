//! The lines of the strided-block measurement, one for each trial:
//!
//! ```text
//! offset0:0, access:false, fixed:false, val:false
//! raw: read  1/1024 of  16384MB (2^34), bs: 4096, skip:256 blocks, in  24.23s -->  169.049MB/s,    0.660MB/s real,  169.049 seeks/sec
//! ```
//!
//! Units and arithmetic are in [`crate::formats::stride`]. A header stands above
//! the lines that were measured with its options. Where a plan has both fixed and
//! drawn skips, the lines say which they are, and there is no header, as in the
//! original. A sequential stage is a skip of 1.
//!
//! The lines know a size as a power of two and an amount as one part of so many,
//! and no other: what cannot be said so is left out, and told.

use crate::formats::stride::{Header, MB, Op, Place, Row, Suffix};
use crate::text::list;
use diskfacts_plan::{Operation, Pattern, Plan, Stage, Touch, Workload};
use diskfacts_record::{Run, TargetKind, Trial};
use std::fmt::Write as _;

/// What a stage is, in the words of the lines.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Visit {
    op: Op,
    skip_blocks: u64,
    header: Header,
}

fn visit(workload: &Workload) -> Option<Visit> {
    let op = match workload.operation {
        Operation::Read => Op::Read,
        Operation::Write => Op::Write,
        Operation::Modify { percent: 100 } => Op::Modify,
        Operation::Mixed { .. }
        | Operation::Modify { .. }
        | Operation::Create
        | Operation::Stat
        | Operation::Delete => return None,
    };
    let (skip_blocks, fixed, from_start) = match workload.pattern {
        Pattern::Stride {
            skip_blocks,
            fixed,
            from_start,
        } => (skip_blocks, fixed, from_start),
        Pattern::Sequential => (1, false, false),
        Pattern::Random | Pattern::Zipf { .. } => return None,
    };
    let plain = workload.outstanding() == 1
        && workload.rate.is_none()
        && workload.pool.is_none()
        && workload.beside.is_none();
    plain.then(|| Visit {
        op,
        skip_blocks,
        header: Header {
            offset0: u64::from(from_start),
            access: workload.touch == Touch::Every,
            fixed,
            val: workload.values.is_some(),
        },
    })
}

/// Whether all stages of a plan can be said in such lines, and one is strided.
pub(super) fn has(plan: &Plan) -> bool {
    let strided = |stage: &Stage| matches!(stage.workload.pattern, Pattern::Stride { .. });
    plan.stages.iter().any(strided)
        && plan
            .stages
            .iter()
            .all(|stage| visit(&stage.workload).is_some())
}

/// Why a trial has no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoLine {
    Failed,
    /// The size is no power of two.
    Size,
    /// The operations are no part of the blocks.
    Part,
    /// It took less time than the lines can tell.
    Time,
}

/// The line of a trial.
fn row(run: &Run, trial: &Trial) -> Result<Row, NoLine> {
    let workload = &trial.workload;
    let visit = visit(workload).ok_or(NoLine::Part)?;
    if trial.errors > 0 || trial.ops == 0 {
        return Err(NoLine::Failed);
    }
    let blocks = workload.blocks_on(run.target.size_bytes);
    let span = blocks * workload.block_size;
    if !span.is_power_of_two() || span < MB {
        return Err(NoLine::Size);
    }
    // The part that was asked for, or one that comes to as many operations.
    let parts = [
        workload.stop.fraction.unwrap_or(0),
        blocks / trial.ops.max(1),
    ];
    let fraction = parts
        .into_iter()
        .find(|part| blocks.checked_div(*part) == Some(trial.ops))
        .ok_or(NoLine::Part)?;
    if trial.seconds < 0.005 {
        return Err(NoLine::Time);
    }
    let place = match run.target.kind {
        TargetKind::Folder | TargetKind::File | TargetKind::Stream => Some(Place::Ext),
        TargetKind::Device | TargetKind::Loop | TargetKind::Simulated => Some(Place::Raw),
        // Its document may have said it, as a condition.
        TargetKind::Imported => match trial.settings.get("place").map(String::as_str) {
            Some("ext") => Some(Place::Ext),
            Some("raw") => Some(Place::Raw),
            _ => None,
        },
    };
    let row = Row {
        place,
        op: visit.op,
        fraction,
        total_mib: span / MB,
        log2_bytes: span.trailing_zeros(),
        block_size: workload.block_size,
        skip_blocks: visit.skip_blocks,
        seconds: trial.seconds,
        span_mib_per_s: 0.0,
        real_mib_per_s: 0.0,
        seeks_per_s: 0.0,
        suffix: None,
    };
    if run.target.kind == TargetKind::Imported {
        return Ok(as_read(&row, trial));
    }
    Ok(row.worked_out(trial.ops))
}

/// The row of an imported trial, with the figures that were read: its seconds are
/// rounded, and the rates have more digits.
fn as_read(row: &Row, trial: &Trial) -> Row {
    let real = trial.iops * row.block_size as f64 / MB as f64;
    Row {
        span_mib_per_s: real * row.skip_blocks as f64,
        real_mib_per_s: real,
        seeks_per_s: if row.skip_blocks == 1 {
            0.0
        } else {
            trial.iops
        },
        suffix: suffix_read(trial),
        ..row.clone()
    }
}

/// What stood behind the numbers of an imported line.
fn suffix_read(trial: &Trial) -> Option<Suffix> {
    let said = |name: &str| trial.settings.get(name).map(String::as_str);
    match (said("at"), said("fixed"), header_read(trial)) {
        (Some(place), _, _) => Some(Suffix::At(place.to_owned())),
        (None, Some("true"), false) => Some(Suffix::Fixed),
        (None, Some("false"), false) => Some(Suffix::NotFixed),
        _ => None,
    }
}

/// Whether a header stood above an imported line.
fn header_read(trial: &Trial) -> bool {
    trial.settings.contains_key("offset0")
}

/// The trials in the order of the plan, then of their numbers, with the options
/// they were measured with.
fn in_order(run: &Run) -> Vec<(Header, &Trial)> {
    let mut trials: Vec<(Header, &Trial)> = Vec::new();
    for stage in &run.plan.stages {
        let Some(visit) = visit(&stage.workload) else {
            continue;
        };
        let mut of_stage: Vec<&Trial> = run
            .trials
            .iter()
            .filter(|trial| trial.stage == stage.name && trial.settings == stage.settings)
            .collect();
        of_stage.sort_by_key(|trial| trial.number);
        trials.extend(of_stage.into_iter().map(|trial| (visit.header, trial)));
    }
    trials
}

/// Whether fixed and drawn skips stand beside each other.
fn is_mixed(trials: &[(Header, &Trial)]) -> bool {
    let mut skipping = trials
        .iter()
        .filter(|(_, trial)| matches!(trial.workload.pattern, Pattern::Stride { .. }));
    let first = skipping.next().map(|(header, _)| header.fixed);
    skipping.any(|(header, _)| Some(header.fixed) != first)
}

/// A line for each trial that can be said in one.
pub(super) fn lines(run: &Run) -> String {
    let trials = in_order(run);
    let imported = run.target.kind == TargetKind::Imported;
    let mixed = !imported && is_mixed(&trials);
    let mut above: Option<Header> = None;
    let mut out = String::new();
    for (header, trial) in trials {
        let Ok(mut row) = row(run, trial) else {
            continue;
        };
        if mixed {
            row.suffix = Some(if header.fixed {
                Suffix::Fixed
            } else {
                Suffix::NotFixed
            });
        } else if imported && !header_read(trial) {
            // No line ends what a header says but an empty one.
            if above.take().is_some() {
                out.push('\n');
            }
        } else if above != Some(header) {
            let gap = if above.is_some() { "\n" } else { "" };
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{gap}{header}");
            above = Some(header);
        }
        // As above.
        let _ = writeln!(out, "{row}");
    }
    out
}

/// Which trials have no line, and why, a sentence for each reason.
pub(super) fn left_out(run: &Run) -> Vec<String> {
    let trials = in_order(run);
    let without = |reason: NoLine| -> Option<String> {
        let mut labels: Vec<String> = Vec::new();
        for (_, trial) in &trials {
            if row(run, trial).err() == Some(reason) {
                let label = diskfacts_plan::plan::stage_label(&trial.stage, &trial.settings);
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
        }
        match labels.len() {
            0 => None,
            1..=3 => Some(list(&labels)),
            n => Some(format!("trials of {n} stages or cells")),
        }
    };
    let told = [
        (
            NoLine::Failed,
            "operations failed or none was done, and the lines know no errors.",
        ),
        (
            NoLine::Size,
            "the lines have sizes of 1 MB and more that are powers of two; give the stage such a \
             span.",
        ),
        (
            NoLine::Part,
            "the lines say which part of the blocks was done as 1/N, and a trial that ended at \
             another number of operations, or at its time, is no such part; use --full.",
        ),
        (
            NoLine::Time,
            "the lines have hundredths of seconds, and these took less than half of one.",
        ),
    ];
    told.into_iter()
        .filter_map(|(reason, why)| Some(format!("Left out {}: {why}", without(reason)?)))
        .collect()
}
