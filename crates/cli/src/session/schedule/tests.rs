//! Trials within a time, on disks that need none beside it and on others.

use super::*;
use diskfacts_plan::{Amount, CacheMode, Operation, Pattern, Stage, Workload};
use std::collections::BTreeMap;

pub(super) fn plan(stops: &[Stop], trials: u32) -> Plan {
    Plan {
        name: "p".into(),
        about: String::new(),
        trials,
        time_ns: None,
        until: diskfacts_plan::Until::default(),
        choose: Vec::new(),
        precondition: Vec::new(),
        stages: stops
            .iter()
            .enumerate()
            .map(|(i, stop)| Stage {
                name: format!("s{i}"),
                about: String::new(),
                workload: Workload {
                    stop: *stop,
                    ..Workload::default()
                },
                settings: BTreeMap::new(),
                kernel: BTreeMap::new(),
                full: None,
            })
            .collect(),
    }
}

const SECOND: u64 = 1_000_000_000;

#[test]
fn every_stage_is_done_once_per_round_in_an_order_of_its_own() {
    let plan = plan(&[Stop::default(); 6], 4);
    let mut schedule = Schedule::new(&plan, false, 3, (600 * SECOND, 0));
    let all: Vec<Next> = std::iter::from_fn(|| schedule.next_with(600 * SECOND)).collect();
    assert_eq!(all.len(), 24);
    let rounds: Vec<Vec<usize>> = all
        .chunks(6)
        .map(|r| r.iter().map(|n| n.stage).collect())
        .collect();
    for (i, round) in rounds.iter().enumerate() {
        let mut sorted = round.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        assert!(
            all[i * 6..i * 6 + 6]
                .iter()
                .all(|n| n.number as usize == i + 1)
        );
    }
    assert!(rounds.iter().any(|round| *round != rounds[0]));
    assert_eq!(
        all.iter().map(|n| n.order).collect::<Vec<_>>(),
        (1..=24).collect::<Vec<_>>()
    );
}

#[test]
fn what_is_left_is_shared_by_the_trials_without_a_stop_rule() {
    let timed = Stop {
        time_ns: Some(4 * SECOND),
        ..Stop::default()
    };
    let plan = plan(&[Stop::default(), timed], 2);
    let mut schedule = Schedule::new(&plan, false, 1, (100 * SECOND, 80 * SECOND));
    let mut left = 20 * SECOND;
    while let Some(next) = schedule.next_with(left) {
        let time = next.stop.time_ns.expect("every trial has a time");
        // 20 s, of which two times 4 s are given away: 6 s each.
        assert_eq!(time, if next.stage == 1 { 4 } else { 6 } * SECOND);
        left -= time;
        schedule.took(time, 100.0);
    }
    assert_eq!(left, 0);
}

/// The times of the trials of stages that do so many operations a second, ns, all of which are
/// used up.
fn times<const STAGES: usize>(
    rates: [f64; STAGES],
    trials: u32,
    seconds: u64,
) -> [Vec<u64>; STAGES] {
    let plan = plan(&[Stop::default(); STAGES], trials);
    let total = seconds * SECOND;
    let mut schedule = Schedule::new(&plan, true, 1, (total, 0));
    let mut left = total;
    let mut each = [const { Vec::new() }; STAGES];
    while let Some(next) = schedule.next_with(left) {
        let time = next.stop.time_ns.expect("every trial has a time");
        each[next.stage].push(time);
        left = left.saturating_sub(time);
        schedule.took(time, rates[next.stage]);
    }
    assert!(left <= 1_000_000, "{left}");
    each
}

#[test]
fn operations_that_take_long_have_more_of_the_time() {
    let [fast, slow, slowest] = times([1e4, 20.0, 2.0], 4, 12);
    // A second each, until it is known how long an operation takes: 36 of them are 1.8 s of
    // 20 a second, and 18 s of 2 a second, for which there is no time. Then all of them have
    // less, and these two thrice what is above the least.
    assert_eq!([fast.len(), slow.len(), slowest.len()], [4; 3]);
    for trial in 1..4 {
        let share = fast[trial] as f64;
        assert!((0.4e9..0.6e9).contains(&share), "{fast:?}");
        for ns in [slow[trial], slowest[trial]] {
            let above = (ns - LEAST_NS) as f64 / (share - LEAST_NS as f64);
            assert!((above - 3.0).abs() < 0.001, "{ns} {fast:?}");
        }
    }
}

