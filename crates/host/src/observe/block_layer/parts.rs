//! Parts of a window, beside the whole.

use super::request_event::{RequestEvent, Step};
use super::requests::{Followed, Requests};
use diskfacts_record::evidence::{DeviceRequests, OperationRequests, RequestKind};
use proptest::prelude::*;

const DISK: u64 = 8 << 20;
/// Length of the window, ns.
const WINDOW: u64 = 1000;

fn requests() -> Requests {
    Requests::new(&[Followed {
        name: "sda".to_owned(),
        numbers: vec![DISK],
    }])
}

fn event(step: Step, sector: u64, writes: bool) -> RequestEvent {
    RequestEvent {
        step,
        device: DISK,
        kind: if writes {
            RequestKind::Write
        } else {
            RequestKind::Read
        },
        sector,
        sectors: 8,
        readahead: false,
        metadata: false,
        flushes: false,
        failed: false,
        thread: 7,
    }
}

/// A request: when it is made, how long it waits, how long it is served, and whether
/// it writes. Each has a place of its own.
type Made = (u64, u64, u64, bool);

fn events(made: &[Made]) -> Vec<(u64, RequestEvent)> {
    let mut events: Vec<(u64, RequestEvent)> = Vec::new();
    for (place, (at, waits, served, writes)) in made.iter().enumerate() {
        let sector = place as u64 * 7919 % 512 * 8;
        let issued = at + waits;
        for (time, step) in [
            (*at, Step::Start),
            (issued, Step::Issue),
            (issued + served, Step::Complete),
        ] {
            // What happens after the window is seen by nobody.
            if time < WINDOW {
                events.push((time, event(step, sector, *writes)));
            }
        }
    }
    events.sort_by_key(|(time, _)| *time);
    events
}

/// What is counted of a kind, and of no moment.
fn counts(of: &OperationRequests) -> [u64; 4] {
    [of.issued, of.completed, of.bytes, of.device_ns.samples]
}

fn of(device: &DeviceRequests, kind: RequestKind) -> Option<&OperationRequests> {
    let mut found = device.operations.iter();
    found.find(|operation| operation.operation == kind)
}

proptest! {
    #[test]
    fn parts_of_a_window_add_up_to_the_whole(
        made in prop::collection::vec((0..WINDOW, 0..200_u64, 1..400_u64, any::<bool>()), 0..60),
        mut cuts in prop::collection::btree_set(1..WINDOW, 0..6),
    ) {
        let mut whole = requests();
        let mut parted = requests();
        let mut parts = Vec::new();
        cuts.insert(WINDOW);
        let mut events = events(&made).into_iter().peekable();
        let mut from = 0;
        for cut in cuts {
            while let Some((time, event)) = events.next_if(|(time, _)| *time < cut) {
                whole.event(time, &event);
                parted.event(time, &event);
            }
            parts.push((cut - from, parted.part(from, cut).remove(0)));
            from = cut;
        }
        let whole = whole.finish(0, WINDOW).remove(0);
        for kind in [RequestKind::Read, RequestKind::Write] {
            let sum = parts
                .iter()
                .filter_map(|(_, part)| of(part, kind))
                .map(counts)
                .fold([0; 4], |sum, more| std::array::from_fn(|i| sum[i] + more[i]));
            let all = of(&whole, kind);
            prop_assert_eq!(sum, all.map_or([0; 4], counts));
            // What is under way at the end of the last part is so at the end of all.
            let last = parts.last().and_then(|(_, part)| of(part, kind));
            let under_way = |of: &OperationRequests| (of.unfinished, of.waiting);
            prop_assert_eq!(last.map_or((0, 0), under_way), all.map_or((0, 0), under_way));
        }
        let seeks = |device: &DeviceRequests| {
            device.seeks.in_order + device.seeks.forward + device.seeks.backward
        };
        let sum: u64 = parts.iter().map(|(_, part)| seeks(part)).sum();
        prop_assert_eq!(sum, seeks(&whole));
        let area: f64 = parts
            .iter()
            .map(|(length, part)| *length as f64 * part.in_flight_mean.expect("none is lost"))
            .sum();
        let all = WINDOW as f64 * whole.in_flight_mean.expect("none is lost");
        prop_assert!((area - all).abs() < 1e-6, "{} and {}", area, all);
        let most = parts.iter().filter_map(|(_, part)| part.in_flight_max).max();
        prop_assert_eq!(most, whole.in_flight_max);
    }
}

