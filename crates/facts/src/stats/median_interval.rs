//! Intervals for the median that hold for any distribution, or nearly so.

use super::autocorrelation::{effective_number, is_autocorrelated};
use super::order::{finite_sorted, quantile};
use super::student_t::t_critical;
use diskfacts_record::CiMethod;

/// Which order statistics bound the median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// Rank of the lower bound, from 1.
    pub lower: usize,
    /// Rank of the upper bound, from 1.
    pub upper: usize,
    /// Chance that the interval holds the median; at least what was asked for.
    pub confidence: f64,
}

/// The narrowest pair of symmetric order statistics of `n` values that holds
/// the median of their distribution with at least `confidence`: the number of
/// values below the median is binomial with chance 1/2, whatever the
/// distribution (Conover, "Practical Nonparametric Statistics", 3rd edition
/// 1999, section 3.2; Hahn and Meeker, "Statistical Intervals", 1991, section
/// 5.2). `None` when even the range is not enough: at 95 % below 6 values.
pub fn median_interval(n: usize, confidence: f64) -> Option<MedianInterval> {
    let pairs = hold_with(n).take(n / 2).enumerate();
    let (below, confidence) = pairs.take_while(|(_, with)| *with >= confidence).last()?;
    Some(MedianInterval {
        lower: below + 1,
        upper: n - below,
        confidence,
    })
}

/// With what chance the ranks 1, 2, 3 and so on from either side hold the median of `n` values:
/// those from rank k + 1 miss it when at most k values lie on one side.
fn hold_with(n: usize) -> impl Iterator<Item = f64> {
    // The chance of exactly k below the median, as a logarithm, because 2^-n is
    // zero for a thousand trials.
    let mut ln_chance = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    (0..n).map(move |k| {
        tail += ln_chance.exp();
        ln_chance += ((n - k) as f64).ln() - ((k + 1) as f64).ln();
        1.0 - 2.0 * tail
    })
}

/// An interval of a median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianCi {
    /// Its two ends.
    pub interval: [f64; 2],
    /// How it was worked out.
    pub method: CiMethod,
}

/// A pair of ranks that holds the median with more than what was asked for by more
/// than this is drawn in.
const EXCESS: f64 = 0.02;

/// Values of a series from which on its correlation is known well enough to be used.
const SERIES_MIN: usize = 16;

