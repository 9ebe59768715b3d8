//! The plan `dd` in the manner of seed 000: the command, and the line that dd
//! would have printed, for the median trial of each cell:
//!
//! ```text
//! dd if=/dev/sdb2 of=/dev/null bs=4k count=1048576 iflag=direct ... 4294967296 bytes (4.3 GB, 4.0 GiB) copied, 72.741 s, 59.0 MB/s
//! ```

use super::median_trial;
use crate::formats::dd::Summary;
use diskfacts_plan::{CacheMode, Operation, Plan, SyncMode};
use diskfacts_record::{Run, TargetKind, Trial};
use std::fmt::Write as _;

/// Whether a plan is this one, or was made from it.
pub(super) fn has(plan: &Plan) -> bool {
    plan.name == "dd"
        && plan
            .stages
            .iter()
            .all(|stage| stage.workload.copy.is_none())
}

/// A line for each cell of which nothing failed.
pub(super) fn lines(run: &Run) -> String {
    let mut out = String::new();
    for figures in run.figures.iter().filter(|figures| figures.errors == 0) {
        let Some(trial) = median_trial(run, figures) else {
            continue;
        };
        if trial.direct_refused().is_some() {
            continue;
        }
        // Seconds of a trial are far below what a float holds exactly.
        let nanoseconds = (trial.seconds * 1e9).round() as u64;
        let summary = Summary::of(trial.bytes, nanoseconds);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{} ... {summary}", command(run, trial));
    }
    out
}

/// The target of a run as an operand of dd.
pub(super) fn operand(run: &Run) -> String {
    match run.target.kind {
        TargetKind::Folder => format!("{}/FILE", run.target.given.trim_end_matches('/')),
        TargetKind::Loop => run.target.path.clone(),
        _ => run.target.given.clone(),
    }
}

/// What to type for the same with dd.
fn command(run: &Run, trial: &Trial) -> String {
    let workload = &trial.workload;
    let target = operand(run);
    let (input, output, side) = if workload.operation == Operation::Write {
        ("/dev/zero", target.as_str(), "oflag")
    } else {
        (target.as_str(), "/dev/null", "iflag")
    };
    let mut command = format!(
        "dd if={input} of={output} bs={} count={}",
        size(workload.block_size),
        trial.ops
    );
    let flag = match (workload.cache, workload.sync) {
        (CacheMode::Direct, _) => Some(format!("{side}=direct")),
        (_, SyncMode::FdatasyncAtEnd) => Some("conv=fdatasync".to_owned()),
        (_, SyncMode::AtEnd) => Some("conv=fsync".to_owned()),
        _ => None,
    };
    if let Some(flag) = flag {
        command.push(' ');
        command += &flag;
    }
    command
}

/// A size as people type it for dd: `16k`, `1M`.
pub(super) fn size(bytes: u64) -> String {
    for (unit, shift) in [("G", 30), ("M", 20), ("k", 10)] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}
