//! The difference of the centres of two samples.

use super::order::finite_sorted;
use super::student_t::{t_critical, t_two_sided};

/// Observations from which on a fifth is trimmed at either end.
const TRIMMED_FROM: usize = 8;
/// Share that is trimmed at either end then.
const TRIM: f64 = 0.2;

/// The centre of `b` less that of `a`, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CentreDifference {
    /// The difference.
    pub estimate: f64,
    /// Its standard error, 0 or more.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error, above 0.
    pub df: f64,
    /// What the values themselves cannot resolve, 0 or more: by this much the
    /// difference may be wrong whatever the number of observations.
    pub resolution: f64,
    /// Standard error and degrees of freedom if both samples vary alike.
    alike: Option<(f64, f64)>,
}

impl CentreDifference {
    /// An estimate with its standard error (0 or more) and its degrees of freedom
    /// (above 0).
    pub fn new(estimate: f64, standard_error: f64, df: f64) -> Self {
        Self {
            estimate,
            standard_error,
            df,
            resolution: 0.0,
            alike: None,
        }
    }

    /// The same with values that are known no better than this.
    #[must_use]
    pub fn resolved_to(mut self, resolution: f64) -> Self {
        self.resolution = resolution.max(0.0);
        self
    }

    fn errors(&self) -> impl Iterator<Item = (f64, f64)> {
        [Some((self.standard_error, self.df)), self.alike]
            .into_iter()
            .flatten()
    }

    /// The chance of a difference at least as large when there is none beyond
    /// the resolution.
    pub fn p(&self) -> f64 {
        let beyond = (self.estimate.abs() - self.resolution).max(0.0);
        if beyond == 0.0 {
            return 1.0;
        }
        self.errors()
            .map(|(error, df)| t_two_sided(beyond / error, df))
            .fold(0.0, f64::max)
    }

    /// The interval that misses the true difference with the chance `alpha`; it
    /// leaves 0 out exactly when [`p`](Self::p) is no larger than `alpha`.
    pub fn interval(&self, alpha: f64) -> [f64; 2] {
        let half = self
            .errors()
            .filter(|(error, _)| *error > 0.0)
            .map(|(error, df)| t_critical(alpha, df) * error)
            .fold(0.0, f64::max)
            + self.resolution;
        [self.estimate - half, self.estimate + half]
    }
}

/// The difference of the centres of two samples of unlike variance: Yuen, "The
/// Two-Sample Trimmed t for Unequal Population Variances", Biometrika 61 (1974),
/// with a fifth trimmed at either end of a sample of eight or more, so that a
/// single disturbed trial neither moves nor blurs it. Nothing is trimmed from
/// fewer, and with none trimmed it is Welch, "The Generalization of 'Student's'
/// Problem", Biometrika 34 (1947). With three observations against nine Welch's
/// test calls 5.7 % of normal samples different at 4 % (the variance of three is
/// now and then small by chance), so chance and interval are the larger of
/// Welch's and of Student's, whose variance is that of both samples together.
/// With as many on either side Welch's are the larger ones.
///
/// A sample of one has no spread; it is taken to have that of the other, if that
/// has two or more. `None` when neither has a spread, or one is empty.
pub fn centre_difference(a: &[f64], b: &[f64]) -> Option<CentreDifference> {
    between(&Centre::trimmed(a)?, &Centre::trimmed(b)?)
}

/// As [`centre_difference`], with nothing trimmed from any number of values.
pub fn mean_difference(a: &[f64], b: &[f64]) -> Option<CentreDifference> {
    between(&Centre::of(a, 0)?, &Centre::of(b, 0)?)
}

/// The centre of differences, each of which is one observation: Student's t of their mean, from
/// eight on with a fifth trimmed at either end (Tukey and `McLaughlin`, "Less Vulnerable Confidence and
/// Significance Procedures for Location Based on a Single Sample: Trimming/Winsorization 1",
/// Sankhya A 25, 1963). `None` below two that are finite.
pub fn paired_difference(differences: &[f64]) -> Option<CentreDifference> {
    let centre = Centre::trimmed(&finite_sorted(differences))?;
    let spread = centre.spread?;
    Some(CentreDifference::new(
        centre.centre,
        spread.square.sqrt(),
        spread.df,
    ))
}

