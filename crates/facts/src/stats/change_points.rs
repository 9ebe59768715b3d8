//! Where a series changes its level.

use super::order::{finite_sorted, median};
use super::robust_deviation::robust_deviation;
use super::student_t::{LARGE, t_critical};

/// Values on either side of a change, at least.
const SEGMENT_MIN: usize = 3;

/// What a change has to explain, as a multiple of the variance and of ln n. Twice is
/// the criterion of Schwarz (Annals of Statistics 6, 1978) for a place and a level;
/// more, because the variance is estimated, and the more so the fewer the values:
/// chosen by simulation, so that 1 % of series without a change are given one, and 4 %
/// of those whose neighbours correlate by a half.
fn penalty(n: f64) -> f64 {
    (3.0 + 40.0 / n) * n.ln()
}

/// Values from which on their correlation is estimated.
const SERIES_MIN: usize = 30;

/// The first values of the levels behind the first, in rising order; empty when there
/// is one level, below six values, and when a value is not finite. It is the split with
/// the least sum of squares around the means and a penalty for each change, by dynamic
/// programming (Jackson et al., "An Algorithm for Optimal Partitioning of Data on an
/// Interval", IEEE Signal Processing Letters 12, 2005).
///
/// Variance and correlation are those of differences without the largest tenth, which
/// changes of the level hardly move: with a variance s and a correlation r, neighbours
/// differ with a variance of 2 s (1 - r), and every second one with 2 s (1 - r^2). The
/// penalty is raised by (1 + r) / (1 - r), because the mean of values that are alike is
/// known less well (Shi et al., "Changepoint Detection: An Analysis of the Central
/// England Temperature Series", Journal of Climate 35, 2022, for the reason and the use
/// of differences).
pub fn change_points(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    if n < 2 * SEGMENT_MIN || values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let of_neighbours = variance_of_differences(values, 1);
    let r = if n < SERIES_MIN || of_neighbours <= 0.0 {
        0.0
    } else {
        // What is estimated too low costs more than what is too high.
        let r = variance_of_differences(values, 2) / of_neighbours - 1.0;
        (r + 0.5 / (n as f64).sqrt()).clamp(0.0, 0.9)
    };
    let variance = of_neighbours / 2.0 / (1.0 - r);
    let scale = median(&values.iter().map(|v| v.abs()).collect::<Vec<_>>()).unwrap_or(0.0);
    // Equal values would make any difference a change.
    let variance = variance.max((scale * 1e-6).powi(2)).max(f64::MIN_POSITIVE);
    split(values, penalty(n as f64) * variance * (1.0 + r) / (1.0 - r))
}

/// As [`change_points`], of values that follow each other independently and of which many may
/// stand at a change: the variance is by the median absolute deviation of the differences of
/// neighbours, which up to half of these may be changes. Of a series without any it errs as seldom.
pub fn change_points_among_many(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    if n < 2 * SEGMENT_MIN || values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let differences: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let deviation = robust_deviation(&differences).unwrap_or(0.0) / std::f64::consts::SQRT_2;
    let scale = median(&values.iter().map(|v| v.abs()).collect::<Vec<_>>()).unwrap_or(0.0);
    let deviation = deviation.max(scale * 1e-6).max(f64::MIN_POSITIVE.sqrt());
    split(values, penalty(n as f64) * deviation * deviation)
}

/// The levels of a series, as the median of each part.
pub fn levels(values: &[f64], changes: &[usize]) -> Vec<f64> {
    let from = std::iter::once(0).chain(changes.iter().copied());
    let to = changes.iter().copied().chain([values.len()]);
    from.zip(to)
        .filter_map(|(from, to)| median(&values[from..to]))
        .collect()
}

/// The variance of the differences of values so far apart, as if they were normal,
/// without those that a change may have made: a tenth of them, and one for each value
/// between.
fn variance_of_differences(values: &[f64], apart: usize) -> f64 {
    let early = values.iter();
    let late = values.iter().skip(apart);
    let squares: Vec<f64> = early.zip(late).map(|(a, b)| (b - a) * (b - a)).collect();
    let squares = finite_sorted(&squares);
    let all = squares.len();
    let kept = all.saturating_sub(all.div_ceil(10) + apart - 1).max(1);
    let share = kept as f64 / all as f64;
    // Of a normal distribution cut off at so many deviations on either side, the
    // variance is 1 - 2 z phi(z) / share.
    let z = t_critical(1.0 - share, LARGE);
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let mean = squares[..kept].iter().sum::<f64>() / kept as f64;
    mean / (1.0 - 2.0 * z * density / share)
}

