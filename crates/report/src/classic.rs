//! The lines of the programs that a built-in plan was taken from, to the
//! character, so that old results and new ones can be put side by side.
//!
//! A program's own units are kept: see the format of each.

mod bonnie;
mod stride;
mod write_matrix;

use crate::notes;
use diskfacts_plan::{Plan, WriteMode};
use diskfacts_record::Run;

/// Whether a plan has such a format: `bonnie`, `stride`, `write-matrix`, and what
/// was made from them.
pub fn has(plan: &Plan) -> bool {
    bonnie::has(plan) || is_matrix(plan) || stride::has(plan)
}

/// Whether a plan also has one for programs, which [`csv`] prints: `bonnie`.
pub fn has_csv(plan: &Plan) -> bool {
    bonnie::has(plan)
}

fn is_matrix(plan: &Plan) -> bool {
    !plan.stages.is_empty()
        && plan
            .stages
            .iter()
            .all(|stage| WriteMode::of(&stage.workload).is_some())
}

/// What the lines of a run do not say, a sentence each: what was done otherwise
/// than asked, which cells have no line, and what stands in the way of putting
/// them beside those of the program. Nothing for a plan without such a format
/// ([`has`]).
pub fn notes(run: &Run) -> Vec<String> {
    if !has(&run.plan) {
        return Vec::new();
    }
    let mut said = notes::notes(run);
    if bonnie::has(&run.plan) {
        said.extend(bonnie::notes(run));
    } else if is_matrix(&run.plan) {
        said.extend(write_matrix::refused(run));
        said.extend(write_matrix::shortened(run));
    } else {
        said.extend(stride::left_out(run));
    }
    said
}

/// The figures of a run in the format of its plan; nothing for a plan without
/// one ([`has`]).
pub fn run(run: &Run) -> String {
    if bonnie::has(&run.plan) {
        bonnie::tables(run)
    } else if is_matrix(&run.plan) {
        write_matrix::lines(run)
    } else if has(&run.plan) {
        stride::lines(run)
    } else {
        String::new()
    }
}

/// The figures of a run in the CSV of the program; nothing for a plan without one
/// ([`has_csv`]).
pub fn csv(run: &Run) -> String {
    if has_csv(&run.plan) {
        bonnie::csv(run)
    } else {
        String::new()
    }
}
