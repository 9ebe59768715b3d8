//! The lines of the programs that plans were taken from, to the character.

use crate::fixtures;
use diskfacts_plan::builtin;
use diskfacts_report::classic;

#[test]
fn the_write_matrix_prints_the_lines_of_the_benchmark_to_the_character() {
    let run = fixtures::write_matrix();
    assert_eq!(fixtures::LINES.lines().count(), 294);
    assert_eq!(classic::run(&run), fixtures::LINES);
}

#[test]
fn the_order_in_which_cells_were_measured_does_not_show() {
    let mut run = fixtures::write_matrix();
    run.figures.reverse();
    assert_eq!(classic::run(&run), fixtures::LINES);
}

#[test]
fn a_cell_with_failed_operations_has_no_line() {
    let mut run = fixtures::write_matrix();
    run.figures[0].errors = 1;
    let (_, rest) = fixtures::LINES.split_once('\n').unwrap();
    assert_eq!(classic::run(&run), rest);
}

#[test]
fn a_cell_that_was_refused_direct_io_has_no_line_and_is_named_with_the_reason() {
    let mut run = fixtures::write_matrix();
    fixtures::refuse_direct(&mut run, |_| true);
    let shown = classic::run(&run);
    assert_eq!(shown.lines().count(), 14 * 14);
    assert!(!shown.contains("O_DIRECT"), "{shown}");
    assert_eq!(
        classic::notes(&run)[0],
        "Left out O_DIRECT, AMORTIZED_FDATASYNC + O_DIRECT, AMORTIZED_FSYNC + O_DIRECT, FDATASYNC \
         + O_DIRECT, FSYNC + O_DIRECT, O_DSYNC + O_DIRECT and O_SYNC + O_DIRECT: direct I/O was \
         refused, and what was done instead went through the page cache (ramfs does not support \
         O_DIRECT)."
    );

    let mut run = fixtures::write_matrix();
    fixtures::refuse_direct(&mut run, |trial| {
        trial.settings["mode"] == "O_DIRECT" && trial.workload.block_size <= 8192
    });
    assert_eq!(classic::run(&run).lines().count(), 292);
    let said = classic::notes(&run).remove(0);
    assert!(
        said.starts_with("Left out O_DIRECT with blocks of 4096 and 8192 bytes: "),
        "{said}"
    );
}

#[test]
fn what_the_lines_do_not_say_is_told_beside_them() {
    let mut run = fixtures::write_matrix();
    run.run.notes.push("Left out a block.".into());
    run.trials[0].evidence.engine.fallbacks = vec!["No io_uring.".into()];
    let said = classic::notes(&run);
    assert_eq!(said[..2], ["Left out a block.", "No io_uring."]);
    assert!(said[2].contains("than with --full"), "{said:?}");
    assert_eq!(said.len(), 3);
    // In full nothing is cut short.
    assert!(run.plan.in_full());
    assert_eq!(classic::notes(&run).len(), 2);
    assert_eq!(classic::notes(&fixtures::healthy()), [""; 0]);
}

#[test]
fn a_plan_that_was_taken_from_no_program_has_no_such_lines() {
    for name in builtin::names() {
        let plan = builtin::plan(name).unwrap();
        let taken = [
            "bonnie",
            "write-matrix",
            "stride",
            "streams",
            "readahead-matrix",
            "dd",
            "hdparm",
            "raw-vs-block",
        ];
        assert_eq!(classic::has(&plan), taken.contains(&name), "{name}");
        assert_eq!(classic::has_csv(&plan), name == "bonnie", "{name}");
    }
    assert_eq!(classic::run(&fixtures::healthy()), "");
}
