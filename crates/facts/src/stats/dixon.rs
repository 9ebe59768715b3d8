//! Whether one value of a few stands apart.

use super::order::finite_sorted;

/// Dixon's ratio of the gap between `value` and the nearest of `rest` to the
/// range of all (r10): Dixon, "Processing Data for Outliers", Biometrics 9
/// (1953). 0 when `value` lies among the rest; `None` without a range.
pub fn dixon_q(value: f64, rest: &[f64]) -> Option<f64> {
    let rest = finite_sorted(rest);
    let (low, high) = (*rest.first()?, *rest.last()?);
    if !value.is_finite() {
        return None;
    }
    let range = high.max(value) - low.min(value);
    if range <= 0.0 {
        return None;
    }
    let gap = (low - value).max(value - high).max(0.0);
    Some(gap / range)
}

/// The ratio that at most 1 % of normal samples of `n` values exceed, on either
/// side: Rorabacher, "Statistical Treatment for Rejection of Deviant Values",
/// Analytical Chemistry 63 (1991), table I. Beyond 10 values the one for 10 is
/// used, which asks for a larger gap than needed; below 3 there is none.
pub fn dixon_critical_99(n: usize) -> Option<f64> {
    Some(match n {
        0..=2 => return None,
        3 => 0.994,
        4 => 0.926,
        5 => 0.821,
        6 => 0.740,
        7 => 0.680,
        8 => 0.634,
        9 => 0.598,
        _ => 0.568,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_of_a_published_example() {
        // Ten measurements; 0.167 is 0.010 below the next, of a range of 0.022.
        let rest = [
            0.189, 0.187, 0.183, 0.186, 0.182, 0.181, 0.184, 0.181, 0.177,
        ];
        let q = dixon_q(0.167, &rest).unwrap();
        assert!((q - 0.455).abs() < 0.001, "{q}");
        assert!(q < dixon_critical_99(10).unwrap());
    }

    #[test]
    fn a_value_among_the_rest_has_no_gap() {
        assert_eq!(dixon_q(2.0, &[1.0, 3.0]), Some(0.0));
        assert_eq!(dixon_q(2.0, &[2.0, 2.0]), None);
        assert_eq!(dixon_q(2.0, &[]), None);
        assert_eq!(dixon_q(f64::NAN, &[1.0, 2.0]), None);
    }

    #[test]
    fn one_in_a_hundred_normal_samples_is_called_deviant() {
        // The critical values held against simulation. The generator has a
        // fixed seed, so the shares below are always the same.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for n in 4..=10 {
            let samples = 20_000;
            let mut deviant = 0;
            for _ in 0..samples {
                let values: Vec<f64> = (0..n)
                    .map(|_| {
                        let (a, b): (f64, f64) = (uniform(), uniform());
                        (-2.0 * a.max(1e-300).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
                    })
                    .collect();
                let sorted = finite_sorted(&values);
                let lowest = dixon_q(sorted[0], &sorted[1..]).unwrap();
                let highest = dixon_q(sorted[n - 1], &sorted[..n - 1]).unwrap();
                if lowest.max(highest) > dixon_critical_99(n).unwrap() {
                    deviant += 1;
                }
            }
            let share = f64::from(deviant) / f64::from(samples);
            assert!((0.007..0.013).contains(&share), "{n}: {share}");
        }
    }
}
