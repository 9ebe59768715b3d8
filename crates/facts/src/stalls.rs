//! Times in the middle of a trial in which nothing was completed.

use crate::pauses;
use crate::stats;
use diskfacts_record::Trial;
use std::ops::Range;

/// Operations per interval, in the median, from which on an empty one is not
/// chance: were they spread at random, one in 20 000 would be empty (a Poisson
/// count of mean 10 is 0 with chance e^-10).
const MANY: f64 = 10.0;

/// Where intervals have fewer, a silence is a stall if so many operations were to be
/// expected in it by the rate of the rest of the trial (chance e^-20), of which there are
/// at least as many.
const EXPECTED: f64 = 20.0;

/// And if it is so many times as long as what is usual: the median latency, and the
/// distance between intervals that have completions. Operations that come back in bunches
/// leave intervals empty by nature.
const UNUSUAL: f64 = 10.0;

/// A trial that stood still for this share of its time at once says of the rest of its
/// time only what is left after the others: its mean is that of the stall.
const MOST: f64 = 0.25;

/// A time in the middle of a trial in which nothing was completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// When it began, nanoseconds from the start of the trial.
    pub begins_ns: u64,
    /// How long it lasted, nanoseconds.
    pub ns: u64,
}

/// Stalls of one trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stalls {
    /// How many.
    pub(crate) number: u64,
    /// The longest, nanoseconds.
    pub(crate) longest_ns: u64,
    /// All of them, nanoseconds.
    pub(crate) total_ns: u64,
    /// Of these, nanoseconds in which the process itself did not run.
    pub(crate) paused_ns: u64,
}

/// Runs of empty intervals between others, by their places. Before the first operation has come
/// back there is nothing that stopped; and the last interval ends with the last operation, so
/// none of them is merely the end of the trial.
pub(crate) fn silences(counts: &[u64]) -> Vec<Range<usize>> {
    let mut at = counts.iter().position(|n| *n > 0).unwrap_or(0);
    let runs = counts[at..].chunk_by(|a, b| (*a == 0) == (*b == 0));
    runs.filter_map(|run| {
        at += run.len();
        (run[0] == 0).then(|| at - run.len()..at)
    })
    .collect()
}

/// How long an operation of a trial usually takes, nanoseconds: the median, and of operations
/// too few for one the mean, which a stall makes longer, so that few tell of none. 0 where
/// latencies are not known.
pub(crate) fn usual_latency_ns(trial: &Trial) -> f64 {
    let latency = &trial.latency_ns;
    let median = latency.p50.map(|ns| ns as f64);
    median.or(latency.mean).unwrap_or(0.0)
}

/// Silences of a trial that last longer than `shortest_ns` and are no chance.
pub(crate) fn stalls_of(trial: &Trial, shortest_ns: u64) -> Vec<Stall> {
    let intervals = &trial.evidence.intervals;
    let counts: Vec<f64> = intervals.operations.iter().map(|n| *n as f64).collect();
    let many = stats::median(&counts).is_some_and(|median| median >= MANY);
    let latency_ns = usual_latency_ns(trial);
    let silences = silences(&intervals.operations);
    let each = silences.iter().enumerate().filter_map(|(place, silence)| {
        let ns = intervals.length_ns.saturating_mul(silence.len() as u64);
        let stalled = many
            || ns as f64 >= UNUSUAL * latency_ns
                && is_unusual(&intervals.operations, &silences, place);
        let begins_ns = intervals.length_ns.saturating_mul(silence.start as u64);
        (ns > shortest_ns && stalled).then_some(Stall { begins_ns, ns })
    });
    each.collect()
}

impl Stalls {
    /// Those of a trial, [each](stalls_of) longer than `shortest_ns`.
    pub(crate) fn of(trial: &Trial, shortest_ns: u64) -> Self {
        let mut found = Self::default();
        for Stall { begins_ns, ns } in stalls_of(trial, shortest_ns) {
            found.number += 1;
            found.longest_ns = found.longest_ns.max(ns);
            found.total_ns = found.total_ns.saturating_add(ns);
            found.paused_ns += pauses::within(trial, begins_ns, begins_ns.saturating_add(ns));
        }
        found
    }

    /// Those of two trials.
    pub(crate) fn and(self, other: &Self) -> Self {
        Self {
            number: self.number + other.number,
            longest_ns: self.longest_ns.max(other.longest_ns),
            total_ns: self.total_ns.saturating_add(other.total_ns),
            paused_ns: self.paused_ns.saturating_add(other.paused_ns),
        }
    }