/// Where there is time enough, they have as much as they need, and no more.
#[test]
fn a_trial_is_long_enough_for_operations_to_count() {
    let [slow, _] = times([20.0, 1e4], 5, 14);
    let enough = 9 * SECOND / 5;
    let is_enough = |ns: &u64| ns.abs_diff(enough) < 1_000;
    assert!(slow[1..].iter().all(is_enough), "{slow:?}");
}

#[test]
fn a_full_amount_shares_the_time_unless_it_is_asked_for() {
    let amount = Stop {
        bytes: Some(1 << 20),
        ..Stop::default()
    };
    let mut plan = plan(&[amount, amount], 1);
    for stage in &mut plan.stages {
        stage.full = Some(Amount {
            operations: Some(7),
            ..Amount::default()
        });
    }
    let mut schedule = Schedule::new(&plan, false, 1, (100 * SECOND, 0));
    let first = schedule.next_with(20 * SECOND).expect("a trial");
    assert_eq!(
        (first.stop.time_ns, first.stop.bytes),
        (Some(10 * SECOND), Some(1 << 20))
    );
    // The first ended long before its share was over.
    let second = schedule.next_with(19 * SECOND).expect("a trial");
    assert_eq!(second.stop.time_ns, Some(19 * SECOND));

    assert!(plan.in_full());
    let mut schedule = Schedule::new(&plan, false, 1, (SECOND, 0));
    let next = schedule.next_with(0).expect("a trial");
    assert_eq!((next.stop.time_ns, next.stop.bytes), (None, None));
    assert_eq!(next.stop.operations, Some(7));
}

#[test]
fn a_round_that_no_longer_fits_is_left_out_and_that_is_said() {
    let plan = plan(&[Stop::default(); 2], 5);
    let mut schedule = Schedule::new(&plan, false, 1, (60 * SECOND, 0));
    let mut elapsed = 0;
    let mut done = 0;
    while let Some(next) = schedule.next(elapsed) {
        let time = next.stop.time_ns.expect("every trial has a time");
        // Around each trial, ten seconds.
        elapsed += time + 10 * SECOND;
        schedule.took(time, 100.0);
        done += 1;
    }
    // Two trials of 6 s and 20 s around them; then two shorter ones.
    assert_eq!(done, 4);
    assert!(elapsed < 70 * SECOND, "{elapsed}");
    let said = schedule.left_out().unwrap_or_default();
    assert!(
        said.starts_with("Measured 2 of 5 trials per stage"),
        "{said}"
    );
}

#[test]
fn all_rounds_are_done_where_nothing_takes_longer() {
    let plan = plan(&[Stop::default(); 2], 5);
    let mut schedule = Schedule::new(&plan, false, 1, (60 * SECOND, 0));
    let mut elapsed = 0;
    let mut done = 0;
    while let Some(next) = schedule.next(elapsed) {
        let time = next.stop.time_ns.expect("every trial has a time");
        elapsed += time;
        schedule.took(time, 100.0);
        done += 1;
    }
    assert_eq!((done, schedule.left_out()), (10, None));
}

#[test]
fn too_little_time_for_one_round_is_said() {
    let plan = plan(&[Stop::default(); 10], 5);
    let mut schedule = Schedule::new(&plan, false, 1, (SECOND / 10, 0));
    assert_eq!(schedule.rounds, 1);
    // Whatever passed since the call.
    schedule.missing_ns = 9 * SECOND / 10;
    let note = schedule.note().unwrap_or_default();
    assert!(
        note.starts_with("1 of 5 trials per stage, because the time of 100 ms")
            && note.contains("even these may take up to 900 ms longer"),
        "{note}"
    );
    schedule.asked_rounds = 1;
    assert_eq!(
        schedule.note().unwrap_or_default(),
        "The trials may take up to 900 ms longer than the time of 100 ms allows; give it more \
         with --time."
    );
    let next = schedule.next_with(0).expect("a trial");
    assert_eq!(next.stop.time_ns, Some(SHORTEST_NS));
}

