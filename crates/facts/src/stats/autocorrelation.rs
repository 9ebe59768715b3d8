//! Values that follow one another are often alike.

/// The correlation of each value with the next: Box and Jenkins, "Time Series
/// Analysis", 1970, section 2.1.5. In `-1..=1`; `None` of fewer than three values, of
/// equal ones, and when one is not finite.
pub fn lag_1(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = |v: &f64| (v - mean) * (v - mean);
    let all: f64 = values.iter().map(square).sum();
    let neighbours: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    let ratio = neighbours / all;
    (values.len() > 2 && ratio.is_finite()).then_some(ratio)
}

/// Whether neighbours are more alike than chance makes them in one of 200 series of
/// independent values: the correlation is then about normal, with mean `-1/n` and
/// standard deviation `1/sqrt(n)` (the same, section 2.1.6; the mean by Kendall,
/// Biometrika 41, 1954).
pub fn is_autocorrelated(values: &[f64]) -> bool {
    const Z: f64 = 2.576;
    let n = values.len() as f64;
    lag_1(values).is_some_and(|r| r > (Z - 1.0 / n.sqrt()) / n.sqrt())
}

/// How many independent values say as much of the median as these do, when each
/// depends on the one before it as in a normal series of first order.
///
/// What counts for a median is on which side of it each value lies. With a correlation
/// of r between neighbours, the sides of values k apart correlate by 2/pi asin(r^k)
/// (Sheppard 1899; Kedem, "Binary Time Series", 1980, chapter 2), so n values count for
/// n / (1 + 2 sum of these) (Heidelberger and Lewis, "Quantile Estimation in Dependent
/// Sequences", Operations Research 32, 1984). The correlation is freed of its bias, of
/// about (1 + 4 r) / n (Kendall, as above). At least 1, and never more than there are.
pub fn effective_number(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let Some(r) = lag_1(values) else {
        return n;
    };
    let r = (r + (1.0 + 4.0 * r.max(0.0)) / n).clamp(0.0, 0.99);
    let (mut power, mut sum) = (r, 0.0);
    for lag in 1..values.len() {
        // Of n - lag pairs so far apart.
        sum += (1.0 - lag as f64 / n) * std::f64::consts::FRAC_2_PI * power.asin();
        power *= r;
    }
    (n / (1.0 + 2.0 * sum)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correlation_of_a_series_by_hand() {
        // Mean 3; deviations -2 -1 0 1 2; neighbours 2 + 0 + 0 + 2 of 10.
        assert_eq!(lag_1(&[1.0, 2.0, 3.0, 4.0, 5.0]), Some(0.4));
        // Alternating: -1 five times of 6.
        assert_eq!(lag_1(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]), Some(-5.0 / 6.0));
        assert_eq!(lag_1(&[1.0, 1.0, 1.0]), None);
        assert_eq!(lag_1(&[1.0, 2.0]), None);
        assert_eq!(lag_1(&[1.0, f64::NAN, 2.0]), None);
    }

    #[test]
    fn independent_values_count_as_themselves_and_others_as_fewer() {
        assert!((effective_number(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]) - 6.0).abs() < 1e-12);
        let slow: Vec<f64> = (0..100).map(|i| (f64::from(i) / 15.0).sin()).collect();
        assert!(is_autocorrelated(&slow));
        assert!(effective_number(&slow) < 5.0);
    }
}
