//! Medians, quantiles and the median absolute deviation of a few values.

/// The finite values in rising order.
pub fn finite_sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The value that half of the values lie below, the mean of the middle two when
/// their number is even; `None` without a finite value.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The same of values one after the other.
pub fn median_of(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    median(&values.into_iter().collect::<Vec<f64>>())
}

/// The sample quantile by linear interpolation of the order statistics, with
/// the smallest value at 0 and the largest at 1: definition 7 of Hyndman and
/// Fan, "Sample Quantiles in Statistical Packages", The American Statistician
/// 50 (1996), the default of R and of `numpy`. `q` is clamped to `0..=1`; `None`
/// without a finite value.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let sorted = finite_sorted(values);
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let fraction = position - below as f64;
    // Not `a + f * (b - a)`: the difference of two huge values of unlike sign
    // would overflow.
    Some(sorted[below] * (1.0 - fraction) + sorted[above] * fraction)
}

/// The median absolute deviation from the median, not scaled to the standard
/// deviation of a normal distribution (for that, times 1.4826): Hampel, "The
/// Influence Curve and Its Role in Robust Estimation", Journal of the American
/// Statistical Association 69 (1974).
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = finite_sorted(values)
        .iter()
        .map(|v| (v - centre).abs())
        .collect();
    median(&deviations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_are_those_of_r_type_7() {
        let one_to_ten: Vec<f64> = (1..=10).map(f64::from).collect();
        // quantile(1:10, c(0, .1, .25, .5, .9, 1)) in R.
        for (q, expected) in [
            (0.0, 1.0),
            (0.1, 1.9),
            (0.25, 3.25),
            (0.5, 5.5),
            (0.9, 9.1),
            (1.0, 10.0),
        ] {
            let got = quantile(&one_to_ten, q).unwrap();
            assert!((got - expected).abs() < 1e-12, "{q}: {got}");
        }
    }

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[f64::NAN, f64::INFINITY]), None);
        assert_eq!(median(&[f64::NAN, 7.0]), Some(7.0));
    }

    #[test]
    fn the_median_absolute_deviation_of_a_textbook_sample() {
        // Median 2; deviations 1 1 0 0 2 4 7.
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
    }

    proptest! {
        #[test]
        fn quantiles_lie_among_the_values_and_rise(
            values in prop::collection::vec(-1e12_f64..1e12, 1..40),
            a in 0.0_f64..=1.0,
            b in 0.0_f64..=1.0,
        ) {
            let sorted = finite_sorted(&values);
            let (low, high) = (a.min(b), a.max(b));
            let (low, high) = (quantile(&values, low).unwrap(), quantile(&values, high).unwrap());
            let slack = 1e-3;
            prop_assert!(low <= high + slack);
            prop_assert!(sorted[0] - slack <= low && high <= sorted[sorted.len() - 1] + slack);
        }
    }
}
