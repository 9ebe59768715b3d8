//! Seed 001 by the plan `streams`: one reader, and one with another at the far end
//! of the array, through the page cache of a client.
//!
//! The profile's key `server_window` is what the seed varied: the read-ahead of the
//! server.

use super::*;
use diskfacts_plan::builtin;

/// A run of 5000 MiB passes through one revolution of difference between the two
/// spindles with one reader, and through many with two; the reproduction takes the
/// mean of eight differences.
const DIFFERENCES: f64 = 0.03;

/// Rates alone and beside the far reader, MB/s.
fn rates(window: u64) -> [f64; 2] {
    let mut setup = Setup::on("hdd-7200-md-raid0x2");
    let network = setup.profile.network.as_mut();
    network.expect("the profile has one").server_window = window;
    setup.plan = builtin::plan("streams").expect("it is built in");
    assert!(setup.plan.in_full());
    setup.plan.trials = 1;
    // Served by one thread: what more of them change is the fair scheduler's.
    setup
        .plan
        .stages
        .retain(|stage| stage.name == "reader" && stage.workload.pool.is_none());
    assert_eq!(setup.plan.stages.len(), 2);
    let run = setup.run();
    [false, true].map(|beside| {
        let trials = trials_of(&run, "reader");
        let mut of = trials.iter();
        let found = of.find(|trial| trial.workload.beside.is_some() == beside);
        found.expect("both were measured").throughput_bytes_per_s / 1e6
    })
}

#[test]
fn the_readers_of_seed_001_under_deadline_are_those_of_the_plan_streams() {
    let windows = [128, 512, 1024, 2048, 4096];
    let rates = windows.map(|kib| (kib, rates(kib << 10)));
    let mut wrong = Vec::new();
    for (gate, is_dual) in [(Gate::G8, true), (Gate::G10, false)] {
        let mut cells = cells_of(gate);
        for cell in &mut cells {
            assert_eq!(cell.what.starts_with("two readers, deadline"), is_dual);
            let (_, of) = cell.what.split_once("read-ahead ").expect("a window");
            let kib = of.split(' ').next().and_then(|kib| kib.parse().ok());
            let found = rates.iter().find(|(window, _)| Some(*window) == kib);
            let (_, [alone, beside]) = found.expect("one of the windows");
            let figure = if is_dual { beside } else { alone };
            wrong.extend(by_plan(cell, *figure, DIFFERENCES));
        }
        assert_holds(gate, &cells);
    }
    assert_none(&wrong);
}
