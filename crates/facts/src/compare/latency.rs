//! Percentiles of the latency on both sides.
//!
//! A percentile is that of all operations of all trials together. Its
//! uncertainty is taken over the trials, because operations within one are not
//! independent: each trial (or run) is left out in turn, and the percentile of
//! the others gives that trial's pseudo-value (the jackknife: Tukey, "Bias and
//! Confidence in Not-Quite Large Samples", Annals of Mathematical Statistics 29,
//! 1958; Miller, "The Jackknife: A Review", Biometrika 61, 1974). For a
//! percentile of single values that is known to fail; with many operations in
//! each trial that is left out it holds (Shao and Wu, "A General Theory for
//! Jackknife Variance Estimation", Annals of Statistics 17, 1989).

use super::cells::{Cell, unit};
use super::{QUANTILES, Tested};
use crate::{resolution, stats};
use diskfacts_record::comparison::{Change, Difference, Unit};
use diskfacts_record::{Packed, Trial};

/// Every percentile that the operations of both sides support.
pub(super) fn differences(a: &Cell<'_>, b: &Cell<'_>) -> Vec<Tested> {
    let unit = unit(a, b);
    let (Some(a), Some(b)) = (Latencies::of(a, unit), Latencies::of(b, unit)) else {
        return Vec::new();
    };
    let of_quantile = |(measure, quantile)| -> Option<Tested> {
        let (of_a, of_b) = (a.observed(quantile)?, b.observed(quantile)?);
        let centre = stats::mean_difference(&of_a.pseudo, &of_b.pseudo)
            .map(|centre| centre.resolved_to(2.0 * resolution::OF_BUCKETS));
        let apart = centre.map_or_else(
            || of_b.whole.ln() - of_a.whole.ln(),
            |centre| centre.estimate,
        );
        Some(Tested {
            difference: Difference {
                measure,
                a: of_a.whole,
                b: of_b.whole,
                count_a: u32::try_from(a.parts.len()).unwrap_or(u32::MAX),
                count_b: u32::try_from(b.parts.len()).unwrap_or(u32::MAX),
                unit,
                change: super::as_change(apart),
                interval: None,
                confidence: None,
                p: None,
                p_adjusted: None,
                outcome: Change::Unclear,
            },
            centre,
        })
    };
    QUANTILES.into_iter().filter_map(of_quantile).collect()
}

/// Occupied buckets in rising order: the value that stands for each, and how
/// many.
type Buckets = Vec<(u64, u64)>;

/// The latencies of one side.
struct Latencies {
    all: Buckets,
    count: u64,
    /// Those of each trial, or of each run.
    parts: Vec<Buckets>,
}

struct Observed {
    /// The percentile of all operations, ns.
    whole: f64,
    /// Its pseudo-values, logarithms.
    pseudo: Vec<f64>,
}

impl Latencies {
    /// `None` where some histograms are missing: a part of the latencies must
    /// not pass for all.
    fn of(cell: &Cell<'_>, unit: Unit) -> Option<Self> {
        let mut parts: Vec<Buckets> = Vec::new();
        for (_, trials) in &cell.runs {
            let of_trials: Option<Vec<Buckets>> = trials.iter().map(|t| buckets(t)).collect();
            match unit {
                Unit::Trial => parts.extend(of_trials?),
                Unit::Run | Unit::Host => parts.push(added(&of_trials?)),
            }
        }
        let all = added(&parts);
        let count = count(&all);
        (count > 0).then_some(Self { all, count, parts })
    }

    fn observed(&self, quantile: f64) -> Option<Observed> {
        // As `Histogram::supported_quantile`.
        if self.count as f64 * quantile.ln() > 0.05_f64.ln() {
            return None;
        }
        let whole = at(&self.all, &[], rank(quantile, self.count)?)?.max(1) as f64;
        let n = self.parts.len() as f64;
        let pseudo = if self.parts.len() == 1 {
            vec![whole.ln()]
        } else {
            let without = |part: &Buckets| -> Option<f64> {
                let left = self.count - count(part);
                let others = at(&self.all, part, rank(quantile, left)?)?.max(1) as f64;
                Some(n * whole.ln() - (n - 1.0) * others.ln())
            };
            self.parts.iter().map(without).collect::<Option<_>>()?
        };
        Some(Observed { whole, pseudo })
    }
}

