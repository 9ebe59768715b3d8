//! What is said of depths: only what stages of these depths showed.

use super::host_tests::said;
use super::*;
use crate::testing;
use diskfacts_record::{Confidence, Run};

const QD1: &str = "random-read-qd1";
const QD32: &str = "random-read-qd32";

/// Sets what a stage does: operations a second and the latency that goes with its depth.
fn does(run: &mut Run, stage: &str, iops: f64) {
    testing::each(run, stage, |trial| {
        let in_flight = trial.workload.outstanding() as f64;
        let ops = (iops * trial.seconds) as u64;
        trial.ops = ops;
        trial.iops = iops;
        trial.throughput_bytes_per_s = iops * 4096.0;
        testing::set_latencies(trial, &[((in_flight / iops * 1e9) as u64, ops)]);
    });
}

/// 1 and 32 in flight, and others between, each with what it does.
fn measured(alone: f64, most: f64, between: &[(u32, f64)]) -> Run {
    let mut run = testing::healthy();
    let is_kept = |name: &str| name == QD1 || name == QD32;
    run.trials.retain(|trial| is_kept(&trial.stage));
    run.plan.stages.retain(|stage| is_kept(&stage.name));
    for (depth, iops) in between {
        let name = format!("random-read-qd{depth}");
        let mut stage = run.plan.stage(QD32).expect("a stage").clone();
        stage.name.clone_from(&name);
        stage.workload.queue_depth = *depth;
        let mut trials: Vec<_> = run
            .trials
            .iter()
            .filter(|t| t.stage == QD32)
            .cloned()
            .collect();
        for trial in &mut trials {
            trial.stage.clone_from(&name);
            trial.workload.queue_depth = *depth;
            trial.evidence.engine.mean_depth = f64::from(*depth);
        }
        run.plan.stages.push(stage);
        run.trials.extend(trials);
        does(&mut run, &name, *iops);
    }
    does(&mut run, QD1, alone);
    does(&mut run, QD32, most);
    run
}

/// The figures of a real drive. Two bounds through two points meet at 3.7 in flight, "0 %
/// off"; measured, 4 in flight did 65 %.
#[test]
fn two_depths_are_no_reason_to_advise_a_third() {
    let run = measured(16_786.0, 62_728.0, &[]);
    let limit = said(&run, QD32, device_parallelism::LIMITER.name).expect("they wait");
    assert_eq!(limit.confidence, Confidence::Possible);
    assert!(limit.remedy.contains("was not measured"), "{limit:#?}");
    let all = format!(
        "{} {} {}",
        limit.claim,
        limit.evidence.join(" "),
        limit.remedy
    );
    assert!(!all.contains("full") && !all.contains("fit"), "{all}");
}

#[test]
fn a_depth_between_that_does_65_percent_is_not_enough_and_one_that_does_91_is() {
    let run = measured(16_786.0, 62_728.0, &[(4, 40_773.0)]);
    let limit = said(&run, QD32, device_parallelism::LIMITER.name).expect("they wait");
    assert_eq!(limit.confidence, Confidence::Possible);
    let run = measured(16_786.0, 62_728.0, &[(4, 40_773.0), (8, 57_100.0)]);
    let limit = said(&run, QD32, device_parallelism::LIMITER.name).expect("it is full");
    assert_eq!(limit.confidence, Confidence::Likely);
    assert!(
        limit.claim.contains("saturated by 8 in flight"),
        "{limit:#?}"
    );
    // 57 100 / 62 728, and (8 / 57 100) / (32 / 62 728).
    assert!(
        limit.remedy.starts_with(
            "Measured: 8 in flight reach 91 % of the best rate, that of 32, at 27 % of its latency."
        ),
        "{limit:#?}"
    );
}

/// On a real disk 8 reads of 1 MiB in flight took equally long, "likely" for want of depth;
/// measured, 32 did 0.94 times as many.
#[test]
fn one_depth_alone_does_not_show_whether_more_would_do_more() {
    let run = measured(16_786.0, 62_728.0, &[]);
    let with_one = said(&run, QD1, one_at_a_time::LIMITER.name).expect("there is room");
    assert_eq!(with_one.confidence, Confidence::Certain);
    for alone in [QD1, QD32] {
        let mut run = run.clone();
        run.trials.retain(|trial| trial.stage == alone);
        let limit = said(&run, alone, one_at_a_time::LIMITER.name).expect("it is one explanation");
        assert_eq!(limit.confidence, Confidence::Possible);
        assert!(limit.claim.contains("was not measured"), "{limit:#?}");
    }
}