/// Does all trials of a plan where everything around a trial takes so many seconds;
/// answers their stages and how long all of it took.
fn with_slow_surroundings(plan: &Plan, seconds: u64, around: u64) -> (Vec<usize>, u64, Schedule) {
    let mut schedule = Schedule::new(plan, false, 1, (seconds * SECOND, 0));
    let (mut elapsed, mut stages) = (0, Vec::new());
    while let Some(next) = schedule.next(elapsed) {
        let time = next.stop.time_ns.expect("every trial has a time");
        elapsed += time + around * SECOND;
        schedule.took(time, 100.0);
        stages.push(next.stage);
    }
    (stages, elapsed, schedule)
}

#[test]
fn no_trial_begins_long_after_the_time_is_over_and_the_stages_without_one_are_named() {
    let plan = plan(&[Stop::default(); 12], 1);
    // Twelve times 5 s around the trials, in 20 s.
    let (stages, elapsed, schedule) = with_slow_surroundings(&plan, 20, 5);
    assert!(elapsed < 24 * SECOND + 5 * SECOND + SECOND, "{elapsed}");
    assert!(stages.len() < 6, "{stages:?}");
    let said = schedule.left_out().unwrap_or_default();
    for stage in (0..12).filter(|stage| !stages.contains(stage)) {
        assert!(said.contains(&format!("s{stage}")), "{said}");
    }
    let without = 12 - stages.len();
    let begins = format!("Measured no trial of {without} of 12 stages (s");
    assert!(said.starts_with(&begins), "{said}");
}

#[test]
fn what_says_itself_how_long_it_takes_is_done_whatever_the_time() {
    let own = Stop {
        time_ns: Some(4 * SECOND),
        ..Stop::default()
    };
    let (stages, ..) = with_slow_surroundings(&plan(&[own; 3], 2), 1, 5);
    assert_eq!(stages.len(), 6);
}

#[test]
fn a_trial_that_is_done_again_is_the_same_and_the_next() {
    for seconds in [3, 60] {
        let mut plan = plan(&[Stop::default(); 2], 3);
        plan.until.precision = diskfacts_plan::Share::parse("3%").ok();
        let mut schedule = Schedule::new(&plan, false, 1, (seconds * SECOND, 0));
        let mut elapsed = 0;
        let mut orders = Vec::new();
        while let Some(next) = schedule.next(elapsed) {
            schedule.again();
            let again = schedule.next(elapsed).expect("the same");
            let same = |next: &Next| (next.stage, next.number, next.order, next.seed, next.stop);
            assert_eq!(same(&again), same(&next));
            elapsed += next.stop.time_ns.expect("every trial has a time");
            schedule.took(next.stop.time_ns.unwrap_or_default(), 100.0);
            orders.push(next.order);
        }
        let all: Vec<u32> = (1..=orders.len() as u32).collect();
        assert_eq!(orders, all);
    }
}

#[test]
fn a_stage_that_could_not_be_prepared_is_not_tried_again() {
    let plan = plan(&[Stop::default(); 2], 3);
    let mut schedule = Schedule::new(&plan, false, 1, (60 * SECOND, 0));
    let (mut elapsed, mut stages) = (0, Vec::new());
    while let Some(next) = schedule.next(elapsed) {
        stages.push(next.stage);
        // Half of what is left.
        let half = ((60 * SECOND - elapsed) / 2).max(GRACE_NS);
        assert_eq!(next.prepare_ns, Some(half));
        if next.stage == 0 {
            elapsed += half;
            schedule.give_up();
        } else {
            let time = next.stop.time_ns.expect("every trial has a time");
            elapsed += time;
            schedule.took(time, 100.0);
        }
    }
    stages.sort_unstable();
    assert_eq!(stages, [0, 1, 1, 1]);
    assert!(elapsed <= 60 * SECOND, "{elapsed}");
    let said = schedule.left_out().unwrap_or_default();
    assert!(
        said.starts_with("Measured no trial of 1 of 2 stages (s0)"),
        "{said}"
    );
}