/// The best split, when each change costs `penalty`.
fn split(values: &[f64], penalty: f64) -> Vec<usize> {
    let n = values.len();
    // Around their mean, or squares of a large level would leave no digits.
    let centre = values.iter().sum::<f64>() / n as f64;
    let (mut sums, mut squares) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    for (i, value) in values.iter().enumerate() {
        let value = value - centre;
        sums[i + 1] = sums[i] + value;
        squares[i + 1] = squares[i] + value * value;
    }
    let cost = |from: usize, to: usize| {
        let sum: f64 = sums[to] - sums[from];
        squares[to] - squares[from] - sum * sum / (to - from) as f64
    };
    // The least cost of all before, and where its last level begins.
    let mut best = vec![f64::INFINITY; n + 1];
    let mut begins = vec![0; n + 1];
    best[0] = -penalty;
    for to in SEGMENT_MIN..=n {
        for from in 0..=to - SEGMENT_MIN {
            let total = best[from] + cost(from, to) + penalty;
            if total < best[to] {
                best[to] = total;
                begins[to] = from;
            }
        }
    }
    let mut changes = Vec::new();
    let mut at = begins[n];
    while at > 0 {
        changes.push(at);
        at = begins[at];
    }
    changes.reverse();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    fn noise(rng: &mut Rng) -> f64 {
        (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
    }

    #[test]
    fn the_split_is_the_best_of_all() {
        // Every way to cut ten values into parts of three and more, against the
        // dynamic programme.
        let seed = 11;
        let mut rng = Rng::new(seed);
        for _ in 0..200 {
            let values: Vec<f64> = (0..10)
                .map(|i| noise(&mut rng) + if i < 4 { 0.0 } else { 3.0 })
                .collect();
            let penalty = 4.0;
            let cost = |changes: &[usize]| {
                let mut total = penalty * changes.len() as f64;
                let from = std::iter::once(0).chain(changes.iter().copied());
                for (from, to) in from.zip(changes.iter().copied().chain([10])) {
                    let part = &values[from..to];
                    let mean = part.iter().sum::<f64>() / part.len() as f64;
                    total += part.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
                }
                total
            };
            let mut all = vec![vec![]];
            all.extend((3..=7).map(|a| vec![a]));
            for a in 3..=4 {
                all.extend((a + 3..=7).map(|b| vec![a, b]));
            }
            let best = all.iter().map(|c| cost(c)).fold(f64::INFINITY, f64::min);
            let got = cost(&split(&values, penalty));
            assert!((got - best).abs() < 1e-9, "seed {seed}: {values:?}");
        }
    }

    #[test]
    fn a_step_is_found_where_it_is_and_the_levels_are_told() {
        let mut values = vec![100.0, 101.0, 99.0, 100.5, 100.0, 99.5];
        values.extend([60.0, 61.0, 59.5, 60.5, 60.0, 59.0]);
        let changes = change_points(&values);
        assert_eq!(changes, [6]);
        assert_eq!(levels(&values, &changes), [100.0, 60.0]);
        assert_eq!(levels(&values, &[]), [80.0]);
    }

    #[test]
    fn equal_few_and_bad_values_have_no_change() {
        assert!(change_points(&[0.0; 20]).is_empty());
        assert!(change_points(&[7.0; 20]).is_empty());
        assert!(change_points(&[1.0, 1.0, 1.0, 9.0, 9.0]).is_empty());
        assert!(change_points(&[1.0, 1.0, 1.0, 9.0, f64::NAN, 9.0, 9.0]).is_empty());
        // Two exact levels are two levels.
        assert_eq!(change_points(&[1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0]), [4]);
    }

    #[test]
    fn many_changes_do_not_hide_each_other_and_chance_is_seldom_called_one() {
        let seed = 13;
        let mut rng = Rng::new(seed);
        // Every fourth part of seven values is higher: too many changes for the other estimate.
        let series: Vec<f64> = (0..168)
            .map(|i| noise(&mut rng) + if i / 7 % 4 == 1 { 12.0 } else { 0.0 })
            .collect();
        assert!(change_points(&series).is_empty());
        let expected: Vec<usize> = (0..6).flat_map(|k| [28 * k + 7, 28 * k + 14]).collect();
        assert_eq!(change_points_among_many(&series), expected, "seed {seed}");
        for n in [10, 30, 160] {
            let called = (0..1000).filter(|_| {
                let series: Vec<f64> = (0..n).map(|_| noise(&mut rng)).collect();
                !change_points_among_many(&series).is_empty()
            });
            let share = called.count() as f64 / 1000.0;
            assert!(share <= 0.04, "seed {seed}, {n}: {share}");
        }
    }

    #[test]
    fn chance_and_a_series_are_seldom_called_a_change_and_a_step_mostly_is() {
        let seed = 5;
        let mut rng = Rng::new(seed);
        let mut called = |n: usize, r: f64, step: f64| {
            let found = (0..1000).filter(|_| {
                let mut last = noise(&mut rng);
                let series: Vec<f64> = (0..n)
                    .map(|i| {
                        last = r * last + (1.0 - r * r).sqrt() * noise(&mut rng);
                        100.0 + last + if i < n / 2 { 0.0 } else { step }
                    })
                    .collect();
                !change_points(&series).is_empty()
            });
            found.count() as f64 / 1000.0
        };
        let mut all = Vec::new();
        for (n, r) in [
            (8, 0.0),
            (10, 0.0),
            (20, 0.0),
            (50, 0.0),
            (50, 0.5),
            (200, 0.5),
        ] {
            all.push((n, r, called(n, r, 0.0)));
        }
        let found = [called(10, 0.0, 8.0), called(50, 0.0, 3.0)];
        assert!(
            all.iter().all(|(.., share)| *share <= 0.04),
            "seed {seed}: {all:?} {found:?}"
        );
        assert!(
            found.iter().all(|share| *share >= 0.9),
            "seed {seed}: {found:?}"
        );
    }
}
