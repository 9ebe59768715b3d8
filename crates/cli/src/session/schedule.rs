//! Which trial is next, and how long it may take.
//!
//! Stages are interleaved: each round does every stage once, in an order drawn
//! anew, so that a disturbance that lasts a while does not fall on one stage
//! alone. Trials without a stop rule share what is left of the time; so do those
//! with a full amount that was not asked for, which may end before.
//!
//! A plan may ask for more than a number of trials: for a precision, or for steadiness
//! (`diskfacts_facts::stopping`). Then the rounds that are made in any case get two
//! thirds of the time, or as much more as their shortest trials need, and what is left goes to the
//! stages that have not reached it, in further rounds ([`further`]). A stage that has
//! reached it is done.
//!
//! What writes anywhere on a disk that turns, and never syncs, leaves a cache
//! full of blocks that the disk writes back one by one: half a minute for what
//! took a second. Such stages come after the rounds of the others, in rounds of
//! their own, so that the time that they cost is theirs.

mod further;
mod left;
mod rule;

use diskfacts_facts::stopping;
use diskfacts_plan::rng::Rng;
use diskfacts_plan::units::show_duration;
use diskfacts_plan::{Plan, Stop};
use diskfacts_report::text::Left;
pub(super) use rule::is_late;
use rule::{Rule, Turn, rules_of};

/// A trial shorter than this says little; then rather fewer trials.
pub(super) const LEAST_NS: u64 = 200_000_000;

/// No trial is shorter than this, even when there is no time for it.
const SHORTEST_NS: u64 = LEAST_NS / 2;

/// Rounds from which on a stage has an interval, as for `too-few-trials` of diskfacts-facts: where
/// the time is short these come before the length of trials.
const ROUNDS_OF_AN_INTERVAL: u32 = 3;

/// By how much a run may be longer than its time, at least; else by a fifth of it. A
/// machine that is busy needs as much for a handful of trials.
const GRACE_NS: u64 = 2_000_000_000;

/// By how many nanoseconds a run of so many may be longer.
pub(super) fn grace_ns(total_ns: u64) -> u64 {
    (total_ns / 5).max(GRACE_NS)
}

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
    /// How long all takes that is left, this one included, where that can be told.
    pub(super) left: Option<Left>,
    /// Nanoseconds that filling caches before it may take: half of what is left. None
    /// where its stage says itself how long it takes.
    pub(super) prepare_ns: Option<u64>,
}

/// A trial that is next.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    stage: usize,
    number: u32,
    /// Whether it is of a further round, and not pending.
    is_further: bool,
}

/// A trial that was given out, and when.
#[derive(Debug, Clone, Copy)]
struct Given {
    stage: usize,
    /// Nanoseconds of the run until then.
    elapsed_ns: u64,
    /// Nanoseconds that it measured.
    measured_ns: u64,
    /// Nanoseconds that it was to measure, if that was said: the sync at its end
    /// comes on top.
    asked_ns: Option<u64>,
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
    before: Option<Given>,
    /// The stage of the trial before that one.
    left_by: Option<usize>,
    /// The round that was begun: late, and its number.
    round: (bool, u32),
    /// Bytes per second at which the target takes what is written back, where that is known.
    written_back_per_s: Option<f64>,
    /// Nanoseconds of each late trial, which are alike: what goes into a cache
    /// looks faster the shorter it is.
    late_share_ns: Option<u64>,
    seed: u64,
    order: u32,
    /// What is asked for, and how often at most.
    plan: Plan,
    /// Nanoseconds that are kept for further rounds.
    held_ns: u64,
    /// Trials of a further round, in reverse order; they come before those that are
    /// pending.
    further: Vec<(usize, u32)>,
    /// Whether the stages that are not late have had theirs before the late ones.
    early_is_over: bool,
    /// Nanoseconds that these left to the late ones.
    kept_for_late_ns: Option<u64>,
    rng: Rng,
}

