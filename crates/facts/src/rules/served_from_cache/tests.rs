use super::*;
use crate::testing::{self, each, loop_stack, memory_stack, only};
use diskfacts_plan::SyncMode;
use diskfacts_record::{Confidence, Severity, TargetKind, Trial};

/// As if the target's page cache had served this share of the reads.
fn served(trial: &mut Trial, share: f64) {
    let left = (trial.evidence.issued.read_bytes as f64 * (1.0 - share)) as u64;
    trial.evidence.process_io.as_mut().unwrap().read_bytes = left;
    for device in &mut trial.evidence.devices {
        device.read_bytes = left;
    }
}

#[test]
fn a_filesystem_that_ignores_direct_io_is_found() {
    let mut run = testing::healthy();
    for stage in ["random-read-qd1", "sequential-read"] {
        each(&mut run, stage, |t| served(t, 0.5));
    }
    let finding = only(&run, RULE.name);
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.stages, ["sequential-read", "random-read-qd1"]);
    assert!(
        finding
            .claim
            .starts_with("50 % of the bytes of sequential-read and random-read-qd1"),
        "{finding:?}"
    );
    assert!(finding.evidence[0].contains("vda1 counted"), "{finding:?}");
    assert!(
        finding.remedy.contains("diskfacts measure /dev/vda1"),
        "{finding:?}"
    );
}

#[test]
fn two_percent_are_left_alone_and_three_are_not() {
    let mut run = testing::healthy();
    each(&mut run, "random-read-qd1", |t| served(t, 0.019));
    testing::silent(&run);
    each(&mut run, "random-read-qd1", |t| served(t, 0.03));
    only(&run, RULE.name);
}

#[test]
fn a_loop_device_over_a_page_cache_is_found_at_its_boundary() {
    let mut run = testing::on(loop_stack(Some(false)));
    each(&mut run, "random-read-qd32", |trial| {
        for device in &mut trial.evidence.devices {
            if device.name != "loop0" {
                device.read_bytes /= 10;
            }
        }
    });
    let found = crate::findings(&run);
    let finding = found.iter().find(|f| f.rule == RULE.name).unwrap();
    assert_eq!(finding.confidence, Confidence::Certain);
    assert!(
        finding.claim.starts_with("90 % of the bytes"),
        "{finding:?}"
    );
    assert!(finding.claim.contains("file behind loop0"), "{finding:?}");
    assert!(
        finding
            .remedy
            .contains("`losetup --direct-io=on /dev/loop0`"),
        "{finding:?}"
    );
    assert_eq!(testing::rules_of(&found), [RULE.name], "{found:#?}");
}

#[test]
fn a_target_in_memory_is_one_finding_for_all_stages() {
    let mut run = testing::on(memory_stack());
    for trial in &mut run.trials {
        trial.evidence.process_io.as_mut().unwrap().read_bytes = 0;
    }
    let finding = only(&run, RULE.name);
    assert!(finding.claim.contains("tmpfs on /dev/shm"), "{finding:?}");
    assert_eq!(finding.stages.len(), 11);
}

#[test]
fn a_cold_stage_that_reads_its_span_again_is_told_to_take_a_larger_file() {
    let mut run = testing::healthy();
    each(&mut run, "buffered-read", |trial| {
        trial.workload.span = Some(16 << 20);
        served(trial, 0.5);
    });
    let finding = only(&run, RULE.name);
    assert!(finding.claim.contains("more than once"), "{finding:?}");
    assert!(finding.remedy.contains("--size 32MiB"), "{finding:?}");
    run.target.kind = TargetKind::File;
    assert!(only(&run, RULE.name).remedy.contains("set bytes ="));
}

#[test]
fn a_dropped_cache_that_came_back_is_found() {
    let mut run = testing::healthy();
    each(&mut run, "buffered-read", |trial| {
        trial
            .evidence
            .residency_before
            .as_mut()
            .unwrap()
            .cached_bytes = testing::SIZE / 4;
        served(trial, 0.25);
    });
    let finding = only(&run, RULE.name);
    assert!(
        finding.evidence[1].contains("25 % of its span"),
        "{finding:?}"
    );
    each(&mut run, "buffered-read", |trial| {
        trial
            .evidence
            .residency_before
            .as_mut()
            .unwrap()
            .cached_bytes = 0;
    });
    assert_eq!(only(&run, RULE.name).confidence, Confidence::Possible);
}

#[test]
fn synced_writes_that_the_device_did_not_count_are_found() {
    let mut run = testing::healthy();
    each(&mut run, "log-write", |trial| {
        for device in &mut trial.evidence.devices {
            device.write_bytes /= 2;
        }
    });
    let finding = only(&run, RULE.name);
    assert!(
        finding.claim.contains("every write was synced"),
        "{finding:?}"
    );
}

#[test]
fn buffered_writes_that_stay_in_memory_are_a_note() {
    let mut run = testing::healthy();
    each(&mut run, "log-write", |trial| {
        trial.workload.sync = SyncMode::None;
        for device in &mut trial.evidence.devices {
            device.write_bytes = 0;
        }
    });
    let finding = only(&run, RULE.name);
    assert_eq!(finding.severity, Severity::Note);
    assert!(
        finding.claim.starts_with("100 % of the bytes of log-write"),
        "{finding:?}"
    );
}

#[test]
fn a_stage_that_is_meant_to_be_cached_is_left_alone() {
    let run = testing::healthy();
    let figures = crate::figures(&run);
    assert!((figures[0].layers.page_cache - 1.0).abs() < 1e-9);
    testing::silent(&run);
}
