//! What may hold a stage back, so that its failure says nothing of the disk.

use super::tests::{of, outcomes};
use super::*;
use crate::testing::{self, each, set_latencies};
use diskfacts_record::Outcome;

/// The rule that sees it, and how it is planted in a trial.
type Plant = (&'static str, fn(&mut diskfacts_record::Trial));

/// Each of what may hold a stage back is planted by itself.
#[test]
fn whatever_held_a_stage_back_is_why_its_failure_says_nothing_of_the_disk() {
    let plants: [Plant; 4] = [
        ("cpu-bound", |t| {
            t.cpu.user_ns_per_io = Some(0.98 * t.seconds * 1e9 / t.ops as f64);
            t.cpu.system_ns_per_io = Some(0.0);
            t.cpu.busiest_thread = Some(0.98);
        }),
        ("cpu-pressure", |t| {
            t.cpu.wait_ns_per_io = Some(0.7 * t.seconds * 1e9 / t.ops as f64);
        }),
        ("cpu-stolen", |t| {
            t.evidence.cpu_steal_ns = Some((0.9e9 * t.seconds) as u64);
        }),
        ("other-io", |t| {
            for device in &mut t.evidence.devices {
                device.write_bytes += 8 * t.bytes;
                device.writes += 8 * t.ops;
            }
        }),
    ];
    let planted: Vec<&str> = plants.iter().map(|(rule, _)| *rule).collect();
    let known: Vec<&str> = HINDERING.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(planted, known);
    for (rule, plant) in plants {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |t| {
            // A little too slow.
            set_latencies(t, &[(12_000_000, 83)]);
            t.ops = 83;
        });
        assert_eq!(outcomes(&run, "postgres-wal"), [Outcome::Fail], "{rule}");
        run.machine.cpus = 1;
        each(&mut run, "log-write", plant);
        let all = verdicts(&run);
        let held = of(&all, "postgres-wal")[0];
        assert_eq!(held.outcome, Outcome::Unmeasured, "{rule}: {held:?}");
        let why = HINDERING.iter().find(|(name, _)| *name == rule);
        let why = why.expect("it is known").1;
        let measured = held.measured.as_deref().expect("it was measured");
        assert!(measured.contains(why), "{rule}: {measured}");
    }
}
