//! The lines of the programs that a built-in plan was taken from, to the
//! character, so that old results and new ones can be put side by side.
//!
//! A program's own units are kept: see the format of each.

mod bonnie;
mod dd;
mod dd_plan;
mod hdparm;
pub(crate) mod raw_vs_block;
mod streams;
mod stride;
mod write_matrix;

use crate::notes;
use diskfacts_plan::Plan;
use diskfacts_record::{Run, StageFigures, Trial};

/// A format: for which plans, its lines, and what they leave unsaid.
struct Format {
    has: fn(&Plan) -> bool,
    lines: fn(&Run) -> String,
    notes: fn(&Run) -> Vec<String>,
}

/// Of several that a plan could have, the first one is taken.
const FORMATS: &[Format] = &[
    Format {
        has: dd::has,
        lines: dd::lines,
        notes: |_| Vec::new(),
    },
    Format {
        has: stride::has,
        lines: stride::lines,
        notes: stride::left_out,
    },
    Format {
        has: streams::has,
        lines: streams::lines,
        notes: |run| streams::failed(run).into_iter().collect(),
    },
    Format {
        has: bonnie::has,
        lines: bonnie::tables,
        notes: bonnie::notes,
    },
    Format {
        has: dd_plan::has,
        lines: dd_plan::lines,
        notes: zeros,
    },
    Format {
        has: hdparm::has,
        lines: hdparm::lines,
        notes: |_| Vec::new(),
    },
    Format {
        has: raw_vs_block::has,
        lines: raw_vs_block::lines,
        notes: |_| Vec::new(),
    },
    Format {
        has: write_matrix::has,
        lines: write_matrix::lines,
        notes: write_matrix::notes,
    },
];

/// What dd would have written is told apart from what was.
fn zeros(run: &Run) -> Vec<String> {
    let writes = |trial: &Trial| trial.workload.operation.writes();
    if run.trials.iter().any(writes) {
        vec![
            "What was written is random and not the zeros of if=/dev/zero, which some disks and \
             filesystems compress."
                .to_owned(),
        ]
    } else {
        Vec::new()
    }
}

/// The trial of these figures that stands in the middle by its throughput; of an
/// even number the slower of the two.
fn median_trial<'r>(run: &'r Run, figures: &StageFigures) -> Option<&'r Trial> {
    let of = |trial: &&Trial| trial.stage == figures.stage && trial.settings == figures.settings;
    let mut trials: Vec<&Trial> = run.trials.iter().filter(of).collect();
    trials.sort_by(|a, b| {
        a.throughput_bytes_per_s
            .total_cmp(&b.throughput_bytes_per_s)
    });
    let middle = trials.len().checked_sub(1)? / 2;
    trials.get(middle).copied()
}

/// Whether lines that were imported can be printed again: of the other formats a
/// run keeps less than its lines said, as of several volumes in one table.
fn comes_back(run: &Run) -> bool {
    let source = run.run.source.as_ref();
    source.is_none_or(|source| matches!(source.format.as_str(), "stride" | "write-matrix"))
}

fn format(plan: &Plan) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.has)(plan))
}

/// Whether a plan has such a format: a built-in one that was taken from another
/// program, and what was made from it; a copy.
pub fn has(plan: &Plan) -> bool {
    format(plan).is_some()
}

/// Whether a plan also has one for programs, which [`csv()`] prints: `bonnie`.
pub fn has_csv(plan: &Plan) -> bool {
    bonnie::has(plan)
}

/// What the lines of a run do not say, a sentence each: what was done otherwise
/// than asked, which cells have no line, and what stands in the way of putting
/// them beside those of the program. Nothing for a plan without such a format
/// ([`has`]).
pub fn notes(run: &Run) -> Vec<String> {
    let Some(format) = format(&run.plan) else {
        return Vec::new();
    };
    let mut said = notes::notes(run);
    said.extend((format.notes)(run));
    said
}

/// The figures of a run in the format of its plan; nothing for a plan without
/// one ([`has`]), and for an imported run of another format than `stride` and
/// `write-matrix`.
pub fn run(run: &Run) -> String {
    let format = format(&run.plan).filter(|_| comes_back(run));
    format.map_or_else(String::new, |format| (format.lines)(run))
}

/// The figures of a run in the CSV of the program; nothing for a plan without one
/// ([`has_csv`]).
pub fn csv(run: &Run) -> String {
    if has_csv(&run.plan) && comes_back(run) {
        bonnie::csv(run)
    } else {
        String::new()
    }
}