#[test]
fn little_time_makes_fewer_trials_and_says_so() {
    let plan = plan(&[Stop::default(); 10], 5);
    let schedule = Schedule::new(&plan, false, 1, (5 * SECOND, 0));
    assert_eq!(schedule.rounds, 2);
    assert!(schedule.note().is_some_and(|note| note.contains("--time")));
    let plenty = Schedule::new(&plan, false, 1, (60 * SECOND, 0));
    assert_eq!((plenty.rounds, plenty.note()), (5, None));
}

/// Reads, and writes anywhere that are never synced.
fn with_a_writer(trials: u32) -> Plan {
    let mut plan = plan(&[Stop::default(); 3], trials);
    plan.stages[1].workload.operation = Operation::Write;
    plan.stages[1].workload.pattern = Pattern::Random;
    plan
}

/// Which stages had a trial of how many seconds, when what the second stage left
/// takes `after` seconds.
fn done(plan: &Plan, disk_turns: bool, seconds: u64, after: u64) -> (Vec<(usize, f64)>, Schedule) {
    let mut schedule = Schedule::new(plan, disk_turns, 1, (seconds * SECOND, 0));
    let (mut elapsed, mut left) = (0, false);
    let mut trials = Vec::new();
    while let Some(next) = schedule.next(elapsed) {
        let time = next.stop.time_ns.expect("every trial has a time");
        elapsed += time + if left { after * SECOND } else { 0 };
        left = next.stage == 1;
        schedule.took(time, 100.0);
        trials.push((next.stage, time as f64 / 1e9));
    }
    (trials, schedule)
}

#[test]
fn what_a_disk_that_turns_writes_back_for_long_comes_last_and_only_once() {
    let (trials, schedule) = done(&with_a_writer(3), true, 60, 30);
    let stages: Vec<usize> = trials.iter().map(|(stage, _)| *stage).collect();
    assert!(stages[..6].iter().all(|stage| *stage != 1), "{stages:?}");
    // 60 s over nine trials; the second one of the writer would wait half a minute.
    assert_eq!(stages[6..], [1, 1]);
    assert!(
        trials
            .iter()
            .all(|(_, seconds)| (6.6..6.7).contains(seconds)),
        "{trials:?}"
    );
    assert_eq!(
        schedule.left_out().unwrap_or_default(),
        "Measured 2 of 3 trials of s1: 60 s were too short with the time that writing back what a trial \
         left and filling caches took; give it more with --time."
    );
}

#[test]
fn where_nothing_turns_all_stages_share_the_rounds() {
    let (trials, schedule) = done(&with_a_writer(3), false, 60, 0);
    for round in trials.chunks(3) {
        let mut stages: Vec<usize> = round.iter().map(|(stage, _)| *stage).collect();
        stages.sort_unstable();
        assert_eq!(stages, [0, 1, 2]);
    }
    assert_eq!((trials.len(), schedule.left_out()), (9, None));
}

#[test]
fn what_is_done_around_a_trial_is_foreseen_once_it_is_known() {
    // What the writer leaves takes 5 s, wherever its trial is in the round.
    let (trials, _) = done(&with_a_writer(3), false, 60, 5);
    let last: Vec<f64> = trials[3..].iter().map(|(_, seconds)| *seconds).collect();
    let (low, high) = last
        .iter()
        .fold((f64::MAX, 0.0_f64), |(l, h), s| (l.min(*s), h.max(*s)));
    assert!(high / low < 1.5, "{trials:?}");
}

/// Does all trials of a plan, of which each stage has the rates that are given by its
/// trials' numbers; answers the number of trials of each stage and how long they were.
fn adaptive(plan: &Plan, seconds: u64, rate: impl Fn(usize, u32) -> f64) -> (Vec<u32>, Schedule) {
    let mut schedule = Schedule::new(plan, false, 1, (seconds * SECOND, 0));
    let mut elapsed = 0;
    let mut trials = vec![0; plan.stages.len()];
    while let Some(next) = schedule.next(elapsed) {
        let time = next.stop.time_ns.expect("every trial has a time");
        elapsed += time;
        trials[next.stage] += 1;
        assert_eq!(next.number, trials[next.stage]);
        schedule.took(time, rate(next.stage, next.number));
    }
    assert!(elapsed <= seconds * SECOND, "{elapsed}");
    (trials, schedule)
}

