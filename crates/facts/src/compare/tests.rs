use super::simulated::{of, selection};
use super::*;
use crate::testing::{self, each, set_rate};
use diskfacts_plan::{CacheMode, Rate};
use diskfacts_record::PackedHistograms;
use diskfacts_record::TargetKind;
use diskfacts_record::comparison::Unit;
use proptest::prelude::*;

pub(super) fn stage<'c>(comparison: &'c Comparison, name: &str) -> &'c StageComparison {
    let found = comparison.stages.iter().find(|s| s.stage == name);
    found.unwrap_or_else(|| panic!("no stage {name}"))
}

fn demand(a: &Run, b: &Run, text: &str) -> diskfacts_record::comparison::Demand {
    let demanded = [Demanded::parse(text).unwrap()];
    let comparison = compare(&selection([a]), &selection([b]), SAME_WITHIN, &demanded);
    comparison.demands[0].clone()
}

#[test]
fn a_run_is_the_same_as_itself() {
    let run = testing::healthy();
    let comparison = of(&run, &run);
    assert_eq!(comparison.conditions, []);
    assert_eq!(comparison.stages.len(), run.plan.stages.len());
    for stage in &comparison.stages {
        assert_eq!(stage.change, Change::Same, "{stage:?}");
        assert!(stage.statement.starts_with("the same within "), "{stage:?}");
        assert!(
            stage.latency.iter().all(|d| d.outcome == Change::Same),
            "{stage:?}"
        );
    }
    assert!(
        comparison
            .summary
            .starts_with("B is close to A: 0 % faster on average over 12 stages"),
        "{}",
        comparison.summary
    );
}

#[test]
fn one_slower_stage_is_named_with_its_interval_and_the_others_are_the_same() {
    let a = testing::healthy();
    let mut b = a.clone();
    each(&mut b, "log-write", |trial| set_rate(trial, 0.8));
    let comparison = of(&a, &b);
    for one in &comparison.stages {
        let slower = one.stage == "log-write";
        assert_eq!(one.change == Change::Slower, slower, "{one:?}");
    }
    let slower = stage(&comparison, "log-write");
    let [low, high] = slower.speed.as_ref().unwrap().interval.unwrap();
    assert!(low < -0.2 && -0.2 < high && high < -0.15, "{low} {high}");
    assert!(slower.statement.starts_with("slower by 1"), "{slower:?}");
    assert!(slower.speed.as_ref().unwrap().p_adjusted < Some(0.04));
    assert!(
        comparison.summary.contains("log-write: slower by"),
        "{}",
        comparison.summary
    );
    // Five trials of 1 % noise: the estimate is 20 %, beyond 5 and below 25.
    assert_eq!(demand(&a, &b, "slower:5%").holds, ["log-write"]);
    assert_eq!(demand(&a, &b, "slower:25%").holds, [""; 0]);
    assert_eq!(demand(&a, &b, "faster:5%").holds, [""; 0]);
    assert_eq!(demand(&b, &a, "faster:5%").holds, ["log-write"]);
    assert_eq!(demand(&a, &b, "not-same:5%").holds, ["log-write"]);
    assert_eq!(demand(&a, &b, "sequential-read:slower:5%").holds, [""; 0]);
    assert_eq!(demand(&a, &b, "p99:slower:5%").holds, [""; 0]);
}

