//! Requests followed through events that were written by hand.

use super::request_event::{RequestEvent, Step};
use super::requests::{Followed, OwnThreads, Requests};
use diskfacts_record::evidence::{Bucket, DeviceRequests, OperationRequests, RequestKind, Seeks};
use diskfacts_record::{BurstOf, BurstRequest};
use proptest::prelude::*;

const DISK: u64 = 8 << 20;
const PARTITION: u64 = DISK + 1;

fn event(step: Step, kind: RequestKind, sector: u64, sectors: u64) -> RequestEvent {
    RequestEvent {
        step,
        device: DISK,
        kind,
        sector,
        sectors,
        readahead: false,
        metadata: false,
        flushes: false,
        failed: false,
        thread: 7,
    }
}

fn read(step: Step, sector: u64, sectors: u64) -> RequestEvent {
    event(step, RequestKind::Read, sector, sectors)
}

fn requests() -> Requests {
    Requests::new(&[Followed {
        name: "sda".to_owned(),
        numbers: vec![DISK, PARTITION],
    }])
}

/// What becomes of events in a window from 0 to 1000.
fn followed(events: &[(u64, RequestEvent)]) -> DeviceRequests {
    let mut requests = requests();
    for (time_ns, event) in events {
        requests.event(*time_ns, event);
    }
    requests.finish(0, 1000).remove(0)
}

fn only(device: &DeviceRequests) -> &OperationRequests {
    let [operation] = &device.operations[..] else {
        panic!("one kind: {device:?}");
    };
    operation
}

#[test]
fn a_request_waits_and_is_served() {
    let device = followed(&[
        (100, read(Step::Start, 64, 8)),
        (130, read(Step::Issue, 64, 8)),
        (200, read(Step::Complete, 64, 8)),
    ]);
    let reads = only(&device);
    assert_eq!((reads.issued, reads.completed, reads.bytes), (1, 1, 4096));
    assert_eq!(
        (reads.queued_ns.min, reads.queued_ns.samples),
        (Some(30), 1)
    );
    assert_eq!(
        (reads.device_ns.min, reads.device_ns.max),
        (Some(70), Some(70))
    );
    let size = Bucket {
        from: 4096,
        to: 4096,
        count: 1,
    };
    assert_eq!(reads.sizes, [size]);
    assert_eq!(
        (device.in_flight_mean, device.in_flight_max),
        (Some(0.07), Some(1))
    );
    assert_eq!(
        device.seeks,
        Seeks::default(),
        "one request has no distance"
    );
}

#[test]
fn a_request_that_is_done_in_parts_is_one_and_ends_with_the_last() {
    let device = followed(&[
        (0, read(Step::Start, 0, 24)),
        (10, read(Step::Issue, 0, 24)),
        (20, read(Step::Complete, 0, 8)),
        (30, read(Step::Complete, 8, 8)),
        (50, read(Step::Complete, 16, 8)),
    ]);
    let reads = only(&device);
    assert_eq!(
        (reads.issued, reads.completed, reads.issue_unseen),
        (1, 1, 0)
    );
    assert_eq!(reads.device_ns.max, Some(40));
    assert_eq!(device.in_flight_mean, Some(0.04));
}

fn made_by(thread: u32, event: RequestEvent) -> RequestEvent {
    RequestEvent { thread, ..event }
}

