//! Whether values rise or fall as they follow one another, and how fast.

use super::autocorrelation::lag_1;
use super::order::median;
use super::student_t::{LARGE, t_two_sided};

/// A trend of values that follow one another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change from one value to the next: the median of the slopes between all pairs
    /// (Theil, Proceedings of the Royal Netherlands Academy of Sciences 53, 1950; Sen,
    /// Journal of the American Statistical Association 63, 1968). Almost a third of
    /// the values may be anything.
    pub slope: f64,
    /// Chance that values without a trend rise or fall as steadily.
    pub chance: f64,
}

/// Numbers of values up to which the chance is exact.
const EXACT_MAX: usize = 30;

/// The trend of these values, by the test of Mann (Econometrica 13, 1945) and Kendall
/// ("Rank Correlation Methods", 1948): how many pairs rise, without how many fall.
/// Exact up to 30 unlike values, else normal with the correction for ties. From ten
/// values on, neighbours that are alike beyond the trend widen the distribution by
/// (1 + r) / (1 - r) (Yue and Wang, Water Resources Management 18, 2004). `None` below
/// four values, and when one is not finite.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let n = values.len();
    if n < 4 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    let (mut rising, mut ties) = (0_i64, 0_u64);
    for (i, early) in values.iter().enumerate() {
        for (j, late) in values.iter().enumerate().skip(i + 1) {
            slopes.push((late - early) / (j - i) as f64);
            match late.total_cmp(early) {
                std::cmp::Ordering::Greater => rising += 1,
                std::cmp::Ordering::Less => rising -= 1,
                std::cmp::Ordering::Equal => ties += 1,
            }
        }
    }
    let slope = median(&slopes)?;
    let rest: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(i, v)| v - slope * i as f64)
        .collect();
    let r = if n < 10 {
        0.0
    } else {
        lag_1(&rest).unwrap_or(0.0)
    };
    // Positive correlations only, and those that chance seldom makes.
    let r = if r > 1.645 / (n as f64).sqrt() {
        r.min(0.95)
    } else {
        0.0
    };
    let chance = if n <= EXACT_MAX && ties == 0 && r <= 0.0 {
        exact_chance(n, rising.unsigned_abs())
    } else {
        let spread = (variance(values) * (1.0 + r) / (1.0 - r)).sqrt();
        let score = (rising.unsigned_abs() as f64 - 1.0).max(0.0);
        if spread > 0.0 {
            t_two_sided(score / spread, LARGE)
        } else {
            1.0
        }
    };
    Some(Trend { slope, chance })
}

/// The variance of Kendall's score, with its correction for groups of equal values.
fn variance(values: &[f64]) -> f64 {
    let of = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let groups = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq());
    of(values.len() as f64) - groups.map(|group| of(group.len() as f64)).sum::<f64>()
}

/// The chance that `n` unlike values in an order of chance have a score of `score` or
/// more on either side: by the number of orders with each number of falling pairs
/// (Kendall, as above, chapter 5).
fn exact_chance(n: usize, score: u64) -> f64 {
    let pairs = n * (n - 1) / 2;
    // Shares of the orders with so many falling pairs, one more value at a time.
    let mut shares = vec![0.0; pairs + 1];
    shares[0] = 1.0;
    for size in 2..=n {
        let mut next = vec![0.0; pairs + 1];
        let mut window = 0.0;
        for falling in 0..=size * (size - 1) / 2 {
            window += shares[falling];
            if falling >= size {
                window -= shares[falling - size];
            }
            next[falling] = window / size as f64;
        }
        shares = next;
    }
    // The score is pairs - 2 falling.
    let most = (pairs as u64).saturating_sub(score) / 2;
    let tail: f64 = shares[..=most as usize].iter().sum();
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    #[test]
    fn the_chances_are_those_of_kendalls_table() {
        // Kendall, appendix table 1: the chance of a score on one side.
        for (n, score, table) in [
            (4, 6, 0.042),
            (5, 8, 0.042),
            (5, 10, 0.0083),
            (6, 11, 0.028),
            (8, 18, 0.016),
            (10, 23, 0.023),
            (10, 45, 0.000_000_28),
        ] {
            let got = exact_chance(n, score) / 2.0;
            assert!(
                (got - table).abs() <= 0.05 * table + 5e-8,
                "{n} {score}: {got}"
            );
        }
        assert!((exact_chance(7, 1) - 1.0).abs() < 0.13);
    }

    #[test]
    fn the_slope_is_the_median_of_the_slopes_and_one_wild_value_moves_it_not() {
        // Sen's estimator of 1 2 3 4 100: slopes 1 1 1 1 1 1 96 48.5 .. -> 1.
        let got = trend(&[1.0, 2.0, 3.0, 4.0, 100.0]).unwrap();
        assert!((got.slope - 1.0).abs() < 1e-12, "{got:?}");
        assert!((got.chance - 2.0 * 0.0083).abs() < 1e-4, "{got:?}");
        let falling = trend(&[10.0, 8.0, 6.0, 4.0]).unwrap();
        assert!((falling.slope + 2.0).abs() < 1e-12);
    }

    #[test]
    fn few_values_equal_ones_and_bad_ones_have_no_trend() {
        assert_eq!(trend(&[1.0, 2.0, 3.0]), None);
        assert_eq!(trend(&[1.0, 2.0, 3.0, f64::NAN]), None);
        let equal = trend(&[0.0; 8]).unwrap();
        assert!(
            equal.slope.abs() < 1e-12 && equal.chance >= 1.0,
            "{equal:?}"
        );
    }

    #[test]
    fn chance_and_a_series_are_seldom_called_a_trend() {
        let seed = 5;
        let mut rng = Rng::new(seed);
        for (n, r, most) in [(8, 0.0, 0.02), (50, 0.0, 0.02), (50, 0.5, 0.05)] {
            let found = (0..1000)
                .filter(|_| {
                    let mut last = 0.0;
                    let series: Vec<f64> = (0..n)
                        .map(|_| {
                            last = r * last + rng.unit() - 0.5;
                            last
                        })
                        .collect();
                    trend(&series).unwrap().chance < 0.01
                })
                .count();
            assert!(
                found as f64 / 1000.0 <= most,
                "seed {seed}, {n} {r}: {found}"
            );
        }
    }
}
