//! The figures of each stage over its trials.
//!
//! Rates are described by their trials: median, range, and the interval of the
//! median when there are trials enough. Latencies are described by all
//! operations of all trials together, from merged histograms; percentiles are
//! never averaged, so a run that was loaded without its histograms has no
//! percentiles over several trials. A value that is not finite (an import may
//! hold some) counts as no trial. Trials in which operations failed are in no figure;
//! where there is no other, the rates are not a number, of no trial.

use crate::budget;
use crate::latency_intervals;
use crate::outliers;
use crate::share;
use crate::stages::Stage;
use crate::stats;
use diskfacts_record::trial::Histograms;
use diskfacts_record::{Figure, Histogram, Latency, LatencyIntervals, Run, StageFigures, Trial};

/// Confidence that intervals are stated with.
const CONFIDENCE: f64 = 0.95;

/// What there is to say of a rate when operations failed in every trial.
const NO_FIGURE: Figure = Figure {
    median: f64::NAN,
    min: f64::NAN,
    max: f64::NAN,
    spread: None,
    ci95: None,
    ci_method: None,
    trials: 0,
};

/// The figures of one stage.
pub(crate) fn of_stage(run: &Run, stage: &Stage<'_>) -> StageFigures {
    let trials = &stage.trials;
    let sound = stage.is_sound();
    let histograms = stage.latencies().filter(|_| sound);
    let measured = histograms
        .as_ref()
        .map(|all| all.measured(stage.workload()));
    let rate = |of: fn(&Trial) -> f64| {
        if sound {
            figure(trials.iter().map(|trial| of(trial)))
        } else {
            NO_FIGURE
        }
    };
    let mixed = trials.iter().any(|t| t.latency_read_ns.is_some())
        || stage.workload().operation.has_two_kinds();
    let of_part = |part: fn(&Histograms) -> &Histogram, stored: fn(&Trial) -> Option<Latency>| {
        if !mixed {
            return None;
        }
        match &histograms {
            Some(all) => Some(Latency::from(part(all))),
            None if !sound => Some(Latency::default()),
            None if stage.sum(|t| t.latency_ns.samples) == 0 => Some(Latency::default()),
            None => without_histograms(trials.iter().filter_map(|t| stored(t))),
        }
    };
    StageFigures {
        stage: stage.name.to_owned(),
        settings: stage.settings.clone(),
        throughput_bytes_per_s: rate(|t| t.throughput_bytes_per_s),
        iops: rate(|t| t.iops),
        latency_ns: measured.as_ref().map_or_else(
            || {
                let trials = trials.iter().filter(|_| sound);
                without_histograms(trials.map(|t| t.latency_ns)).unwrap_or_default()
            },
            Latency::from,
        ),
        latency_ci95_ns: measured.map_or_else(LatencyIntervals::default, |all| {
            latency_intervals::of(stage, &all)
        }),
        latency_read_ns: of_part(|h| &h.read, |t| t.latency_read_ns),
        latency_write_ns: of_part(|h| &h.write, |t| t.latency_write_ns),
        layers: share::weighted(trials.iter().map(|t| (&t.layers, t.bytes as f64))),
        cpu_user_ns_per_io: per_operation(trials, |t| t.cpu.user_ns_per_io),
        cpu_system_ns_per_io: per_operation(trials, |t| t.cpu.system_ns_per_io),
        cpu_share: cpu_share(trials),
        errors: stage
            .all_trials()
            .map(|t| t.errors)
            .fold(0, u64::saturating_add),
        outliers: outliers::of(stage)
            .into_iter()
            .map(|place| trials[place].number)
            .collect(),
        ended: None,
        budget: budget::of_stage(run, stage),
    }
}

/// What can be said without histograms: counts, extremes and the mean add up,
/// percentiles do not. `None` without any trial.
pub(crate) fn without_histograms(latencies: impl Iterator<Item = Latency>) -> Option<Latency> {
    let all: Vec<Latency> = latencies.filter(|l| l.samples > 0).collect();
    if let [only] = all.as_slice() {
        return Some(*only);
    }
    let samples: u64 = all.iter().map(|l| l.samples).fold(0, u64::saturating_add);
    let weighted: Option<f64> = all
        .iter()
        .map(|l| l.mean.map(|mean| mean * l.samples as f64))
        .sum();
    (!all.is_empty()).then(|| Latency {
        samples,
        min: all.iter().filter_map(|l| l.min).min(),
        mean: weighted.map(|sum| sum / samples as f64),
        max: all.iter().filter_map(|l| l.max).max(),
        ..Latency::default()
    })
}