fn between(a: &Centre, b: &Centre) -> Option<CentreDifference> {
    let estimate = b.centre - a.centre;
    let (square, df) = match (a.spread, b.spread) {
        (None, None) => return None,
        (Some(one), None) | (None, Some(one)) => {
            // A new value of the same distribution: its variance, and that of
            // the mean of the others.
            (one.variance + one.square, one.df)
        }
        (Some(a), Some(b)) => {
            let sum = a.square + b.square;
            let terms = a.square * a.square / a.df + b.square * b.square / b.df;
            // Satterthwaite's degrees of freedom; where nothing varies any do.
            let df = if terms > 0.0 {
                sum * sum / terms
            } else {
                a.df + b.df
            };
            (sum, df)
        }
    };
    let alike = a.spread.zip(b.spread).map(|(a, b)| {
        let df = a.df + b.df;
        let variance = (a.squares + b.squares) / df;
        let square = variance * (1.0 / (a.df + 1.0) + 1.0 / (b.df + 1.0));
        (square.sqrt(), df)
    });
    Some(CentreDifference {
        alike,
        ..CentreDifference::new(estimate, square.sqrt(), df)
    })
}

struct Centre {
    centre: f64,
    spread: Option<Variation>,
}

#[derive(Clone, Copy)]
struct Variation {
    /// Of single values.
    variance: f64,
    /// Squared deviations, of those drawn in.
    squares: f64,
    /// Squared standard error of the centre.
    square: f64,
    df: f64,
}

impl Centre {
    fn trimmed(values: &[f64]) -> Option<Self> {
        let n = values.len();
        let cut = if n < TRIMMED_FROM {
            0
        } else {
            (n as f64 * TRIM) as usize
        };
        Self::of(values, cut)
    }

