//! Times in which nothing was completed, without those in which the process itself did not run.

use super::StageFacts;
use crate::{pauses, stalls};
use diskfacts_record::Trial;

/// Silences of a stage.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gaps {
    /// How many.
    pub(crate) number: usize,
    /// Seconds of all of them, and of the longest.
    pub(crate) total_s: f64,
    pub(crate) longest_s: f64,
    /// Seconds of the trials.
    pub(crate) seconds: f64,
    /// Seconds from the beginning of one to that of the next, within a trial.
    distances_s: Vec<f64>,
    /// Seconds of an interval: how exactly a distance is known.
    pub(crate) grid_s: f64,
}

/// So many times what is usual between two completions is no chance: of operations
/// spread at random one distance in 20 000 is ten times the mean (e^-10).
const RARE: f64 = 10.0;
/// And so many times as long as an operation usually keeps its place: in a closed loop
/// nothing comes back before that.
const OPERATIONS: f64 = 3.0;
/// The longest that a healthy operation of a rotating disk takes alone, seconds: a full
/// stroke of 20 ms and two revolutions at 5400 rpm.
const TURN_S: f64 = 0.045;

impl Gaps {
    pub(crate) fn of(facts: &StageFacts<'_>) -> Self {
        let mut found = Self {
            seconds: facts.seconds(),
            ..Self::default()
        };
        if let Some(each_ns) = facts.each_ns() {
            for trial in facts.trials() {
                found.add(facts, trial, each_ns / 1e9);
            }
        }
        found
    }

    /// Adds the silences of a trial, of which an operation takes so long by the mean rate.
    fn add(&mut self, facts: &StageFacts<'_>, trial: &Trial, each_s: f64) {
        let intervals = &trial.evidence.intervals;
        let length_s = intervals.length_ns as f64 / 1e9;
        self.grid_s = self.grid_s.max(length_s);
        // A silence fills intervals whole; it may be longer by one on each side.
        // What is usual is told by the busier half of the time: the silences
        // themselves make the mean rate lower.
        let usual_s = usual_s(&intervals.operations, length_s).unwrap_or(each_s);
        let operation_s = stalls::usual_latency_ns(trial) / 1e9;
        let turn_s = operation_s / facts.outstanding().max(1.0);
        let turning = facts.rotates() != Some(false);
        let floor_s = if turning { TURN_S } else { 0.0 };
        let usual_s = (RARE * usual_s).max(OPERATIONS * turn_s);
        let least_s = usual_s.max(floor_s).max(length_s);
        let mut before = None;
        for silence in stalls::silences(&intervals.operations) {
            let empty_s = silence.len() as f64 * length_s;
            // While the process did not run, nothing can be said of the device.
            let [begins, ends] =
                [silence.start, silence.end].map(|n| n as u64 * intervals.length_ns);
            let is_paused = || 2 * pauses::within(trial, begins, ends) >= ends - begins;
            if empty_s >= least_s && !is_paused() {
                self.number += 1;
                self.total_s += empty_s;
                self.longest_s = self.longest_s.max(empty_s);
                let begins_s = silence.start as f64 * length_s;
                self.distances_s
                    .extend(before.map(|before| begins_s - before));
                before = Some(begins_s);
            }
        }
    }

    /// Other stages that were silent for so large a share of their time, with work of another kind
    /// or place, so that a weak place of this stage is not what both have met.
    pub(crate) fn elsewhere(facts: &StageFacts<'_>, least: f64) -> u64 {
        let ends = |one: &StageFacts<'_>| {
            let (offset, span) = (one.workload().offset, one.workload().span);
            let rest = one.run().target.size_bytes.saturating_sub(offset);
            (offset, offset.saturating_add(span.unwrap_or(rest)))
        };
        let mine = ends(facts);
        let others = facts.others().filter(|other| {
            let theirs = ends(other);
            let apart = mine.1 <= theirs.0 || theirs.1 <= mine.0;
            other.only_writes() != facts.only_writes() || apart
        });
        let silent = others.filter(|other| Self::of(other).share() >= least);
        silent.count() as u64
    }

    /// Share of the time.
    pub(crate) fn share(&self) -> f64 {
        if self.seconds > 0.0 {
            (self.total_s / self.seconds).min(1.0)
        } else {
            0.0
        }
    }

    /// At which distance they come, seconds, where these are equal as far as a few of them
    /// show.
    pub(crate) fn regular_s(&self) -> Option<f64> {
        let n = self.distances_s.len() as f64;
        let mean = self.distances_s.iter().sum::<f64>() / n;
        let off = self.distances_s.iter().map(|d| (d - mean).powi(2));
        // Of silences at random the standard deviation is the mean; of regular ones it is
        // what the grid of the intervals makes it: an interval over the root of six.
        let even = (off.sum::<f64>() / n).sqrt() < 0.05 * mean + 0.5 * self.grid_s;
        (n >= 3.0 && even && mean > 3.0 * self.grid_s).then_some(mean)
    }
}

/// Seconds between completions in the intervals that have some.
fn usual_s(operations: &[u64], length_s: f64) -> Option<f64> {
    let busy = operations.iter().filter(|n| **n > 0).count();
    let total: f64 = operations.iter().map(|n| *n as f64).sum();
    (total > 0.0).then(|| length_s * busy as f64 / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::testing;

    #[test]
    fn silences_at_equal_distances_are_regular_and_others_are_not() {
        let of = |distances: &[f64]| Gaps {
            distances_s: distances.to_vec(),
            ..Gaps::default()
        };
        assert!(of(&[0.4, 0.41, 0.39, 0.4]).regular_s().is_some());
        assert!(of(&[0.4, 0.5, 0.3, 0.4]).regular_s().is_none());
        assert!(of(&[0.1, 0.9, 0.4, 0.2]).regular_s().is_none());
        assert!(of(&[0.4, 0.4]).regular_s().is_none(), "too few");
    }

    #[test]
    fn a_few_operations_that_take_long_are_no_silences() {
        let mut run = testing::healthy();
        let mean_ns = 246_000_000.0;
        testing::each(&mut run, "random-write-qd1", |trial| {
            // Too few for a median that is known.
            trial.latency_ns = diskfacts_record::Latency {
                samples: 3,
                mean: Some(mean_ns),
                ..diskfacts_record::Latency::default()
            };
            let third = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
            trial.evidence.intervals.length_ns = 20_000_000;
            trial.evidence.intervals.operations = third.repeat(3);
            trial.seconds = 0.78;
        });
        let context = Context::new(&run);
        let mut stages = context.facts();
        let stage = stages.find(|facts| facts.stage.name == "random-write-qd1");
        assert_eq!(Gaps::of(&stage.expect("measured")).number, 0);
    }

    #[test]
    fn what_is_usual_is_told_by_the_time_that_is_not_silent() {
        let usual = usual_s(&[10, 0, 0, 10, 10], 0.02).expect("some");
        assert!((usual - 0.002).abs() < 1e-12);
        assert_eq!(usual_s(&[0, 0], 0.02), None);
    }
}
