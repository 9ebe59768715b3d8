//! The lines of the write benchmark of `@ronomon/direct-io` 3.0.1
//! ([`crate::formats::write_matrix`]). Sizes rise, and the modes of a size stand
//! in the order of the benchmark.

use crate::formats::write_matrix::{MB, Row};
use crate::notes::direct_refused;
use crate::text::list;
use diskfacts_plan::{Stage, WriteMode};
use diskfacts_record::{Run, StageFigures};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The stage of the plan that these figures are of, and how it writes.
fn cell<'r>(run: &'r Run, figures: &StageFigures) -> Option<(&'r Stage, WriteMode)> {
    let is_cell =
        |stage: &&Stage| stage.name == figures.stage && stage.settings == figures.settings;
    let stage = run.plan.stages.iter().find(is_cell)?;
    Some((stage, WriteMode::of(&stage.workload)?))
}

/// A line for each cell of which every operation succeeded, in the mode that the
/// line names.
pub(super) fn lines(run: &Run) -> String {
    let mut cells: Vec<(u64, WriteMode, f64)> = run
        .figures
        .iter()
        .filter(|figures| figures.errors == 0 && direct_refused(run, figures).is_none())
        .filter_map(|figures| {
            let (stage, mode) = cell(run, figures)?;
            let throughput = figures.throughput_bytes_per_s.median;
            Some((stage.workload.block_size, mode, throughput))
        })
        .collect();
    cells.sort_by_key(|(size, mode, _)| (*size, mode.rank()));
    let mut out = String::new();
    for (block_size, mode, throughput) in cells {
        let row = Row {
            block_size,
            target: run.target.given.clone(),
            mode,
            mib_per_s: throughput / MB as f64,
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{row}");
    }
    out
}

/// Which modes have no line because direct I/O was refused, and why.
pub(super) fn refused(run: &Run) -> Option<String> {
    // By rank: the mode, how many cells it has, and the block sizes without it.
    let mut modes: BTreeMap<usize, (WriteMode, usize, Vec<u64>)> = BTreeMap::new();
    let mut reasons: Vec<&str> = Vec::new();
    for figures in &run.figures {
        let Some((stage, mode)) = cell(run, figures) else {
            continue;
        };
        let (_, cells, without) = modes
            .entry(mode.rank())
            .or_insert_with(|| (mode, 0, Vec::new()));
        *cells += 1;
        if let Some(reason) = direct_refused(run, figures) {
            without.push(stage.workload.block_size);
            let reason = reason.trim_end_matches('.');
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    let left_out: Vec<String> = modes
        .into_values()
        .filter(|(_, _, without)| !without.is_empty())
        .map(|(mode, cells, mut without)| {
            without.sort_unstable();
            let sizes: Vec<String> = without.iter().map(u64::to_string).collect();
            if without.len() == cells {
                mode.to_string()
            } else {
                format!("{mode} with blocks of {} bytes", list(&sizes))
            }
        })
        .collect();
    (!left_out.is_empty()).then(|| {
        format!(
            "Left out {}: direct I/O was refused, and what was done instead went through the page \
             cache ({}).",
            list(&left_out),
            reasons.join("; ")
        )
    })
}

/// That trials may have ended before the amounts of the benchmark, when these
/// were not asked for.
pub(super) fn shortened(run: &Run) -> Option<String> {
    let shares = run.plan.stages.iter().any(|stage| stage.full.is_some());
    shares.then(|| {
        "A cell that is cut short by its share of the time may lie in the drive's cache, so direct \
         rates without a sync may be higher than with --full, which writes what the original \
         writes."
            .to_owned()
    })
}
