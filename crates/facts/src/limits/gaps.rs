//! Times in which nothing was completed, and operations that took much longer than
//! the others.

use super::Subject;
use super::spindle::Spindle;
use crate::pauses;

/// Silences of a stage.
#[derive(Debug, Clone, Default)]
pub(super) struct Gaps {
    /// How many.
    pub(super) number: usize,
    /// Seconds of all of them, and of the longest.
    pub(super) total_s: f64,
    pub(super) longest_s: f64,
    /// Seconds of the trials.
    pub(super) seconds: f64,
    /// Seconds from the beginning of one to that of the next, within a trial.
    pub(super) distances_s: Vec<f64>,
    /// Seconds of an interval: how exactly a distance is known.
    pub(super) grid_s: f64,
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
    pub(super) fn of(subject: &Subject<'_>) -> Self {
        let mut found = Self {
            seconds: subject.seconds(),
            ..Self::default()
        };
        let Some(each_ns) = subject.each_ns() else {
            return found;
        };
        let turning = subject.rotates() != Some(false);
        let floor_s = if turning { TURN_S } else { 0.0 };
        for trial in subject.trials() {
            let intervals = &trial.evidence.intervals;
            let length_s = intervals.length_ns as f64 / 1e9;
            found.grid_s = found.grid_s.max(length_s);
            // A silence fills intervals whole; it may be longer by one on each side.
            // What is usual is told by the busier half of the time: the silences
            // themselves make the mean rate lower.
            let usual_s = usual_s(&intervals.operations, length_s).unwrap_or(each_ns / 1e9);
            let operation_s = trial.latency_ns.p50.unwrap_or(0) as f64 / 1e9;
            let turn_s = operation_s / subject.outstanding().max(1.0);
            let usual_s = (RARE * usual_s).max(OPERATIONS * turn_s);
            let least_s = usual_s.max(floor_s).max(length_s);
            let first = intervals
                .operations
                .iter()
                .position(|n| *n > 0)
                .unwrap_or(0);
            let (mut at, mut last) = (first, None);
            for run in intervals.operations[first..].chunk_by(|a, b| (*a == 0) == (*b == 0)) {
                let empty_s = run.len() as f64 * length_s;
                // While the process did not run, nothing can be said of the device.
                let is_paused = || {
                    let [begins, ends] =
                        [at, at + run.len()].map(|n| n as u64 * intervals.length_ns);
                    2 * pauses::within(trial, begins, ends) >= ends - begins
                };
                if run[0] == 0 && empty_s >= least_s && !is_paused() {
                    found.number += 1;
                    found.total_s += empty_s;
                    found.longest_s = found.longest_s.max(empty_s);
                    let begins_s = at as f64 * length_s;
                    if let Some(before) = last {
                        found.distances_s.push(begins_s - before);
                    }
                    last = Some(begins_s);
                }
                at += run.len();
            }
        }
        found
    }

    /// Share of the time.
    pub(super) fn share(&self) -> f64 {
        if self.seconds > 0.0 {
            (self.total_s / self.seconds).min(1.0)
        } else {
            0.0
        }
    }

    /// Whether they come at equal distances, as far as a few of them show.
    pub(super) fn regular(&self) -> bool {
        let n = self.distances_s.len() as f64;
        if n < 3.0 {
            return false;
        }
        let mean = self.distances_s.iter().sum::<f64>() / n;
        let squares = self
            .distances_s
            .iter()
            .map(|d| (d - mean).powi(2))
            .sum::<f64>();
        // Of silences at random the standard deviation is the mean; of regular ones it is
        // what the grid of the intervals makes it: an interval over the root of six.
        (squares / n).sqrt() < 0.05 * mean + 0.5 * self.grid_s && mean > 3.0 * self.grid_s
    }
}

/// Seconds between completions in the intervals that have some.
fn usual_s(operations: &[u64], length_s: f64) -> Option<f64> {
    let busy: Vec<u64> = operations.iter().copied().filter(|n| *n > 0).collect();
    let total: u64 = busy.iter().sum();
    (total > 0).then(|| length_s * busy.len() as f64 / total as f64)
}

/// Operations of a disk that turns which took much longer than most: by two revolutions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slow {
    /// How many, and of how many.
    pub(super) number: u64,
    pub(super) of: u64,
    /// What they took beyond the median, of all time of the operations.
    pub(super) share: f64,
    /// What they took beyond it on average, ns.
    pub(super) each_ns: f64,
    /// The median, ns.
    pub(super) usual_ns: f64,
}

impl Slow {
    /// `None` where latencies are not known.
    pub(super) fn of(subject: &Subject<'_>) -> Option<Self> {
        let histogram = subject.histogram()?;
        // Where many are slow, the median is one of them; a few fast ones are not.
        let usual_ns = histogram.quantile(0.5)? as f64;
        let beyond_ns = usual_ns * 1.2 + 2.0 * Spindle::of(subject).turn_ns();
        let (mut number, mut excess_ns) = (0, 0.0);
        for (low, high, count) in histogram.buckets() {
            let middle = low as f64 + (high - low) as f64 / 2.0;
            if middle > beyond_ns {
                number += count;
                excess_ns += (middle - usual_ns) * count as f64;
            }
        }
        let total_ns = histogram.mean()? * histogram.count() as f64;
        (number > 0 && total_ns > 0.0).then(|| Self {
            number,
            of: histogram.count(),
            share: (excess_ns / total_ns).min(1.0),
            each_ns: excess_ns / number as f64,
            usual_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silences_at_equal_distances_are_regular_and_others_are_not() {
        let of = |distances: &[f64]| Gaps {
            distances_s: distances.to_vec(),
            ..Gaps::default()
        };
        assert!(of(&[0.4, 0.41, 0.39, 0.4]).regular());
        assert!(!of(&[0.4, 0.5, 0.3, 0.4]).regular());
        assert!(!of(&[0.1, 0.9, 0.4, 0.2]).regular());
        assert!(!of(&[0.4, 0.4]).regular(), "too few");
    }

    #[test]
    fn what_is_usual_is_told_by_the_time_that_is_not_silent() {
        let usual = usual_s(&[10, 0, 0, 10, 10], 0.02).expect("some");
        assert!((usual - 0.002).abs() < 1e-12);
        assert_eq!(usual_s(&[0, 0], 0.02), None);
    }
}