/// 2 % to either side, or 20 %, in no order.
fn scattered(number: u32, by: f64) -> f64 {
    100.0 * (1.0 + by * (f64::from(number * 7 % 11) / 5.0 - 1.0))
}

#[test]
fn a_stage_that_is_precise_gives_its_time_to_one_that_is_not() {
    let mut plan = plan(&[Stop::default(); 2], 5);
    plan.until.precision = diskfacts_plan::Share::parse("3%").ok();
    let rate = |stage, number| scattered(number, if stage == 0 { 0.02 } else { 0.4 });
    let (trials, schedule) = adaptive(&plan, 60, rate);
    // Two thirds of the time are for six trials of each, 3.3 s long; the rest is for two
    // more of the first, and three of the second.
    assert_eq!(trials, [8, 9]);
    let said = schedule.reached().unwrap_or_default();
    assert!(
        said.starts_with("Medians within 3 % (95 % CI) in 1 of 2 stages; out of time for s1 (")
            && said.ends_with("% at 99 %)."),
        "{said}"
    );
    assert_eq!(schedule.left_out(), None);
}

#[test]
fn when_all_stages_are_precise_the_rest_of_the_time_is_saved() {
    let mut plan = plan(&[Stop::default(); 3], 5);
    plan.until.precision = diskfacts_plan::Share::parse("3%").ok();
    let (trials, schedule) = adaptive(&plan, 60, |_, number| scattered(number, 0.02));
    assert_eq!(trials, [8, 8, 8]);
    // What was asked for is so.
    assert_eq!(schedule.reached(), None);
}

#[test]
fn no_stage_has_more_trials_than_the_plan_allows() {
    let mut plan = plan(&[Stop::default(); 2], 5);
    plan.until.precision = diskfacts_plan::Share::parse("3%").ok();
    plan.until.trials_max = Some(7);
    let (trials, schedule) = adaptive(&plan, 60, |_, number| scattered(number, 0.4));
    assert_eq!(trials, [7, 7]);
    let said = schedule.reached().unwrap_or_default();
    assert!(said.contains("; 7 trials were not enough for s"), "{said}");
}

#[test]
fn trials_go_on_until_five_rounds_are_steady() {
    let mut plan = plan(&[Stop::default()], 8);
    plan.until.steady = true;
    // It falls for eight trials, and stays there.
    let rate = |_, number: u32| {
        if number <= 8 {
            900.0 - 100.0 * f64::from(number)
        } else {
            100.0
        }
    };
    let (trials, schedule) = adaptive(&plan, 60, rate);
    assert_eq!(trials, [12]);
    assert_eq!(schedule.reached(), None);
}

#[test]
fn rates_of_zero_and_of_no_number_reach_nothing_and_end() {
    for value in [0.0, -1.0, f64::NAN] {
        let mut plan = plan(&[Stop::default(); 2], 3);
        plan.until.precision = diskfacts_plan::Share::parse("3%").ok();
        plan.until.steady = true;
        let (trials, _) = adaptive(&plan, 20, |_, _| value);
        assert!(trials.iter().all(|trials| *trials >= 6), "{trials:?}");
    }
}

#[test]
fn many_stages_that_are_not_precise_are_told_in_one_line_the_widest_first() {
    let mut plan = plan(&[Stop::default(); 6], 5);
    plan.until.precision = diskfacts_plan::Share::parse("3%").ok();
    let rate = |stage, number| scattered(number, 0.1 * (1.0 + stage as f64));
    let (_, schedule) = adaptive(&plan, 20, rate);
    let said = schedule.reached().unwrap_or_default();
    let start = "Medians within 3 % (95 % CI) in 0 of 6 stages; out of time for s5 (";
    assert!(
        said.starts_with(start) && said.ends_with(" and 3 more."),
        "{said}"
    );
    assert!(!said.contains("s0"), "{said}");
}

