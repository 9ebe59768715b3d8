//! Which trial is next, and how long it may take.
//!
//! Stages are interleaved: each round does every stage once, in an order drawn
//! anew, so that a disturbance that lasts a while does not fall on one stage
//! alone. Trials without a stop rule share what is left of the time; so do those
//! with a full amount that was not asked for, which may end before.

use diskfacts_plan::rng::Rng;
use diskfacts_plan::units::show_duration;
use diskfacts_plan::{Plan, Stage, Stop};

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

/// What ends the trials of a stage.
#[derive(Debug, Clone, Copy)]
struct Rule {
    stop: Stop,
    /// Whether they also end at their share of the time.
    shares: bool,
}

/// The trials of a run, in order.
pub(super) struct Schedule {
    rules: Vec<Rule>,
    /// Index of stage and number, in reverse order.
    pending: Vec<(usize, u32)>,
    rounds: u32,
    asked_rounds: u32,
    /// Nanoseconds that are missing even for one short trial of each stage.
    missing_ns: u64,
    total_ns: u64,
    /// Nanoseconds that were left when the first round began.
    first_left_ns: u64,
    /// Nanoseconds of the trials so far, without what was done around them.
    measured_ns: u64,
    /// Rounds that were begun.
    begun: u32,
    seed: u64,
    order: u32,
}

impl Schedule {
    /// The trials of a plan within `total_ns`, of which `elapsed_ns` have
    /// passed.
    pub(super) fn new(plan: &Plan, seed: u64, total_ns: u64, elapsed_ns: u64) -> Self {
        let rules = rules_of(plan);
        let left_ns = total_ns.saturating_sub(elapsed_ns);
        let rounds = rounds(&rules, plan.trials, left_ns);
        let missing_ns = shortest_round_ns(&rules).saturating_sub(left_ns);
        let mut rng = Rng::new(seed);
        let mut pending = Vec::new();
        for number in 1..=rounds {
            let mut order: Vec<usize> = (0..rules.len()).collect();
            shuffle(&mut order, &mut rng);
            pending.extend(order.into_iter().map(|stage| (stage, number)));
        }
        pending.reverse();
        Self {
            rules,
            pending,
            rounds,
            asked_rounds: plan.trials,
            missing_ns,
            total_ns,
            first_left_ns: left_ns,
            measured_ns: 0,
            begun: 0,
            seed,
            order: 0,
        }
    }