/// Whoever writes a plan names its axes.
#[test]
fn cells_of_an_axis_of_any_name_are_depths_where_they_differ_in_depth_alone() {
    let of_cells = |change: fn(&mut diskfacts_plan::Workload)| {
        let mut run = measured(16_786.0, 17_500.0, &[]);
        let cell = |name: &str| [("how much".to_owned(), name.to_owned())].into();
        for stage in &mut run.plan.stages {
            if stage.name == QD32 {
                change(&mut stage.workload);
            }
            stage.settings = cell(&stage.name);
            stage.name = "cells".into();
        }
        for trial in &mut run.trials {
            if trial.stage == QD32 {
                change(&mut trial.workload);
            }
            trial.settings = cell(&trial.stage);
            trial.stage = "cells".into();
        }
        run
    };
    let first = |run: &Run| said(run, "cells", one_at_a_time::LIMITER.name);
    assert_eq!(first(&of_cells(|_| ())), None);
    // What is the same but for another thing tells nothing of the depth.
    let otherwise = of_cells(|workload| workload.iopoll = true);
    assert!(first(&otherwise).is_some());
}

#[test]
fn who_is_alone_is_held_back_by_that_only_where_more_in_flight_do_more() {
    let run = measured(16_786.0, 62_728.0, &[]);
    let limit = said(&run, QD1, one_at_a_time::LIMITER.name).expect("there is room");
    assert_eq!(limit.confidence, Confidence::Certain);
    assert_eq!(said(&run, QD1, device_parallelism::LIMITER.name), None);
    // The deeper stage is no faster: that refutes it.
    let run = measured(16_786.0, 17_500.0, &[]);
    assert_eq!(said(&run, QD1, one_at_a_time::LIMITER.name), None);
    let limit = said(&run, QD1, device_parallelism::LIMITER.name).expect("it is full");
    assert!(limit.claim.contains("one at a time"), "{limit:#?}");
    let limit = said(&run, QD32, device_parallelism::LIMITER.name).expect("it is full");
    assert!(
        limit.claim.contains("saturated by 1 in flight"),
        "{limit:#?}"
    );
}

#[test]
fn twice_the_rate_with_more_in_flight_is_room_whatever_the_latency_says() {
    // 8 in flight do 40 000/s, each twice as long as alone, and 32 do 80 000/s.
    let run = measured(10_000.0, 80_000.0, &[(8, 40_000.0)]);
    let stage = "random-read-qd8";
    assert_eq!(said(&run, stage, device_parallelism::LIMITER.name), None);
    let limit = said(&run, stage, one_at_a_time::LIMITER.name).expect("there is room");
    assert_eq!(limit.confidence, Confidence::Certain);
    assert!(limit.claim.contains("rate = 8 / latency"), "{limit:#?}");
}

/// The random reads of the survey, by their depth, with what each does.
const LADDER: [u32; 4] = [1, 4, 16, 32];

fn surveyed(iops: [f64; 4]) -> Run {
    let mut run = testing::healthy();
    let is_kept = |name: &str| name.starts_with("random-read");
    run.trials.retain(|trial| is_kept(&trial.stage));
    run.plan.stages.retain(|stage| is_kept(&stage.name));
    for (depth, iops) in LADDER.iter().zip(iops) {
        does(&mut run, &at(*depth), iops);
    }
    run
}

fn at(depth: u32) -> String {
    format!("random-read-qd{depth}")
}

#[test]
fn the_survey_measures_the_depth_that_it_advises() {
    // A real drive; of 16 in flight as much as 92 %.
    let run = surveyed([16_786.0, 40_773.0, 57_700.0, 62_728.0]);
    let said_of = |depth, limiter| said(&run, &at(depth), limiter);
    let limit = said_of(32, device_parallelism::LIMITER.name).expect("it is full");
    assert_eq!(limit.confidence, Confidence::Likely);
    assert!(
        limit.claim.contains("saturated by 16 in flight"),
        "{limit:#?}"
    );
    let measured =
        "Measured: 16 in flight reach 92 % of the best rate, that of 32, at 54 % of its latency";
    assert!(limit.remedy.starts_with(measured), "{limit:#?}");
    let limit = said_of(16, device_parallelism::LIMITER.name).expect("it is full");
    assert!(limit.claim.contains("saturated by these 16"), "{limit:#?}");
    assert!(limit.remedy.starts_with(measured), "{limit:#?}");
    for depth in [1, 4] {
        let limit = said_of(depth, one_at_a_time::LIMITER.name).expect("there is room");
        assert_eq!(limit.confidence, Confidence::Certain);
        assert!(limit.remedy.contains(measured), "{limit:#?}");
        assert_eq!(said_of(depth, device_parallelism::LIMITER.name), None);
    }
}