impl Schedule {
    /// The trials of a plan within `total_ns`, of which `elapsed_ns` have
    /// passed.
    pub(super) fn new(
        plan: &Plan,
        disk_turns: bool,
        seed: u64,
        (total_ns, elapsed_ns): (u64, u64),
    ) -> Self {
        let rules = rules_of(plan, disk_turns);
        let left_ns = total_ns.saturating_sub(elapsed_ns);
        let asked_rounds = stopping::trials_min(plan);
        let held_ns = if plan.until.is_adaptive() {
            let (sharing, given_ns) = sharing_and_given(&rules);
            let round_ns = (sharing * LEAST_NS).saturating_add(given_ns);
            let least_ns = round_ns.saturating_mul(u64::from(asked_rounds));
            left_ns.saturating_sub(least_ns).min(left_ns / 3)
        } else {
            0
        };
        let rounds = rounds(&rules, asked_rounds, left_ns - held_ns);
        let missing_ns = shortest_round_ns(&rules).saturating_sub(left_ns);
        let mut rng = Rng::new(seed);
        let mut pending = Vec::new();
        for late in [false, true] {
            for number in 1..=rounds {
                let stages = 0..rules.len();
                let mut order: Vec<usize> = stages
                    .filter(|stage| rules[*stage].turn.is_late() == late)
                    .collect();
                shuffle(&mut order, &mut rng);
                order.sort_by_key(|stage| rules[*stage].turn);
                pending.extend(order.into_iter().map(|stage| (stage, number)));
            }
        }
        pending.reverse();
        Self {
            rules,
            pending,
            rounds,
            asked_rounds,
            missing_ns,
            total_ns,
            before: None,
            left_by: None,
            round: (false, 0),
            written_back_per_s: None,
            late_share_ns: None,
            seed,
            order: 0,
            plan: plan.clone(),
            held_ns,
            further: Vec::new(),
            early_is_over: false,
            kept_for_late_ns: None,
            rng,
        }
    }

    /// The same of a target that was filled at so many bytes per second, so that how long
    /// a trial is followed by write-back is known before the first.
    pub(super) fn on_a_target_filled_at(mut self, bytes_per_s: Option<f64>) -> Self {
        self.written_back_per_s = bytes_per_s.filter(|rate| *rate > 0.0);
        self
    }

