//! Several tests at once.

/// What became of one test among several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// The smallest level of all tests together at which this one is rejected.
    pub adjusted: f64,
    /// The level at which this one was tested alone: rejected when its p is no
    /// larger.
    pub level: f64,
    /// Whether it is rejected.
    pub rejected: bool,
}

/// Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
/// Journal of Statistics 6 (1979): the chance that any true hypothesis is
/// rejected is at most `alpha`, however the tests depend on each other and
/// however many are true. The smallest p is tested at `alpha / m`, the next at
/// `alpha / (m - 1)`, and so on up to the first that is kept; all behind it are
/// kept at its level.
pub fn holm(p_values: &[f64], alpha: f64) -> Vec<Tested> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut tested = vec![
        Tested {
            adjusted: 1.0,
            level: alpha,
            rejected: false,
        };
        p_values.len()
    ];
    let (mut adjusted, mut stopped_at) = (0.0_f64, None);
    for (rank, at) in order.into_iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        let p = p_values[at];
        adjusted = adjusted.max((p * left).min(1.0));
        if stopped_at.is_none() && p > alpha / left {
            stopped_at = Some(alpha / left);
        }
        tested[at] = Tested {
            adjusted,
            level: stopped_at.unwrap_or(alpha / left),
            rejected: stopped_at.is_none(),
        };
    }
    tested
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_are_those_of_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02.
        let tested = holm(&[0.01, 0.04, 0.03, 0.005], 0.05);
        for (got, known) in tested.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got.adjusted - known).abs() < 1e-12, "{got:?}");
        }
        let rejected: Vec<bool> = tested.iter().map(|t| t.rejected).collect();
        assert_eq!(rejected, [true, false, false, true]);
    }

    #[test]
    fn a_test_is_rejected_exactly_when_its_p_is_within_its_level() {
        let p = [0.2, 0.012, 0.0125, 0.5, 0.0001];
        for (p, tested) in p.iter().zip(holm(&p, 0.05)) {
            assert_eq!(*p <= tested.level, tested.rejected, "{p} {tested:?}");
            assert_eq!(tested.adjusted <= 0.05, tested.rejected, "{p} {tested:?}");
        }
        assert_eq!(holm(&[], 0.05), []);
    }

    #[test]
    fn the_later_ones_are_kept_behind_one_that_is_kept() {
        // 0.03 > 0.05 / 2, so 0.04 is kept too, though it is below 0.05.
        assert!(holm(&[0.03, 0.04], 0.05).iter().all(|t| !t.rejected));
    }
}
