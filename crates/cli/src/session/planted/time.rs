//! The time of a run holds on a disk that is too slow for its plan.

use super::setup::Setup;

const SECOND_NS: u64 = 1_000_000_000;

/// What a trial of the plan leaves to be written at most, and how fast the disk takes it at
/// least, where the plan writes.
const SPAN_BYTES: u64 = 128 << 20;
const WRITTEN_BACK_BYTES_PER_S: u64 = 60_000_000;

#[test]
fn a_write_matrix_ends_with_its_time_and_names_the_stages_that_it_had_none_for() {
    let mut setup = Setup::on("hdd-7200-1tb");
    setup.plan = diskfacts_plan::builtin::plan("write-matrix").expect("it is built in");
    setup.time_ns = 20 * SECOND_NS;
    let (run, took_ns) = setup.run_timed();
    // The trial that is under way when a fifth more than the time is over has at most one
    // write-back before it.
    let write_back_ns = SPAN_BYTES * SECOND_NS / WRITTEN_BACK_BYTES_PER_S;
    let longest_ns = 24 * SECOND_NS + write_back_ns;
    assert!(
        (15 * SECOND_NS..=longest_ns).contains(&took_ns),
        "{took_ns} ns, at most {longest_ns}"
    );
    let stages = run.plan.stages.len();
    let without = run.plan.stages.iter().filter(|stage| {
        let mut trials = run.trials.iter();
        !trials.any(|trial| trial.stage == stage.name && trial.settings == stage.settings)
    });
    let without = without.count();
    assert!((1..stages).contains(&without), "{without} of {stages}");
    let said = format!("no trial of {without} of {stages} stages (");
    let notes = &run.run.notes;
    let named = |note: &String| note.contains(&said) && note.contains("give it more with --time");
    assert!(notes.iter().any(named), "{said}: {notes:?}");
}
