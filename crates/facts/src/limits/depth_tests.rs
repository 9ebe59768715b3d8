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
    let limit = said(&run, QD32, device_parallelism::NAME).expect("they wait");
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
    let limit = said(&run, QD32, device_parallelism::NAME).expect("they wait");
    assert_eq!(limit.confidence, Confidence::Possible);
    let run = measured(16_786.0, 62_728.0, &[(4, 40_773.0), (8, 57_100.0)]);
    let limit = said(&run, QD32, device_parallelism::NAME).expect("it is full");
    assert_eq!(limit.confidence, Confidence::Likely);
    assert!(limit.claim.contains("full with 8 in flight"), "{limit:#?}");
    // 57 100 / 62 728, and (8 / 57 100) / (32 / 62 728).
    assert!(
        limit
            .remedy
            .starts_with("Measured: 8 in flight reach 91 % of this rate at 27 % of its latency."),
        "{limit:#?}"
    );
}

#[test]
fn who_is_alone_is_held_back_by_that_only_where_more_in_flight_do_more() {
    let run = measured(16_786.0, 62_728.0, &[]);
    let limit = said(&run, QD1, one_at_a_time::NAME).expect("there is room");
    assert_eq!(limit.confidence, Confidence::Certain);
    assert_eq!(said(&run, QD1, device_parallelism::NAME), None);
    // The deeper stage is no faster: that refutes it.
    let run = measured(16_786.0, 17_500.0, &[]);
    assert_eq!(said(&run, QD1, one_at_a_time::NAME), None);
    let limit = said(&run, QD1, device_parallelism::NAME).expect("it is full");
    assert!(limit.claim.contains("one at a time"), "{limit:#?}");
    let limit = said(&run, QD32, device_parallelism::NAME).expect("it is full");
    assert!(limit.claim.contains("full with 1 in flight"), "{limit:#?}");
}

#[test]
fn twice_the_rate_with_more_in_flight_is_room_whatever_the_latency_says() {
    // 8 in flight do 40 000/s, each twice as long as alone, and 32 do 80 000/s.
    let run = measured(10_000.0, 80_000.0, &[(8, 40_000.0)]);
    let stage = "random-read-qd8";
    assert_eq!(said(&run, stage, device_parallelism::NAME), None);
    let limit = said(&run, stage, one_at_a_time::NAME).expect("there is room");
    assert_eq!(limit.confidence, Confidence::Certain);
    assert!(limit.claim.contains("8 at a time"), "{limit:#?}");
}