#[test]
fn single_requests_are_kept_whole_with_who_made_them() {
    let own = OwnThreads::default();
    own.set(vec![7, 9]).expect("it is told once");
    let mut requests = requests().keeping_bursts(own);
    let other = |event| made_by(8, event);
    for (time_ns, event) in [
        (1100, read(Step::Start, 64, 8)),
        (1110, other(read(Step::Start, 0, 24))),
        // Behind it another I/O is joined, and it comes back from the device once.
        (1120, read(Step::BackMerge, 72, 8)),
        (1130, other(read(Step::Issue, 64, 16))),
        (1140, read(Step::Requeue, 64, 16)),
        (1150, read(Step::Issue, 0, 24)),
        (1160, other(read(Step::Issue, 64, 16))),
        (1170, read(Step::Complete, 0, 8)),
        (1180, read(Step::Complete, 8, 16)),
        // Nobody saw it being made: who issued it may not be who made it, unless it is us.
        (1190, other(read(Step::Issue, 500, 8))),
        (1195, made_by(9, read(Step::Issue, 600, 8))),
        (1200, read(Step::Complete, 500, 8)),
        (1201, read(Step::Complete, 600, 8)),
        (
            1210,
            RequestEvent {
                failed: true,
                ..read(Step::Complete, 64, 16)
            },
        ),
        // Its issue was seen by nobody.
        (1220, read(Step::Complete, 900, 8)),
    ] {
        requests.event(time_ns, &event);
    }
    let bursts = requests.take_bursts(1000).expect("requests were done");
    assert_eq!(bursts.devices, ["sda"]);
    let [burst] = &bursts.bursts[..] else {
        panic!("one burst: {bursts:?}");
    };
    assert_eq!((burst.of, burst.from_ns), (BurstOf::First, 100));
    let of = |request: &BurstRequest| {
        (
            (request.offset_bytes / 512, request.bytes / 512),
            (request.queued_ns, request.issued_ns, request.completed_ns),
            (request.ours, request.failed),
        )
    };
    let seen: Vec<_> = burst.requests.iter().map(of).collect();
    assert_eq!(
        seen,
        [
            ((64, 16), (Some(0), 60, 110), (Some(true), true)),
            ((0, 24), (Some(10), 50, 80), (Some(false), false)),
            ((500, 8), (None, 90, 100), (None, false)),
            ((600, 8), (None, 95, 101), (Some(true), false)),
        ]
    );
    assert_eq!(requests.take_bursts(1000), None, "it was taken");
}

#[test]
fn ios_that_were_joined_to_a_request_are_counted_and_move_its_start() {
    let front = RequestEvent {
        // The I/O names the partition that it was for.
        device: PARTITION,
        ..read(Step::FrontMerge, 56, 8)
    };
    let device = followed(&[
        (0, read(Step::Start, 64, 8)),
        (
            1,
            RequestEvent {
                device: PARTITION,
                ..read(Step::BackMerge, 72, 8)
            },
        ),
        (2, front),
        (20, read(Step::Issue, 56, 24)),
        (30, read(Step::Complete, 56, 24)),
    ]);
    let reads = only(&device);
    assert_eq!((reads.back_merges, reads.front_merges), (1, 1));
    assert_eq!((reads.queued_ns.max, reads.bytes), (Some(20), 24 * 512));
    assert_eq!((reads.issued, reads.waiting), (1, 0));
}

#[test]
fn a_request_that_was_joined_to_another_waits_for_nothing() {
    let device = followed(&[
        (0, read(Step::Start, 0, 8)),
        (1, read(Step::Start, 8, 8)),
        (2, read(Step::Merge, 8, 8)),
        (3, read(Step::Issue, 0, 16)),
        (4, read(Step::Complete, 0, 16)),
    ]);
    let reads = only(&device);
    assert_eq!(
        (reads.request_merges, reads.issued, reads.completed),
        (1, 1, 1)
    );
    assert_eq!((reads.waiting, reads.unfinished), (0, 0));
}

#[test]
fn a_request_that_came_back_counts_once_and_its_queue_time_goes_on() {
    let device = followed(&[
        (0, read(Step::Start, 0, 8)),
        (10, read(Step::Issue, 0, 8)),
        (30, read(Step::Requeue, 0, 8)),
        // Back in a list of the scheduler.
        (31, read(Step::Insert, 0, 8)),
        (50, read(Step::Issue, 0, 8)),
        (70, read(Step::Complete, 0, 8)),
    ]);
    let reads = only(&device);
    assert_eq!((reads.issued, reads.requeues, reads.completed), (1, 1, 1));
    assert_eq!(reads.queued_ns.max, Some(50));
    assert_eq!(reads.device_ns.max, Some(20));
    assert_eq!(device.in_flight_mean, Some(0.04));
    assert_eq!(reads.waiting, 0);
}

#[test]
fn what_was_under_way_at_the_edges_is_named_and_in_no_latency() {
    let device = followed(&[
        // In the device since before the window.
        (100, read(Step::Complete, 800, 8)),
        (200, read(Step::Start, 0, 8)),
        (300, read(Step::Issue, 0, 8)),
        (400, read(Step::Start, 8, 8)),
    ]);
    let reads = only(&device);
    assert_eq!((reads.issued, reads.completed), (1, 0));
    assert_eq!(
        (reads.issue_unseen, reads.unfinished, reads.waiting),
        (1, 1, 1)
    );
    assert_eq!((reads.device_ns.samples, reads.queued_ns.samples), (0, 0));
    // One for 100 of 1000, one for 700.
    assert_eq!(
        (device.in_flight_mean, device.in_flight_max),
        (Some(0.8), Some(1))
    );
}