/// The latencies of a trial; `None` where they were not loaded.
fn buckets(trial: &Trial) -> Option<Buckets> {
    if trial.latency_ns.samples == 0 {
        return None;
    }
    let measured = trial.histograms.measured(&trial.workload);
    let parts: Vec<&Packed> = measured.filter(|part| part.count() > 0).collect();
    let count: u64 = parts.iter().map(|part| part.count()).sum();
    if count != trial.latency_ns.samples {
        return None;
    }
    let of_part = |part: &&Packed| -> Buckets {
        let buckets = part.buckets().into_iter();
        buckets
            .map(|(low, high, n)| (low + (high - low) / 2, n))
            .collect()
    };
    let parts: Vec<Buckets> = parts.iter().map(of_part).collect();
    Some(match <[Buckets; 1]>::try_from(parts) {
        Ok([only]) => only,
        Err(parts) => added(&parts),
    })
}

fn added(parts: &[Buckets]) -> Buckets {
    let mut all: Buckets = parts.concat();
    // The stable sort merges what is sorted in parts.
    all.sort_by_key(|(value, _)| *value);
    all.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    all
}

fn count(buckets: &Buckets) -> u64 {
    buckets.iter().map(|(_, n)| n).sum()
}

/// The rank, from 1, of the value at or below which the share `quantile` of so many
/// values lies (nearest rank); `None` of none.
fn rank(quantile: f64, count: u64) -> Option<u64> {
    (count > 0).then(|| ((quantile * count as f64).ceil() as u64).max(1))
}

/// The value of this rank in `all` without `part`.
fn at(all: &Buckets, part: &[(u64, u64)], rank: u64) -> Option<u64> {
    let mut less = part.iter().peekable();
    let mut below = 0;
    for (value, n) in all {
        below += n - less.next_if(|(v, _)| v == value).map_or(0, |(_, n)| *n);
        if below >= rank {
            return Some(*value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use diskfacts_record::Histogram;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_histogram_with_and_without_a_part(
            parts in prop::collection::vec(prop::collection::vec(0_u64..5_000_000, 1..60), 2..6),
            quantile in 0.01_f64..0.999,
        ) {
            let histograms: Vec<Histogram> = parts
                .iter()
                .map(|values| {
                    let mut histogram = Histogram::new();
                    for value in values {
                        histogram.record(*value);
                    }
                    histogram
                })
                .collect();
            let of = |histogram: &Histogram| -> Buckets {
                histogram.buckets().map(|(l, h, n)| (l + (h - l) / 2, n)).collect()
            };
            let sum = |histograms: &[Histogram]| {
                let mut all = Histogram::new();
                for histogram in histograms {
                    all.add(histogram);
                }
                all
            };
            let buckets: Vec<Buckets> = histograms.iter().map(of).collect();
            let all = added(&buckets);
            prop_assert_eq!(&all, &of(&sum(&histograms)));
            let others = sum(&histograms[1..]);
            let left = count(&all) - count(&buckets[0]);
            let got = at(&all, &buckets[0], rank(quantile, left).unwrap()).unwrap() as f64;
            // The histogram gives the exact ends, and a bucket else.
            let known = others.quantile(quantile).unwrap() as f64;
            prop_assert!((got - known).abs() <= known / 128.0 + 1.0, "{} {}", got, known);
        }
    }

    #[test]
    fn without_its_histograms_a_trial_has_no_percentiles() {
        let mut run = testing::healthy();
        assert!(buckets(&run.trials[0]).is_some());
        run.trials[0].histograms = diskfacts_record::PackedHistograms::default();
        assert_eq!(buckets(&run.trials[0]), None);
    }
}
