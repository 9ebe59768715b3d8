//! Which trial is next, and how long it may take.
//!
//! Stages are interleaved: each round does every stage once, in an order drawn
//! anew, so that a disturbance that lasts a while does not fall on one stage
//! alone. Trials without a stop rule share what is left of the time.

use diskfacts_plan::rng::Rng;
use diskfacts_plan::units::show_duration;
use diskfacts_plan::{Plan, Stop};

/// A trial shorter than this says little; then rather fewer trials.
const LEAST_NS: u64 = 200_000_000;

/// No trial is shorter than this, even when there is no time for it.
const SHORTEST_NS: u64 = LEAST_NS / 2;

/// A trial to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Next {
    /// Index of its stage in the plan.
    pub(super) stage: usize,
    /// Which trial of the stage, from 1.
    pub(super) number: u32,
    /// Which trial of the run, from 1.
    pub(super) order: u32,
    /// What ends it.
    pub(super) stop: Stop,
    /// Seed of its random choices.
    pub(super) seed: u64,
    /// Nanoseconds of all that is left, this one included.
    pub(super) left_ns: u64,
}

/// The trials of a run, in order.
pub(super) struct Schedule {
    stops: Vec<Stop>,
    /// Index of stage and number, in reverse order.
    pending: Vec<(usize, u32)>,
    rounds: u32,
    asked_rounds: u32,
    /// Nanoseconds that are missing even for one short trial of each stage.
    missing_ns: u64,
    total_ns: u64,
    seed: u64,
    order: u32,
}

impl Schedule {
    /// The trials of a plan within `total_ns`, of which `elapsed_ns` have
    /// passed.
    pub(super) fn new(plan: &Plan, seed: u64, total_ns: u64, elapsed_ns: u64) -> Self {
        let stops = stops_of(plan);
        let left_ns = total_ns.saturating_sub(elapsed_ns);
        let rounds = rounds(&stops, plan.trials, left_ns);
        let missing_ns = shortest_round_ns(&stops).saturating_sub(left_ns);
        let mut rng = Rng::new(seed);
        let mut pending = Vec::new();
        for number in 1..=rounds {
            let mut order: Vec<usize> = (0..stops.len()).collect();
            shuffle(&mut order, &mut rng);
            pending.extend(order.into_iter().map(|stage| (stage, number)));
        }
        pending.reverse();
        Self {
            stops,
            pending,
            rounds,
            asked_rounds: plan.trials,
            missing_ns,
            total_ns,
            seed,
            order: 0,
        }
    }

    /// How often each stage is done.
    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// A sentence when there is not time enough for all trials.
    pub(super) fn note(&self) -> Option<String> {
        let time = show_duration(self.total_ns);
        // A few milliseconds more than asked are not worth a word.
        let longer = (self.missing_ns > self.total_ns / 10).then(|| show_duration(self.missing_ns));
        let fewer = (self.rounds < self.asked_rounds).then(|| {
            format!(
                "{} of {} trials per stage, because the time of {time} allows no more of them",
                self.rounds, self.asked_rounds
            )
        });
        let said = match (fewer, longer) {
            (None, None) => return None,
            (Some(fewer), None) => fewer,
            (Some(fewer), Some(longer)) => format!("{fewer}, and even these take {longer} longer"),
            (None, Some(longer)) => {
                format!("The trials take {longer} longer than the time of {time} allows")
            }
        };
        Some(format!("{said}; give it more with --time."))
    }

    /// The next trial, when so much time has passed since the run began.
    pub(super) fn next(&mut self, elapsed_ns: u64) -> Option<Next> {
        self.next_with(self.total_ns.saturating_sub(elapsed_ns))
    }

    /// The next trial when `left_ns` of the time are left.
    fn next_with(&mut self, left_ns: u64) -> Option<Next> {
        let bounded: u64 = self
            .pending
            .iter()
            .filter_map(|(stage, _)| self.stops[*stage].time_ns)
            .sum();
        let unbounded = self
            .pending
            .iter()
            .filter(|(stage, _)| is_unbounded(&self.stops[*stage]))
            .count() as u64;
        let (stage, number) = self.pending.pop()?;
        let mut stop = self.stops[stage];
        if is_unbounded(&stop) {
            let share = left_ns.saturating_sub(bounded) / unbounded.max(1);
            stop.time_ns = Some(share.max(SHORTEST_NS));
        }
        self.order += 1;
        Some(Next {
            stage,
            number,
            order: self.order,
            stop,
            seed: Rng::for_part(self.seed, u64::from(self.order)).next_u64(),
            left_ns: left_ns.max(bounded),
        })
    }
}