proptest! {
    #[test]
    fn of_bursts_only_what_happened_within_one_is_known(
        made in prop::collection::vec((0..WINDOW, 0..100_u64, 1..200_u64, any::<bool>()), 0..60),
        cuts in prop::collection::btree_set(0..WINDOW, 0..9),
    ) {
        // From each odd cut to the next one nobody looks.
        let cuts: Vec<u64> = [0].into_iter().chain(cuts).chain([WINDOW, WINDOW]).collect();
        let bursts: Vec<(u64, u64)> = cuts.chunks_exact(2).map(|two| (two[0], two[1])).collect();
        let mut requests = requests();
        let events = events(&made);
        for (from, until) in &bursts {
            for (time, event) in events.iter().filter(|(time, _)| (*from..*until).contains(time)) {
                requests.event(*time, event);
            }
            requests.burst(*from, *until);
        }
        let device = requests.end().remove(0);
        let length: u64 = bursts.iter().map(|(from, until)| until - from).sum();
        let burst_of = |time: u64| bursts.iter().position(|(from, until)| (*from..*until).contains(&time));
        let mut area = 0.0;
        for (kind, of_kind) in [(RequestKind::Read, false), (RequestKind::Write, true)] {
            let made = made.iter().filter(|(.., writes)| *writes == of_kind);
            let (mut issued, mut whole, mut unseen, mut unfinished) = (0, 0, 0, 0);
            for (at, waits, served, _) in made {
                let begins = burst_of(at + waits);
                let ends = burst_of(at + waits + served);
                issued += u64::from(begins.is_some());
                whole += u64::from(begins.is_some() && begins == ends);
                unfinished += u64::from(begins.is_some() && begins != ends);
                unseen += u64::from(ends.is_some() && begins != ends);
                for (index, (from, until)) in bursts.iter().enumerate() {
                    // What neither begins nor ends in a burst is not seen in it.
                    if begins == Some(index) || ends == Some(index) {
                        let first = (at + waits).max(*from);
                        let last = (at + waits + served).min(*until);
                        area += last.saturating_sub(first) as f64;
                    }
                }
            }
            let found = of(&device, kind);
            let figures = found.map_or([0; 5], |of| {
                [of.issued, of.completed, of.device_ns.samples, of.issue_unseen, of.unfinished]
            });
            prop_assert_eq!(figures, [issued, whole, whole, unseen, unfinished]);
        }
        let mean = device.in_flight_mean.expect("none is lost");
        prop_assert!((mean * length as f64 - area).abs() < 1e-6, "{} {} {}", mean, length, area);
    }
}

#[test]
fn a_request_that_hangs_is_seen_in_every_part() {
    let mut requests = requests();
    requests.event(100, &event(Step::Issue, 0, false));
    for (from, until) in [(0, 1000), (1000, 2000), (2000, 3000)] {
        let part = requests.part(from, until).remove(0);
        let reads = of(&part, RequestKind::Read).expect("it is in the device");
        assert_eq!(reads.unfinished, 1);
        assert_eq!(reads.issued, u64::from(from == 0));
        assert_eq!(part.in_flight_max, Some(1));
    }
    requests.event(3500, &event(Step::Complete, 0, false));
    let part = requests.part(3000, 4000).remove(0);
    let reads = of(&part, RequestKind::Read).expect("it was done");
    assert_eq!((reads.completed, reads.device_ns.max), (1, Some(3400)));
    assert_eq!(part.in_flight_mean, Some(0.5));
    assert_eq!(requests.part(4000, 5000).remove(0).operations, []);
}

#[test]
fn only_the_part_in_which_events_were_lost_says_so() {
    let mut requests = requests();
    requests.lost(500);
    assert_eq!(requests.part(0, 1000).remove(0).in_flight_mean, None);
    assert_eq!(
        requests.part(1000, 2000).remove(0).in_flight_mean,
        Some(0.0)
    );
    assert_eq!(
        requests.part(2000, 3000).remove(0).in_flight_mean,
        Some(0.0)
    );
}