#[test]
fn a_longer_tail_is_seen_where_the_rate_is_the_same() {
    let a = testing::healthy();
    let mut b = a.clone();
    each(&mut b, "random-read-qd1", |trial| {
        testing::set_latencies(
            trial,
            &[(100_000, 3900), (900_000, 100 + u64::from(trial.number))],
        );
    });
    let mut calm = a.clone();
    each(&mut calm, "random-read-qd1", |trial| {
        testing::set_latencies(trial, &[(100_000, 4000)]);
    });
    let comparison = of(&calm, &b);
    let read = stage(&comparison, "random-read-qd1");
    assert_eq!(read.change, Change::Same);
    let outcomes: Vec<(Measure, Change)> = read
        .latency
        .iter()
        .map(|d| (d.measure, d.outcome))
        .collect();
    assert_eq!(outcomes[0], (Measure::LatencyP50Ns, Change::Same));
    assert_eq!(outcomes[2], (Measure::LatencyP99Ns, Change::Slower));
    assert!(
        comparison.summary.contains("Latencies differ"),
        "{}",
        comparison.summary
    );
    assert_eq!(
        demand(&calm, &b, "p99:slower:20%").holds,
        ["random-read-qd1"]
    );
}

#[test]
fn one_trial_on_either_side_has_no_spread_and_says_so() {
    let mut a = testing::healthy();
    a.trials.retain(|trial| trial.number == 1);
    let mut b = a.clone();
    for trial in &mut b.trials {
        set_rate(trial, 0.97);
    }
    let comparison = of(&a, &b);
    let itself = of(&a, &a);
    for stage in &itself.stages {
        assert!(stage.statement.starts_with("no difference"), "{stage:?}");
    }
    for stage in &comparison.stages {
        assert_eq!(stage.change, Change::Unclear);
        assert!(!stage.statement.contains("no difference"), "{stage:?}");
        assert!(stage.statement.contains("no spread is known"), "{stage:?}");
        assert_eq!(stage.speed.as_ref().unwrap().interval, None);
    }
    assert!(
        comparison.summary.contains("3 % slower"),
        "{}",
        comparison.summary
    );
    let demand = demand(&a, &b, "slower:1%");
    assert_eq!((demand.holds.len(), demand.unjudged.len()), (0, 12));
}

#[test]
fn one_trial_is_held_against_the_spread_of_several() {
    let a = testing::healthy();
    let mut b = a.clone();
    b.trials.retain(|trial| trial.number == 1);
    each(&mut b, "log-write", |trial| set_rate(trial, 0.5));
    let comparison = of(&a, &b);
    assert_eq!(stage(&comparison, "log-write").change, Change::Slower);
    assert_ne!(stage(&comparison, "random-read-qd1").change, Change::Slower);
}

/// What the conditions that differ are.
fn conditions(comparison: &Comparison) -> Vec<&str> {
    let conditions = comparison.conditions.iter();
    conditions
        .map(|condition| condition.what.as_str())
        .collect()
}

#[test]
fn another_kernel_is_a_condition_and_another_block_size_is_void() {
    let mut a = testing::healthy();
    a.machine.kernel = Some("Linux 6.1.0".into());
    let mut b = a.clone();
    b.machine.kernel = Some("Linux 6.18.0".into());
    b.stack.devices[1].scheduler = Some("none".into());
    each(&mut b, "random-read-qd1", |trial| {
        trial.workload.block_size = 8192;
    });
    let comparison = of(&a, &b);
    assert_eq!(conditions(&comparison), ["scheduler", "kernel"]);
    assert_eq!(comparison.conditions[0].a, [""; 0]);
    assert_eq!(comparison.conditions[1].b, ["Linux 6.18.0"]);
    let void = stage(&comparison, "random-read-qd1");
    assert_eq!(void.change, Change::NotComparable);
    assert_eq!(
        void.statement,
        "not comparable, because another workload: block_size is 4KiB in A and 8KiB in B"
    );
    assert_eq!(void.speed, None);
    let others = comparison
        .stages
        .iter()
        .filter(|s| s.change == Change::Same);
    assert_eq!(others.count(), 11);
}

