//! Seed 000 by the plan `stride`, and its sequential and direct reads as stages of
//! a plan file, on the partition and on the file of the profile's `[layout]`.

use super::*;
use diskfacts_disk::profile::Measured;
use diskfacts_plan::{Operation, Pattern, builtin, file};
use std::fmt::Write;

/// Random skips are drawn anew in each: the mean of 4096 operations of a plan and
/// that of the reproduction differ by chance.
const CHANCE: f64 = 0.02;
/// The copy of a page, and where the read-ahead's first windows end.
const ROUNDING: f64 = 0.004;

/// The disk of the seed, of which the partition or the file is measured.
fn on(measured: Measured) -> Setup {
    let mut setup = Setup::on("hdd-7200-1tb");
    let layout = setup.profile.layout.as_mut();
    layout.expect("the profile has one").measured = measured;
    setup
}

/// Mean time of an operation by the mean distance of the blocks, KiB and ms.
fn strides(measured: Measured) -> Vec<(u64, f64)> {
    let mut setup = on(measured);
    setup.plan = builtin::plan("stride").expect("it is built in");
    assert!(setup.plan.in_full());
    setup.plan.trials = 1;
    setup.plan.stages.retain(|stage| {
        stage.workload.operation == Operation::Read
            && !matches!(
                stage.workload.pattern,
                Pattern::Stride { skip_blocks: 1, .. }
            )
    });
    let run = setup.run();
    let of = |trial: &Trial| {
        let Pattern::Stride { skip_blocks, .. } = trial.workload.pattern else {
            panic!("a stage of the plan stride");
        };
        (4 * skip_blocks, 1e3 / trial.iops)
    };
    run.trials.iter().map(of).collect()
}

#[test]
fn the_strides_of_seed_000_are_those_of_its_plan_on_the_partition_and_on_the_file() {
    let raw = strides(Measured::Partition);
    let ext = strides(Measured::File);
    let mut wrong = Vec::new();
    let mut replaced = |cell: &mut Cell| {
        let of_place = if cell.what.starts_with("raw") {
            &raw
        } else {
            &ext
        };
        let (_, every) = cell.what.split_once("every ").expect("a stride");
        let kib = every.split(' ').next().and_then(|kib| kib.parse().ok());
        let found = of_place.iter().find(|(of, _)| Some(*of) == kib);
        let (_, ms) = found.unwrap_or_else(|| panic!("no stride of {}", cell.what));
        wrong.extend(by_plan(cell, *ms, CHANCE));
    };
    let mut cells = cells_of(Gate::G4);
    cells.iter_mut().for_each(&mut replaced);
    let mut labelled = cells_of(Gate::G7);
    labelled.iter_mut().for_each(&mut replaced);
    assert_none(&wrong);
    assert_holds(Gate::G4, &cells);
    // The lines whose label is 16 times too fast, after division.
    assert_eq!(labelled.len(), 4);
    for cell in &labelled {
        let error = cell.error().expect("it was simulated");
        assert!(error.abs() <= 0.05, "{}: {error}", cell.what);
    }
}

/// Reads in order from the first byte on: lines of the seed, block and bytes as a
/// plan file has them.
struct Pass {
    lines: &'static [u32],
    on: Measured,
    block: &'static str,
    cache: &'static str,
    bytes: &'static str,
}

const fn pass(
    lines: &'static [u32],
    on: Measured,
    block: &'static str,
    cache: &'static str,
    bytes: &'static str,
) -> Pass {
    Pass {
        lines,
        on,
        block,
        cache,
        bytes,
    }
}

const PASSES: [Pass; 14] = [
    pass(&[28], Measured::File, "4KiB", "cold", "16GiB"),
    pass(&[94, 95], Measured::File, "4KiB", "cold", "4GiB"),
    pass(&[96], Measured::File, "1MiB", "cold", "4GiB"),
    pass(&[92], Measured::File, "4KiB", "direct", "256MiB"),
    pass(&[93], Measured::File, "1MiB", "direct", "4GiB"),
    pass(&[30, 77, 105], Measured::Partition, "1MiB", "cold", "16GiB"),
    pass(&[76], Measured::Partition, "1MiB", "cold", "1GiB"),
    pass(
        &[85, 97, 98, 108],
        Measured::Partition,
        "4KiB",
        "cold",
        "4GiB",
    ),
    pass(&[88, 107], Measured::Partition, "4KiB", "direct", "256MiB"),
    pass(&[112], Measured::Partition, "16KiB", "direct", "256MiB"),
    pass(&[113], Measured::Partition, "32KiB", "direct", "256MiB"),
    pass(&[114], Measured::Partition, "64KiB", "direct", "4GiB"),
    pass(&[115], Measured::Partition, "256KiB", "direct", "4GiB"),
    pass(
        &[86, 87, 106, 116],
        Measured::Partition,
        "1MiB",
        "direct",
        "4GiB",
    ),
];

/// Rates of the passes over one place, with their lines.
fn rates(measured: Measured) -> Vec<(u32, f64)> {
    let passes = || PASSES.iter().filter(|pass| pass.on == measured);
    let mut text = "name = \"passes\"\ntrials = 1\n".to_owned();
    for pass in passes() {
        let Pass {
            block,
            cache,
            bytes,
            ..
        } = pass;
        write!(
            text,
            "[[stage]]\nname = \"line-{}\"\noperation = \"read\"\npattern = \"sequential\"\n\
             block_size = \"{block}\"\ncache = \"{cache}\"\nbytes = \"{bytes}\"\nengine = \"sync\"\n",
            pass.lines[0]
        )
        .expect("a string takes it");
    }
    let mut setup = on(measured);
    setup.plan = file::parse(&text).expect("a plan");
    let run = setup.run();
    let rate_of = |pass: &Pass| {
        let rate = rate(&run, &format!("line-{}", pass.lines[0]));
        pass.lines.iter().map(move |line| (*line, rate))
    };
    passes().flat_map(rate_of).collect()
}

#[test]
fn the_sequential_reads_of_seed_000_are_those_of_a_plan_on_the_partition_and_on_the_file() {
    let mut rates = rates(Measured::Partition);
    rates.extend(self::rates(Measured::File));
    let mut wrong = Vec::new();
    for gate in [Gate::G5, Gate::G6] {
        let mut cells = cells_of(gate);
        for cell in &mut cells {
            let found = rates.iter().find(|(line, _)| [*line] == cell.lines[..]);
            let (_, rate) = found.unwrap_or_else(|| panic!("no pass of line {:?}", cell.lines));
            let unit = if cell.unit == "MB/s" {
                1e6
            } else {
                1_048_576.0
            };
            wrong.extend(by_plan(cell, rate / unit, ROUNDING));
        }
        assert_holds(gate, &cells);
    }
    assert_none(&wrong);
}
