//! The frame: which of several limits is named first.

use super::*;
use crate::{limits, testing};
use diskfacts_record::Confidence;
use std::cmp::Ordering;

pub(super) fn candidate(
    standing: Standing,
    share: Option<f64>,
    confidence: Confidence,
) -> Candidate {
    Candidate::new(standing, share, confidence, "It is so.")
}

#[test]
fn a_cause_comes_before_the_nature_of_the_device_and_that_before_the_load() {
    let order = [
        candidate(Standing::NotTheDevice, None, Confidence::Possible),
        candidate(Standing::cause(0.4), Some(0.4), Confidence::Likely),
        candidate(Standing::Nature, Some(0.9), Confidence::Likely),
        candidate(Standing::Load, Some(1.0), Confidence::Certain),
        candidate(Standing::cause(0.3), Some(0.3), Confidence::Certain),
    ];
    for pair in order.windows(2) {
        assert_eq!(pair[0].best_first(&pair[1]), Ordering::Less, "{pair:#?}");
        assert_eq!(pair[1].best_first(&pair[0]), Ordering::Greater);
    }
}

#[test]
fn among_causes_the_larger_comes_first_unless_it_is_less_sure() {
    let of = |share, confidence| candidate(Standing::Cause, share, confidence);
    let larger = of(Some(0.9), Confidence::Likely);
    let smaller = of(Some(0.5), Confidence::Likely);
    assert_eq!(larger.best_first(&smaller), Ordering::Less);
    let unsure = of(Some(0.9), Confidence::Possible);
    assert_eq!(
        unsure.best_first(&of(Some(0.5), Confidence::Certain)),
        Ordering::Greater
    );
    // What cannot say its share counts for half.
    let unknown = of(None, Confidence::Likely);
    assert_eq!(unknown.best_first(&smaller), Ordering::Equal);
    assert_eq!(
        of(Some(f64::NAN), Confidence::Likely).best_first(&smaller),
        Ordering::Equal
    );
}

#[test]
fn every_limiter_has_a_name_of_its_own_and_says_what_it_is_about() {
    let limiters: Vec<&Limiter> = all().collect();
    for (i, limiter) in limiters.iter().enumerate() {
        assert!(!limiter.about().is_empty());
        let plain = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(limiter.name.chars().all(plain), "{}", limiter.name);
        assert!(limiters[..i].iter().all(|other| other.name != limiter.name));
    }
}

#[test]
fn trials_of_zeros_and_of_no_numbers_make_no_limiter_panic() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for turning in [false, true] {
            let mut run = testing::healthy();
            if turning {
                testing::rotating(&mut run);
            }
            for trial in &mut run.trials {
                trial.seconds = value;
                trial.iops = value;
                trial.throughput_bytes_per_s = value;
                trial.evidence.engine.mean_depth = value;
            }
            check_shares(&limits(&run));
            for trial in &mut run.trials {
                trial.evidence = diskfacts_record::Evidence::default();
                trial.histograms = diskfacts_record::PackedHistograms::default();
                trial.workload.block_size = 0;
                trial.ops = 0;
            }
            check_shares(&limits(&run));
        }
    }
    let mut run = testing::healthy();
    run.stack = diskfacts_record::Stack::default();
    check_shares(&limits(&run));
    run.trials.clear();
    assert!(limits(&run).is_empty());
}

#[test]
fn what_would_settle_it_is_done_with_the_settings_of_the_kernel_that_the_stage_had() {
    let mut run = testing::healthy();
    for (i, stage) in run.plan.stages.iter_mut().enumerate() {
        let depth = (i + 4).to_string();
        stage.kernel = [("nr_requests".to_owned(), depth)].into();
    }
    let mut experiments = 0;
    for found in limits(&run) {
        let stage = run.plan.stage(&found.stage).expect("a stage of the plan");
        let plans = found
            .limits
            .iter()
            .filter_map(|limit| limit.experiment.plan.as_ref());
        for text in plans {
            let plan = diskfacts_plan::file::parse(text).expect("a plan file");
            assert!(
                plan.stages
                    .iter()
                    .all(|settling| settling.kernel == stage.kernel),
                "{text}"
            );
            experiments += 1;
        }
    }
    assert!(experiments > 3, "{experiments}");
}

fn check_shares(found: &[StageLimits]) {
    for limit in found.iter().flat_map(|stage| &stage.limits) {
        let share = limit.share.unwrap_or(0.0);
        assert!((0.0..=1.0).contains(&share), "{limit:#?}");
    }
}

#[test]
fn a_run_without_fault_is_limited_by_the_device_or_the_load() {
    let run = testing::healthy();
    for stage in limits(&run) {
        if let Some(first) = stage.limits.first() {
            let plain = [
                "one-at-a-time",
                "device-parallelism",
                "media-rate",
                "interface",
            ];
            let of_the_host = OF_HOST.iter().any(|host| host.name == first.limiter);
            assert!(
                plain.contains(&first.limiter.as_str()) || of_the_host,
                "{first:#?}"
            );
        }
    }
}

#[test]
fn the_synced_writes_of_the_benchmark_wait_for_one_revolution_and_its_stream_does_not() {
    let found = limits(&testing::seed_run());
    let first = |mode: &str, size: &str| {
        let cell = found
            .iter()
            .find(|cell| cell.settings["mode"] == mode && cell.settings["block_size"] == size)
            .unwrap_or_else(|| panic!("{mode} at {size}"));
        cell.limits.first().map(|limit| limit.limiter.as_str())
    };
    for size in ["4KiB", "8KiB", "16KiB", "64KiB", "256KiB", "1MiB"] {
        assert_eq!(first("FDATASYNC", size), Some("rotation"), "{size}");
        assert_eq!(
            first("O_DSYNC + O_DIRECT", size),
            Some("rotation"),
            "{size}"
        );
    }
    assert_eq!(first("O_DIRECT", "1MiB"), Some("media-rate"));
}

#[test]
fn a_limit_looks_at_the_settings_that_were_in_force_in_the_trials() {
    use diskfacts_record::evidence::SettingInForce;
    let mut run = testing::healthy();
    for device in &mut run.stack.devices {
        device.nr_requests = Some(128);
    }
    let changed = run.trials[0].stage.clone();
    testing::each(&mut run, &changed, |trial| {
        trial.evidence.settings = vec![SettingInForce {
            device: Some("vda".to_owned()),
            name: "nr_requests".to_owned(),
            asked: "16".to_owned(),
            before: Some("128".to_owned()),
            in_force: Some("16".to_owned()),
            note: None,
        }];
    });
    let context = Context::new(&run);
    for (stage, figures) in context.each() {
        let facts = StageFacts::new(&context, stage, figures);
        let seen = facts
            .stack()
            .device("vda")
            .and_then(|disk| disk.nr_requests);
        let expected = if stage.name == changed { 16 } else { 128 };
        assert_eq!(seen, Some(expected), "{}", stage.name);
    }
}

#[test]
fn what_to_do_in_short_has_room_on_a_page_of_80_columns() {
    /// What such a page has beside the longest name.
    const MOST: usize = 36;
    let clauses: Vec<&str> = all()
        .map(|limiter| Words::of(limiter.name).say(IN_SHORT, ""))
        .collect();
    assert!(clauses.iter().any(|clause| !clause.is_empty()));
    for clause in clauses {
        assert!(clause.len() <= MOST, "{clause}");
    }
}