fn is_unbounded(stop: &Stop) -> bool {
    *stop == Stop::default()
}

fn stops_of(plan: &Plan) -> Vec<Stop> {
    plan.stages.iter().map(|s| s.workload.stop).collect()
}

/// Nanoseconds that one round takes at least, when any of its stages depends on
/// the time at all.
fn shortest_round_ns(stops: &[Stop]) -> u64 {
    let unbounded = stops.iter().filter(|stop| is_unbounded(stop)).count() as u64;
    if unbounded == 0 {
        return 0;
    }
    let bounded: u64 = stops.iter().filter_map(|stop| stop.time_ns).sum();
    unbounded * SHORTEST_NS + bounded
}

/// As many rounds as asked, but at most as many as leave each trial the least
/// time that says something, and at least one.
fn rounds(stops: &[Stop], asked: u32, left_ns: u64) -> u32 {
    let unbounded = stops.iter().filter(|stop| is_unbounded(stop)).count() as u64;
    let bounded: u64 = stops.iter().filter_map(|stop| stop.time_ns).sum();
    if unbounded == 0 {
        // Every stage says itself how long it takes: that is what is meant.
        return asked;
    }
    let per_round = unbounded * LEAST_NS + bounded;
    u32::try_from(left_ns / per_round)
        .unwrap_or(u32::MAX)
        .clamp(1, asked)
}

/// Fisher and Yates, in the form of Durstenfeld (CACM 7(7), 1964).
fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for i in (1..items.len()).rev() {
        // Below the length of the slice.
        items.swap(i, rng.below(i as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::{Stage, Workload};

    fn plan(stops: &[Stop], trials: u32) -> Plan {
        Plan {
            name: "p".into(),
            about: String::new(),
            trials,
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
                })
                .collect(),
        }
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn every_stage_is_done_once_per_round_in_an_order_of_its_own() {
        let plan = plan(&[Stop::default(); 6], 4);
        let mut schedule = Schedule::new(&plan, 3, 600 * SECOND, 0);
        let all: Vec<Next> = std::iter::from_fn(|| schedule.next_with(SECOND)).collect();
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
        let mut schedule = Schedule::new(&plan, 1, 100 * SECOND, 0);
        let mut left = 20 * SECOND;
        while let Some(next) = schedule.next_with(left) {
            let time = next.stop.time_ns.expect("every trial has a time");
            // 20 s, of which two times 4 s are given away: 6 s each.
            assert_eq!(time, if next.stage == 1 { 4 } else { 6 } * SECOND);
            left -= time;
        }
        assert_eq!(left, 0);
    }

    #[test]
    fn too_little_time_for_one_round_is_said() {
        let plan = plan(&[Stop::default(); 10], 5);
        let mut schedule = Schedule::new(&plan, 1, SECOND / 10, 0);
        assert_eq!(schedule.rounds, 1);
        // Whatever passed since the call.
        schedule.missing_ns = 9 * SECOND / 10;
        let note = schedule.note().unwrap_or_default();
        assert!(
            note.starts_with("1 of 5 trials per stage, because the time of 100 ms")
                && note.contains("even these take 900 ms longer"),
            "{note}"
        );
        let next = schedule.next_with(0).expect("a trial");
        assert_eq!(next.stop.time_ns, Some(SHORTEST_NS));
    }

    #[test]
    fn little_time_makes_fewer_trials_and_says_so() {
        let plan = plan(&[Stop::default(); 10], 5);
        let schedule = Schedule::new(&plan, 1, 5 * SECOND, 0);
        assert_eq!(schedule.rounds, 2);
        assert!(schedule.note().is_some_and(|note| note.contains("--time")));
        let plenty = Schedule::new(&plan, 1, 60 * SECOND, 0);
        assert_eq!((plenty.rounds, plenty.note()), (5, None));
    }
}