#[test]
fn two_loop_devices_of_one_name_are_told_apart_by_their_file_and_size() {
    let mut a = testing::healthy();
    a.stack = testing::loop_stack(Some(true));
    a.stack.devices[0].below.clear();
    a.stack.devices.truncate(1);
    a.stack.devices[0].size_bytes = Some(64 << 20);
    let mut b = a.clone();
    b.stack.devices[0].backing_file = Some("/srv/other.img".into());
    b.stack.devices[0].size_bytes = Some(128 << 20);
    let comparison = of(&a, &b);
    assert_eq!(
        conditions(&comparison),
        ["backing file", "size of the device"]
    );
    assert_eq!(comparison.conditions[1].b, ["128MiB"]);
}

#[test]
fn another_layer_that_served_is_void() {
    let a = testing::healthy();
    let mut b = a.clone();
    for trial in b.trials.iter_mut().filter(|t| t.stage == "random-read-qd1") {
        trial.layers = testing::cached();
    }
    let comparison = of(&a, &b);
    let void = stage(&comparison, "random-read-qd1");
    assert_eq!(void.change, Change::NotComparable);
    assert!(void.because[0].contains("page cache served 0 % of the bytes in A and 100 % in B"));
}

#[test]
fn other_zones_of_a_disk_that_turns_are_void_and_of_flash_a_condition() {
    let mut a = testing::healthy();
    a.target.kind = TargetKind::Device;
    each(&mut a, "sequential-read", |trial| {
        trial.workload.span = Some(testing::SIZE / 4);
    });
    let mut b = a.clone();
    each(&mut b, "sequential-read", |trial| {
        trial.workload.offset = testing::SIZE / 2;
    });
    let flash = of(&a, &b);
    assert_eq!(stage(&flash, "sequential-read").change, Change::Same);
    testing::rotating(&mut a);
    testing::rotating(&mut b);
    let void = of(&a, &b);
    assert_eq!(
        stage(&void, "sequential-read").because,
        ["another part of a disk that turns: from 0 % to 25 % of it in A, from 50 % to 75 % in B"]
    );
}

#[test]
fn a_size_on_the_other_side_of_memory_is_void_where_no_layer_was_seen() {
    let mut a = testing::healthy();
    a.machine.memory_bytes = Some(testing::SIZE * 2);
    let unseen = |run: &mut Run| {
        for trial in &mut run.trials {
            trial.workload.cache = CacheMode::Buffered;
            trial.layers = diskfacts_record::Layers::default();
        }
    };
    unseen(&mut a);
    let mut b = a.clone();
    b.machine.memory_bytes = Some(testing::SIZE / 2);
    let comparison = of(&a, &b);
    let void = stage(&comparison, "random-read-qd1");
    assert!(
        void.because[0].contains("another size against memory"),
        "{void:?}"
    );
    // A quarter of it fits on both sides.
    let fits = stage(&comparison, "cached-random-read");
    assert_eq!(fits.change, Change::Same);
}

#[test]
fn refused_direct_io_on_one_side_is_void() {
    let a = testing::healthy();
    let mut b = a.clone();
    for trial in b.trials.iter_mut().filter(|t| t.stage == "random-read-qd1") {
        trial.evidence.engine.direct = false;
        trial.evidence.engine.direct_refused = Some("EINVAL".into());
    }
    let comparison = of(&a, &b);
    let void = &stage(&comparison, "random-read-qd1").because;
    assert!(void[0].contains("refused in B (EINVAL)"), "{void:?}");
}

#[test]
fn a_stage_without_a_valid_trial_is_not_comparable_and_says_so() {
    let a = testing::healthy();
    let mut b = a.clone();
    each(&mut b, "log-write", |trial| {
        trial.errors = 3;
        set_rate(trial, 0.01);
    });
    for (one, other, side) in [(&a, &b, "B"), (&b, &a, "A")] {
        let comparison = of(one, other);
        let failed = stage(&comparison, "log-write");
        assert_eq!(failed.change, Change::NotComparable, "{failed:?}");
        assert_eq!(
            failed.because,
            [format!(
                "no valid trial: operations failed in each of 5 trials in {side}"
            )]
        );
        assert!(failed.speed.is_none() && failed.latency.is_empty());
        let others = comparison.stages.iter().filter(|s| s.stage != "log-write");
        assert!(others.into_iter().all(|s| s.change == Change::Same));
    }
    assert_eq!(demand(&a, &b, "log-write:slower:5%").judged, 0);
    let neither = of(&b, &b);
    assert_eq!(
        stage(&neither, "log-write").because,
        ["no valid trial: operations failed in each of 5 trials in A and in each of 5 in B"]
    );
}

