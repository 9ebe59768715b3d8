//! Student's t, for intervals from few values.

/// The two-sided 95 % point of Student's t distribution (its 97.5 % quantile) for
/// 1 to 30 degrees of freedom: NIST/SEMATECH e-Handbook of Statistical Methods,
/// section 1.3.6.7.2, upper critical values at 0.025.
const T_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// The 97.5 % quantile of the normal distribution.
const Z_975: f64 = 1.959_964;

/// The factor of a 95 % interval with so many degrees of freedom; `None` without
/// any. Beyond the table by its expansion in powers of 1 / degrees (Abramowitz and
/// Stegun, "Handbook of Mathematical Functions", 1964, 26.7.5), right there in four
/// digits.
pub fn student_t_975(degrees: usize) -> Option<f64> {
    let row = degrees.checked_sub(1)?;
    if let Some(t) = T_975.get(row) {
        return Some(*t);
    }
    let (z, n) = (Z_975, degrees as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    Some(z + first / n + second / n.powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_table_and_goes_on_from_it() {
        assert_eq!(student_t_975(0), None);
        for (degrees, published) in [
            (1, 12.706),
            (3, 3.182),
            (30, 2.042),
            // Further rows of the same table.
            (31, 2.040),
            (40, 2.021),
            (60, 2.000),
            (100, 1.984),
            (100_000, 1.960),
        ] {
            let t = student_t_975(degrees).expect("degrees");
            assert!((t - published).abs() < 6e-4, "{degrees}: {t}");
        }
    }

    #[test]
    fn more_degrees_never_widen_an_interval() {
        let all: Vec<f64> = (1..200).filter_map(student_t_975).collect();
        assert!(all.windows(2).all(|two| two[1] < two[0]));
    }
}
