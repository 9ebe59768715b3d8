//! Rates that are held exactly while the device idles, and those that are not.

use crate::testing::{self, each};
use diskfacts_plan::{Arrivals, Rate};
use diskfacts_record::{Confidence, Limit, Run, Trial};

/// Nanoseconds, and how many of them.
type Latencies<'a> = &'a [(u64, u64)];

/// What happened in a trial: its intervals of 20 ms, and latencies.
fn set(trial: &mut Trial, counts: &[u64], latencies: Latencies<'_>) {
    let ops: u64 = counts.iter().sum();
    testing::set_rate(trial, ops as f64 / trial.iops);
    trial.ops = ops;
    trial.seconds = counts.len() as f64 * 0.02;
    trial.iops = ops as f64 / trial.seconds;
    trial.throughput_bytes_per_s = trial.iops * trial.workload.block_size as f64;
    trial.bytes = ops * trial.workload.block_size;
    trial.evidence.intervals.operations = counts.to_vec();
    testing::set_latencies(trial, latencies);
    trial.latency_ns.min = Some(latencies[0].0);
}

/// A run of the survey of which a stage ran so.
fn with(stage: &str, counts: &[u64], latencies: Latencies<'_>) -> Run {
    let mut run = testing::healthy();
    each(&mut run, stage, |trial| set(trial, counts, latencies));
    run
}

fn limits(run: &Run, stage: &str) -> Vec<Limit> {
    let found = crate::limits(run);
    let found = found.into_iter().find(|limits| limits.stage == stage);
    found.map(|limits| limits.limits).unwrap_or_default()
}

fn names(run: &Run, stage: &str) -> Vec<String> {
    let limits = limits(run, stage);
    limits.into_iter().map(|limit| limit.limiter).collect()
}

fn burst(first: u64, then: u64) -> Vec<u64> {
    let mut counts = vec![then; 50];
    counts[0] = first;
    counts
}

const HELD: [(u64, u64); 2] = [(300_000, 60), (64_000_000, 490)];

#[test]
fn five_hundred_a_second_after_a_tenth_of_a_second_at_once_is_a_throttle_and_no_full_device() {
    let run = with("random-read-qd32", &burst(60, 10), &HELD);
    let limits = limits(&run, "random-read-qd32");
    assert_eq!(limits[0].limiter, "credit-throttle", "{limits:#?}");
    let claim = &limits[0].claim;
    for words in ["burst, 50 operations", "500.0 operations/s"] {
        assert!(claim.contains(words), "{claim}");
    }
    let full = limits
        .iter()
        .any(|limit| limit.limiter == "device-parallelism");
    assert!(!full, "{limits:#?}");
}

#[test]
fn one_in_flight_shows_a_throttle_by_its_burst_and_by_its_bunches_and_not_without() {
    let stage = "random-read-qd1";
    let latencies = [(300_000, 60), (2_000_000, 490)];
    let run = with(stage, &burst(60, 10), &latencies);
    assert_eq!(names(&run, stage)[0], "credit-throttle");
    let mut slices = [20, 0, 0, 0, 0].repeat(10);
    slices[0] = 19;
    let run = with(stage, &slices, &[(300_000, 190), (95_000_000, 10)]);
    let names_of_slices = names(&run, stage);
    assert_eq!(names_of_slices[0], "credit-throttle");
    assert!(
        !names_of_slices.contains(&"stall".to_owned()),
        "{names_of_slices:?}"
    );
    // A device that always takes 2 ms.
    let run = with(stage, &[10; 50], &[(2_000_000, 500)]);
    assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
    // And one of which one operation came from its memory.
    let run = with(stage, &[10; 50], &[(300_000, 1), (2_000_000, 499)]);
    assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
}