#[test]
fn trials_with_errors_are_in_no_figure_of_a_comparison_and_are_told() {
    let a = testing::healthy();
    let mut b = a.clone();
    each(&mut b, "log-write", |trial| {
        if trial.number == 2 {
            trial.errors = 7;
            set_rate(trial, 0.01);
        }
    });
    let comparison = of(&a, &b);
    let log = stage(&comparison, "log-write");
    let speed = log.speed.as_ref().expect("it is comparable");
    assert_eq!((speed.count_a, speed.count_b), (5, 4));
    assert!(speed.change.abs() < 0.02, "{speed:?}");
    assert!(
        log.statement
            .ends_with("; excluded: 1 trial with errors in B"),
        "{log:?}"
    );
    let mut idle = a.clone();
    each(&mut idle, "log-write", |trial| {
        if trial.number == 2 {
            (trial.ops, trial.bytes) = (0, 0);
            set_rate(trial, 0.0);
        }
    });
    let of_idle = of(&a, &idle);
    let told = &stage(&of_idle, "log-write").statement;
    let said = "; excluded: 1 trial in which nothing was done in B";
    assert!(told.ends_with(said), "{told}");
    let of_errors = comparison.conditions.iter();
    let of_errors = of_errors.filter(|c| c.what == "failed operations");
    let told: Vec<_> = of_errors.map(|c| (&c.a[..], &c.b[..])).collect();
    assert_eq!(told, [(&["0".to_owned()][..], &["7".to_owned()][..])]);
    // Told where both have as many, too.
    let same = of(&b, &b);
    assert_eq!(same.conditions, []);
    let both = &stage(&same, "log-write").statement;
    let said = "; excluded: 1 trial with errors in A and 1 in B";
    assert!(both.ends_with(said), "{both}");

    // Of two runs of a side the one without a valid trial is left out, and its trials told.
    let mut void = a.clone();
    each(&mut void, "log-write", |trial| trial.errors = 1);
    let comparison = compare(&selection([&a]), &selection([&b, &void]), SAME_WITHIN, &[]);
    let log = stage(&comparison, "log-write");
    assert_eq!(log.speed.as_ref().map(|s| s.count_b), Some(4), "{log:?}");
    let said = "; excluded: 6 trials with errors in B";
    assert!(log.statement.ends_with(said), "{log:?}");
}

#[test]
fn an_array_that_was_not_sound_on_one_side_is_a_condition() {
    let a = testing::healthy();
    let mut b = a.clone();
    b.stack.devices[0].impaired = vec![diskfacts_record::Impairment {
        kind: diskfacts_record::ImpairmentKind::Rebuilding,
        what: "a member is being filled again".into(),
        source: "md/sync_action is recover".into(),
    }];
    let told = of(&a, &b).conditions;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].what, "not sound");
    assert_eq!(
        (&told[0].a[..], &told[0].b[..]),
        (&[][..], &["vda1: rebuilding".to_owned()][..])
    );
}

#[test]
fn runs_without_a_stage_in_common_say_so() {
    let mut a = testing::healthy();
    let mut b = a.clone();
    a.trials.retain(|trial| trial.stage == "log-write");
    b.trials.retain(|trial| trial.stage == "sequential-read");
    let comparison = of(&a, &b);
    assert_eq!(comparison.only_in_a, ["log-write"]);
    assert_eq!(comparison.only_in_b, ["sequential-read"]);
    assert!(comparison.summary.contains("no stage in common"));
    assert_eq!((comparison.overall, comparison.stages.len()), (None, 0));
    assert_eq!(demand(&a, &b, "slower:5%").unjudged, ["log-write"]);
}

