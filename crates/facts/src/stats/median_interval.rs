//! An interval for the median that holds for any distribution.

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
    // The chance of exactly k below the median, as a logarithm, because 2^-n is
    // zero for a thousand trials.
    let mut ln_chance = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    let mut best = None;
    for k in 0..n / 2 {
        // The interval from rank k + 1 misses when at most k values lie on one
        // side.
        tail += ln_chance.exp();
        let holds = 1.0 - 2.0 * tail;
        if holds < confidence {
            break;
        }
        best = Some(MedianInterval {
            lower: k + 1,
            upper: n - k,
            confidence: holds,
        });
        ln_chance += ((n - k) as f64).ln() - ((k + 1) as f64).ln();
    }
    best
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
    fn a_hundred_thousand_values_do_not_underflow() {
        let got = median_interval(100_000, 0.95).unwrap();
        // The normal approximation: n/2 - 1.96 sqrt(n)/2.
        assert!(got.lower.abs_diff(49_690) < 5, "{got:?}");
        assert!((got.confidence - 0.95).abs() < 0.005);
    }
}
