//! Rates against a known truth: a loop device that the kernel throttles.
//!
//! The limit is the truth only while the program keeps the throttle busy. On a
//! machine that is busy elsewhere it may not, and budget that nobody asks for in
//! a slice of 100 ms is lost. So the control group's own counter says first
//! whether the limit was reached; where it was not, the trial is no test of
//! anything and is done again. Where it was, what is reported must be within
//! 1 % of what it counted, and the group's limit must be named as what limited the stage.
//! Where it never was, that is a failure, unless the kernel's account of pressure says
//! that tasks waited for a processor for longer than what is missing: then this
//! machine was too busy to tell, and the test is skipped.

use crate::support::{Case, KIB, MIB, number, one_stage, trials, write_data};
use diskfacts_testkit::{LoopDevice, Missing, Running, Throttle, ThrottleGroup, or_skip};
use serde_json::Value;

const TRIES: u32 = 3;
const SECONDS: f64 = 10.0;
/// What the kernel lets pass beyond the limit, as a share of all: two slices of 100 ms at
/// once, when nothing was asked for before (`throtl_start_new_slice` in block/blk-throttle.c).
const AT_ONCE: f64 = 0.2 / SECONDS;

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

    /// What a trial came to.
    fn finish(&self, (before, running): (u64, Running)) -> Outcome {
        running.finish().expect_code(0);
        let after = self.group.operations().expect("the group's counters");
        let document = self.case.last();
        let trial = &trials(&document)[0];
        let seconds = number(&trial["seconds"]);
        assert!(seconds >= SECONDS, "{trial}");
        assert_eq!(trial["errors"], 0);
        let counted = (after - before) as f64 / self.per_operation / seconds;
        let device = &trial["evidence"]["devices"][0];
        let reached = number(&device["reads"]) + number(&device["read_merges"]);
        let charged_twice = counted * seconds > 1.02 * reached;
        if self.is_reached_by(counted) && !charged_twice {
            self.is_named_as_the_limit(&document);
        }
        let waited_ns = trial["evidence"]["pressure"]["cpu_some_ns"].as_f64();
        Outcome {
            reported: number(&trial["iops"]),
            counted,
            charged_twice,
            waited: waited_ns.unwrap_or(0.0) / 1e9 / seconds,
        }
    }

    /// Whether so many operations per second are the limit.
    fn is_reached_by(&self, counted: f64) -> bool {
        (0.99..=1.001 + AT_ONCE).contains(&(counted / self.per_s))
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

/// A trial beside the throttle.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// Operations per second, as reported.
    reported: f64,
    /// Operations per second, as the control group counted them.
    counted: f64,
    /// Whether the group was charged for more than reached the device.
    charged_twice: bool,
    /// Part of the time in which some task of this machine waited for a processor.
    waited: f64,
}

impl Outcome {
    /// Whether waiting for processors is enough to explain why the limit was missed.
    fn was_starved(&self, limit: f64) -> bool {
        self.waited > off(self.counted, limit)
    }
}

/// A loop device that many tests used in turn may come into a state in which the kernel
/// charges its group for some operations again and again (seen on Linux 6.18, with fio
/// too, until the device was removed and made anew): its limit is no truth then.
fn says_what_is_wrong_with(truth: &Truth) {
    diskfacts_testkit::skip(&format!(
        "the kernel charges the control group for more operations than reach {0}: remove it \
         (LOOP_CTL_REMOVE), or restart this machine",
        truth.device.path().display()
    ));
}

/// What is to be said when no trial reached the limit.
fn never_reached(tried: &[(&Truth, Outcome)]) {
    for (truth, outcome) in tried {
        assert!(
            outcome.was_starved(truth.per_s),
            "{}: the limit was never reached: {outcome:?}",
            truth.name
        );
    }
    if let Some((truth, outcome)) = tried.first() {
        diskfacts_testkit::skip(&format!(
            "too busy a machine: {} came to {:.0}/s while tasks waited for a processor for \
             {:.0} % of the time; run it with fewer programs beside",
            truth.name,
            outcome.counted,
            outcome.waited * 100.0
        ));
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
    let mut missed = Vec::new();
    let mut no_truth = Vec::new();
    for _ in 0..TRIES {
        // Each has a device and a group of its own, and hardly needs the
        // processor: they do not disturb each other.
        let running: Vec<_> = left.iter().map(|truth| truth.start()).collect();
        missed = left
            .into_iter()
            .zip(running)
            .map(|(truth, running)| (truth, truth.finish(running)))
            .filter(|(truth, outcome)| {
                println!("{}: {outcome:?}", truth.name);
                let Outcome {
                    reported, counted, ..
                } = *outcome;
                if outcome.charged_twice {
                    no_truth.push(*truth);
                    return false;
                }
                // Both count the same operations; the kernel also those few
                // that looked at the device before the trial.
                assert!(off(reported, counted) < 0.01, "{}: {outcome:?}", truth.name);
                !truth.is_reached_by(counted)
            })
            .collect();
        left = missed.iter().map(|(truth, _)| *truth).collect();
    }
    never_reached(&missed);
    if let Some(truth) = no_truth.first() {
        says_what_is_wrong_with(truth);
    }
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
    let mut outcome = truth.finish(truth.start());
    for _ in 1..TRIES {
        println!("{outcome:?}");
        if off(outcome.counted, truth.per_s) < 0.05 {
            break;
        }
        outcome = truth.finish(truth.start());
    }
    if outcome.charged_twice {
        says_what_is_wrong_with(&truth);
    } else if off(outcome.counted, truth.per_s) < 0.05 {
        truth.is_named_as_the_limit(&truth.case.last());
    } else {
        never_reached(&[(&truth, outcome)]);
    }
}
