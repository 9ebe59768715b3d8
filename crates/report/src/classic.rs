//! The lines of the programs that a built-in plan was taken from, to the
//! character, so that old results and new ones can be put side by side.
//!
//! A program's own units are kept: see the format of each.

mod write_matrix;

use diskfacts_plan::{Plan, WriteMode};
use diskfacts_record::Run;

/// Whether a plan has such a format: `write-matrix`, and what was made from it.
pub fn has(plan: &Plan) -> bool {
    !plan.stages.is_empty()
        && plan
            .stages
            .iter()
            .all(|stage| WriteMode::of(&stage.workload).is_some())
}

/// The figures of a run in the format of its plan; nothing for a plan without
/// one ([`has`]).
pub fn run(run: &Run) -> String {
    if has(&run.plan) {
        write_matrix::lines(run)
    } else {
        String::new()
    }
}
