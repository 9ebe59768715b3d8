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
fn a_plan_that_was_taken_from_no_program_has_no_such_lines() {
    for name in builtin::names() {
        let plan = builtin::plan(name).unwrap();
        assert_eq!(classic::has(&plan), name == "write-matrix", "{name}");
    }
    assert_eq!(classic::run(&fixtures::healthy()), "");
}
