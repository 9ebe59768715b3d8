//! The lines of the programs that a built-in plan was taken from, to the
//! character, so that old results and new ones can be put side by side.
//!
//! A program's own units are kept: see the format of each.

mod dd;
mod write_matrix;

use crate::notes;
use diskfacts_plan::Plan;
use diskfacts_record::Run;

/// A format: for which plans, its lines, and what they leave unsaid.
struct Format {
    has: fn(&Plan) -> bool,
    lines: fn(&Run) -> String,
    notes: fn(&Run) -> Vec<String>,
}

/// Of several that a plan could have, the first one is taken.
const FORMATS: [Format; 2] = [
    Format {
        has: dd::has,
        lines: dd::lines,
        notes: |_| Vec::new(),
    },
    Format {
        has: write_matrix::has,
        lines: write_matrix::lines,
        notes: write_matrix::notes,
    },
];

fn format(plan: &Plan) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.has)(plan))
}

/// Whether a plan has such a format: a copy, `write-matrix`, and what was made
/// from it.
pub fn has(plan: &Plan) -> bool {
    format(plan).is_some()
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
/// one ([`has`]).
pub fn run(run: &Run) -> String {
    format(&run.plan).map_or_else(String::new, |format| (format.lines)(run))
}
