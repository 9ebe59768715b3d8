//! What a write matrix is asked for, on disks of which the answer is known.
//!
//! These rules describe a disk rather than a flaw, and several of them speak of
//! the same one. So each is held against disks where it has to speak and disks
//! where it has to be silent.

use super::setup::Setup;
use diskfacts_disk::profile::Drive;
use diskfacts_plan::WriteMode;

/// The rules that need a matrix.
pub(super) const RULES: [&str; 7] = [
    "direct-small-blocks",
    "drive-cache",
    "early-acknowledgement",
    "same-modes",
    "sync-block-size",
    "whole-revolutions",
    "write-choice",
];

/// What is known of a disk, its profile, the ways to write that are measured, and
/// the rules that speak; the others of [`RULES`] are silent.
struct Case {
    truth: &'static str,
    profile: &'static str,
    measured: fn(WriteMode) -> bool,
    speak: &'static [&'static str],
}

const CASES: [Case; 5] = [
    Case {
        truth: "each flush waits for the medium to come round",
        profile: "hdd-7200-sync",
        measured: |_| true,
        speak: &[
            "direct-small-blocks",
            "drive-cache",
            "early-acknowledgement",
            "same-modes",
            "sync-block-size",
            "whole-revolutions",
            "write-choice",
        ],
    },
    Case {
        truth: "the same disk, with no stream to tell what the bytes take",
        profile: "hdd-7200-sync",
        measured: |mode| mode.sync.each_write(),
        speak: &["same-modes"],
    },
    Case {
        truth: "nothing turns, and a flush costs milliseconds",
        profile: "ssd-sata",
        measured: |_| true,
        speak: &[
            "direct-small-blocks",
            "early-acknowledgement",
            "same-modes",
            "sync-block-size",
            "write-choice",
        ],
    },
    Case {
        truth: "two ways to write that a flush tells apart",
        profile: "ssd-sata",
        measured: |mode| ["O_DIRECT", "FDATASYNC + O_DIRECT"].contains(&mode.to_string().as_str()),
        speak: &[
            "direct-small-blocks",
            "early-acknowledgement",
            "sync-block-size",
        ],
    },
    Case {
        truth: "a cache that survives a power cut makes every flush free",
        profile: "nvme-datacenter",
        measured: |_| true,
        speak: &[
            "direct-small-blocks",
            "same-modes",
            "sync-block-size",
            "write-choice",
        ],
    },
];

#[test]
fn a_matrix_is_read_as_the_disk_is() {
    for case in CASES {
        let mut setup = Setup::on(case.profile);
        setup.plan = diskfacts_plan::builtin::plan("write-matrix").expect("it is built in");
        let wanted = |mode: Option<WriteMode>| mode.is_some_and(case.measured);
        let stages = &mut setup.plan.stages;
        stages.retain(|stage| wanted(WriteMode::of(&stage.workload)));
        let run = setup.run();
        let spoke: Vec<&str> = super::rules_of(&run)
            .into_iter()
            .filter(|rule| RULES.contains(rule))
            .collect();
        assert_eq!(
            spoke,
            case.speak,
            "{} ({})\n{}",
            case.truth,
            case.profile,
            super::claims(&run.findings)
        );
        // What a sync costs limits the cells that sync.
        let mut limits = run.limits.iter().flat_map(|stage| &stage.limits);
        let by_flush = limits.any(|limit| limit.limiter == "flush-per-write");
        assert!(by_flush || case.profile != "ssd-sata", "{}", case.truth);
    }
}

/// The drive of seed 003 is simulated with a cache of 9 MiB.
#[test]
fn the_size_of_a_drives_cache_is_found_from_outside() {
    let mut setup = Setup::on("hdd-7200-sync");
    let Drive::Hdd(hdd) = &setup.profile.drive else {
        panic!("it turns");
    };
    let truth = hdd.write_cache.capacity as f64 / 1e6;
    setup.plan = diskfacts_plan::builtin::plan("write-matrix").expect("it is built in");
    let run = setup.run();
    let mut findings = run.findings.iter();
    let finding = findings
        .find(|f| f.rule == "drive-cache")
        .expect("it speaks");
    let mut words = finding.claim.split_whitespace();
    let kept: f64 = words.find_map(|word| word.parse().ok()).expect("a number");
    assert!((kept / truth - 1.0).abs() < 0.1, "{truth}: {finding:#?}");
}

#[test]
fn each_rule_of_a_matrix_has_to_speak_somewhere_and_to_be_silent_somewhere() {
    for rule in RULES {
        let speaks = |case: &Case| case.speak.contains(&rule);
        assert!(CASES.iter().any(speaks), "{rule}");
        assert!(!CASES.iter().all(speaks), "{rule}");
    }
}
