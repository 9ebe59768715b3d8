//! How sure the values of one test are, from few trials of each option.
//!
//! Two or three trials of one option say little of its noise; those of all options
//! of the same test together say more, if the noise is the same share of the value
//! for all of them. So the logarithms of the values have one variance, that within
//! the options (the error of a one-way analysis of variance: Box, Hunter and Hunter,
//! "Statistics for Experimenters", 2nd edition 2005, chapter 4), and the interval of
//! an option is its mean by Student's t with the degrees of freedom of all. It is
//! never narrower than the range of the option's own trials, which may be noisier
//! than the others'. From six trials on the interval of the median needs neither
//! assumption ([`stats::median_interval`]), and is taken.
//!
//! That two such intervals do not overlap is a stricter demand than a test of their
//! difference at 5 %, which leaves room for looking at several pairs.

use crate::spread::NOISE;
use crate::stats;

/// Confidence that intervals are stated with.
const CONFIDENCE: f64 = 0.95;

/// What is measured of one option in one test.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Median of the trials, in the unit of the test.
    pub value: f64,
    /// Where it lies with 95 % confidence, from.
    pub low: f64,
    /// And to.
    pub high: f64,
    /// Trials that it comes from.
    pub trials: usize,
    /// The interval is assumed, not measured: there was one trial of each option.
    pub assumed: bool,
}

/// One value over another, and where that lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Measured {
    /// The same where each value may be off by so much, on the logarithmic scale, as it was
    /// printed or counted.
    pub(crate) fn resolved_to(mut self, resolution: f64) -> Self {
        self.low *= (-resolution).exp();
        self.high *= resolution.exp();
        self
    }
}

impl Ratio {
    /// The values are independent, so the squares of what they may be off add up, in
    /// logarithms.
    pub(crate) fn of(over: &Measured, under: &Measured) -> Self {
        let off = |a: f64, b: f64| (a / b).ln().abs();
        let below = off(over.value, over.low).hypot(off(under.high, under.value));
        let above = off(over.high, over.value).hypot(off(under.value, under.low));
        let value = over.value / under.value;
        Self {
            value,
            low: value * (-below).exp(),
            high: value * above.exp(),
        }
    }

    /// `1.58 times (1.55 to 1.61)`
    pub(crate) fn said(&self) -> String {
        let [value, low, high] = [self.value, self.low, self.high].map(|v| format!("{v:.2}"));
        format!("{value} times ({low} to {high})")
    }
}

