//! The figures of seed 003 by its plan, through the engine that `measure` uses,
//! against those of the reproduction, which calls the disk itself.

use super::setup::Setup;
use diskfacts_disk::host::HostParameters;
use diskfacts_disk::reproduce::{Cell, reproduce};
use diskfacts_plan::write_mode::{Variant, WriteMode};
use diskfacts_plan::{SyncMode, builtin};
use diskfacts_record::Trial;

const MIB: f64 = 1_048_576.0;
/// One revolution of the disk of seed 003, s.
const REVOLUTION_S: f64 = 60.0 / 7200.0;
/// From here on, copying a block into the page cache takes so long that the disk
/// has turned past the place where a direct write would have begun.
const COPY_SHOWS_FROM: u64 = 8 << 20;

/// What the reproduction calls a way to write.
fn name_of(mode: WriteMode, block_size: u64) -> Option<String> {
    let direct = mode.variant == Variant::Direct;
    let (how, end) = match mode.sync {
        // Copies in memory, which no gate limits.
        SyncMode::None if !direct => return None,
        SyncMode::None => ("direct", ""),
        SyncMode::AtEnd | SyncMode::FdatasyncAtEnd if direct => {
            ("direct", ", one flush at the end")
        }
        SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => ("buffered", ", one flush at the end"),
        SyncMode::Fdatasync | SyncMode::Fsync | SyncMode::ODsync | SyncMode::OSync => {
            ("synchronous", "")
        }
    };
    Some(format!("{how} writes of {} KiB{end}", block_size >> 10))
}

/// A trial of the plan, its mode, and the cell of the reproduction.
fn pairs<'a>(trials: &'a [Trial], cells: &'a [Cell]) -> Vec<(&'a Trial, WriteMode, &'a Cell)> {
    let pair = |trial: &'a Trial| {
        let mode = WriteMode::of(&trial.workload).expect("a mode of the matrix");
        let name = name_of(mode, trial.workload.block_size)?;
        let cell = cells
            .iter()
            .find(|cell| cell.seed == 3 && cell.what == name);
        Some((
            trial,
            mode,
            cell.unwrap_or_else(|| panic!("no cell {name}")),
        ))
    };
    trials.iter().filter_map(pair).collect()
}

#[test]
fn the_plan_of_seed_003_gives_the_figures_that_its_gates_judge() {
    let mut setup = Setup::on("hdd-7200-sync");
    setup.plan = builtin::plan("write-matrix").expect("it is built in");
    assert!(setup.plan.in_full());
    let run = setup.run();
    let reproduced = reproduce(1, None).expect("the built-in profiles fit");
    let pairs = pairs(&run.trials, &reproduced.cells);
    // 14 sizes, 12 synced modes, 6 with one sync at the end, and O_DIRECT alone.
    assert_eq!(pairs.len(), 14 * 19);
    let mut wrong = Vec::new();
    for (trial, mode, cell) in pairs {
        let plan = trial.throughput_bytes_per_s / MIB;
        let called = cell.simulated.expect("it was simulated");
        let buffered = mode.variant != Variant::Direct;
        let synced = mode.sync.each_write();
        let block = trial.workload.block_size;
        let good = if buffered && synced && block >= COPY_SHOWS_FROM {
            // The copy costs the revolutions that it lasts, and no more. (The seed
            // shows nothing of it: its buffered writes were as fast as the others.)
            let later_s = block as f64 / MIB * (1.0 / plan - 1.0 / called);
            let copy_s = block as f64 / HostParameters::linux().far_copy_bytes_per_s as f64;
            let revolutions = (copy_s / REVOLUTION_S).ceil();
            (0.0..1.01 * revolutions * REVOLUTION_S).contains(&later_s)
        } else if buffered && !synced {
            // The copy of what the first write-back waits for.
            (0.955..1.01).contains(&(plan / called))
        } else {
            (0.985..1.015).contains(&(plan / called))
        };
        // As the gates ask: each within 4 % of what was measured.
        let judged = !(buffered && synced) || block < COPY_SHOWS_FROM;
        let holds = (plan / cell.measured - 1.0).abs() <= 0.04;
        if !good || (judged && !holds) {
            wrong.push(format!(
                "{mode}, {}: {plan:.2} MiB/s by the plan, {called:.2} called, {:.2} measured",
                cell.what, cell.measured
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
