//! Seed 004 by the plan `raw-vs-block`: 16 KiB writes past the page cache with the
//! drive's write cache on and off, through it, and what iostat shows of both.

use super::*;
use diskfacts_disk::profile::Drive;
use diskfacts_plan::builtin;
use diskfacts_record::evidence::DeviceCounters;

const BLOCK: u64 = 16 << 10;
const ROUNDING: f64 = 0.002;

/// A stage of the plan on the disk of the seed.
fn run(stage: &str, enabled: bool, writes: u64) -> Run {
    let mut setup = Setup::on("hdd-10k");
    let Drive::Hdd(hdd) = &mut setup.profile.drive else {
        panic!("the disk of seed 004 turns");
    };
    hdd.write_cache.enabled = enabled;
    setup.plan = builtin::plan("raw-vs-block").expect("it is built in");
    setup.plan.trials = 1;
    setup.only(stage).workload.stop.operations = Some(writes);
    setup.run()
}

#[test]
fn the_raw_writes_of_seed_004_are_those_of_the_plan_raw_vs_block() {
    let mut cells = cells_of(Gate::G12);
    let mut wrong = Vec::new();
    for cell in &mut cells {
        let is_on = cell.what.ends_with("cache on");
        let run = run("raw", is_on, if is_on { 20_000 } else { 2_000 });
        wrong.extend(by_plan(cell, rate(&run, "raw") / 1e6, ROUNDING));
    }
    assert_none(&wrong);
    assert_holds(Gate::G12, &cells);
}

#[test]
fn the_block_device_of_seed_004_is_that_of_the_plan_raw_vs_block() {
    let run = run("block", true, (1 << 30) / BLOCK);
    let cells = REPRODUCED.cells.iter();
    let mut block: Vec<Cell> = cells
        .filter(|cell| cell.seed == 4 && cell.what.starts_with("2.5in 10K internal: block"))
        .cloned()
        .collect();
    assert_eq!(block.len(), 1, "one figure of the block device");
    assert_none(&Vec::from_iter(by_plan(
        &mut block[0],
        rate(&run, "block") / 1e6,
        ROUNDING,
    )));
}

/// What iostat prints of a trial: bytes per request, requests in the queue on
/// average, and requests per second times the time of each, which by Little's law
/// is the same.
fn iostat(run: &Run, stage: &str) -> (f64, f64, f64) {
    let trial = trials_of(run, stage)[0];
    let counted: &DeviceCounters = &trial.evidence.devices[0];
    let window_ms = trial.seconds * 1e3;
    let writes = counted.writes as f64;
    (
        counted.write_bytes as f64 / writes,
        counted.weighted_ms as f64 / window_ms,
        writes / window_ms * (counted.write_ms as f64 / writes),
    )
}

#[test]
fn iostat_shows_of_both_ways_what_seed_004_saw() {
    // Solaris raw: 16.0 KiB a request and 1.0 of them at a time. Linux block:
    // 503.2 KiB, 141 and 256 in the queue.
    let (size, queue, little) = iostat(&run("raw", true, 20_000), "raw");
    assert!((size / BLOCK as f64 - 1.0).abs() < 1e-9, "{size}");
    assert!((0.9..=1.01).contains(&queue), "{queue}");
    assert!((queue / little - 1.0).abs() < 0.02, "{queue} {little}");
    let (size, queue, little) = iostat(&run("block", true, (1 << 30) / BLOCK), "block");
    assert!((500.0..=512.0).contains(&(size / 1024.0)), "{size}");
    assert!((100.0..=256.0).contains(&queue), "{queue}");
    assert!((queue / little - 1.0).abs() < 0.02, "{queue} {little}");
}
