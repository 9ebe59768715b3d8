//! Where a series has left its beginning behind.

/// Values that are averaged first, so that single ones do not decide.
const BATCH: usize = 5;

/// How many of the first values to leave out, so that the mean of the rest has the
/// least standard error: MSER-5 (White, "An Effective Truncation Heuristic for Bias
/// Reduction in Simulation Output", Simulation 69, 1997; in batches of five by White,
/// Cobb and Spratt, Winter Simulation Conference 2000). A multiple of five. `None` when
/// the best place lies in the second half, where the series never settled, below 20
/// values, and when one is not finite.
pub fn truncation(values: &[f64]) -> Option<usize> {
    let batches: Vec<f64> = values
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().sum::<f64>() / BATCH as f64)
        .collect();
    let n = batches.len();
    if n < 4 || batches.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let error = |from: usize| {
        let rest = &batches[from..];
        let size = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / size;
        rest.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (size * size)
    };
    // The last batches are always alike: a place behind the middle is none.
    let best = (0..n - 1).min_by(|a, b| error(*a).total_cmp(&error(*b)))?;
    (best <= n / 2).then_some(best * BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_beginning_is_left_out_and_nothing_else() {
        let mut values = vec![10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0];
        values.extend((0..50).map(|i| if i % 2 == 0 { 100.0 } else { 101.0 }));
        assert_eq!(truncation(&values), Some(10));
        assert_eq!(truncation(&values[10..]), Some(0));
    }

    #[test]
    fn what_never_settles_few_values_and_bad_ones_have_no_place() {
        let rising: Vec<f64> = (0..60).map(|i| f64::from(i).powi(3)).collect();
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        // It settles where it is flat: at the end.
        assert_eq!(truncation(&falling), None);
        assert_eq!(truncation(&[1.0; 19]), None);
        assert_eq!(truncation(&[f64::NAN; 40]), None);
        assert_eq!(truncation(&[0.0; 40]), Some(0));
    }
}