/// The rate of a stage without errors, bytes per second.
pub(crate) fn rate(figures: &StageFigures) -> Option<f64> {
    let rate = figures.throughput_bytes_per_s.median;
    (figures.errors == 0 && rate.is_finite() && rate > 0.0).then_some(rate)
}

/// A figure of one value per trial, in the order of the trials.
pub fn figure(values: impl Iterator<Item = f64>) -> Figure {
    let values: Vec<f64> = values.collect();
    let sorted = stats::finite_sorted(&values);
    let median = stats::median(&sorted).unwrap_or(0.0);
    let [min, max] = [sorted.first(), sorted.last()].map(|end| end.copied().unwrap_or(0.0));
    let ci = stats::median_ci(&values, CONFIDENCE);
    Figure {
        median,
        min,
        max,
        spread: (sorted.len() > 1 && median > 0.0).then(|| (max - min) / median),
        ci95: ci.map(|ci| ci.interval),
        ci_method: ci.map(|ci| ci.method),
        trials: u32::try_from(sorted.len()).unwrap_or(u32::MAX),
    }
}

/// A cost per operation over all trials, each weighted by its operations;
/// `None` when no trial knows it.
fn per_operation(trials: &[&Trial], of: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
    let (mut sum, mut operations) = (0.0, 0.0);
    for trial in trials {
        if let Some(cost) = of(trial).filter(|cost| cost.is_finite()) {
            sum += cost * trial.ops as f64;
            operations += trial.ops as f64;
        }
    }
    (operations > 0.0).then(|| sum / operations)
}

