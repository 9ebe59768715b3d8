//! How evenly something is shared.

/// The fairness index of Jain, Chiu and Hawe ("A Quantitative Measure of Fairness
/// and Discrimination for Resource Allocation in Shared Computer Systems",
/// DEC-TR-301, 1984): the square of the sum over n times the sum of the squares.
/// 1 when all are equal, k/n when k of n get all; `None` of fewer than two, and
/// when none got anything.
pub fn fairness(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let index = sum * sum / (shares.len() as f64 * squares);
    (shares.len() > 1 && index.is_finite()).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_when_all_are_equal_and_the_share_of_those_that_get_all() {
        assert_eq!(fairness(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(fairness(&[5.0, 0.0, 5.0, 0.0]), Some(0.5));
        assert_eq!(fairness(&[1.0]), None);
        assert_eq!(fairness(&[0.0, 0.0]), None);
        // Three alike and one with a third of it: (10/3)^2 / (4 * 28/9).
        let index = fairness(&[1.0, 1.0, 1.0, 1.0 / 3.0]).unwrap();
        assert!((index - 100.0 / 112.0).abs() < 1e-12, "{index}");
    }
}