#[test]
fn a_short_time_is_for_the_trials_that_are_made_in_any_case() {
    let mut plan = plan(&[Stop::default(); 10], 6);
    plan.until.precision = diskfacts_plan::Share::parse("3%").ok();
    // Six rounds of ten trials of 200 ms are 12 s; of 15 s, two thirds are not enough.
    let schedule = Schedule::new(&plan, false, 1, (15 * SECOND, 0));
    assert_eq!((schedule.rounds, schedule.note()), (6, None));
    assert_eq!(schedule.held_ns, 3 * SECOND);
    let schedule = Schedule::new(&plan, false, 1, (60 * SECOND, 0));
    assert_eq!(schedule.held_ns, 20 * SECOND);
    let schedule = Schedule::new(&plan, false, 1, (5 * SECOND, 0));
    assert_eq!((schedule.rounds, schedule.held_ns), (2, 0));
}

/// Its stages are there for what is said of them, and are paid with the length of trials:
/// who adds one finds here what it costs.
#[test]
fn a_minute_of_the_survey_is_six_trials_of_half_a_second_of_each_stage_and_more_of_what_differs() {
    let plan = diskfacts_plan::builtin::plan("survey").expect("it is built in");
    let mut schedule = Schedule::new(&plan, false, 1, (60 * SECOND, 0));
    let first = schedule.next(0).expect("a trial");
    assert!(first.stop.time_ns >= Some(SECOND / 2), "{first:?}");
    let (trials, _) = adaptive(&plan, 60, |_, number| scattered(number, 0.2));
    assert!(trials.iter().all(|trials| *trials >= 8), "{trials:?}");
    // So short that there are no more than these six.
    let shortest = Schedule::new(&plan, false, 1, (15 * SECOND, 0));
    assert_eq!((shortest.rounds, shortest.note()), (6, None));
}

#[test]
fn further_rounds_of_the_others_come_before_what_a_disk_that_turns_writes_back_for_long() {
    let mut plan = with_a_writer(6);
    plan.until.precision = diskfacts_plan::Share::parse("3%").ok();
    plan.until.trials_max = Some(20);
    let mut schedule = Schedule::new(&plan, true, 1, (60 * SECOND, 0));
    let (mut elapsed, mut left, mut stages) = (0, false, Vec::new());
    let mut number = 0;
    while let Some(next) = schedule.next(elapsed) {
        let time = next.stop.time_ns.expect("every trial has a time");
        elapsed += time + if left { 30 * SECOND } else { 0 };
        left = next.stage == 1;
        number += 1;
        schedule.took(time, scattered(number, 0.4));
        stages.push(next.stage);
    }
    let first_late = stages
        .iter()
        .position(|stage| *stage == 1)
        .expect("a trial");
    // 2.2 s each: six of each in any case, and in a third of the time four more of each.
    let before = |stage| stages[..first_late].iter().filter(|s| **s == stage).count();
    assert!(before(0) >= 10 && before(2) >= 10, "{stages:?}");
    assert!(
        stages[first_late..].iter().all(|stage| *stage == 1),
        "{stages:?}"
    );
    assert!(elapsed < 95 * SECOND, "{elapsed}");
}

#[test]
fn no_trial_begins_whose_write_back_would_end_long_after_the_time() {
    let mut plan = plan(&[Stop::default(); 2], 1);
    for (stage, cache) in plan
        .stages
        .iter_mut()
        .zip([CacheMode::Buffered, CacheMode::Direct])
    {
        stage.workload.operation = Operation::Write;
        stage.workload.cache = cache;
        stage.workload.span = Some(60_000_000);
    }
    // 6 s for what a trial through the page cache makes dirty, and 2 s of grace.
    let begun = |elapsed_ns: u64, filled_per_s: Option<f64>| {
        let schedule = Schedule::new(&plan, false, 3, (10 * SECOND, 0));
        let mut schedule = schedule.on_a_target_filled_at(filled_per_s);
        let mut stages: Vec<usize> = std::iter::from_fn(|| schedule.next(elapsed_ns))
            .map(|next| next.stage)
            .collect();
        stages.sort_unstable();
        stages
    };
    let slow = Some(10e6);
    assert_eq!(begun(5 * SECOND, slow), [0, 1]);
    assert_eq!(begun(7 * SECOND, slow), [1]);
    assert_eq!(begun(7 * SECOND, None), [0, 1]);
    assert_eq!(begun(13 * SECOND, slow), [0; 0]);
}
