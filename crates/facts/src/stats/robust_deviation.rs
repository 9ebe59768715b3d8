//! How far values are apart, whatever a few of them do.

use super::order::{finite_sorted, mad};

/// What the MAD of 2 to 9 normal values is multiplied by besides, so that it is right on
/// average.
const SMALL: [f64; 8] = [1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107];

/// The standard deviation of values that are normal but for up to half of them, by their median
/// absolute deviation; `None` below two finite values. With the factors for few values of Croux and
/// Rousseeuw, "Time-Efficient Algorithms for Two Highly Robust Estimators of Scale",
/// Computational Statistics 1 (1992).
///
/// Of n normal values it varies as much as the usual one of 0.37 n values does (Rousseeuw and
/// Croux, "Alternatives to the Median Absolute Deviation", Journal of the American Statistical
/// Association 88, 1993).
pub fn robust_deviation(values: &[f64]) -> Option<f64> {
    // 1 / the upper quartile of the normal distribution.
    const NORMAL: f64 = 1.482_602_218_505_602;
    let n = finite_sorted(values).len();
    let factor = match n {
        0 | 1 => return None,
        2..=9 => SMALL[n - 2],
        _ => n as f64 / (n as f64 - 0.8),
    };
    Some(mad(values)? * NORMAL * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    #[test]
    fn of_normal_values_it_is_right_on_average_for_few_and_for_many() {
        let seed = 17;
        let mut rng = Rng::new(seed);
        for n in [2, 3, 4, 5, 8, 9, 10, 20, 60] {
            let mean = (0..4000)
                .map(|_| {
                    let normal = |rng: &mut Rng| {
                        (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
                    };
                    let values: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
                    robust_deviation(&values).unwrap()
                })
                .sum::<f64>()
                / 4000.0;
            assert!((mean - 1.0).abs() < 0.04, "seed {seed}, {n}: {mean}");
        }
    }

    #[test]
    fn a_third_of_wild_values_moves_it_little_and_equal_ones_have_none() {
        let mut values: Vec<f64> = (0..20).map(f64::from).collect();
        let calm = robust_deviation(&values).unwrap();
        values.extend([1e9; 10]);
        assert!(robust_deviation(&values).unwrap() < 2.0 * calm);
        assert_eq!(robust_deviation(&[3.0; 9]), Some(0.0));
        assert_eq!(robust_deviation(&[3.0, f64::NAN]), None);
    }
}
