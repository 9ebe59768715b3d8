//! Which values of a sample stand apart.

use super::student_t::t_critical;

/// The places of the values that stand apart, the farthest first: the generalised
/// extreme studentised deviate test (Rosner, "Percentage Points for a Generalized ESD
/// Many-Outlier Procedure", Technometrics 25, 1983), which is not blinded by several
/// outliers side by side. `chance` is that of calling any value of a normal sample one;
/// it holds from 15 values on, and up to a fifth of them are looked at. Empty below 15
/// values and when a value is not finite.
pub fn outliers(values: &[f64], chance: f64) -> Vec<usize> {
    let n = values.len();
    if n < 15 || values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let mut left: Vec<usize> = (0..n).collect();
    let mut removed = Vec::new();
    let mut apart = 0;
    for _ in 0..n / 5 {
        let size = left.len() as f64;
        let mean = left.iter().map(|i| values[*i]).sum::<f64>() / size;
        let squares: f64 = left.iter().map(|i| (values[*i] - mean).powi(2)).sum();
        let deviation = (squares / (size - 1.0)).sqrt();
        let distance = |i: &usize| (values[*i] - mean).abs();
        let Some(place) =
            (0..left.len()).max_by(|a, b| distance(&left[*a]).total_cmp(&distance(&left[*b])))
        else {
            break;
        };
        let ratio = distance(&left[place]) / deviation;
        removed.push(left.remove(place));
        // Equal values are nobody's outlier, and differ by rounding alone.
        if deviation > mean.abs() * 1e-9 && ratio > critical(size, chance) {
            apart = removed.len();
        }
    }
    removed.truncate(apart);
    removed
}

/// What the farthest of `size` values exceeds with this chance.
fn critical(size: f64, chance: f64) -> f64 {
    let t = t_critical(chance / size, size - 2.0);
    (size - 1.0) * t / ((size - 2.0 + t * t) * size).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosner's example of 54 values, as the NIST/SEMATECH e-Handbook of Statistical
    /// Methods gives it (section 1.3.5.17.3).
    const ROSNER: [f64; 54] = [
        -0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58,
        1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15,
        2.23, 2.24, 2.26, 2.35, 2.37, 2.40, 2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21,
        3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01,
    ];

    #[test]
    fn the_published_example_has_its_three_outliers() {
        assert_eq!(outliers(&ROSNER, 0.05), [53, 52, 51]);
        for (size, table) in [(54.0, 3.159), (53.0, 3.151), (52.0, 3.144), (51.0, 3.136)] {
            assert!((critical(size, 0.05) - table).abs() < 0.001, "{size}");
        }
    }

    #[test]
    fn few_equal_and_bad_values_have_none() {
        assert!(outliers(&[1.0, 1.0, 1.0, 90.0], 0.05).is_empty());
        assert!(outliers(&[0.1; 40], 0.05).is_empty());
        assert!(outliers(&[0.0; 40], 0.05).is_empty());
        let mut odd = ROSNER;
        odd[3] = f64::NAN;
        assert!(outliers(&odd, 0.05).is_empty());
    }
}
