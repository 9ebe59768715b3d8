//! How sure the percentiles of a stage's latencies are.

use crate::stages::Stage;
use crate::stats::percentile_interval;
use diskfacts_record::{Histogram, Latency, LatencyIntervals};

/// A percentile of a trial.
type Of = fn(&Latency) -> Option<u64>;

/// The intervals of a stage of which these are all latencies.
pub(crate) fn of(stage: &Stage<'_>, all: &Histogram) -> LatencyIntervals {
    let interval = |q: f64, of: Of| {
        let [low, high] = percentile_interval(all, q)?;
        // One trial says nothing of how much they differ.
        let trials = stage.trials.iter().filter_map(|t| of(&t.latency_ns));
        Some(trials.fold([low, high], |[low, high], ns| [low.min(ns), high.max(ns)]))
    };
    LatencyIntervals {
        p50: interval(0.5, |l| l.p50),
        p90: interval(0.9, |l| l.p90),
        p99: interval(0.99, |l| l.p99),
        p99_9: interval(0.999, |l| l.p99_9),
        p99_99: interval(0.9999, |l| l.p99_99),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, each};

    #[test]
    fn a_percentile_is_as_sure_as_its_ranks_and_its_trials_are() {
        let mut run = testing::healthy();
        let mut first = true;
        each(&mut run, "random-read-qd1", |trial| {
            // 1000 operations each; one trial has a slower hundredth.
            let slow = if first { 9_000_000 } else { 400_000 };
            first = false;
            testing::set_latencies(trial, &[(100_000, 980), (slow, 20)]);
        });
        let figures = crate::figures(&run);
        let stage = figures.iter().find(|s| s.stage == "random-read-qd1");
        let (stage, near) = (stage.expect("a stage"), |a: u64, b: u64| {
            a.abs_diff(b) <= b / 200
        });
        let [low, high] = stage.latency_ci95_ns.p50.expect("5000 samples");
        assert!(near(low, 100_000) && near(high, 100_000), "{low} {high}");
        // Of all operations the 99th percentile is 400 us; of the first trial's, 9 ms.
        let [low, high] = stage.latency_ci95_ns.p99.expect("5000 samples");
        assert!(near(low, 400_000) && near(high, 9_000_000), "{low} {high}");
        // 5000 samples do not reach so far.
        assert_eq!(stage.latency_ci95_ns.p99_99, None);
        assert_eq!(stage.latency_ns.p99_99, None);
    }
}
