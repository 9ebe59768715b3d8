//! Whether values gather in one place or in several.

use super::order::finite_sorted;

/// How far a sample is from having one mode: the dip of Hartigan and Hartigan ("The Dip
/// Test of Unimodality", Annals of Statistics 13, 1985), the least distance between its
/// distribution function and one that is convex up to a mode and concave behind it. From
/// `1/2n` to `1/4`; `None` without a finite value.
///
/// By the algorithm of P. M. Hartigan (Applied Statistics 34, 1985, AS 217): where the
/// concave function over the values and the convex one under them are farthest from each
/// other, there lies the mode; outside of it each has to be as near to the values as the
/// dip; then the same within, until they are nearer to each other than that.
pub fn dip(values: &[f64]) -> Option<f64> {
    let steps = steps(values);
    let (mut low, mut high) = (0, steps.len().checked_sub(1)?);
    let n = steps[high].upto;
    // Twice the dip, in values; a step of the distribution is the least.
    let mut least = 1.0;
    loop {
        let part = &steps[low..=high];
        let (under, corners_under) = hull(part, |step| step.below, 1.0);
        let (over, corners_over) = hull(part, |step| step.upto, -1.0);
        let apart = |i: usize| over[i] - under[i];
        let corners = corners_under.iter().chain(&corners_over).copied();
        let place = corners.max_by(|a, b| apart(*a).total_cmp(&apart(*b)))?;
        if apart(place) <= least {
            break;
        }
        let (from, to) = if corners_under.contains(&place) {
            let behind = corners_over.iter().find(|corner| **corner >= place);
            (place, *behind?)
        } else {
            let before = corners_under.iter().rev().find(|corner| **corner <= place);
            (*before?, place)
        };
        for (step, convex) in part[..from].iter().zip(&under) {
            least = f64::max(least, step.upto - convex);
        }
        for (step, concave) in part.iter().zip(&over).skip(to + 1) {
            least = f64::max(least, concave - step.below);
        }
        if (from, to) == (0, part.len() - 1) {
            break;
        }
        (low, high) = (low + from, low + to);
    }
    Some(least / 2.0 / n)
}

/// A value, with how many of the sample lie below it, and up to it.
struct Step {
    value: f64,
    below: f64,
    upto: f64,
}

fn steps(values: &[f64]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(values.len());
    for (i, value) in finite_sorted(values).into_iter().enumerate() {
        let upto = (i + 1) as f64;
        match steps.last_mut() {
            Some(last) if last.value.total_cmp(&value).is_eq() => last.upto = upto,
            _ => steps.push(Step {
                value,
                below: i as f64,
                upto,
            }),
        }
    }
    steps
}

/// The greatest convex function under these points, at each of them, and its corners;
/// with `sign` -1 the least concave one over them.
fn hull(steps: &[Step], height: fn(&Step) -> f64, sign: f64) -> (Vec<f64>, Vec<usize>) {
    let slope = |a: usize, b: usize| {
        (height(&steps[b]) - height(&steps[a])) / (steps[b].value - steps[a].value)
    };
    let mut corners: Vec<usize> = Vec::new();
    for at in 0..steps.len() {
        while let [.., before, last] = corners[..]
            && (slope(before, last) - slope(last, at)) * sign >= 0.0
        {
            corners.pop();
        }
        corners.push(at);
    }
    let mut heights = vec![height(&steps[0]); steps.len()];
    for pair in corners.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        for i in a..=b {
            let along = steps[i].value - steps[a].value;
            heights[i] = height(&steps[a]) + along * slope(a, b);
        }
    }
    (heights, corners)
}

/// The dip that 1 % of samples of `n` values exceed when they come from the uniform
/// distribution, which has the largest dips of all with one mode (Hartigan and Hartigan,
/// as above): a formula through the table of Maechler's package `diptest` for R, within
/// 2 % of it from 7 values on.
pub fn dip_critical_99(n: usize) -> f64 {
    let root = (n.max(1) as f64).sqrt();
    (0.63 - 0.39 / root) / root
}

