//! Rates against a known truth: a loop device that the kernel throttles.
//!
//! The limit is the truth only while the program keeps the throttle busy. On a
//! machine that is busy elsewhere it may not, and budget that nobody asks for in
//! a slice of 100 ms is lost. So the control group's own counter says first
//! whether the limit was reached; where it was not, the trial is no test of
//! anything and is done again. Where it was, what is reported must be within
//! 1 % of the limit, and the group's limit must be named as what limited the stage.

use crate::support::{Case, KIB, MIB, number, one_stage, trials, write_data};
use diskfacts_testkit::{LoopDevice, Missing, Running, Throttle, ThrottleGroup, or_skip};
use serde_json::Value;

const TRIES: u32 = 3;
const SECONDS: f64 = 10.0;

/// A throttled device, what is done to it, and the rate that must come out.
struct Truth {
    name: &'static str,
    case: Case,
    // Dropped in order: the group before the device.
    group: ThrottleGroup,
    device: LoopDevice,
    per_s: f64,
    /// Operations of the device for each of the workload.
    per_operation: f64,
}

impl Truth {
    fn new(
        name: &'static str,
        throttle: Throttle,
        stage: &str,
        per_s: f64,
    ) -> Result<Self, Missing> {
        let device = LoopDevice::new(32 * MIB)?;
        write_data(device.backing_file(), 32 * MIB);
        let group = ThrottleGroup::new(&device, throttle)?;
        let case = Case::new();
        case.text_file(
            "plan.toml",
            &one_stage(&format!("operation = \"read\"\ntime = \"10s\"\n{stage}")),
        );
        Ok(Self {
            name,
            case,
            group,
            device,
            per_s,
            per_operation: 1.0,
        })
    }

    fn start(&self) -> (u64, Running) {
        let before = self.group.operations().expect("the group's counters");
        let running = self
            .case
            .diskfacts(["measure", "--plan"])
            .args([&self.case.path("plan.toml"), self.device.path()])
            .inside(&self.group)
            .start();
        (before, running)
    }

    /// The reported rate and the truth: operations per second.
    fn finish(&self, (before, running): (u64, Running)) -> (f64, f64) {
        running.finish().expect_code(0);
        let after = self.group.operations().expect("the group's counters");
        let document = self.case.last();
        let trial = &trials(&document)[0];
        let seconds = number(&trial["seconds"]);
        assert!(seconds >= SECONDS, "{trial}");
        assert_eq!(trial["errors"], 0);
        let counted = (after - before) as f64 / self.per_operation / seconds;
        if off(counted, self.per_s) < 0.01 {
            self.is_named_as_the_limit(&document);
        }
        (number(&trial["iops"]), counted)
    }

    /// The limit was reached, so it is what limited the stage, by the name of its
    /// group.
    fn is_named_as_the_limit(&self, document: &Value) {
        let first = &document["limits"][0]["limits"][0];
        assert_eq!(
            first["limiter"], "cgroup-throttle",
            "{}",
            document["limits"]
        );
        assert_eq!(first["confidence"], "certain");
        let group = self.group.path().to_string_lossy().into_owned();
        let said = first["evidence"][0].as_str().expect("a sentence");
        assert!(said.contains(&group), "{first}");
        let remedy = first["remedy"].as_str().expect("a sentence");
        assert!(remedy.contains(&group), "{first}");
    }
}

fn off(rate: f64, from: f64) -> f64 {
    (rate / from - 1.0).abs()
}

#[test]
fn rates_of_a_throttled_device_are_reported_within_one_percent() {
    let iops = Throttle {
        reads_per_s: Some(1000),
        ..Throttle::default()
    };
    let bandwidth = Throttle {
        read_bytes_per_s: Some(20 * MIB),
        ..Throttle::default()
    };
    let random = "pattern = \"random\"\nblock_size = \"4KiB\"";
    let truths = [
        or_skip!(Truth::new("1000 IOPS, QD1", iops, random, 1000.0)),
        or_skip!(Truth::new(
            "1000 IOPS, QD8",
            iops,
            &format!("{random}\nqueue_depth = 8"),
            1000.0
        )),
        or_skip!(Truth::new(
            "20 MiB/s, QD4",
            bandwidth,
            "pattern = \"sequential\"\nblock_size = \"128KiB\"\nqueue_depth = 4",
            (20 * MIB / (128 * KIB)) as f64
        )),
    ];
    let mut left: Vec<&Truth> = truths.iter().collect();
    for _ in 0..TRIES {
        // Each has a device and a group of its own, and hardly needs the
        // processor: they do not disturb each other.
        let running: Vec<_> = left.iter().map(|truth| truth.start()).collect();
        left = left
            .into_iter()
            .zip(running)
            .filter_map(|(truth, running)| {
                let (reported, counted) = truth.finish(running);
                println!(
                    "{}: {reported:.2} reported, {counted:.2} counted",
                    truth.name
                );
                // Both count the same operations; the kernel also those few
                // that looked at the device before the trial.
                assert!(off(reported, counted) < 0.01, "{}", truth.name);
                let held = off(counted, truth.per_s) < 0.01;
                if held {
                    let name = truth.name;
                    assert!(off(reported, truth.per_s) < 0.01, "{name}: {reported}");
                }
                (!held).then_some(truth)
            })
            .collect();
    }
    let names: Vec<_> = left.iter().map(|truth| truth.name).collect();
    assert!(names.is_empty(), "the limit was never reached: {names:?}");
}

#[test]
fn a_slow_device_of_a_control_group_is_named_with_its_group() {
    let slow = Throttle {
        reads_per_s: Some(100),
        ..Throttle::default()
    };
    // Several in flight, so that a busy machine keeps the throttle busy too.
    let stage = "pattern = \"random\"\nblock_size = \"4KiB\"\nqueue_depth = 8";
    let truth = or_skip!(Truth::new("100 IOPS, QD8", slow, stage, 100.0));
    for _ in 0..TRIES {
        let (reported, counted) = truth.finish(truth.start());
        println!("{reported:.2} reported, {counted:.2} counted");
        if off(counted, truth.per_s) < 0.05 {
            truth.is_named_as_the_limit(&truth.case.last());
            return;
        }
    }
    panic!("the limit was never reached");
}
