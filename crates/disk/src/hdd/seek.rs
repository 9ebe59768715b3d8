//! The time of a move of the arm.

use super::parameters::SeekParameters;
use crate::fixed;

/// A seek curve, tabulated up to its knee, so that a simulation only adds
/// integers.
#[derive(Debug, Clone)]
pub struct SeekCurve {
    /// Time by distance, from 0 to the knee, ns.
    table: Vec<u64>,
    /// Behind the knee, ns per 2^24 cylinders.
    slope: u64,
}

impl SeekCurve {
    /// The curve for a drive of `cylinders` cylinders. The knee is moved to
    /// the full stroke where it would lie beyond it, and times that would fall
    /// with the distance are raised to the one before.
    pub fn new(parameters: &SeekParameters, cylinders: u64) -> Self {
        let last = cylinders.saturating_sub(1).max(1);
        let knee = parameters.knee_cylinders.clamp(1, last);
        let mut table = vec![0];
        table.extend((1..=knee).map(|distance| {
            let growth = parameters.factor_ns as f64 * fixed::power(distance, parameters.exponent);
            parameters.base_ns + growth as u64
        }));
        let at_knee = table[table.len() - 1];
        let rise = parameters.full_stroke_ns.saturating_sub(at_knee);
        let run = (last - knee).max(1);
        Self {
            table,
            slope: (rise << 24) / run,
        }
    }

    /// The time to move by `distance` cylinders, ns; 0 for none.
    #[inline]
    pub fn time_ns(&self, distance: u64) -> u64 {
        let knee = self.table.len() as u64 - 1;
        if distance <= knee {
            self.table[distance as usize]
        } else {
            self.table[knee as usize] + (((distance - knee) * self.slope) >> 24)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEK: SeekParameters = SeekParameters {
        base_ns: 602_000,
        factor_ns: 607_000,
        exponent: 0.284,
        knee_cylinders: 700,
        full_stroke_ns: 18_000_000,
    };

    #[test]
    fn the_curve_begins_with_a_power_and_ends_with_the_full_stroke() {
        let curve = SeekCurve::new(&SEEK, 200_000);
        assert_eq!(curve.time_ns(0), 0);
        assert_eq!(curve.time_ns(1), 1_209_000);
        // 0.602 + 0.607 * 700^0.284 ms
        assert_eq!(curve.time_ns(700), 4_503_184);
        let full = curve.time_ns(199_999);
        assert!((17_999_000..=18_000_000).contains(&full), "{full}");
    }

    #[test]
    fn a_longer_seek_never_takes_less_time() {
        let curve = SeekCurve::new(&SEEK, 5000);
        let times: Vec<u64> = (0..5000).map(|d| curve.time_ns(d)).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn a_drive_of_a_few_cylinders_has_a_curve_too() {
        let curve = SeekCurve::new(&SEEK, 2);
        assert_eq!(curve.time_ns(1), 1_209_000);
    }
}