/// The interval of the median of the distribution that these values are from, in the
/// order in which they were measured; `None` below 6 finite values at 95 %.
///
/// * The pair of ranks of [`median_interval`], where these hold the median with what
///   was asked for or up to 2 % more: exact for any distribution.
/// * Where the ranks would hold it with still more (98.4 % for 7 values, 97.9 % for
///   10), each end lies between its rank and the next one inside, by the weights of
///   Hettmansperger and Sheather, "Confidence Intervals Based on Interpolated Order
///   Statistics", Statistics and Probability Letters 4 (1986). Exact for a
///   distribution like Laplace's, near it for others; simulated, 95 % were 93 to 97 %
///   for normal, log-normal and bimodal values.
/// * From 16 values on, where neighbours are alike (`is_autocorrelated`): the sample
///   quantiles about 1/2 that Student's t over [`effective_number`] values spans.
///
/// A bootstrap of the median was measured beside these and held it less evenly: see
/// [`bootstrap`](super::bootstrap()).
pub fn median_ci(values: &[f64], confidence: f64) -> Option<MedianCi> {
    let sorted = finite_sorted(values);
    let n = sorted.len();
    let ranks = median_interval(n, confidence)?;
    if n >= SERIES_MIN {
        let in_order: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        if is_autocorrelated(&in_order) {
            let number = effective_number(&in_order);
            let t = t_critical(1.0 - confidence, (number - 1.0).max(1.0));
            // Half of the values lie below, with a standard error of 1/2 sqrt(1/n).
            let half = (t / number.sqrt() / 2.0).min(0.5);
            return Some(MedianCi {
                interval: [
                    quantile(&sorted, 0.5 - half)?,
                    quantile(&sorted, 0.5 + half)?,
                ],
                method: CiMethod::Autocorrelated,
            });
        }
    }
    let (low, high) = (ranks.lower - 1, ranks.upper - 1);
    if ranks.confidence <= confidence + EXCESS {
        return Some(MedianCi {
            interval: [sorted[low], sorted[high]],
            method: CiMethod::OrderStatistics,
        });
    }
    // What the next ranks inside would hold it with.
    let inside = hold_with(n).nth(ranks.lower)?;
    let (size, rank) = (n as f64, ranks.lower as f64);
    let share = (ranks.confidence - confidence) / (ranks.confidence - inside);
    let weight = (size - rank) * share / (rank + (size - 2.0 * rank) * share);
    let between = |outer: f64, inner: f64| outer * (1.0 - weight) + inner * weight;
    Some(MedianCi {
        interval: [
            between(sorted[low], sorted[low + 1]),
            between(sorted[high], sorted[high - 1]),
        ],
        method: CiMethod::InterpolatedOrderStatistics,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_published_tables() {
        // Ranks and confidence of the sign-test interval at 95 %.
        for (n, lower, upper, confidence) in [
            (6, 1, 6, 0.9688),
            (7, 1, 7, 0.9844),
            (8, 1, 8, 0.9922),
            (9, 2, 8, 0.9609),
            (10, 2, 9, 0.9785),
            (15, 4, 12, 0.9648),
            (20, 6, 15, 0.9586),
            (25, 8, 18, 0.9567),
            (30, 10, 21, 0.9572),
        ] {
            let got = median_interval(n, 0.95).unwrap();
            assert_eq!((got.lower, got.upper), (lower, upper), "{n}");
            assert!((got.confidence - confidence).abs() < 5e-5, "{n}: {got:?}");
        }
    }

    #[test]
    fn fewer_than_six_values_do_not_bound_the_median_at_95_percent() {
        for n in 0..6 {
            assert_eq!(median_interval(n, 0.95), None, "{n}");
        }
    }

    #[test]
    fn the_confidence_is_the_exact_binomial_sum() {
        for n in 6..=60_usize {
            let got = median_interval(n, 0.95).unwrap();
            let mut choose = 1_u128;
            let mut tail = 0_u128;
            for k in 0..got.lower as u128 {
                tail += choose;
                choose = choose * (n as u128 - k) / (k + 1);
            }
            let exact = 1.0 - 2.0 * tail as f64 / (n as f64).exp2();
            assert!((got.confidence - exact).abs() < 1e-9, "{n}");
            // One rank further in would miss the 95 %.
            let narrower = 1.0 - 2.0 * (tail + choose) as f64 / (n as f64).exp2();
            assert!(narrower < 0.95, "{n}");
        }
    }

    #[test]
    fn ends_between_two_ranks_are_weighed_as_published() {
        // Hettmansperger and Sheather for n = 10 at 95 %: ranks 2 and 9 hold the
        // median with 97.852 %, 3 and 8 with 89.063 %; I = 0.324 48, so that
        // lambda = 8 I / (2 + 6 I) = 0.657 69.
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let got = median_ci(&values, 0.95).unwrap();
        assert_eq!(got.method, CiMethod::InterpolatedOrderStatistics);
        assert!((got.interval[0] - 2.657_69).abs() < 1e-4, "{got:?}");
        assert!((got.interval[1] - 8.342_31).abs() < 1e-4, "{got:?}");
    }

    #[test]
    fn ranks_that_are_near_enough_stay_as_they_are() {
        for n in [6_u32, 9, 12, 15, 17, 20] {
            let values: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            // In one direction, they would be a series.
            let values: Vec<f64> = values.iter().map(|v| v * 7.0 % 23.0).collect();
            let got = median_ci(&values, 0.95).unwrap();
            let ranks = median_interval(n as usize, 0.95).unwrap();
            let exact = ranks.confidence <= 0.97;
            assert_eq!(got.method == CiMethod::OrderStatistics, exact, "{n}");
        }
    }

    #[test]
    fn a_series_is_known_less_well_than_as_many_independent_values() {
        let series: Vec<f64> = (0..64).map(|i| (f64::from(i) / 5.0).sin()).collect();
        let mut mixed = series.clone();
        // The same values far apart from those that they were beside.
        for (place, value) in series.iter().enumerate() {
            mixed[place * 27 % 64] = *value;
        }
        let (of_series, of_mixed) = (median_ci(&series, 0.95), median_ci(&mixed, 0.95));
        let (of_series, of_mixed) = (of_series.unwrap(), of_mixed.unwrap());
        assert_eq!(of_series.method, CiMethod::Autocorrelated);
        assert_ne!(of_mixed.method, CiMethod::Autocorrelated);
        let width = |ci: MedianCi| ci.interval[1] - ci.interval[0];
        assert!(width(of_series) > 1.3 * width(of_mixed));
    }

    #[test]
    fn too_few_zeros_and_what_is_no_number() {
        assert_eq!(median_ci(&[1.0; 5], 0.95), None);
        assert_eq!(median_ci(&[], 0.95), None);
        assert_eq!(median_ci(&[f64::NAN; 40], 0.95), None);
        let of_zeros = median_ci(&[0.0; 7], 0.95).unwrap();
        assert_eq!(of_zeros.interval.map(f64::to_bits), [0, 0]);
        let mut odd = vec![f64::INFINITY; 3];
        odd.extend([-1.0, -2.0, -3.0, -4.0, -5.0]);
        assert_eq!(median_ci(&odd, 0.95), None);
    }

    #[test]
    fn a_hundred_thousand_values_do_not_underflow() {
        let got = median_interval(100_000, 0.95).unwrap();
        // The normal approximation: n/2 - 1.96 sqrt(n)/2.
        assert!(got.lower.abs_diff(49_690) < 5, "{got:?}");
        assert!((got.confidence - 0.95).abs() < 0.005);
    }
}
