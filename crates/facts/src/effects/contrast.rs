//! Means over cells, and their differences.

use crate::stats::{Mean, t_critical, t_two_sided};

/// A weighted sum of means that were measured apart from each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contrast {
    /// The sum.
    pub(super) value: f64,
    /// Its standard error, above 0.
    error: f64,
    /// Degrees of freedom of the error.
    df: f64,
}

impl Contrast {
    /// The sum of these means by these weights; at most `df_max` degrees of freedom.
    pub(super) fn of(terms: impl Iterator<Item = (f64, Mean)>, df_max: f64) -> Self {
        let (mut value, mut square, mut doubts) = (0.0, 0.0, 0.0);
        for (weight, mean) in terms {
            let part = weight * weight * mean.square;
            value += weight * mean.value;
            square += part;
            doubts += part * part / mean.df;
        }
        // Satterthwaite's degrees of freedom ("An Approximate Distribution of Estimates
        // of Variance Components", Biometrics Bulletin 2, 1946).
        Self {
            value,
            error: square.sqrt(),
            df: (square * square / doubts).min(df_max),
        }
    }

    /// The chance of a sum at least as far from 0 when it is 0.
    pub(super) fn p(&self) -> f64 {
        t_two_sided(self.value / self.error, self.df)
    }

    /// The factor that the sum of logarithms stands for, and the interval that misses it
    /// with the chance `alpha`.
    pub(super) fn ratio(&self, alpha: f64) -> (f64, [f64; 2]) {
        let half = t_critical(alpha, self.df) * self.error;
        let ends = [self.value - half, self.value + half];
        (self.value.exp(), ends.map(f64::exp))
    }
}

/// The mean of means that were measured apart from each other; `None` without any.
pub(super) fn mean(means: &[Mean], df_max: f64) -> Option<Mean> {
    let weight = 1.0 / means.len() as f64;
    let sum = Contrast::of(means.iter().map(|mean| (weight, *mean)), df_max);
    (!means.is_empty()).then_some(Mean {
        value: sum.value,
        square: sum.error * sum.error,
        df: sum.df,
    })
}
