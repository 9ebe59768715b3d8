//! The single requests that a simulated host tells of.

use diskfacts_disk::profile::profile;
use diskfacts_engine::Progress;
use diskfacts_engine::sim::{Computer, Plant};
use diskfacts_plan::{CacheMode, Operation, Stop, Workload};
use diskfacts_record::evidence::RequestKind;
use diskfacts_record::{Burst, BurstKeeper, BurstOf, BurstRequest, Bursts, Evidence};

const MIB: u64 = 1 << 20;

fn evidence(computer: &mut Computer, workload: &Workload) -> Evidence {
    let trial = computer.run_trial(workload, 7, &Progress::default());
    trial.expect("a trial").1
}

fn observed(workload: &Workload) -> (Evidence, Bursts) {
    let disk = profile("hdd-7200-1tb").expect("a built-in profile");
    let mut computer = Computer::new(&disk, 1, Plant::default());
    computer.observe_requests(true);
    let evidence = evidence(&mut computer, workload);
    let bursts = evidence
        .bursts
        .as_ref()
        .expect("requests were done")
        .unpack();
    (evidence, bursts)
}

fn reads(operations: u64) -> Workload {
    Workload {
        stop: Stop {
            operations: Some(operations),
            ..Stop::default()
        },
        ..Workload::default()
    }
}

#[test]
fn each_read_of_a_short_trial_is_one_request_at_its_time() {
    let (evidence, bursts) = observed(&reads(50));
    assert_eq!(bursts.devices, ["hdd-7200-1tb"]);
    let [burst] = &bursts.bursts[..] else {
        panic!("one burst: {bursts:?}");
    };
    assert_eq!((burst.of, burst.requests.len()), (BurstOf::First, 50));
    for (before, next) in burst.requests.iter().zip(&burst.requests[1..]) {
        // One at a time.
        assert!(
            before.completed_ns <= next.began_ns(),
            "{before:?} {next:?}"
        );
    }
    for request in &burst.requests {
        assert_eq!(
            (request.operation, request.bytes),
            (RequestKind::Read, 4096)
        );
        assert_eq!((request.ours, request.failed), (Some(true), false));
    }
    // The counters of the device are rounded to milliseconds, once.
    let at_device: u64 = burst.requests.iter().map(BurstRequest::took_ns).sum();
    assert!(evidence.devices[0].read_ms.abs_diff(at_device / 1_000_000) <= 1);
}

#[test]
fn the_slowest_request_of_a_long_trial_is_in_its_burst() {
    let deep = Workload {
        queue_depth: 8,
        ..reads(2000)
    };
    let disk = profile("hdd-7200-1tb").expect("a built-in profile");
    let mut computer = Computer::new(&disk, 1, Plant::default());
    computer.observe_requests(true);
    let trial = computer.run_trial(&deep, 7, &Progress::default());
    let (outcome, evidence) = trial.expect("a trial");
    let bursts = evidence.bursts.expect("requests were done").unpack();
    let [first, slowest] = &bursts.bursts[..] else {
        panic!("two bursts: {bursts:?}");
    };
    assert_eq!(first.requests.len(), BurstKeeper::REQUESTS_MAX);
    assert_eq!(slowest.of, BurstOf::Slowest);
    assert!(slowest.requests.len() > BurstKeeper::REQUESTS_MAX / 2);
    let depth = |burst: &Burst| {
        let all = &burst.requests;
        let under_way = |at_ns| {
            let begun = all.iter().filter(|request| request.began_ns() <= at_ns);
            begun.filter(|request| request.completed_ns > at_ns).count()
        };
        all.iter()
            .map(|request| under_way(request.began_ns()))
            .max()
    };
    assert_eq!(depth(first), Some(8));
    // The latency of an operation is that of its request, and what the call costs.
    let all = bursts.bursts.iter().flat_map(|burst| &burst.requests);
    let most_ns = all.map(BurstRequest::took_ns).max().expect("requests");
    let slowest_ns = outcome.histograms.read.max().expect("operations");
    assert!(
        (most_ns..most_ns + 100_000).contains(&slowest_ns),
        "{most_ns} {slowest_ns}"
    );
}

#[test]
fn what_the_kernel_writes_back_is_not_ours() {
    let buffered = Workload {
        operation: Operation::Write,
        cache: CacheMode::Buffered,
        block_size: MIB,
        span: Some(1024 * MIB),
        ..reads(1000)
    };
    let (_, bursts) = observed(&buffered);
    let mut requests = bursts.bursts.iter().flat_map(|burst| &burst.requests);
    assert!(
        requests.any(|request| request.operation == RequestKind::Write
            && request.ours == Some(false)
            && request.bytes > 0)
    );
}

#[test]
fn nothing_is_told_to_who_did_not_ask_and_nothing_of_the_trial_before() {
    let disk = profile("hdd-7200-1tb").expect("a built-in profile");
    let mut computer = Computer::new(&disk, 1, Plant::default());
    assert_eq!(evidence(&mut computer, &reads(10)).bursts, None);
    computer.observe_requests(true);
    for _ in 0..2 {
        let bursts = evidence(&mut computer, &reads(10))
            .bursts
            .expect("it asked");
        assert_eq!(bursts.unpack().bursts[0].requests.len(), 10);
    }
    computer.observe_requests(false);
    assert_eq!(evidence(&mut computer, &reads(10)).bursts, None);
}