#[test]
fn a_stage_with_another_name_is_found_by_its_workload() {
    let a = testing::healthy();
    let mut b = a.clone();
    for trial in b.trials.iter_mut().filter(|t| t.stage == "log-write") {
        trial.stage = "wal".into();
    }
    let comparison = of(&a, &b);
    assert_eq!(
        stage(&comparison, "log-write").stage_b.as_deref(),
        Some("wal")
    );
    assert_eq!(
        (comparison.only_in_a.len(), comparison.only_in_b.len()),
        (0, 0)
    );
}

#[test]
fn zeros_and_what_is_no_number_give_no_nonsense() {
    let a = testing::healthy();
    let mut b = a.clone();
    each(&mut b, "log-write", |trial| {
        set_rate(trial, 0.0);
        // As a trial is recorded in which nothing came back.
        (trial.ops, trial.bytes) = (0, 0);
    });
    let comparison = of(&a, &b);
    let stopped = stage(&comparison, "log-write");
    assert_eq!(
        stopped.statement,
        "slower by 100 %: nothing was done any more"
    );
    assert_eq!(demand(&a, &b, "slower:5%").holds, ["log-write"]);
    assert_eq!(
        stage(&of(&b, &a), "log-write").change,
        Change::NotComparable
    );
    assert_eq!(
        stage(&of(&b, &b), "log-write").change,
        Change::NotComparable
    );
    for odd in [f64::NAN, f64::INFINITY, -5.0] {
        each(&mut b, "log-write", |trial| {
            trial.throughput_bytes_per_s = odd;
            trial.iops = odd;
        });
        let comparison = of(&a, &b);
        let void = stage(&comparison, "log-write");
        assert!(void.because[0].contains("B has no rate at all"), "{void:?}");
    }
}

#[test]
fn where_the_rate_was_set_the_latency_is_the_speed() {
    let mut a = testing::healthy();
    each(&mut a, "random-read-qd1", |trial| {
        trial.workload.rate = Some(Rate {
            operations_per_s: 100,
            arrivals: diskfacts_plan::Arrivals::Fixed,
        });
        testing::set_latencies(trial, &[(100_000 + u64::from(trial.number) * 1000, 1000)]);
    });
    let mut b = a.clone();
    each(&mut b, "random-read-qd1", |trial| {
        testing::set_latencies(trial, &[(200_000 + u64::from(trial.number) * 1000, 1000)]);
    });
    let comparison = of(&a, &b);
    let read = stage(&comparison, "random-read-qd1");
    assert_eq!(read.speed.as_ref().unwrap().measure, Measure::LatencyP50Ns);
    assert_eq!(read.change, Change::Slower);
    assert!(
        read.statement.ends_with("by the median latency"),
        "{read:?}"
    );
    assert!(
        read.latency
            .iter()
            .all(|d| d.measure != Measure::LatencyP50Ns)
    );
}

#[test]
fn settings_that_a_side_is_limited_to_are_meant_to_differ() {
    let mut run = testing::healthy();
    let mut slow = run.trials.clone();
    for trial in &mut run.trials {
        trial.settings.insert("scheduler".into(), "none".into());
    }
    for trial in &mut slow {
        trial.settings.insert("scheduler".into(), "bfq".into());
        set_rate(trial, 0.5);
    }
    run.trials.extend(slow);
    let limited = |value: &str| Selection {
        given: format!("last:scheduler={value}"),
        parts: vec![Part {
            run: &run,
            only: BTreeMap::from([("scheduler".to_owned(), value.to_owned())]),
        }],
    };
    let comparison = compare(&limited("none"), &limited("bfq"), SAME_WITHIN, &[]);
    assert_eq!(comparison.conditions[0].what, "scheduler");
    assert_eq!(comparison.a.runs[0].trials, 60);
    assert_eq!(comparison.stages.len(), 12);
    assert!(comparison.stages.iter().all(|s| s.change == Change::Slower));
}

