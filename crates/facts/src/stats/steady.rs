//! Steady state, as the Storage Networking Industry Association defines it.

/// Rounds that are looked at.
const ROUNDS: usize = 5;

/// How the last five rounds lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steadiness {
    /// Their mean.
    pub average: f64,
    /// Largest without smallest, as a share of the mean.
    pub range: f64,
    /// How much the straight line through them rises or falls from the first to the
    /// last, as a share of the mean; never negative.
    pub slope: f64,
}

impl Steadiness {
    /// Range within 20 % of the average, and slope within 10 %.
    pub fn is_steady(&self) -> bool {
        self.range <= 0.2 && self.slope <= 0.1
    }
}

/// The last five of these rounds: SNIA, "Solid State Storage Performance Test
/// Specification" (PTS), version 2.0.1, 2018, definition of steady state: the largest
/// and smallest value within the window differ by at most 20 % of the average, and the
/// best straight line through them by at most 10 % from end to end. `None` of fewer
/// rounds, when one is not finite, and when their average is not above 0.
pub fn steadiness(rounds: &[f64]) -> Option<Steadiness> {
    let last = rounds
        .len()
        .checked_sub(ROUNDS)
        .map(|from| &rounds[from..])?;
    let average = last.iter().sum::<f64>() / ROUNDS as f64;
    if !average.is_finite() || average <= 0.0 {
        return None;
    }
    let low = last.iter().copied().fold(f64::INFINITY, f64::min);
    let high = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Least squares over -2 -1 0 1 2, whose squares add up to 10.
    let slope = (2.0 * (last[4] - last[0]) + last[3] - last[1]) / 10.0;
    Some(Steadiness {
        average,
        range: (high - low) / average,
        slope: (slope * (ROUNDS - 1) as f64).abs() / average,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_and_slope_by_hand() {
        // 96 98 100 102 104 after two that no longer count: range 8 of 100, and a
        // line that rises by 8.
        let got = steadiness(&[500.0, 300.0, 96.0, 98.0, 100.0, 102.0, 104.0]).unwrap();
        assert!((got.range - 0.08).abs() < 1e-12 && (got.slope - 0.08).abs() < 1e-12);
        assert!(got.is_steady());
        // A range of 16 % is within, its slope is not.
        let got = steadiness(&[92.0, 96.0, 100.0, 104.0, 108.0]).unwrap();
        assert!((got.slope - 0.16).abs() < 1e-12 && !got.is_steady());
        // No slope, and too wide a range.
        let got = steadiness(&[100.0, 88.0, 100.0, 112.0, 100.0]).unwrap();
        assert!(got.range > 0.2 && !got.is_steady());
    }

    #[test]
    fn few_rounds_zeros_and_bad_values_are_not_judged() {
        assert_eq!(steadiness(&[1.0; 4]), None);
        assert_eq!(steadiness(&[0.0; 5]), None);
        assert_eq!(steadiness(&[-1.0; 5]), None);
        assert_eq!(steadiness(&[1.0, 1.0, f64::NAN, 1.0, 1.0]), None);
        assert!(steadiness(&[3.0; 5]).unwrap().is_steady());
    }
}