/// The value at which two modes are parted best, by the least sum of squares around the
/// mean of either side: Fisher, "On Grouping for Maximum Homogeneity", Journal of the
/// American Statistical Association 53 (1958). Half way between the two values beside
/// the cut; `None` without two unlike values.
pub fn cut(values: &[f64]) -> Option<f64> {
    let sorted = finite_sorted(values);
    let n = sorted.len() as f64;
    let total: f64 = sorted.iter().sum();
    let mut best = None;
    let (mut most, mut sum) = (0.0, 0.0);
    for (i, pair) in sorted.windows(2).enumerate() {
        sum += pair[0];
        let below = (i + 1) as f64;
        let difference = sum / below - (total - sum) / (n - below);
        // The sum of squares between the two sides.
        let between = below * (n - below) / n * difference * difference;
        if between > most && pair[0] < pair[1] {
            most = between;
            best = Some(f64::midpoint(pair[0], pair[1]));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    #[test]
    fn dips_by_hand() {
        let near = |values: &[f64], expected: f64| {
            let got = dip(values).unwrap();
            assert!((got - expected).abs() < 1e-12, "{values:?}: {got}");
        };
        // Equal distances and one value: half a step, the least there is.
        near(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.1);
        near(&[3.0], 0.5);
        near(&[2.0; 8], 1.0 / 16.0);
        // Two places with half of the values each: the largest there is.
        let mut two = vec![0.0; 50];
        two.extend([1.0; 50]);
        near(&two, 0.25);
        // A tenth at the second place: half of it.
        let mut tenth = vec![0.0; 90];
        tenth.extend([1.0; 10]);
        near(&tenth, 0.05);
    }

    #[test]
    fn the_critical_dips_are_those_of_the_published_table() {
        // 95 % of the samples of the uniform distribution have a smaller dip: the
        // table of Maechler's package `diptest` for R, of a million samples each.
        let seed = 3;
        let mut rng = Rng::new(seed);
        for (n, published) in [(10, 0.13961), (20, 0.10513), (50, 0.07027), (100, 0.05113)] {
            let dips: Vec<f64> = (0..2000)
                .map(|_| dip(&(0..n).map(|_| rng.unit()).collect::<Vec<_>>()).unwrap())
                .collect();
            let got = crate::stats::quantile(&dips, 0.95).unwrap();
            assert!(
                (got / published - 1.0).abs() < 0.03,
                "seed {seed}, {n}: {got}"
            );
        }
    }

    #[test]
    fn the_formula_goes_through_the_table() {
        for (n, table) in [
            (7, 0.184_119),
            (10, 0.159_684),
            (20, 0.120_624),
            (50, 0.081_200),
            (100, 0.059_024),
            (1000, 0.019_608),
            (5000, 0.008_864),
        ] {
            let ratio = dip_critical_99(n) / table;
            assert!((ratio - 1.0).abs() < 0.02, "{n}: {ratio}");
        }
    }

    #[test]
    fn two_states_are_told_from_one_and_parted_between_them() {
        let seed = 9;
        let mut rng = Rng::new(seed);
        let mut normal =
            || (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos();
        let one: Vec<f64> = (0..60).map(|_| 100.0 + normal()).collect();
        let two: Vec<f64> = (0..60)
            .map(|i| normal() + if i % 3 == 0 { 80.0 } else { 100.0 })
            .collect();
        assert!(dip(&one).unwrap() < dip_critical_99(60));
        assert!(dip(&two).unwrap() > dip_critical_99(60));
        let cut = cut(&two).unwrap();
        assert!((84.0..96.0).contains(&cut), "{cut}");
    }

    #[test]
    fn no_values_and_bad_ones_have_no_dip() {
        assert_eq!(dip(&[]), None);
        assert_eq!(dip(&[f64::NAN]), None);
        assert_eq!(cut(&[1.0, 1.0]), None);
        assert_eq!(cut(&[0.0, 1.0]), Some(0.5));
    }
}