#[test]
fn a_flush_is_what_the_device_was_sent_and_not_counted_again_for_who_asked() {
    let flush = |step| RequestEvent {
        flushes: true,
        ..event(step, RequestKind::Flush, 0, 0)
    };
    let device = followed(&[
        (0, flush(Step::Start)),
        (10, flush(Step::Issue)),
        (60, flush(Step::Complete)),
        // The empty write that it was for.
        (61, flush(Step::Complete)),
    ]);
    let flushes = only(&device);
    assert_eq!(
        (flushes.issued, flushes.completed, flushes.issue_unseen),
        (1, 1, 0)
    );
    assert_eq!(flushes.device_ns.max, Some(50));
    assert_eq!(flushes.bytes, 0);
    // A device without a cache is sent none.
    let device = followed(&[(0, flush(Step::Start)), (5, flush(Step::Complete))]);
    let flushes = only(&device);
    assert_eq!(
        (flushes.issued, flushes.issue_unseen, flushes.waiting),
        (0, 1, 0)
    );
    assert_eq!(device.in_flight_mean, Some(0.0));
}

#[test]
fn a_write_with_a_flush_is_told_twice_and_is_one() {
    let start = RequestEvent {
        flushes: true,
        ..event(Step::Start, RequestKind::Write, 64, 8)
    };
    let write = |step| event(step, RequestKind::Write, 64, 8);
    let device = followed(&[
        (0, start),
        (10, write(Step::Issue)),
        (60, write(Step::Complete)),
        (90, write(Step::Complete)),
    ]);
    let writes = only(&device);
    assert_eq!((writes.completed, writes.issue_unseen), (1, 0));
    assert_eq!(device.in_flight_max, Some(1));
    assert_eq!(device.in_flight_mean, Some(0.05));
}

#[test]
fn errors_readahead_and_metadata_are_counted() {
    let device = followed(&[
        (
            1,
            RequestEvent {
                readahead: true,
                metadata: true,
                ..read(Step::Issue, 0, 8)
            },
        ),
        (
            2,
            RequestEvent {
                failed: true,
                ..read(Step::Complete, 0, 8)
            },
        ),
        (3, read(Step::Issue, 0, 8)),
        (4, read(Step::Complete, 0, 8)),
    ]);
    let reads = only(&device);
    assert_eq!((reads.readahead, reads.metadata, reads.errors), (1, 1, 1));
    // Nobody saw when they were made.
    assert_eq!((reads.queued_ns.samples, reads.device_ns.samples), (0, 2));
}

#[test]
fn distances_are_from_the_end_of_one_request_to_the_start_of_the_next() {
    let issue = |sector, sectors| read(Step::Issue, sector, sectors);
    let flush = event(Step::Issue, RequestKind::Flush, 0, 0);
    let device = followed(&[
        (1, issue(0, 8)),
        (2, issue(8, 8)),
        // A flush lies nowhere.
        (3, flush),
        (4, event(Step::Issue, RequestKind::Write, 16, 8)),
        (5, issue(1024, 8)),
        (6, issue(32, 8)),
    ]);
    assert_eq!(
        (
            device.seeks.in_order,
            device.seeks.forward,
            device.seeks.backward
        ),
        (2, 1, 1)
    );
    assert_eq!(device.seeks.forward_p50_sectors, Some(1000));
    assert_eq!(device.seeks.backward_p50_sectors, Some(1000));
    assert_eq!(device.seeks.in_order_share(), Some(0.5));
    let bucket = Bucket {
        from: 512,
        to: 1023,
        count: 1,
    };
    assert_eq!(device.seeks.backward_sectors, [bucket]);
}

#[test]
fn devices_that_are_not_followed_are_left_out() {
    let strange = RequestEvent {
        device: 9 << 20,
        ..read(Step::Issue, 0, 8)
    };
    assert!(followed(&[(1, strange)]).operations.is_empty());
}

