//! How sure a percentile of many latencies is.

use diskfacts_record::Histogram;

/// Standard normal quantile of 97.5 %.
const Z: f64 = 1.959_963_984_540_054;

/// An interval that holds the percentile `q` of the distribution with about
/// 95 %: the values at the ranks n q ∓ 1.96 sqrt(n q (1 - q)), the large-sample
/// form of the binomial interval (Conover, "Practical Nonparametric
/// Statistics", 3rd edition 1999, section 3.2). It takes the latencies as
/// independent; neighbours seldom are, so it is a lower bound of what is not
/// known. `None` where the number of samples does not support the percentile
/// itself ([`Histogram::supported_quantile`]).
pub fn percentile_interval(histogram: &Histogram, q: f64) -> Option<[u64; 2]> {
    histogram.supported_quantile(q)?;
    let [low, high] = percentile_shares(histogram.count(), q);
    Some([histogram.quantile(low)?, histogram.quantile(high)?])
}

/// The shares of so many values at whose ranks the ends of the interval of the percentile `q`
/// lie. Neither falls where `q` rises.
pub fn percentile_shares(count: u64, q: f64) -> [f64; 2] {
    let n = count as f64;
    let half = Z * (n * q * (1.0 - q)).sqrt();
    [(n * q - half) / n, (n * q + half) / n].map(|share| share.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_are_those_of_the_normal_approximation() {
        let mut histogram = Histogram::new();
        for value in 1..=10_000 {
            histogram.record(value);
        }
        // sqrt(10000 * .99 * .01) = 9.95; ranks 9880.5 and 9919.5.
        let [low, high] = percentile_interval(&histogram, 0.99).unwrap();
        assert!(
            low.abs_diff(9881) <= 40 && high.abs_diff(9920) <= 40,
            "{low} {high}"
        );
        assert!(low < 9900 && high >= 9900);
    }

    #[test]
    fn too_few_samples_have_no_interval() {
        let mut histogram = Histogram::new();
        for value in 0..298 {
            histogram.record(value);
        }
        assert_eq!(percentile_interval(&histogram, 0.99), None);
        histogram.record(298);
        let [_, high] = percentile_interval(&histogram, 0.99).unwrap();
        assert_eq!(high, 298);
    }
}