    /// A trial took so long.
    pub(super) fn took(&mut self, measured_ns: u64) {
        self.measured_ns = self.measured_ns.saturating_add(measured_ns);
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
            (Some(fewer), Some(longer)) => {
                format!("{fewer}, and even these may take up to {longer} longer")
            }
            (None, Some(longer)) => {
                format!("The trials may take up to {longer} longer than the time of {time} allows")
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
            .filter_map(|(stage, _)| self.rules[*stage].given_ns())
            .sum();
        let sharing = self
            .pending
            .iter()
            .filter(|(stage, _)| self.rules[*stage].shares)
            .count() as u64;
        let (stage, number) = self.pending.last().copied()?;
        if number > self.begun {
            if !self.fits_another(left_ns) {
                self.pending.clear();
                return None;
            }
            self.begun = number;
        }
        self.pending.pop();
        let Rule { mut stop, shares } = self.rules[stage];
        if shares {
            let share = left_ns.saturating_sub(bounded) / sharing.max(1);
            let share = share.max(SHORTEST_NS);
            stop.time_ns = Some(stop.time_ns.map_or(share, |own| own.min(share)));
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

impl Schedule {
    /// Whether another round fits into the time, with what is done around its
    /// trials: a disk that turns may take half a minute to write what a trial
    /// left in its cache.
    fn fits_another(&self, left_ns: u64) -> bool {
        let (sharing, given) = sharing_and_given(&self.rules);
        if self.begun == 0 || sharing == 0 {
            return true;
        }
        let spent = self.first_left_ns.saturating_sub(left_ns);
        let around = spent.saturating_sub(self.measured_ns) / u64::from(self.begun);
        left_ns >= around + sharing * LEAST_NS + given
    }

    /// A sentence at the end, when there was time for fewer rounds than it
    /// seemed.
    pub(super) fn left_out(&self) -> Option<String> {
        let fewer = self.pending.is_empty() && self.begun < self.rounds;
        fewer.then(|| {
            format!(
                "{} of {} trials per stage, because what is done around them (writing back what \
                 a trial left, filling caches) took too much of the time of {}; give it more with \
                 --time.",
                self.begun,
                self.asked_rounds,
                show_duration(self.total_ns)
            )
        })
    }
}

impl Rule {
    /// The time that its trials have whatever the others do.
    fn given_ns(&self) -> Option<u64> {
        self.stop.time_ns.filter(|_| !self.shares)
    }
}

fn rules_of(plan: &Plan) -> Vec<Rule> {
    let rule = |stage: &Stage| Rule {
        stop: stage.workload.stop,
        shares: stage.shares_time(),
    };
    plan.stages.iter().map(rule).collect()
}

/// How many stages of a round share the time, and the time of the others.
fn sharing_and_given(rules: &[Rule]) -> (u64, u64) {
    let sharing = rules.iter().filter(|rule| rule.shares).count() as u64;
    (sharing, rules.iter().filter_map(Rule::given_ns).sum())
}

/// Nanoseconds that one round takes at least, when any of its stages depends on
/// the time at all.
fn shortest_round_ns(rules: &[Rule]) -> u64 {
    let (sharing, given) = sharing_and_given(rules);
    if sharing == 0 {
        return 0;
    }
    sharing * SHORTEST_NS + given
}

/// As many rounds as asked, but at most as many as leave each trial the least
/// time that says something, and at least one.
fn rounds(rules: &[Rule], asked: u32, left_ns: u64) -> u32 {
    let (sharing, given) = sharing_and_given(rules);
    if sharing == 0 {
        // Every stage says itself how long it takes: that is what is meant.
        return asked;
    }
    let per_round = sharing * LEAST_NS + given;
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
    use diskfacts_plan::{Amount, Workload};
    use std::collections::BTreeMap;

    fn plan(stops: &[Stop], trials: u32) -> Plan {
        Plan {
            name: "p".into(),
            about: String::new(),
            trials,
            time_ns: None,
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
                    full: None,
                })
                .collect(),
        }
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn every_stage_is_done_once_per_round_in_an_order_of_its_own() {
        let plan = plan(&[Stop::default(); 6], 4);
        let mut schedule = Schedule::new(&plan, 3, 600 * SECOND, 0);
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
        let mut schedule = Schedule::new(&plan, 1, 100 * SECOND, 80 * SECOND);
        let mut left = 20 * SECOND;
        while let Some(next) = schedule.next_with(left) {
            let time = next.stop.time_ns.expect("every trial has a time");
            // 20 s, of which two times 4 s are given away: 6 s each.
            assert_eq!(time, if next.stage == 1 { 4 } else { 6 } * SECOND);
            left -= time;
            schedule.took(time);
        }
        assert_eq!(left, 0);
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
        let mut schedule = Schedule::new(&plan, 1, 100 * SECOND, 0);
        let first = schedule.next_with(20 * SECOND).expect("a trial");
        assert_eq!(
            (first.stop.time_ns, first.stop.bytes),
            (Some(10 * SECOND), Some(1 << 20))
        );
        // The first ended long before its share was over.
        let second = schedule.next_with(19 * SECOND).expect("a trial");
        assert_eq!(second.stop.time_ns, Some(19 * SECOND));

        assert!(plan.in_full());
        let mut schedule = Schedule::new(&plan, 1, SECOND, 0);
        let next = schedule.next_with(0).expect("a trial");
        assert_eq!((next.stop.time_ns, next.stop.bytes), (None, None));
        assert_eq!(next.stop.operations, Some(7));
    }

    #[test]
    fn a_round_that_no_longer_fits_is_left_out_and_that_is_said() {
        let plan = plan(&[Stop::default(); 2], 5);
        let mut schedule = Schedule::new(&plan, 1, 60 * SECOND, 0);
        let mut elapsed = 0;
        let mut done = 0;
        while let Some(next) = schedule.next(elapsed) {
            let time = next.stop.time_ns.expect("every trial has a time");
            // Around each trial, ten seconds.
            elapsed += time + 10 * SECOND;
            schedule.took(time);
            done += 1;
        }
        // Two trials of 6 s and 20 s around them; then two shorter ones.
        assert_eq!(done, 4);
        assert!(elapsed < 70 * SECOND, "{elapsed}");
        let said = schedule.left_out().unwrap_or_default();
        assert!(said.starts_with("2 of 5 trials per stage"), "{said}");
    }

    #[test]
    fn all_rounds_are_done_where_nothing_takes_longer() {
        let plan = plan(&[Stop::default(); 2], 5);
        let mut schedule = Schedule::new(&plan, 1, 60 * SECOND, 0);
        let mut elapsed = 0;
        let mut done = 0;
        while let Some(next) = schedule.next(elapsed) {
            let time = next.stop.time_ns.expect("every trial has a time");
            elapsed += time;
            schedule.took(time);
            done += 1;
        }
        assert_eq!((done, schedule.left_out()), (10, None));
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