#[test]
fn of_sets_of_runs_a_run_is_one_observation() {
    let runs: Vec<Run> = (0..4)
        .map(|i| {
            let mut run = testing::healthy();
            for trial in &mut run.trials {
                set_rate(trial, 1.0 + f64::from(i) / 1000.0);
            }
            run
        })
        .collect();
    let comparison = compare(
        &selection(&runs[..2]),
        &selection(&runs[2..]),
        SAME_WITHIN,
        &[],
    );
    let speed = comparison.stages[0].speed.as_ref().unwrap();
    assert_eq!(
        (speed.unit, speed.count_a, speed.count_b),
        (Unit::Run, 2, 2)
    );
    let two = compare(
        &selection(&runs[..1]),
        &selection(&runs[1..2]),
        SAME_WITHIN,
        &[],
    );
    let speed = two.stages[0].speed.as_ref().unwrap();
    assert_eq!((speed.unit, speed.count_a), (Unit::Trial, 5));
}

#[test]
fn rounded_rates_of_a_document_differ_by_no_less_than_their_last_digit() {
    let mut a = testing::healthy();
    a.target.kind = TargetKind::Imported;
    a.trials.retain(|trial| trial.stage == "sequential-read");
    for trial in &mut a.trials {
        trial.throughput_bytes_per_s = 102e6;
        trial.histograms = PackedHistograms::default();
    }
    let mut b = a.clone();
    for trial in &mut b.trials {
        trial.throughput_bytes_per_s = 103e6;
    }
    let comparison = of(&a, &b);
    // 102 and 103 may both have been 102.5.
    let [low, high] = stage(&comparison, "sequential-read")
        .speed
        .as_ref()
        .unwrap()
        .interval
        .unwrap();
    assert!(
        low.abs() < 1e-4 && (high - 0.0197).abs() < 1e-3,
        "{low} {high}"
    );
    assert_eq!(stage(&comparison, "sequential-read").change, Change::Same);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_a_document_holds_a_difference_is_a_number_with_an_interval_around_it(
        rates in prop::collection::vec(
            prop::sample::select(vec![
                f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300, 1.0, 99.5, 1e8, 1e300,
            ]),
            20,
        ),
        (in_a, in_b) in (1_u32..6, 1_u32..6),
    ) {
        let mut a = testing::healthy();
        a.trials.retain(|t| t.stage == "log-write" || t.stage == "random-read-qd1");
        let mut b = a.clone();
        a.trials.retain(|t| t.number <= in_a);
        b.trials.retain(|t| t.number <= in_b);
        for (trial, rate) in a.trials.iter_mut().chain(&mut b.trials).zip(rates) {
            trial.throughput_bytes_per_s = rate;
            trial.iops = rate;
        }
        let comparison = of(&a, &b);
        prop_assert_eq!(comparison.stages.len(), 2);
        for stage in &comparison.stages {
            prop_assert_eq!(stage.change == Change::NotComparable, stage.speed.is_none());
            prop_assert_eq!(stage.speed.is_none(), !stage.because.is_empty());
            prop_assert!(!stage.statement.is_empty());
            for difference in stage.speed.iter().chain(&stage.latency) {
                let change = difference.change;
                prop_assert!(change.is_finite() && change >= -1.0, "{:?}", difference);
                if let Some([low, high]) = difference.interval {
                    prop_assert!(low <= change && change <= high, "{:?}", difference);
                    prop_assert!(low >= -1.0 && high.is_finite(), "{:?}", difference);
                }
            }
        }
    }
}