#[test]
fn where_each_depth_does_more_what_the_next_one_loses_is_said() {
    let run = surveyed([10_000.0, 30_000.0, 60_000.0, 80_000.0]);
    let limit = said(&run, QD32, device_parallelism::LIMITER.name).expect("they wait");
    assert_eq!(limit.confidence, Confidence::Possible);
    assert!(
        limit.remedy.starts_with(
            "Measured: 16 in flight reach 75 % of the best rate, that of 32, at 67 % of its \
             latency, which loses 25 %."
        ),
        "{limit:#?}"
    );
    assert!(limit.remedy.contains("more was not measured"), "{limit:#?}");
}

#[test]
fn what_does_a_little_less_than_enough_is_nearly_full_and_not_full() {
    // 4 in flight do 85 %: neither is it worth having more, nor are they enough.
    let run = surveyed([20_000.0, 51_000.0, 60_000.0, 59_000.0]);
    let limit = said(&run, &at(4), device_parallelism::LIMITER.name).expect("nearly full");
    assert!(
        limit.claim.contains("nearly saturated by these 4"),
        "{limit:#?}"
    );
    assert!(limit.remedy.contains("these 4 lose 15 %"), "{limit:#?}");
    for depth in [16, 32] {
        let limit = said(&run, &at(depth), device_parallelism::LIMITER.name).expect("full");
        let claim = &limit.claim;
        assert!(
            claim.contains("saturated by") && claim.contains("16 in"),
            "{claim}"
        );
    }
}

#[test]
fn what_is_slower_with_more_in_flight_advises_what_is_fastest() {
    // 4 in flight do as much as 32, and 16 twice as much.
    let run = surveyed([10_000.0, 30_000.0, 60_000.0, 30_000.0]);
    assert_eq!(said(&run, &at(4), device_parallelism::LIMITER.name), None);
    assert!(said(&run, &at(4), one_at_a_time::LIMITER.name).is_some());
    let limit = said(&run, QD32, device_parallelism::LIMITER.name).expect("it is full");
    let claim = "The device is saturated by 16 in flight: 32 do 0.5 times as many, and each takes \
                 4 times as long.";
    assert_eq!(limit.claim, claim);
    assert!(
        limit.remedy.starts_with(
            "Measured: 16 in flight do most; these 32 reach 50 % of that at 4 times the latency."
        ),
        "{limit:#?}"
    );
}

/// The depth of which a sentence says that the device is saturated by it.
fn full_with(claim: &str) -> Option<u32> {
    let (before, rest) = claim.split_once("saturated by ")?;
    let number = rest.trim_start_matches("these ").split(' ').next()?;
    (!before.ends_with("nearly ")).then(|| number.parse().expect("a depth"))
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_four_depths_do_one_depth_is_advised_and_none_is_contradicted(
        iops in [200.0..2000.0_f64, 200.0..2000.0, 200.0..2000.0, 200.0..2000.0],
    ) {
        let run = surveyed(iops);
        let best = iops.into_iter().fold(0.0, f64::max);
        let knee = LADDER.iter().zip(iops).find(|(_, does)| *does >= 0.9 * best);
        let knee = *knee.expect("the best itself").0;
        for (depth, does) in LADDER.into_iter().zip(iops) {
            let full = said(&run, &at(depth), device_parallelism::LIMITER.name);
            let room = said(&run, &at(depth), one_at_a_time::LIMITER.name);
            proptest::prop_assert!(full.is_none() || room.is_none(), "{full:?} {room:?}");
            if room.is_some() {
                proptest::prop_assert!(depth < knee || depth == 32, "{room:?}");
            }
            let Some(full) = full else { continue };
            if let Some(told) = full_with(&full.claim) {
                proptest::prop_assert_eq!(told, knee);
            }
            let loses = full.remedy.contains("lose");
            proptest::prop_assert!(depth >= knee || loses, "{does} of {best}: {full:?}");
        }
    }
}