/// Processor time over time, of all trials together; `None` when one of them does
/// not know its own.
fn cpu_share(trials: &[&Trial]) -> Option<f64> {
    let (mut busy_ns, mut seconds) = (0.0, 0.0);
    for trial in trials {
        let per_io = trial.cpu.user_ns_per_io? + trial.cpu.system_ns_per_io?;
        busy_ns += per_io * trial.ops as f64;
        seconds += trial.seconds;
    }
    let share = busy_ns / (seconds * 1e9);
    share.is_finite().then_some(share)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact answers")]
mod tests {
    use super::*;
    use crate::figures;
    use crate::testing::{self, each};
    use diskfacts_record::{CiMethod, PackedHistograms};
    use proptest::prelude::*;

    fn of(values: &[f64]) -> Figure {
        figure(values.iter().copied())
    }

    #[test]
    fn five_trials_have_a_spread_and_no_interval_and_six_have_both() {
        let five = of(&[5.0, 1.0, 3.0, 2.0, 4.0]);
        assert_eq!((five.median, five.min, five.max), (3.0, 1.0, 5.0));
        assert_eq!(
            (five.spread, five.ci95, five.trials),
            (Some(4.0 / 3.0), None, 5)
        );
        let six = of(&[5.0, 1.0, 3.0, 2.0, 4.0, 6.0]);
        assert_eq!((six.median, six.ci95), (3.5, Some([1.0, 6.0])));
        assert_eq!(six.ci_method, Some(CiMethod::OrderStatistics));
        assert_eq!(five.ci_method, None);
        let nine = of(&[5.0, 1.0, 3.0, 2.0, 4.0, 6.0, 9.0, 7.0, 8.0]);
        assert_eq!(nine.ci95, Some([2.0, 8.0]));
    }

    #[test]
    fn no_trial_one_trial_and_zeros_give_no_nonsense() {
        let none = of(&[]);
        assert_eq!((none.median, none.spread, none.trials), (0.0, None, 0));
        let one = of(&[7.0]);
        assert_eq!(
            (one.min, one.median, one.max, one.spread),
            (7.0, 7.0, 7.0, None)
        );
        assert_eq!(of(&[0.0, 0.0]).spread, None);
        let odd = of(&[f64::NAN, f64::INFINITY, 2.0]);
        assert_eq!((odd.median, odd.trials), (2.0, 1));
    }

    #[test]
    fn a_trial_with_errors_is_in_no_figure_and_its_errors_are_counted() {
        let mut run = testing::healthy();
        run.trials.retain(|trial| trial.number <= 2);
        each(&mut run, "random-read-qd1", |trial| {
            (trial.iops, trial.errors) = match trial.number {
                1 => (2891.0, 0),
                _ => (0.0, 1000),
            };
            testing::set_latencies(trial, &[(100_000 * u64::from(trial.number), 1000)]);
        });
        each(&mut run, "random-read-qd32", |trial| {
            (trial.iops, trial.errors) = (2891.0, 1);
        });
        let figures = figures(&run);
        let of = |name: &str| figures.iter().find(|s| s.stage == name).unwrap();
        let some = of("random-read-qd1");
        assert_eq!((some.iops.median, some.iops.trials), (2891.0, 1));
        assert_eq!((some.latency_ns.samples, some.errors), (1000, 1000));
        // Where there is no trial without, there is no figure.
        let none = of("random-read-qd32");
        assert!(none.iops.median.is_nan() && none.throughput_bytes_per_s.max.is_nan());
        assert_eq!((none.iops.trials, none.errors), (0, 2));
        assert_eq!(none.latency_ns, Latency::default());
    }

    #[test]
    fn latency_is_of_all_operations_not_a_mean_of_percentiles() {
        let mut run = testing::healthy();
        let mut first = true;
        each(&mut run, "random-read-qd1", |trial| {
            // One trial of 1000 slow operations among 4 of 99 000 fast ones.
            let slow = [(5_000_000, 1000)];
            let fast = [(100_000, 24_750)];
            testing::set_latencies(trial, if first { &slow } else { &fast });
            first = false;
        });
        let stage = figures(&run)
            .into_iter()
            .find(|s| s.stage == "random-read-qd1")
            .unwrap();
        assert_eq!(stage.latency_ns.samples, 100_000);
        // The mean of the trials' p99 would be 1.08 ms.
        assert!(stage.latency_ns.p99.unwrap().abs_diff(100_000) < 500);
        assert!(stage.latency_ns.p99_9.unwrap().abs_diff(5_000_000) < 25_000);
    }

    #[test]
    fn without_histograms_counts_and_extremes_stay_and_percentiles_go() {
        let mut run = testing::healthy();
        let with = figures(&run);
        for trial in &mut run.trials {
            trial.histograms = PackedHistograms::default();
        }
        for (with, without) in with.iter().zip(figures(&run)) {
            let (a, b) = (with.latency_ns, without.latency_ns);
            assert_eq!((a.samples, a.min, a.max), (b.samples, b.min, b.max));
            assert!((a.mean.unwrap() / b.mean.unwrap() - 1.0).abs() < 1e-9);
            assert_eq!((b.p50, b.p99), (None, None));
        }
        run.trials.retain(|t| t.number == 1);
        let single = figures(&run);
        assert_eq!(single[0].latency_ns, run.trials[0].latency_ns);
    }

    #[test]
    fn layers_weigh_bytes_and_cpu_weighs_operations() {
        let mut run = testing::healthy();
        for trial in run
            .trials
            .iter_mut()
            .filter(|t| t.stage == "random-read-qd1")
        {
            trial.bytes = 1000;
            trial.ops = 10;
            trial.cpu.user_ns_per_io = Some(100.0);
            if trial.number == 1 {
                trial.bytes = 4000;
                trial.ops = 40;
                trial.cpu.user_ns_per_io = Some(300.0);
                trial.layers = testing::cached();
            }
        }
        let stage = figures(&run)
            .into_iter()
            .find(|s| s.stage == "random-read-qd1")
            .unwrap();
        assert_eq!(stage.layers.page_cache, 0.5);
        assert_eq!(stage.layers.device, Some(0.5));
        assert_eq!(stage.cpu_user_ns_per_io, Some(200.0));
    }

    #[test]
    fn a_mixed_stage_has_its_reads_and_writes_apart() {
        let run = testing::healthy();
        for stage in figures(&run) {
            let mixed = stage.stage == "mixed-70-30";
            assert_eq!(stage.latency_read_ns.is_some(), mixed);
            assert_eq!(stage.latency_write_ns.is_some(), mixed);
            if let Some((read, write)) = stage.latency_read_ns.zip(stage.latency_write_ns) {
                assert_eq!(read.samples + write.samples, stage.latency_ns.samples);
            }
        }
    }

    #[test]
    fn an_empty_run_has_no_figures() {
        let mut run = testing::healthy();
        run.trials.clear();
        assert_eq!(figures(&run), []);
    }

    proptest! {
        #[test]
        fn the_median_lies_in_its_interval_and_in_the_range(
            values in prop::collection::vec(0.0_f64..1e15, 1..60),
        ) {
            let figure = of(&values);
            prop_assert!(figure.min <= figure.median && figure.median <= figure.max);
            if let Some([low, high]) = figure.ci95 {
                prop_assert!(low <= figure.median && figure.median <= high);
            }
            prop_assert_eq!(figure.ci95.is_some(), values.len() >= 6);
        }
    }
}
