use super::*;
use crate::{findings, testing};
use diskfacts_record::Severity;
use diskfacts_record::{Run, TargetKind};
use std::cmp::Reverse;

#[test]
fn a_healthy_run_has_nothing_to_find() {
    testing::silent(&testing::healthy());
}

#[test]
fn every_rule_has_a_name_of_its_own_and_says_what_it_is_about() {
    for (i, rule) in RULES.iter().enumerate() {
        assert!(!rule.about().is_empty());
        assert!(
            rule.name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '-'),
            "{}",
            rule.name
        );
        assert!(RULES[..i].iter().all(|other| other.name != rule.name));
    }
}

#[test]
fn what_needs_evidence_is_not_said_of_a_document() {
    let mut run = testing::healthy();
    testing::each(&mut run, "random-read-qd1", |trial| trial.errors = 1);
    let said = |run: &Run, rule: &Rule| testing::of_rule(run, rule.name).is_some();
    assert!(said(&run, &io_errors::RULE));
    run.target.kind = TargetKind::Imported;
    assert!(!said(&run, &io_errors::RULE));
}

#[test]
fn a_run_without_trials_or_stack_makes_no_rule_panic() {
    let mut run = testing::healthy();
    run.stack = diskfacts_record::Stack::default();
    findings(&run);
    run.trials.clear();
    run.plan.stages.clear();
    testing::silent(&run);
}

#[test]
fn trials_of_zeros_and_of_no_numbers_make_no_rule_panic() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut run = testing::healthy();
        for trial in &mut run.trials {
            trial.seconds = value;
            trial.iops = value;
            trial.throughput_bytes_per_s = value;
            trial.bytes = 0;
            trial.ops = 0;
            trial.evidence = diskfacts_record::Evidence::default();
            trial.cpu.busiest_thread = Some(value);
            trial.evidence.engine.mean_depth = value;
            trial.evidence.clock.drift_ppm = Some(value);
            trial.histograms = diskfacts_record::PackedHistograms::default();
        }
        findings(&run);
        crate::figures(&run);
        crate::verdicts(&run);
    }
}

#[test]
fn every_finding_is_whole_and_the_worst_comes_first() {
    let mut run = testing::healthy();
    run.run.status = diskfacts_record::Status::Interrupted;
    testing::each(&mut run, "random-read-qd1", |trial| {
        trial.errors = 2;
        trial.evidence.clock.backwards = 1;
        trial.cpu.busiest_thread = Some(0.99);
        trial.evidence.pressure.as_mut().unwrap().cpu_some_ns = 300_000_000;
    });
    let found = findings(&run);
    assert_eq!(found[0].severity, Severity::Error);
    assert!(found.is_sorted_by_key(|f| Reverse((f.severity, f.confidence))));
    for finding in &found {
        assert!(finding.claim.ends_with('.'), "{finding:?}");
        assert!(!finding.evidence.is_empty(), "{finding:?}");
        assert!(
            finding.evidence.iter().all(|e| e.ends_with('.')),
            "{finding:?}"
        );
        assert!(finding.refuted_by.ends_with('.'), "{finding:?}");
        assert!(finding.remedy.ends_with('.'), "{finding:?}");
    }
}
