//! Seed 003 by its plan: 14 sizes in 21 modes.

use super::*;
use diskfacts_plan::write_mode::{Variant, WriteMode};
use diskfacts_plan::{SyncMode, builtin};

const MIB: f64 = 1_048_576.0;
/// How far the spindle has turned when a trial begins: a revolution more or less in
/// the second that each takes.
const START: f64 = 0.009;

/// What the reproduction calls a way to write.
fn name_of(mode: WriteMode, block_size: u64) -> String {
    let direct = mode.variant == Variant::Direct;
    let (how, end) = match mode.sync {
        SyncMode::None if direct => ("direct", ""),
        SyncMode::None => ("buffered", ""),
        SyncMode::AtEnd | SyncMode::FdatasyncAtEnd if direct => {
            ("direct", ", one flush at the end")
        }
        SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => ("buffered", ", one flush at the end"),
        SyncMode::Fdatasync | SyncMode::Fsync | SyncMode::ODsync | SyncMode::OSync => {
            ("synchronous", "")
        }
    };
    format!("{how} writes of {} KiB{end}", block_size >> 10)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

#[test]
fn the_matrix_of_seed_003_is_that_of_its_plan() {
    let mut setup = Setup::on("hdd-7200-sync");
    setup.plan = builtin::plan("write-matrix").expect("it is built in");
    assert!(setup.plan.in_full());
    let run = setup.run();
    assert_eq!(run.trials.len(), 14 * 21);
    let named: Vec<(String, f64)> = run
        .trials
        .iter()
        .map(|trial| {
            let mode = WriteMode::of(&trial.workload).expect("a mode of the matrix");
            let rate = trial.throughput_bytes_per_s / MIB;
            (name_of(mode, trial.workload.block_size), rate)
        })
        .collect();
    let mut cells: Vec<Cell> = REPRODUCED
        .cells
        .iter()
        .filter(|cell| cell.seed == 3)
        .cloned()
        .collect();
    // 12 synced modes, 6 with one sync at the end, O_DIRECT alone, and copies.
    assert_eq!(cells.len(), 14 * 5);
    let mut wrong = Vec::new();
    for cell in &mut cells {
        let of_cell = named.iter().filter(|(name, _)| *name == cell.what);
        let rates: Vec<f64> = of_cell.map(|(_, rate)| *rate).collect();
        assert_eq!(rates.len(), cell.rows.len(), "{}", cell.what);
        wrong.extend(by_plan(cell, median(rates), START));
    }
    assert_none(&wrong);
    for gate in [Gate::G1, Gate::G2] {
        assert_holds(gate, &cells);
    }
}

/// What a buffered synchronous write costs more than a direct one: its copy, where
/// it outlasts the turn that the disk has to wait anyway. (The seed shows an eighth
/// of a revolution at 32 MiB.)
#[test]
fn a_copy_costs_a_revolution_only_where_it_outlasts_the_turn() {
    let mut setup = Setup::on("hdd-7200-sync");
    setup.plan = builtin::plan("write-matrix").expect("it is built in");
    assert!(setup.plan.in_full());
    setup.plan.stages.retain(|stage| {
        let mode = WriteMode::of(&stage.workload).expect("a mode of the matrix");
        mode.sync == SyncMode::Fsync
    });
    let run = setup.run();
    let seconds = |block: u64, is_direct: bool| {
        let mut trials = run.trials.iter();
        let found = trials.find(|trial| {
            let mode = WriteMode::of(&trial.workload).expect("a mode of the matrix");
            trial.workload.block_size == block && (mode.variant == Variant::Direct) == is_direct
        });
        let found = found.expect("a cell of the matrix");
        (1.0 / found.iops, found.ops as f64)
    };
    for power in 12..=25 {
        let block = 1 << power;
        let ((buffered_s, count), (direct_s, _)) = (seconds(block, false), seconds(block, true));
        let revolutions = (buffered_s - direct_s) / (60.0 / 7200.0);
        // One more or less for where the spindle was at the start.
        let start = 1.0 / count;
        let expected = if power == 25 { 1.0 } else { 0.0 };
        assert!(
            (revolutions - expected).abs() < 0.02 + start,
            "{} KiB: {revolutions}",
            block >> 10
        );
    }
}
