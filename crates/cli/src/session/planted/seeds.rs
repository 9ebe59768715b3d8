//! The seeds by plans: what `diskfacts sim --reproduce seeds` prints, which calls
//! the simulated computer itself, against what a user's run gives, plan, fit,
//! engine, record and figures included. The gates are judged on the latter.

mod seed000;
mod seed001;
mod seed002;
mod seed003;
mod seed004;

use super::setup::Setup;
use diskfacts_disk::reproduce::{Cell, Gate, Reproduction, judge_cells, reproduce};
use diskfacts_record::{Run, Trial};
use std::sync::LazyLock;

/// What the command prints.
static REPRODUCED: LazyLock<Reproduction> =
    LazyLock::new(|| reproduce(1, None).expect("the built-in profiles fit"));

/// The cells of a gate.
fn cells_of(gate: Gate) -> Vec<Cell> {
    let cells = REPRODUCED.cells.iter();
    cells
        .filter(|cell| cell.gate == Some(gate))
        .cloned()
        .collect()
}

/// The cells of a seed that are called this.
fn cells_called(seed: u32, what: &str) -> Vec<&'static Cell> {
    let cells = REPRODUCED.cells.iter();
    let found: Vec<&Cell> = cells
        .filter(|cell| cell.seed == seed && cell.what == what)
        .collect();
    assert!(!found.is_empty(), "no cell {what}");
    found
}

/// What a plan gives in place of a cell's figure, in the cell's unit. Says where
/// the two differ by more than `apart`, a share of the figure.
fn by_plan(cell: &mut Cell, figure: f64, apart: f64) -> Option<String> {
    let called = cell.simulated.expect("it is simulated");
    cell.simulated = Some(figure);
    let near = (figure / called - 1.0).abs() <= apart;
    (!near).then(|| {
        format!(
            "{:?} {}: {figure:.3} {} by the plan, {called:.3} called, {:.3} measured",
            cell.lines, cell.what, cell.unit, cell.measured
        )
    })
}

/// The gate has to hold on these cells, whose figures are those of plans.
fn assert_holds(gate: Gate, cells: &[Cell]) {
    let verdict = judge_cells(gate, cells).expect("cells are all that it asks for");
    let figures: Vec<String> = cells
        .iter()
        .map(|cell| format!("{}: {:?}, {}", cell.what, cell.simulated, cell.measured))
        .collect();
    assert!(
        verdict.holds,
        "{gate} ({}): {}\n{}",
        verdict.limit,
        verdict.found,
        figures.join("\n")
    );
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn trials_of<'r>(run: &'r Run, stage: &str) -> Vec<&'r Trial> {
    let trials: Vec<&Trial> = run
        .trials
        .iter()
        .filter(|trial| trial.stage == stage)
        .collect();
    assert!(!trials.is_empty(), "no trial of {stage}");
    for trial in &trials {
        assert_eq!(trial.errors, 0, "{stage}");
    }
    trials
}

/// Mean rate of the trials of a stage, bytes/s.
fn rate(run: &Run, stage: &str) -> f64 {
    let trials = trials_of(run, stage);
    let sum: f64 = trials
        .iter()
        .map(|trial| trial.throughput_bytes_per_s)
        .sum();
    sum / trials.len() as f64
}