    /// A trial took so long, and did so many operations per second.
    pub(super) fn took(&mut self, measured_ns: u64, iops: f64) {
        if let Some(before) = &mut self.before {
            before.measured_ns = measured_ns;
            let rule = &mut self.rules[before.stage];
            rule.rates.push(iops);
            rule.last_ns = measured_ns;
        }
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

    /// The next trial when `left_ns` of the time are left.
    #[cfg(test)]
    fn next_with(&mut self, left_ns: u64) -> Option<Next> {
        self.next(self.total_ns.saturating_sub(left_ns))
    }

    /// The next trial, when so much time has passed since the run began.
    pub(super) fn next(&mut self, elapsed_ns: u64) -> Option<Next> {
        self.learn(elapsed_ns);
        let left_ns = self.total_ns.saturating_sub(elapsed_ns);
        let chosen = self.choose(elapsed_ns, left_ns)?;
        Some(self.give(chosen, elapsed_ns, left_ns))
    }

    /// The trial that is next, as far as the time allows one. One of a round stays pending
    /// until it is given out.
    fn choose(&mut self, elapsed_ns: u64, left_ns: u64) -> Option<Chosen> {
        let of = |(stage, number), is_further| {
            Some(Chosen {
                stage,
                number,
                is_further,
            })
        };
        loop {
            if let Some(trial) = self.further.pop() {
                return of(trial, true);
            }
            let Some((stage, number)) = self.pending.last().copied() else {
                if self.add_round(left_ns, false) {
                    continue;
                }
                return None;
            };
            if self.is_too_late_for(stage, elapsed_ns) {
                self.pending.retain(|(other, _)| *other != stage);
                continue;
            }
            let round = (self.is_late(stage), number);
            if round.0 && !self.early_is_over {
                // What the late stages leave would take the time of the others.
                let kept_ns = left_ns.saturating_sub(self.held_ns);
                let kept_ns = *self.kept_for_late_ns.get_or_insert(kept_ns);
                if !self.add_round(left_ns.saturating_sub(kept_ns), true) {
                    self.early_is_over = true;
                    self.held_ns = 0;
                }
                continue;
            }
            if round == self.round {
                return of((stage, number), false);
            }
            if number == 1 || self.fits_another(round, left_ns) {
                self.round = round;
                return of((stage, number), false);
            }
            // The late stages have at least one round of theirs.
            let rules = &self.rules;
            self.pending
                .retain(|(stage, _)| rules[*stage].turn.is_late() != round.0);
        }
    }

    /// Gives out the trial that was chosen, with its share of the time.
    fn give(&mut self, chosen: Chosen, elapsed_ns: u64, left_ns: u64) -> Next {
        let Chosen {
            stage,
            number,
            is_further,
        } = chosen;
        let share_ns = match self.rules[stage].turn {
            // As long as before: shorter trials would be others.
            _ if is_further => self.rules[stage].share_ns,
            Turn::Early => self.rules[stage].trial_ns(self.share_ns(left_ns)),
            Turn::Late { .. } => match self.late_share_ns {
                Some(share_ns) => share_ns,
                None => *self.late_share_ns.insert(self.share_ns(left_ns)),
            },
        };
        if !is_further {
            self.pending.pop();
        }
        let left = self.left(stage, share_ns, left_ns);
        let rule = &mut self.rules[stage];
        rule.begun += 1;
        rule.share_ns = share_ns;
        let mut stop = rule.stop;
        if rule.shares {
            stop.time_ns = Some(stop.time_ns.map_or(share_ns, |own| own.min(share_ns)));
        }
        self.order += 1;
        self.before = Some(Given {
            stage,
            elapsed_ns,
            measured_ns: 0,
            asked_ns: stop.time_ns,
        });
        Next {
            stage,
            number,
            order: self.order,
            stop,
            seed: Rng::for_part(self.seed, u64::from(self.order)).next_u64(),
            left,
            prepare_ns: rule.shares.then(|| (left_ns / 2).max(GRACE_NS)),
        }
    }

    /// The trial that was given out last is to be done again, next and as long: what came of
    /// it is no figure.
    pub(super) fn again(&mut self) {
        let Some(given) = self.before.take() else {
            return;
        };
        let rule = &mut self.rules[given.stage];
        self.further.push((given.stage, rule.begun));
        rule.begun -= 1;
        self.order -= 1;
    }

    /// The trial that was given out last could not be prepared in its time: nothing of
    /// its stage is tried again.
    pub(super) fn give_up(&mut self) {
        let Some(given) = self.before.take() else {
            return;
        };
        self.rules[given.stage].begun -= 1;
        let others = |trial: &(usize, u32)| trial.0 != given.stage;
        self.pending.retain(others);
        self.further.retain(others);
    }

    /// A sentence at the end, when there was time for fewer rounds than it
    /// seemed.
    pub(super) fn left_out(&self) -> Option<String> {
        let rules = &self.rules;
        if !self.pending.is_empty() || rules.iter().all(|rule| rule.begun >= self.rounds) {
            return None;
        }
        let mut numbers: Vec<u32> = self.rules.iter().map(|rule| rule.begun).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let of = self.asked_rounds;
        let few = |number: u32| {
            let stages = self.rules.iter().filter(|rule| rule.begun == number);
            let mut names: Vec<&str> = Vec::new();
            for rule in stages.clone() {
                // The cells of a matrix share their name.
                if !names.contains(&&*rule.name) {
                    names.push(&rule.name);
                }
            }
            let (names, all) = (names.join(", "), rules.len());
            if number == 0 {
                return format!("no trial of {} of {all} stages ({names})", stages.count());
            }
            format!("{number} of {of} trials of {names}")
        };
        let said = if let [all] = numbers.as_slice()
            && *all > 0
        {
            format!("{all} of {of} trials per stage")
        } else {
            let fewer = numbers.iter().filter(|number| **number < of);
            let fewer: Vec<String> = fewer.map(|number| few(*number)).collect();
            fewer.join(", ")
        };
        Some(format!(
            "Measured {said}: {} were too short with the time that writing back what a trial left and \
             filling caches took; give it more with --time.",
            show_duration(self.total_ns)
        ))
    }
}

impl Schedule {
    /// Whether the time is so far over that a trial of this stage is left out, be it the
    /// only one.
    fn is_too_late_for(&self, stage: usize, elapsed_ns: u64) -> bool {
        let grace_ns = grace_ns(self.total_ns);
        let rule = &self.rules[stage];
        let seconds = |rate: f64| rule.dirties_bytes as f64 / rate;
        // What it took is known better than what it may take.
        let back_ns = if rule.begun > 0 {
            rule.around_ns
        } else {
            (self.written_back_per_s.map_or(0.0, seconds) * 1e9) as u64
        };
        let elapsed_ns = elapsed_ns.saturating_add(back_ns);
        rule.is_cut() && elapsed_ns >= self.total_ns.saturating_add(grace_ns)
    }

    fn is_late(&self, stage: usize) -> bool {
        self.rules[stage].turn.is_late()
    }

