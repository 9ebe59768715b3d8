//! The lines of hdparm 9.65 ([`crate::formats::hdparm`]), for each stage those of
//! its median trial:
//!
//! ```text
//!
//! /dev/sda:
//!  Timing cached reads:   38120 MB in  1.99 seconds = 19160.44 MB/sec
//!  Timing buffered disk reads: 1126 MB in  3.00 seconds = 375.31 MB/sec
//! ```

use super::median_trial;
use crate::formats::hdparm::{MB, Row, Timed};
use diskfacts_plan::{CacheMode, Plan};
use diskfacts_record::{Run, TargetKind};
use std::fmt::Write as _;

/// Whether a plan is this one, or was made from it.
pub(super) fn has(plan: &Plan) -> bool {
    plan.name == "hdparm"
}

/// A line for each stage of which no read failed.
pub(super) fn lines(run: &Run) -> String {
    let name = match run.target.kind {
        TargetKind::Loop => &run.target.path,
        _ => &run.target.given,
    };
    // Writing to a String cannot fail.
    let mut out = format!("\n{name}:\n");
    for figures in run.figures.iter().filter(|figures| figures.errors == 0) {
        let Some(trial) = median_trial(run, figures) else {
            continue;
        };
        let direct = trial.workload.cache == CacheMode::Direct;
        if trial.direct_refused().is_some() {
            continue;
        }
        let timed = if trial.workload.span == Some(trial.workload.block_size) {
            Timed::Cached
        } else {
            Timed::Disk
        };
        let row = Row::of(timed, direct, trial.bytes / MB, trial.seconds);
        let _ = writeln!(out, "{row}");
    }
    out
}