#[test]
fn behind_lost_events_nothing_is_paired_with_what_began_before() {
    let mut requests = requests();
    requests.event(10, &read(Step::Issue, 0, 8));
    requests.event(20, &read(Step::Issue, 64, 8));
    // From here to 500 events of a processor are missing: the completion of the first.
    requests.lost(500);
    requests.event(400, &read(Step::Complete, 64, 8));
    requests.event(600, &read(Step::Issue, 0, 8));
    requests.event(650, &read(Step::Complete, 0, 8));
    let device = requests.finish(0, 1000).remove(0);
    let reads = only(&device);
    assert_eq!((reads.issued, reads.completed, reads.unfinished), (3, 2, 1));
    // Neither 640, which would be taken for one request, nor 380 within the gap.
    assert_eq!(
        (reads.device_ns.samples, reads.device_ns.max),
        (1, Some(50))
    );
    assert_eq!((device.in_flight_mean, device.in_flight_max), (None, None));
}

proptest! {
    /// Requests at random, followed slowly: each by its number, which events lack.
    #[test]
    fn sums_are_those_of_the_requests_whatever_overlaps(
        made in prop::collection::vec((0_u64..500, 0_u64..4, 1_u64..100, 1_u64..200), 1..60),
    ) {
        let mut events = Vec::new();
        let (mut queued, mut device_ns, mut area) = (0, 0, 0);
        for (start, place, wait, service) in &made {
            let (issue, complete) = (start + wait, start + wait + service);
            for (step, time) in [(Step::Start, *start), (Step::Issue, issue), (Step::Complete, complete)] {
                events.push((time, read(step, place * 8, 8)));
            }
            queued += u128::from(*wait);
            device_ns += u128::from(*service);
            area += service;
        }
        events.sort_by_key(|(time, event)| (*time, event.step as u8));
        let found = followed(&events);
        let reads = only(&found);
        prop_assert_eq!((reads.issued, reads.completed), (made.len() as u64, made.len() as u64));
        prop_assert_eq!((reads.waiting, reads.unfinished, reads.issue_unseen), (0, 0, 0));
        let sum = |latency: diskfacts_record::Latency| latency.mean.unwrap() * latency.samples as f64;
        prop_assert!((sum(reads.queued_ns) - queued as f64).abs() < 1e-6);
        prop_assert!((sum(reads.device_ns) - device_ns as f64).abs() < 1e-6);
        // Little's law, exactly.
        let mean = found.in_flight_mean.unwrap();
        prop_assert!((mean * 1000.0 - area as f64).abs() < 1e-6, "{} {}", mean, area);
        let seeks = found.seeks;
        prop_assert_eq!(seeks.in_order + seeks.forward + seeks.backward + 1, made.len() as u64);
    }
}

/// Each write is followed by a flush; of fifty one write is slow, and of another fifty one
/// flush, and slower.
#[test]
fn the_slowest_syncs_are_known_by_their_write_and_their_flush() {
    let mut events = Vec::new();
    let mut now = 0;
    for sync in 0..2_000_u64 {
        let served = if sync % 100 == 10 { 500_000 } else { 1_000 };
        let flushed = if sync % 100 == 60 { 900_000 } else { 2_000 };
        let (sector, kind) = (sync * 8, RequestKind::Write);
        events.push((now, event(Step::Start, kind, sector, 8)));
        events.push((now + 100, event(Step::Issue, kind, sector, 8)));
        now += 100 + served;
        events.push((now, event(Step::Complete, kind, sector, 8)));
        events.push((now, event(Step::Issue, RequestKind::Flush, 0, 0)));
        now += flushed;
        events.push((now, event(Step::Complete, RequestKind::Flush, 0, 0)));
    }
    let mut all = requests();
    for (time_ns, event) in &events {
        all.event(*time_ns, event);
    }
    let slow = all.finish(0, now).remove(0).slowest_syncs;
    let slow = slow.expect("two thousand flushes");
    // The first begins where nobody saw, so that one of 1999 stretches is none of the slow.
    assert!((slow.syncs - 19.99).abs() < 1e-9, "{slow:?}");
    let parts = [slow.queued_ns, slow.device_ns, slow.flush_ns].map(|ns| ns.round() as u64);
    assert_eq!(parts, [100, 1_000, 900_000], "{slow:?}");
}