    /// The mean without `cut` values at either end, and the variance of all
    /// values with those that were cut drawn in to the next (winsorized).
    fn of(values: &[f64], cut: usize) -> Option<Self> {
        let sorted = finite_sorted(values);
        let n = sorted.len();
        let kept = sorted.get(cut..n.checked_sub(cut)?)?;
        let (first, last) = (*kept.first()?, *kept.last()?);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let drawn_in: Vec<f64> = sorted.iter().map(|v| v.clamp(first, last)).collect();
        let middle = mean(&drawn_in);
        let squares: f64 = drawn_in.iter().map(|v| (v - middle) * (v - middle)).sum();
        let h = kept.len() as f64;
        let spread = (kept.len() > 1).then(|| Variation {
            variance: squares / (n as f64 - 1.0),
            squares,
            square: squares / (h * (h - 1.0)),
            df: h - 1.0,
        });
        Some(Self {
            centre: mean(kept),
            spread,
        })
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact answers")]
mod tests {
    use super::*;

    #[test]
    fn welchs_test_of_a_published_example() {
        // Student's sleep data; t.test(extra ~ group, data = sleep) of R gives
        // t = -1.8608, df = 17.776, p = 0.07939, interval -3.3655 to 0.2055.
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let got = mean_difference(&two, &one).unwrap();
        assert!((got.estimate / got.standard_error + 1.8608).abs() < 5e-5);
        assert!((got.df - 17.776).abs() < 5e-4, "{got:?}");
        assert!((got.p() - 0.07939).abs() < 5e-6, "{}", got.p());
        let [low, high] = got.interval(0.05);
        assert!((low + 3.3655).abs() < 5e-5 && (high - 0.2055).abs() < 5e-5);
    }

    #[test]
    fn a_trimmed_mean_and_its_error_by_hand() {
        // Of 1..=10 with two cut at either end: 3..=8 remain, mean 5.5; drawn in
        // the squares are 4 * (2.5^2 + ...): 3 3 3 4 5 6 7 8 8 8 about 5.5.
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let shifted: Vec<f64> = values.iter().map(|v| v + 7.0).collect();
        let got = centre_difference(&values, &shifted).unwrap();
        let squares = 6.0 * 6.25 + 2.0 * (2.25 + 0.25);
        let square = 2.0 * squares / (6.0 * 5.0);
        assert!((got.estimate - 7.0).abs() < 1e-12);
        assert!((got.standard_error - f64::sqrt(square)).abs() < 1e-12);
        assert!((got.df - 10.0).abs() < 1e-12, "{got:?}");
    }

    #[test]
    fn one_disturbed_trial_of_ten_moves_little() {
        let calm: Vec<f64> = (0..10).map(|i| 1.0 + f64::from(i) / 1000.0).collect();
        let mut disturbed = calm.clone();
        disturbed[4] = 0.3;
        let got = centre_difference(&calm, &disturbed).unwrap();
        assert!(got.estimate.abs() < 0.001, "{got:?}");
        let [low, high] = got.interval(0.05);
        assert!(high - low < 0.02, "{low} {high}");
    }

    #[test]
    fn a_single_value_is_held_against_the_spread_of_the_others() {
        let got = centre_difference(&[1.0, 2.0, 3.0], &[4.0]).unwrap();
        // Variance 1 of a value and 1/3 of the mean, two degrees of freedom.
        assert!((got.standard_error - f64::sqrt(4.0 / 3.0)).abs() < 1e-12);
        assert!((got.df - 2.0).abs() < 1e-12);
        let back = centre_difference(&[4.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((back.estimate + got.estimate).abs() < 1e-12);
        assert_eq!(centre_difference(&[1.0], &[2.0]), None);
        assert_eq!(centre_difference(&[], &[2.0, 3.0]), None);
        assert_eq!(centre_difference(&[f64::NAN], &[2.0, 3.0]), None);
    }

    #[test]
    fn a_few_against_many_are_tested_by_the_more_careful_of_two() {
        // Three that hardly vary, by chance, and nine that do: Welch alone would
        // call them different at 1 %.
        let few = [1.050, 1.051, 1.052];
        let many = [1.00, 1.02, 0.98, 1.03, 0.97, 1.05, 0.99];
        let got = mean_difference(&few, &many).unwrap();
        let (error, df) = got.alike.unwrap();
        let welch = t_two_sided(got.estimate / got.standard_error, got.df);
        let student = t_two_sided(got.estimate / error, df);
        assert!((df - 8.0).abs() < 1e-12);
        assert!(welch < 0.01 && student > 0.01, "{welch} {student}");
        assert!((got.p() - student).abs() < f64::EPSILON);
    }

    #[test]
    fn values_that_never_vary_differ_or_not_without_doubt() {
        let equal = centre_difference(&[2.0, 2.0], &[2.0, 2.0]).unwrap();
        assert!((equal.p() - 1.0).abs() < f64::EPSILON);
        let apart = centre_difference(&[2.0, 2.0], &[2.5, 2.5]).unwrap();
        assert!(apart.p() < f64::EPSILON);
        assert_eq!(apart.interval(0.05), [0.5, 0.5]);
        // But no better than what they are known to.
        let coarse = apart.resolved_to(0.5);
        assert!((coarse.p() - 1.0).abs() < f64::EPSILON);
        assert_eq!(coarse.interval(0.05), [0.0, 1.0]);
    }

    #[test]
    fn few_pairs_are_tested_by_students_t_and_many_are_trimmed() {
        // The first seven pairs of the same sleep data: their mean over their standard
        // deviation, times the root of seven.
        let apart = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8];
        let got = paired_difference(&apart).unwrap();
        assert_eq!(got.df, 6.0);
        assert!((got.estimate - 9.0 / 7.0).abs() < 1e-12, "{got:?}");
        assert!((got.estimate / got.standard_error - 4.622_989_472).abs() < 1e-8);
        // One wild value of ten moves the mean of all by 100, and this one hardly.
        let mut many: Vec<f64> = (0..9).map(|i| 0.1 * f64::from(i)).collect();
        many.push(1000.0);
        let got = paired_difference(&many).unwrap();
        assert!((got.estimate - 0.45).abs() < 0.06, "{got:?}");
        assert_eq!(got.df, 5.0);
        assert_eq!(paired_difference(&[0.3, f64::NAN]), None);
    }

    #[test]
    fn the_interval_leaves_0_out_exactly_when_p_is_within_alpha() {
        let got = centre_difference(&[1.0, 1.2, 1.1], &[1.3, 1.5, 1.45])
            .unwrap()
            .resolved_to(0.01);
        let p = got.p();
        assert!(got.interval(p * 1.0001)[0] > 0.0);
        assert!(got.interval(p * 0.9999)[0] < 0.0);
    }
}
