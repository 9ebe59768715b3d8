//! What distances and positions cost, on disks of which the answer is known.
//!
//! These rules describe a disk rather than a flaw, so each is held against disks
//! where it has to speak and disks where it has to be silent.

use super::setup::Setup;
use diskfacts_disk::Extent;
use diskfacts_disk::defects::SlowZone;
use diskfacts_plan::{Operation, Stop, builtin};
use diskfacts_record::Run;

/// The rules that need a sweep over distances or positions.
pub(super) const RULES: [&str; 2] = ["stride-curve", "zones"];

const GIB: u64 = 1 << 30;

/// What is known of a disk, its profile, what is planted, the plan, and the rules
/// that speak; the others of [`RULES`] are silent.
struct Case {
    truth: &'static str,
    profile: &'static str,
    plant: fn(&mut Setup),
    plan: &'static str,
    speak: &'static [&'static str],
}

fn nothing(_: &mut Setup) {}

/// The partition is the inner half of the disk, as in seed 000.
fn inner_half(setup: &mut Setup) {
    setup.profile.faults.partition_start = setup.profile.capacity() / 2;
}

/// The partition is so small that it lies in one zone.
fn one_zone(setup: &mut Setup) {
    setup.profile.faults.partition_len = 4 * GIB;
}

const CASES: [Case; 7] = [
    Case {
        truth: "it turns: near blocks are passed by, far ones sought",
        profile: "hdd-7200-1tb",
        plant: nothing,
        plan: "stride",
        speak: &["stride-curve"],
    },
    Case {
        truth: "the inner half of it turns as fast",
        profile: "hdd-7200-1tb",
        plant: inner_half,
        plan: "stride",
        speak: &["stride-curve"],
    },
    Case {
        truth: "nothing moves",
        profile: "ssd-sata",
        plant: nothing,
        plan: "stride",
        speak: &[],
    },
    Case {
        truth: "outer tracks are longer",
        profile: "hdd-7200-1tb",
        plant: nothing,
        plan: "zones",
        speak: &["zones"],
    },
    Case {
        truth: "the inner half has zones of its own",
        profile: "hdd-7200-1tb",
        plant: inner_half,
        plan: "zones",
        speak: &["zones"],
    },
    Case {
        truth: "one zone is flat",
        profile: "hdd-7200-1tb",
        plant: one_zone,
        plan: "zones",
        speak: &[],
    },
    Case {
        truth: "nothing moves, so every position is as fast",
        profile: "nvme-datacenter",
        plant: nothing,
        plan: "zones",
        speak: &[],
    },
];

fn measured(case: &Case) -> Run {
    let mut setup = Setup::on(case.profile);
    (case.plant)(&mut setup);
    setup.plan = builtin::plan(case.plan).expect("it is built in");
    // Writes take the same way to the same rule, and longer.
    let stages = &mut setup.plan.stages;
    stages.retain(|stage| stage.workload.operation == Operation::Read);
    for stage in stages {
        // They end where the plan says, and not at a share of the time.
        stage.full = None;
        if stage.workload.stop == Stop::default() {
            stage.workload.stop.bytes = Some(64 << 20);
        }
    }
    setup.run()
}

#[test]
fn distances_and_positions_are_read_as_the_disk_is() {
    let mut wrong = Vec::new();
    for case in CASES {
        let run = measured(&case);
        let spoke: Vec<&str> = super::rules_of(&run)
            .into_iter()
            .filter(|rule| RULES.contains(rule))
            .collect();
        if spoke != case.speak {
            let rates: Vec<String> = run
                .figures
                .iter()
                .map(|f| format!("{:?} {}", f.settings, f.iops.median))
                .collect();
            wrong.push(format!(
                "{} ({}, {}): {spoke:?}\n{}\n{}",
                case.truth,
                case.profile,
                case.plan,
                super::claims(&run.findings),
                rates.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rule_of_a_sweep_has_to_speak_somewhere_and_to_be_silent_somewhere() {
    for rule in RULES {
        let plan = if rule == "zones" { "zones" } else { "stride" };
        let of_plan = || CASES.iter().filter(|case| case.plan == plan);
        assert!(of_plan().any(|case| case.speak.contains(&rule)), "{rule}");
        assert!(!of_plan().all(|case| case.speak.contains(&rule)), "{rule}");
    }
}

/// Zones fall from the rim inwards, so what is slow there and not behind it is none.
#[test]
fn a_slow_zone_at_the_rim_is_told_beside_the_zones_of_the_rest() {
    let slow = Case {
        truth: "the first twentieth takes three times as long",
        profile: "hdd-20tb-cmr",
        plant: |setup| {
            setup.profile.faults.slow_zones = vec![SlowZone {
                extent: Extent {
                    start: 0,
                    end: 1_000_000_000_000,
                },
                time_percent: 300,
            }];
        },
        plan: "zones",
        speak: &["zones"],
    };
    let run = measured(&slow);
    let zones = run.findings.iter().filter(|f| f.rule == "zones");
    let claims: Vec<&str> = zones.map(|finding| finding.claim.as_str()).collect();
    let [spots, zones] = claims[..] else {
        panic!("{claims:#?}");
    };
    assert!(
        spots.starts_with(
            "2 of 32 positions are much slower than their neighbours: those at 0 B and "
        ),
        "{spots}"
    );
    assert!(
        zones.starts_with("The rate depends on the position"),
        "{zones}"
    );
}

/// The author of seed 000 took a filesystem for faster than a raw partition, and
/// then found that the partition was the inner half of its disk.
#[test]
fn the_inner_half_of_a_disk_is_slower_from_its_first_byte() {
    let first = |case: &Case| {
        let run = measured(case);
        run.figures[0].throughput_bytes_per_s.median
    };
    let (whole, inner) = (first(&CASES[3]), first(&CASES[4]));
    assert!(
        inner < 0.95 * whole,
        "{inner} against {whole} bytes per second"
    );
}