    /// Whether one stall took so much of a trial that its mean is that of the stall.
    pub(crate) fn is_most_of(trial: &Trial) -> bool {
        let longest_s = Self::of(trial, 0).longest_ns as f64 / 1e9;
        trial.seconds > 0.0 && longest_s >= MOST * trial.seconds
    }
}

/// Whether one of the silences between these counts is much longer than the others, and
/// than chance allows.
fn is_unusual(counts: &[u64], silences: &[Range<usize>], place: usize) -> bool {
    let silence = silences[place].len() as f64;
    let operations: f64 = counts.iter().map(|n| *n as f64).sum();
    let first = counts.iter().position(|n| *n > 0).unwrap_or(0);
    let rate = operations / ((counts.len() - first) as f64 - silence);
    // Intervals with completions that follow each other are at a distance of one.
    let busy = counts.iter().filter(|n| **n > 0).count();
    let mut distances = vec![1.0; busy.saturating_sub(silences.len() + 1)];
    let others = silences.iter().enumerate().filter(|(at, _)| *at != place);
    distances.extend(others.map(|(_, other)| other.len() as f64 + 1.0));
    let usual = stats::median(&distances).unwrap_or(1.0);
    operations >= EXPECTED && rate * silence >= EXPECTED && silence >= UNUSUAL * usual
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use diskfacts_record::evidence::Intervals;

    /// As in the rule that asks for it.
    const TURN_NS: u64 = 40_000_000;

    fn stalls(operations: &[u64], p50_ns: u64, shortest_ns: u64) -> Stalls {
        let mut trial = testing::healthy().trials.remove(0);
        trial.latency_ns.p50 = Some(p50_ns);
        trial.seconds = operations.len() as f64 * 0.02;
        trial.evidence.intervals = Intervals {
            length_ns: 20_000_000,
            operations: operations.to_vec(),
        };
        Stalls::of(&trial, shortest_ns)
    }

    fn of(operations: &[u64]) -> Stalls {
        stalls(operations, 100_000, 0)
    }

    /// So many of one count, then so many of the next.
    fn row(parts: &[(u64, usize)]) -> Vec<u64> {
        let part = |(count, times): &(u64, usize)| vec![*count; *times];
        parts.iter().flat_map(part).collect()
    }

    #[test]
    fn what_a_disk_that_turns_needs_for_an_operation_is_no_stall() {
        let short = [50, 0, 0, 50, 50, 0, 50];
        assert_eq!(stalls(&short, 1, TURN_NS), Stalls::default());
        let long = [50, 0, 0, 0, 50, 50, 0, 50];
        assert_eq!(
            (stalls(&long, 1, TURN_NS).number, stalls(&long, 1, 0).number),
            (1, 2)
        );
    }

    #[test]
    fn runs_of_empty_intervals_are_stalls() {
        assert_eq!(
            of(&[50, 0, 0, 50, 50, 0, 50, 50, 50]),
            Stalls {
                number: 2,
                longest_ns: 40_000_000,
                total_ns: 60_000_000,
                paused_ns: 0
            }
        );
        assert_eq!(of(&[]), Stalls::default());
    }

    #[test]
    fn slow_targets_have_empty_intervals_by_nature() {
        assert_eq!(of(&[3, 0, 4, 0, 2]), Stalls::default());
        assert_eq!(of(&[9, 9, 0, 9, 9]), Stalls::default());
        // One in each second, whether alone or 32 at once.
        let alone = row(&[(1, 1), (0, 49)]).repeat(25);
        assert_eq!(stalls(&alone, 1_000_000_000, 0), Stalls::default());
        let bunches = row(&[(32, 1), (0, 49), (32, 1)]);
        assert_eq!(stalls(&bunches, 1_000_000_000, 0), Stalls::default());
    }

    #[test]
    fn a_stall_of_more_than_half_a_trial_is_one() {
        for operations in [
            row(&[(50, 20), (0, 60), (50, 5)]),
            row(&[(50, 1), (0, 60), (1, 1)]),
            // A rotating disk: two in each interval.
            row(&[(2, 20), (0, 60), (2, 5)]),
        ] {
            let found = of(&operations);
            let expected = Stalls {
                number: 1,
                longest_ns: 1_200_000_000,
                total_ns: 1_200_000_000,
                paused_ns: 0,
            };
            assert_eq!(found, expected, "{operations:?}");
        }
    }

    #[test]
    fn bunches_of_a_throttle_and_of_read_ahead_are_no_stalls() {
        let throttled = row(&[(20, 1), (0, 4)]).repeat(20);
        assert_eq!(stalls(&throttled, 200_000_000, 0), Stalls::default());
        let read_ahead = row(&[(50, 1), (0, 2)]).repeat(20);
        assert_eq!(stalls(&read_ahead, 20_000, 0), Stalls::default());
    }
}
