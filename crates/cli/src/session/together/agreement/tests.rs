use super::*;
use diskfacts_plan::builtin;

fn at(moment: &str) -> Meet {
    Meet::Clock {
        at: moment.parse().expect("a moment"),
        stated_error_ns: Some(0),
        clock_error_ns: 0,
        clock_error_source: ClockErrorSource::Stated,
    }
}

fn start(group: &str) -> Start {
    Start {
        group: group.to_owned(),
        meet: at("2026-11-27T13:00:00Z"),
        gap_ns: None,
        seed: None,
        placement: None,
    }
}

fn survey() -> Plan {
    let mut plan = builtin::plan("survey").expect("a plan of ours");
    plan.trials = 3;
    plan
}

const MINUTE_NS: u64 = 60_000_000_000;

#[test]
fn two_hosts_come_to_the_same_and_their_accesses_differ() {
    let one = Agreement::new(&survey(), &start("n42"), 5 * MINUTE_NS).expect("room");
    let other = Agreement::new(&survey(), &start("n42"), 5 * MINUTE_NS).expect("room");
    assert_eq!(one, other);
    assert_ne!(one.trials[0].next(1).seed, one.trials[0].next(2).seed);
}

#[test]
fn whatever_differs_is_another_agreement() {
    let of = |plan: &Plan, start: &Start, time_ns| {
        Agreement::new(plan, start, time_ns).expect("room").digest
    };
    let usual = of(&survey(), &start("n42"), 5 * MINUTE_NS);
    let mut plan = survey();
    plan.stages[0].workload.span = Some(1 << 20);
    let later = Start {
        meet: at("2026-11-27T13:00:01Z"),
        ..start("n42")
    };
    let with_gap = Start {
        gap_ns: Some(2_000_000_000),
        ..start("n42")
    };
    for other in [
        of(&survey(), &start("n43"), 5 * MINUTE_NS),
        of(&survey(), &start("n42"), 6 * MINUTE_NS),
        of(&survey(), &later, 5 * MINUTE_NS),
        of(&survey(), &with_gap, 5 * MINUTE_NS),
        of(&plan, &start("n42"), 5 * MINUTE_NS),
    ] {
        assert_ne!(other, usual);
    }
}

#[test]
fn trials_follow_each_other_with_room_to_prepare_and_fill_the_time() {
    for (time_ns, gap_ns) in [
        (5 * MINUTE_NS, None),
        (50 * MINUTE_NS, None),
        (5 * MINUTE_NS, Some(300_000_000)),
    ] {
        let start = Start {
            gap_ns,
            ..start("n42")
        };
        let plan = survey();
        let trials = Agreement::new(&plan, &start, time_ns).expect("room").trials;
        assert_eq!(trials.len(), 3 * plan.stages.len());
        assert_eq!(trials[0].at_ns, 0);
        for pair in trials.windows(2) {
            let gap_ns = pair[1].at_ns - pair[0].at_ns - pair[0].length_ns;
            match start.gap_ns {
                Some(asked_ns) => assert_eq!(gap_ns, asked_ns),
                None => assert_eq!(gap_ns, (pair[1].length_ns / 4).max(1_000_000_000)),
            }
            assert_eq!(pair[1].order, pair[0].order + 1);
        }
        let last = trials.last().expect("a trial");
        let end_ns = last.at_ns + last.length_ns;
        assert!(end_ns <= time_ns, "{end_ns} of {time_ns}");
        // Nothing but the gap before the first is left.
        assert!(end_ns + 2 * (last.length_ns / 4 + 1_000_000_000) >= time_ns);
    }
}

#[test]
fn each_round_has_each_stage_once() {
    let plan = survey();
    let trials = Agreement::new(&plan, &start("n42"), 5 * MINUTE_NS)
        .expect("room")
        .trials;
    for round in trials.chunks(plan.stages.len()) {
        let mut places: Vec<usize> = round.iter().map(|slot| slot.stage).collect();
        places.sort_unstable();
        assert!(places.iter().copied().eq(0..plan.stages.len()));
        assert!(round.iter().all(|slot| slot.number == round[0].number));
    }
}

#[test]
fn a_stage_that_says_no_time_is_refused_by_its_name() {
    let mut plan = survey();
    plan.stages[1].full = None;
    plan.stages[1].workload.stop.bytes = Some(1 << 30);
    let why = Agreement::new(&plan, &start("n42"), 5 * MINUTE_NS).expect_err("no time");
    assert!(why.contains(&plan.stages[1].name), "{why}");
    plan.stages[1].workload.stop.time_ns = Some(MINUTE_NS / 6);
    let trials = Agreement::new(&plan, &start("n42"), 5 * MINUTE_NS)
        .expect("room")
        .trials;
    let bounded = trials.iter().filter(|slot| slot.stage == 1);
    for slot in bounded {
        assert_eq!(
            (slot.length_ns, slot.stop.bytes),
            (MINUTE_NS / 6, Some(1 << 30))
        );
    }
}

#[test]
fn a_time_without_room_says_what_is_needed_and_that_is_enough() {
    let why = Agreement::new(&survey(), &start("n42"), 10_000_000_000).expect_err("no room");
    let needed = why.split("--time ").nth(1).expect("what to give");
    let needed = needed.split(',').next().expect("a time");
    let time_ns = diskfacts_plan::units::parse_duration(needed).expect(needed);
    assert!(
        Agreement::new(&survey(), &start("n42"), time_ns).is_ok(),
        "{why}"
    );
}

#[test]
fn hosts_agree_on_their_layout_and_not_on_their_rank() {
    let plan = survey();
    let digest = |placement| {
        let start = Start {
            placement,
            ..start("n42")
        };
        let agreement = Agreement::new(&plan, &start, 600_000_000_000);
        agreement.expect("there is room").digest
    };
    let placement = |layout, shift, rank| {
        Some(Placement {
            layout,
            shift,
            rank: Rank { rank, of: 4 },
        })
    };
    let slice = digest(placement(Layout::Slice, 0, 0));
    assert_eq!(slice, digest(placement(Layout::Slice, 0, 3)));
    assert_ne!(slice, digest(placement(Layout::Slice, 1, 0)));
    assert_ne!(slice, digest(placement(Layout::Same, 0, 0)));
    assert_ne!(slice, digest(None));
}
