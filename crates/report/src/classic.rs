//! The lines of the programs that a built-in plan was taken from, to the
//! character, so that old results and new ones can be put side by side.
//!
//! A program's own units are kept: see the format of each.

mod streams;
mod stride;
mod write_matrix;

use crate::notes;
use diskfacts_plan::{Plan, WriteMode};
use diskfacts_record::Run;

/// A format, and the plans that it is for.
struct Format {
    has: fn(&Plan) -> bool,
    lines: fn(&Run) -> String,
    notes: fn(&Run) -> Vec<String>,
}

/// The first that is for a plan is taken.
const FORMATS: &[Format] = &[
    Format {
        has: |plan| {
            let of = |stage: &diskfacts_plan::Stage| WriteMode::of(&stage.workload);
            plan.stages.iter().all(|stage| of(stage).is_some())
        },
        lines: write_matrix::lines,
        notes: |run| {
            let refused = write_matrix::refused(run);
            refused
                .into_iter()
                .chain(write_matrix::shortened(run))
                .collect()
        },
    },
    Format {
        has: stride::has,
        lines: stride::lines,
        notes: |run| stride::left_out(run).into_iter().collect(),
    },
    Format {
        has: streams::has,
        lines: streams::lines,
        notes: |run| streams::failed(run).into_iter().collect(),
    },
];

fn of(plan: &Plan) -> Option<&'static Format> {
    let mut formats = FORMATS.iter();
    formats.find(|format| !plan.stages.is_empty() && (format.has)(plan))
}

/// Whether a plan has such a format: a built-in one that was taken from another
/// program, and what was made from it.
pub fn has(plan: &Plan) -> bool {
    of(plan).is_some()
}

/// What the lines of a run do not say, a sentence each: what was done otherwise
/// than asked, which cells have no line, and what stands in the way of putting
/// them beside those of the program. Nothing for a plan without such a format
/// ([`has`]).
pub fn notes(run: &Run) -> Vec<String> {
    let Some(format) = of(&run.plan) else {
        return Vec::new();
    };
    let mut said = notes::notes(run);
    said.extend((format.notes)(run));
    said
}

/// The figures of a run in the format of its plan; nothing for a plan without
/// one ([`has`]).
pub fn run(run: &Run) -> String {
    of(&run.plan).map_or_else(String::new, |format| (format.lines)(run))
}