#[test]
fn devices_that_keep_an_exact_pace_by_themselves_are_no_throttles() {
    let stage = "random-read-qd32";
    // Each takes 64 ms and 32 go side by side; or one after the other each 2 ms.
    let together = [32, 0, 0, 0].repeat(12);
    let cases: [(&[u64], Latencies<'_>); 4] = [
        (&together, &[(80_000_000, 384)]),
        (&[10; 50], &[(64_000_000, 500)]),
        (&[10; 50], &[(2_000_000, 1), (64_000_000, 499)]),
        // As fast as the processor lets it, 2 us each.
        (&[10_000; 50], &[(2_000, 1), (64_000, 999)]),
    ];
    for (counts, latencies) in cases {
        let run = with(stage, counts, latencies);
        let found = names(&run, stage);
        assert!(
            !found.contains(&"credit-throttle".to_owned()),
            "{counts:?}: {found:?}"
        );
    }
    // One for each revolution, the first from the drive's memory.
    let mut run = with(stage, &[12; 50], &[(100_000, 1), (53_000_000, 599)]);
    testing::rotating(&mut run);
    assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
    // A processor that is full.
    let mut run = with(stage, &[10; 50], &[(2_000, 1), (64_000_000, 499)]);
    each(&mut run, stage, |trial| {
        trial.cpu.busiest_thread = Some(0.99);
    });
    assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
    // A rate that the plan asked for.
    let mut run = with(stage, &burst(60, 10), &HELD);
    each(&mut run, stage, |trial| {
        trial.workload.rate = Some(Rate {
            operations_per_s: 500,
            arrivals: Arrivals::Fixed,
        });
    });
    assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
    // Syncs that each take equally long, and a burst into a buffer.
    let run = with(
        "log-write",
        &burst(60, 10),
        &[(100_000, 60), (2_000_000, 490)],
    );
    assert!(!names(&run, "log-write").contains(&"credit-throttle".to_owned()));
    // The rate of a medium after what the drive's memory had.
    let mut run = with(
        "sequential-read",
        &burst(12, 2),
        &[(1_000_000, 12), (40_000_000, 98)],
    );
    testing::rotating(&mut run);
    assert!(!names(&run, "sequential-read").contains(&"credit-throttle".to_owned()));
}

#[test]
fn blocks_of_two_sizes_tell_whether_operations_or_bytes_are_counted() {
    let sizes = |run: &Run| {
        let size = |stage: &str| run.plan.stage(stage).expect("a stage").workload.block_size;
        size("sequential-read") / size("random-read-qd32")
    };
    let mut run = with("random-read-qd32", &burst(60, 10), &HELD);
    each(&mut run, "sequential-read", |trial| {
        set(trial, &burst(60, 10), &[(300_000, 60), (16_000_000, 490)]);
    });
    for stage in ["random-read-qd32", "sequential-read"] {
        let limit = limits(&run, stage).remove(0);
        assert_eq!(limit.limiter, "credit-throttle", "{limit:#?}");
        let said = limit
            .evidence
            .iter()
            .any(|line| line.contains("operations are counted"));
        assert!(said, "{limit:#?}");
    }
    // So many bytes: 2 large blocks in each interval.
    let small = 2 * sizes(&run);
    let mut run = with(
        "random-read-qd32",
        &burst(6 * small, small),
        &[(10_000, 50), (1_000_000, 500)],
    );
    each(&mut run, "sequential-read", |trial| {
        set(trial, &burst(12, 2), &[(1_000_000, 12), (80_000_000, 98)]);
    });
    let limits = limits(&run, "sequential-read");
    assert_eq!(limits[0].limiter, "credit-throttle", "{limits:#?}");
    let said = limits[0]
        .evidence
        .iter()
        .any(|line| line.contains("bytes are counted"));
    assert!(said, "{limits:#?}");
    let heat = limits
        .iter()
        .any(|limit| limit.limiter == "thermal-throttle");
    assert!(!heat, "{limits:#?}");
}

#[test]
fn a_hypervisors_disk_is_held_at_a_rate_of_bytes_by_whatever_reads_it() {
    let mut run = with(
        "sequential-read",
        &burst(12, 2),
        &[(1_000_000, 12), (80_000_000, 98)],
    );
    assert!(!names(&run, "sequential-read").contains(&"credit-throttle".to_owned()));
    run.stack.devices[1].virtual_by = Some("it is a virtio device".into());
    let limit = limits(&run, "sequential-read").remove(0);
    assert_eq!(limit.limiter, "credit-throttle", "{limit:#?}");
    assert!(limit.claim.contains("MB/s"), "{limit:#?}");
}

#[test]
fn a_healthy_run_has_no_cap() {
    let run = testing::healthy();
    for stage in &run.plan.stages {
        let found = names(&run, &stage.name);
        assert!(!found.contains(&"credit-throttle".to_owned()), "{found:?}");
    }
}

#[test]
fn one_after_the_other_is_no_throttle_unless_all_work_is_as_fast_and_two_side_by_side_are() {
    const STAGES: [&str; 2] = ["random-read-qd32", "random-write-qd32"];
    // One completes each 2 ms, and the first of all took so long, the way back with it. The
    // threads waited for a processor for a part of their time.
    let throttle = |stages: &[&str], first_ns: u64, waited: f64| {
        let mut run = testing::healthy();
        run.trials.retain(|trial| stages.contains(&&*trial.stage));
        for stage in stages {
            each(&mut run, stage, |trial| {
                set(trial, &[10; 50], &[(first_ns, 1), (64_000_000, 499)]);
                trial.evidence.engine.threads = 1;
                trial.cpu.wait_ns_per_io = Some(waited * 2_000_000.0);
            });
        }
        let limits = limits(&run, STAGES[0]).into_iter();
        let mut throttles = limits.filter(|limit| limit.limiter == "credit-throttle");
        throttles.next().map(|limit| limit.confidence)
    };
    let (alone, both) = (&STAGES[..1], &STAGES[..]);
    assert_eq!(throttle(alone, 2_100_000, 0.0), None);
    assert_eq!(throttle(alone, 2_600_000, 0.0), None);
    assert_eq!(throttle(alone, 4_000_000, 0.0), Some(Confidence::Possible));
    assert_eq!(throttle(both, 2_100_000, 0.0), None);
    // A device of one that is asked for the next with a delay does the same.
    assert_eq!(throttle(both, 2_600_000, 0.0), Some(Confidence::Possible));
    assert_eq!(throttle(both, 2_600_000, 0.25), None);
    assert_eq!(throttle(both, 4_000_000, 0.25), Some(Confidence::Likely));
}
