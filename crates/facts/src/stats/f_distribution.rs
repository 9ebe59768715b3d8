//! Fisher's and Snedecor's F distribution.

use super::student_t::incomplete_beta;

/// The chance that an F of `df1` and `df2` degrees of freedom (both above 0, and not
/// necessarily whole) is at least `f`: the regularized incomplete beta function
/// `I(df2 / (df2 + df1 f); df2 / 2, df1 / 2)` (Abramowitz and Stegun, "Handbook of
/// Mathematical Functions", 1964, 26.6.2).
pub fn f_at_least(f: f64, df1: f64, df2: f64) -> f64 {
    if f <= 0.0 {
        return 1.0;
    }
    if !f.is_finite() {
        return 0.0;
    }
    incomplete_beta(df2 / (df2 + df1 * f), df2 / 2.0, df1 / 2.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::t_two_sided;
    use super::*;

    #[test]
    fn critical_values_are_those_of_the_published_table() {
        // The upper 5 % and 1 % points.
        for (df1, df2, five, one) in [
            (1.0, 1.0, 161.448, 4052.181),
            (2.0, 10.0, 4.1028, 7.5594),
            (5.0, 12.0, 3.1059, 5.0643),
            (10.0, 30.0, 2.1646, 2.9791),
        ] {
            assert!(
                (f_at_least(five, df1, df2) - 0.05).abs() < 1e-5,
                "{df1} {df2}"
            );
            assert!(
                (f_at_least(one, df1, df2) - 0.01).abs() < 1e-5,
                "{df1} {df2}"
            );
        }
    }

    #[test]
    fn with_one_degree_above_it_is_the_square_of_t() {
        for (t, df) in [(0.3, 2.0), (1.5, 4.3), (4.0, 17.0)] {
            assert!((f_at_least(t * t, 1.0, df) - t_two_sided(t, df)).abs() < 1e-12);
        }
        assert!((f_at_least(0.0, 3.0, 4.0) - 1.0).abs() < f64::EPSILON);
        assert!(f_at_least(f64::INFINITY, 3.0, 4.0) < f64::EPSILON);
    }
}