/// The interval of each option from the values of its trials, all above 0; `None`
/// for an option without any.
pub(crate) fn of(options: &[Vec<f64>]) -> Vec<Option<Measured>> {
    let known = |values: &Vec<f64>| -> Vec<f64> {
        let sorted = stats::finite_sorted(values).into_iter();
        sorted.filter(|value| *value > 0.0).collect()
    };
    let options: Vec<Vec<f64>> = options.iter().map(known).collect();
    let logs: Vec<Vec<f64>> = options
        .iter()
        .map(|values| values.iter().map(|value| value.ln()).collect())
        .collect();
    let degrees: usize = logs.iter().map(|logs| logs.len().saturating_sub(1)).sum();
    let squares: f64 = logs.iter().map(|logs| squares(logs)).sum();
    let spread = (degrees > 0).then(|| {
        let per_degree = squares / degrees as f64;
        stats::t_critical(1.0 - CONFIDENCE, degrees as f64) * per_degree.sqrt()
    });
    let all = options.iter().zip(&logs);
    all.map(|(values, logs)| one(values, logs, spread))
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sum of the squared distances from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Values and their logarithms in rising order; `spread` is the half-width for one
/// trial, in logarithms, and `None` where it is not known.
fn one(values: &[f64], logs: &[f64], spread: Option<f64>) -> Option<Measured> {
    let value = stats::median(values)?;
    let (first, last) = (logs[0], logs[logs.len() - 1]);
    let (low, high) = match (stats::median_interval(logs.len(), CONFIDENCE), spread) {
        (Some(ranks), _) => (logs[ranks.lower - 1], logs[ranks.upper - 1]),
        (None, Some(spread)) => {
            let half = spread / (logs.len() as f64).sqrt();
            let mean = mean(logs);
            ((mean - half).min(first), (mean + half).max(last))
        }
        (None, None) => ((1.0 - NOISE).ln() + first, (1.0 + NOISE).ln() + first),
    };
    Some(Measured {
        value,
        low: low.exp(),
        high: high.exp(),
        trials: logs.len(),
        assumed: spread.is_none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    #[test]
    fn what_was_printed_in_three_digits_is_no_more_exact_than_these() {
        let options = [vec![105.0, 105.0], vec![106.0, 106.0]];
        let apart = |off: f64| {
            let mut found = of(&options).into_iter().flatten();
            let mut next = || found.next().expect("it was measured").resolved_to(off);
            let (one, other) = (next(), next());
            one.high < other.low
        };
        assert!(apart(0.0));
        assert!(!apart(crate::resolution::of_digits(&options[0])));
    }

    #[test]
    fn the_noise_of_all_options_is_that_of_each() {
        // By hand: logarithms 0 and 0.02, 1 and 1.04; squares 0.0002 and 0.0008 with
        // two degrees, so the spread is 4.303 * sqrt(0.0005) and half of it by
        // sqrt(2) 0.068037.
        let values = [vec![1.0, 0.02_f64.exp()], vec![1_f64.exp(), 1.04_f64.exp()]];
        let found = of(&values);
        let [Some(one), Some(other)] = &found[..] else {
            panic!("both were measured");
        };
        assert!((one.value - f64::midpoint(1.0, 0.02_f64.exp())).abs() < 1e-9);
        assert!((one.high.ln() - 0.078_037).abs() < 1e-5, "{one:?}");
        assert!((other.low.ln() - (1.02 - 0.068_037)).abs() < 1e-5);
        assert!(!one.assumed && one.trials == 2);
    }

    #[test]
    fn an_interval_holds_the_trials_it_comes_from() {
        let noisy = vec![80.0, 120.0];
        let still = vec![vec![100.0; 5]; 20];
        let found = of(&[vec![noisy], still].concat());
        let first = found[0].as_ref().expect("it was measured");
        assert!(first.low <= 80.0 + 1e-9 && first.high >= 120.0 - 1e-9);
    }

    #[test]
    fn with_one_trial_of_each_a_tenth_either_way_is_assumed() {
        let found = of(&[vec![100.0], vec![f64::NAN, -1.0], vec![50.0]]);
        let first = found[0].as_ref().expect("it was measured");
        assert!(first.assumed);
        assert!((first.low - 90.0).abs() < 1e-9 && (first.high - 110.0).abs() < 1e-9);
        assert_eq!(found[1], None);
    }

    /// 95 % of the intervals hold the truth, 400 tests of three options with three
    /// trials each, noise of 5 %.
    #[test]
    fn the_intervals_hold_the_truth_as_often_as_they_say() {
        const SEED: u64 = 7;
        let mut rng = Rng::for_part(SEED, 0);
        // The sum of twelve uniform values less six is nearly normal.
        let mut normal =
            || (0..12).map(|_| rng.below(1 << 20) as f64).sum::<f64>() / f64::from(1 << 20) - 6.0;
        let mut held = 0;
        for _ in 0..400 {
            let truths = [1.0_f64, 2.0, 4.0];
            let values: Vec<Vec<f64>> = truths
                .iter()
                .map(|truth| {
                    (0..3)
                        .map(|_| (truth.ln() + 0.05 * normal()).exp())
                        .collect()
                })
                .collect();
            for (found, truth) in of(&values).iter().zip(truths) {
                let found = found.as_ref().expect("it was measured");
                held += usize::from(found.low <= truth && truth <= found.high);
            }
        }
        let share = held as f64 / 1200.0;
        assert!((0.93..=0.98).contains(&share), "{share} with seed {SEED}");
    }
}
