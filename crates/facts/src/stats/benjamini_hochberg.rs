//! Many tests of which some are expected to be right.

/// The adjusted p of each test: the smallest share of wrong ones among all that are rejected at
/// which this one is rejected too. Benjamini and Hochberg, "Controlling the False Discovery Rate",
/// Journal of the Royal Statistical Society B 57 (1995); it holds for independent tests and for
/// such as rise together (Benjamini and Yekutieli, Annals of Statistics 29, 2001), as the stages
/// of one disk do.
///
/// `tests` is the number of all tests, at least that of `p_values`: those that are not given have
/// a p of 1. Each p is in 0..=1.
pub fn benjamini_hochberg(p_values: &[f64], tests: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let tests = tests.max(p_values.len()) as f64;
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least = 1.0_f64;
    for (rank, at) in order.into_iter().enumerate().rev() {
        least = least.min(p_values[at] * tests / (rank + 1) as f64);
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_are_those_of_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "BH") is 0.02 0.04 0.04 0.02.
        let got = benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005], 4);
        for (got, known) in got.iter().zip([0.02, 0.04, 0.04, 0.02]) {
            assert!((got - known).abs() < 1e-12, "{got} {known}");
        }
    }

    #[test]
    fn the_example_of_the_paper_rejects_four() {
        // Fifteen tests of thrombolytics, section 3.2 of the paper, at 5 %.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let got = benjamini_hochberg(&p, p.len());
        let rejected = got.iter().filter(|q| **q <= 0.05).count();
        assert_eq!(rejected, 4);
        // Tests that are not given count: they have a p of 1.
        assert_eq!(benjamini_hochberg(&p[..14], 15), got[..14]);
    }

    #[test]
    fn none_and_one() {
        assert!(benjamini_hochberg(&[], 10).is_empty());
        assert_eq!(benjamini_hochberg(&[0.5], 10), [1.0]);
        assert_eq!(benjamini_hochberg(&[0.001], 1), [0.001]);
    }
}
