//! How long it takes yet, as a person would work it out: so many trials are left, and each
//! takes as long as those of its stage before.

use super::{Schedule, stopping};
use diskfacts_report::text::Left;

impl Schedule {
    /// Whether a stage has no trial any more, as far as that is known.
    pub(in crate::session) fn is_over(&self, stage: usize) -> bool {
        let is_its = |trial: &(usize, u32)| trial.0 == stage;
        let more = self.plan.until.is_adaptive()
            && self.rules[stage].begun < stopping::trials_max(&self.plan)
            && !self.is_reached(stage);
        !more && !self.pending.iter().chain(&self.further).any(is_its)
    }

    /// How often each stage is done: at least, and at most.
    pub(in crate::session) fn trials(&self) -> (u32, u32) {
        let most = stopping::trials_max(&self.plan);
        let is_adaptive = self.plan.until.is_adaptive();
        (self.rounds, if is_adaptive { most } else { self.rounds })
    }

    /// How long it takes from now on with the trial of this stage that was given out and its
    /// share of the time, when `left_ns` of that are left. `None` where a stage ends after an
    /// amount and has had no trial yet: nobody knows.
    pub(super) fn left(&self, stage: usize, share_ns: u64, left_ns: u64) -> Option<Left> {
        let pending = self.pending.iter().map(|(stage, _)| *stage);
        let all = || pending.clone().chain([stage]);
        let given_ns = all().filter_map(|stage| self.rules[stage].given_ns());
        let given_ns = given_ns.fold(0, u64::saturating_add);
        if self.plan.until.is_adaptive() {
            // They go on until they have their precision, or the time is over.
            return Some(Left {
                ns: left_ns.max(given_ns),
                at_most: true,
            });
        }
        let further = self.further.iter().map(|(stage, _)| *stage);
        let mut left = Left {
            ns: 0,
            at_most: false,
        };
        for stage in all().chain(further) {
            let each = self.each(stage, share_ns)?;
            left.ns = left.ns.saturating_add(each.ns);
            left.at_most |= each.at_most;
        }
        if self.rules.iter().any(|rule| rule.shares) {
            // Rounds for which there is no time are left out.
            left.ns = left.ns.min(left_ns.max(given_ns));
        }
        Some(left)
    }

    /// How long a trial of a stage takes, with what is done around it.
    fn each(&self, stage: usize, share_ns: u64) -> Option<Left> {
        let rule = &self.rules[stage];
        let share_ns = if rule.turn.is_late() {
            share_ns
        } else {
            rule.trial_ns(share_ns)
        };
        let most_ns = if rule.shares {
            Some(rule.stop.time_ns.map_or(share_ns, |own| own.min(share_ns)))
        } else {
            rule.stop.time_ns
        };
        let ends_by_amount = rule.stop.bytes.is_some() || rule.stop.operations.is_some();
        let own = match (most_ns, rule.last_ns) {
            (None, 0) => return None,
            (None, last_ns) => Left {
                ns: last_ns,
                at_most: false,
            },
            (Some(ns), 0) => Left {
                ns,
                at_most: ends_by_amount,
            },
            (Some(ns), last_ns) => Left {
                ns: if ends_by_amount { last_ns.min(ns) } else { ns },
                at_most: false,
            },
        };
        Some(Left {
            ns: own.ns.saturating_add(rule.around_ns),
            ..own
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;
    use diskfacts_plan::{Share, Stop};

    const SECOND: u64 = 1_000_000_000;

    fn timed(seconds: u64) -> Stop {
        Stop {
            time_ns: Some(seconds * SECOND),
            ..Stop::default()
        }
    }

    fn exactly(seconds: u64) -> Left {
        Left {
            ns: seconds * SECOND,
            at_most: false,
        }
    }

    #[test]
    fn what_is_left_are_the_trials_times_their_time_whatever_the_budget() {
        let plan = plan(&[timed(2), timed(3)], 2);
        let mut schedule = Schedule::new(&plan, false, 1, (600 * SECOND, 0));
        let (mut elapsed_ns, mut left) = (0, 10);
        while let Some(next) = schedule.next(elapsed_ns) {
            assert_eq!(next.left, Some(exactly(left)));
            let took = if next.stage == 0 { 2 } else { 3 };
            schedule.took(took * SECOND, 100.0);
            elapsed_ns += took * SECOND;
            left -= took;
        }
        assert_eq!(left, 0);
    }

    #[test]
    fn what_ends_after_an_amount_is_left_unknown_until_it_was_done_once() {
        let amount = Stop {
            operations: Some(1000),
            ..Stop::default()
        };
        let plan = plan(&[amount], 3);
        let mut schedule = Schedule::new(&plan, false, 1, (600 * SECOND, 0));
        let first = schedule.next(0).expect("a trial");
        assert_eq!(first.left, None);
        schedule.took(7 * SECOND, 100.0);
        let second = schedule.next(7 * SECOND).expect("a trial");
        assert_eq!(second.left, Some(exactly(14)));
    }

    #[test]
    fn trials_that_share_the_time_end_with_it() {
        let plan = plan(&[Stop::default(), Stop::default()], 5);
        let mut schedule = Schedule::new(&plan, false, 1, (20 * SECOND, 0));
        let next = schedule.next(0).expect("a trial");
        assert_eq!(next.left, Some(exactly(20)));
    }

    #[test]
    fn a_precision_may_be_reached_before_the_time_is_over() {
        let mut plan = plan(&[Stop::default()], 6);
        plan.until.precision = Share::parse("3%").ok();
        let mut schedule = Schedule::new(&plan, false, 1, (20 * SECOND, 0));
        let next = schedule.next(5 * SECOND).expect("a trial");
        let left = Left {
            ns: 15 * SECOND,
            at_most: true,
        };
        assert_eq!(next.left, Some(left));
        assert!(!schedule.is_over(0));
    }

    #[test]
    fn a_stage_is_over_with_its_last_trial() {
        let plan = plan(&[timed(1)], 2);
        let mut schedule = Schedule::new(&plan, false, 1, (20 * SECOND, 0));
        let mut over = Vec::new();
        while schedule.next(0).is_some() {
            schedule.took(SECOND, 100.0);
            over.push(schedule.is_over(0));
        }
        assert_eq!(over, [false, true]);
    }
}