    /// Notes what the trial before took beside what it was to measure: what was
    /// done around it, and the sync at its end. What had to be written back first
    /// is on the account of the stage that left it.
    fn learn(&mut self, elapsed_ns: u64) {
        let Some(given) = self.before.take() else {
            return;
        };
        let spent_ns = elapsed_ns.saturating_sub(given.elapsed_ns);
        let foreseen_ns = given.asked_ns.map_or(given.measured_ns, |asked_ns| {
            given.measured_ns.min(asked_ns)
        });
        let around_ns = spent_ns.saturating_sub(foreseen_ns);
        let left = self.left_by.filter(|stage| self.rules[*stage].leaves);
        let owner = left.unwrap_or(given.stage);
        // What was done before a trial says nothing of what comes after it.
        if left.is_some() || !self.rules[owner].leaves {
            self.rules[owner].around_ns = around_ns;
        }
        self.left_by = Some(given.stage);
    }

    /// Whether a round fits into the time, with what is done around its trials:
    /// a disk that turns may take half a minute to write what a trial left in
    /// its cache.
    fn fits_another(&self, round: (bool, u32), left_ns: u64) -> bool {
        let sharing = self.rules.iter().any(|rule| rule.shares);
        let round_ns = self
            .round_ns(round)
            .saturating_add(self.reserve_ns(round.0));
        !sharing || left_ns >= round_ns.saturating_add(self.owed_ns())
    }

    /// Nanoseconds until what the trial before left is written back.
    fn owed_ns(&self) -> u64 {
        let rule = self.left_by.map(|stage| &self.rules[stage]);
        rule.filter(|rule| rule.leaves)
            .map_or(0, |rule| rule.around_ns)
    }

    /// Nanoseconds that what is pending of a round takes at least.
    fn round_ns(&self, (late, number): (bool, u32)) -> u64 {
        let pending = self.pending.iter();
        let of_round = pending.filter(|(stage, n)| *n == number && self.is_late(*stage) == late);
        of_round
            .map(|(stage, _)| self.least_ns(&self.rules[*stage]))
            .fold(0, u64::saturating_add)
    }

    /// Nanoseconds that one late round takes at least, while the others are not
    /// over.
    fn reserve_ns(&self, late: bool) -> u64 {
        let rules = self.rules.iter().filter(|rule| rule.turn.is_late());
        let rules = rules.filter(|_| !late).map(|rule| self.least_ns(rule));
        rules.fold(0, u64::saturating_add)
    }

    /// Nanoseconds that a trial takes at least, with what is done around it.
    fn least_ns(&self, rule: &Rule) -> u64 {
        let own_ns = if rule.shares {
            let late_ns = self.late_share_ns.filter(|_| rule.turn.is_late());
            late_ns.unwrap_or(LEAST_NS)
        } else {
            rule.given_ns().unwrap_or(0)
        };
        rule.around_ns.saturating_add(own_ns)
    }

    /// The time of a trial of the round that has begun. Behind the rounds that an interval needs,
    /// those that are made in any case take something from what is kept for further ones, rather
    /// than become too short.
    fn share_ns(&self, left_ns: u64) -> u64 {
        let share_ns = self.share_of(left_ns.saturating_sub(self.held_ns));
        let (_, number) = self.round;
        if share_ns >= LEAST_NS || number < ROUNDS_OF_AN_INTERVAL {
            return share_ns.max(SHORTEST_NS);
        }
        let all_ns = self.share_of(left_ns).min(LEAST_NS);
        share_ns.max(all_ns).max(SHORTEST_NS)
    }

    /// The same of so much time: what is left of it without what is done around the trials, over
    /// those that still fit.
    fn share_of(&self, left_ns: u64) -> u64 {
        let (late, number) = self.round;
        let left_ns = left_ns.saturating_sub(self.owed_ns());
        let round_ns = self.round_ns(self.round);
        let mut unused_ns = left_ns.saturating_sub(round_ns + self.reserve_ns(late));
        // The last round that fits.
        let mut last = number;
        while last < self.rounds {
            let more_ns = self.round_ns((late, last + 1));
            if more_ns > unused_ns {
                break;
            }
            unused_ns -= more_ns;
            last += 1;
        }
        let counted = self.pending.iter().filter(|(_, number)| *number <= last);
        let counted: Vec<&Rule> = counted.map(|(stage, _)| &self.rules[*stage]).collect();
        let taken = counted
            .iter()
            .map(|rule| rule.around_ns.saturating_add(rule.given_ns().unwrap_or(0)));
        let taken_ns = taken.fold(0, u64::saturating_add);
        let sharing: Vec<&Rule> = counted.into_iter().filter(|rule| rule.shares).collect();
        rule::share_ns(&sharing, left_ns.saturating_sub(taken_ns))
    }
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
pub(super) fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for i in (1..items.len()).rev() {
        // Below the length of the slice.
        items.swap(i, rng.below(i as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests;
