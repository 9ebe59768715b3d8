//! The rows of Linux's `iostat -x` for each stage, in the columns of seed 004:
//!
//! ```text
//! block (bs=16k):
//! Device: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await svctm %util
//! sda 0.00 14098.00 0.00 115.00 0.00 57868.00 1006.40 140.86 1325.40 0.00 1325.40 8.70 100.00
//! ```
//!
//! Each is of the stage's median trial, from its beginning to its end.

use super::dd_plan::size;
use super::median_trial;
use crate::formats::iostat_linux::Columns;
use crate::iostat::row;
use diskfacts_facts::device_rates::DeviceRates;
use diskfacts_plan::Plan;
use diskfacts_record::Run;
use std::fmt::Write as _;

/// Whether a plan is this one, or was made from it.
pub(super) fn has(plan: &Plan) -> bool {
    plan.name == "raw-vs-block"
}

/// What the topmost device did in the median trial of each stage, where it counted.
pub(crate) fn rows(run: &Run) -> Vec<(&str, DeviceRates<'_>)> {
    if !has(&run.plan) {
        return Vec::new();
    }
    let stages = run.figures.iter();
    stages
        .filter_map(|figures| {
            let rates = DeviceRates::topmost(median_trial(run, figures)?)?;
            Some((figures.stage.as_str(), rates))
        })
        .collect()
}

/// The rows, under the name of their stage and the names of their columns.
pub(super) fn lines(run: &Run) -> String {
    let columns = Columns::old();
    let mut out = String::new();
    for (stage, rates) in rows(run) {
        let planned = run.plan.stage(stage);
        let bs = planned.map_or(0, |stage| stage.workload.block_size);
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{stage} (bs={}):\n{columns}\n{}",
            size(bs),
            row(&columns, &rates)
        );
    }
    out
}
