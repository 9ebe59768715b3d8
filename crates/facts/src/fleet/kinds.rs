//! Whether peers are of several kinds that nobody told apart: two generations of a drive under
//! one name of a model, two revisions of a controller.
//!
//! Their spread would be the distance between the kinds, so that nobody is a suspect, or the
//! smaller kind would be suspects all together. So the values are split where they have more
//! than one mode, and each kind is looked at alone.
//!
//! **How often it errs.** The dip test (Hartigan and Hartigan, see [`stats::dip`]) calls at most
//! 1 % of fleets with one mode split, and that of the least favourable distribution, the uniform;
//! fleets that are normal, or have heavy tails, are split less often still. A split is made only where
//! each side has enough disks ([`SHARE_MIN`]) and where the sides are so far apart that it matters
//! ([`APART_MIN_LN`]). A split that is wrong hides no odd disk that lies between the two kinds: it
//! counts as one of the faster. One that lies where the slower kind does is told from it by the
//! other stages ([`generations`](super::generations)). What cannot be told is a disk of the faster
//! kind that is in every stage as slow as the slower kind is.

use crate::stats;

/// Share of the peers that a kind has at least: fewer disks that are slow together are suspects.
const SHARE_MIN: f64 = 0.15;

/// How far the medians of two kinds are apart at least, as a logarithm: half of the least that is
/// called odd by default. Nearer ones don't matter, and steps of the resolution are no kinds.
const APART_MIN_LN: f64 = 0.05;

/// Deviations within which a disk belongs to the slower kind, on its faster side. One normal disk
/// of 4300 lies outside, and would be called a slow one of the faster kind; an odd disk of the
/// faster kind that lies inside is taken for a slower kind's.
const DEVIATIONS: f64 = 3.5;

/// How many times as much as those of the faster kind the disks of the slower kind differ at most:
/// disturbed runs are slower by this and that, and are no kind.
const COMPACT: f64 = 3.0;

/// A spread that is no smaller, as a logarithm, to hold the other kind's against.
const SPREAD_MIN_LN: f64 = 0.01;

/// Share of the disks of an hour, or of all hours, that has to be of one kind for hours to be what
/// the kinds are.
const BY_HOUR: f64 = 0.9;

/// Which kind each value is of, from 0, the fastest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) of: Vec<usize>,
    pub(super) number: usize,
}

impl Kinds {
    /// The kinds of these values, of which more is slower, with the hour in which each was
    /// measured. `members_min` is what a kind has at least.
    pub(super) fn of(values: &[f64], hours: &[i64], members_min: usize) -> Self {
        let mut of = vec![0; values.len()];
        let mut borders = Vec::new();
        let least = members_min.max((values.len() as f64 * SHARE_MIN).ceil() as usize);
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        split(&sorted, least, &mut borders);
        borders.sort_by(f64::total_cmp);
        for (kind, value) in of.iter_mut().zip(values) {
            *kind = borders.partition_point(|border| border <= value);
        }
        let kinds = Self {
            of,
            number: borders.len() + 1,
        };
        if kinds.number > 1 && kinds.are_hours(hours) {
            return Self {
                of: vec![0; values.len()],
                number: 1,
            };
        }
        kinds
    }

    /// Whether the kinds are hours: nearly all disks are of the kind that most of their hour are
    /// of, and that is not the same in all hours. Then hours are compared within, which is
    /// right whichever of the two it is.
    fn are_hours(&self, hours: &[i64]) -> bool {
        let mut places: Vec<usize> = (0..hours.len()).collect();
        places.sort_by_key(|at| hours[*at]);
        let mut by_majority = 0_usize;
        let mut majorities = vec![false; self.number];
        for hour in places.chunk_by(|a, b| hours[*a] == hours[*b]) {
            let mut counts = vec![0_usize; self.number];
            for at in hour {
                counts[self.of[*at]] += 1;
            }
            let most = counts.iter().copied().max().unwrap_or(0);
            by_majority += most;
            for (majority, count) in majorities.iter_mut().zip(&counts) {
                *majority |= *count == most;
            }
        }
        let several = majorities.iter().filter(|is| **is).count() > 1;
        several && by_majority as f64 >= BY_HOUR * self.of.len() as f64
    }
}

/// The values from which on the next kind begins, among these in rising order.
fn split(sorted: &[f64], members_min: usize, borders: &mut Vec<f64>) {
    let Some(border) = border(sorted, members_min) else {
        return;
    };
    let place = sorted.partition_point(|value| *value < border);
    let (fast, slow) = sorted.split_at(place);
    borders.push(border);
    split(fast, members_min, borders);
    split(slow, members_min, borders);
}

/// Where these values part into two kinds; `None` where they are of one.
fn border(sorted: &[f64], members_min: usize) -> Option<f64> {
    if sorted.len() < 2 * members_min || stats::dip(sorted)? <= stats::dip_critical_99(sorted.len())
    {
        return None;
    }
    let mut border = stats::cut(sorted)?;
    // The cut is by means, which a few odd disks move; a few rounds by medians find the kinds.
    for _ in 0..8 {
        let (fast, slow) = sorted.split_at(sorted.partition_point(|value| *value < border));
        let sides =
            [fast, slow].map(|side| Some((stats::median(side)?, stats::robust_deviation(side)?)));
        let [Some((m_fast, d_fast)), Some((m_slow, d_slow))] = sides else {
            return None;
        };
        if m_slow - m_fast < APART_MIN_LN || d_slow > COMPACT * d_fast.max(SPREAD_MIN_LN) {
            return None;
        }
        let both = d_fast + d_slow;
        let between = if both > 0.0 {
            (m_fast * d_slow + m_slow * d_fast) / both
        } else {
            f64::midpoint(m_fast, m_slow)
        };
        // Who lies between the kinds is a slow one of the faster kind: disks get slower by
        // themselves, and not faster.
        let next = between.max(m_slow - DEVIATIONS * d_slow);
        if (next - border).abs() <= 1e-12 * border.abs() {
            break;
        }
        border = next;
    }
    let place = sorted.partition_point(|value| *value < border);
    let least = place.min(sorted.len() - place);
    (least >= members_min).then_some(border)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    fn normal(rng: &mut Rng) -> f64 {
        (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
    }

    /// Student's t with three degrees of freedom.
    fn heavy(rng: &mut Rng) -> f64 {
        let square: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
        normal(rng) / (square / 3.0).sqrt()
    }

    /// A fleet of one kind of which a tenth is disturbed.
    fn disturbed(rng: &mut Rng) -> f64 {
        let by = if rng.unit() <= 0.1 {
            -rng.unit().ln()
        } else {
            0.0
        };
        0.2 * normal(rng) + by
    }

    fn kinds(values: &[f64]) -> Kinds {
        Kinds::of(values, &vec![0; values.len()], 8)
    }

    #[test]
    fn fleets_of_one_kind_are_seldom_split() {
        let seed = 29;
        let mut rng = Rng::new(seed);
        for name in ["uniform", "normal", "heavy", "disturbed"] {
            let value = match name {
                "uniform" => Rng::unit,
                "normal" => normal,
                "heavy" => heavy,
                _ => disturbed,
            };
            for n in [20, 60, 300] {
                let split = (0..300).filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| value(&mut rng)).collect();
                    kinds(&values).number > 1
                });
                let share = split.count() as f64 / 300.0;
                let most = if name == "uniform" { 0.025 } else { 0.01 };
                assert!(share <= most, "seed {seed}, {name}, {n}: {share}");
            }
        }
    }

    #[test]
    fn two_kinds_are_found_and_who_lies_between_is_of_the_faster() {
        let seed = 31;
        let mut rng = Rng::new(seed);
        let mut values: Vec<f64> = (0..100)
            .map(|at| 0.03 * normal(&mut rng) + if at % 4 == 0 { 0.4 } else { 0.0 })
            .collect();
        values.push(0.22);
        values.push(0.62);
        let kinds = kinds(&values);
        assert_eq!(kinds.number, 2);
        for (at, kind) in kinds.of.iter().enumerate() {
            let expected = usize::from(at % 4 == 0 && at < 100 || at == 101);
            assert_eq!(*kind, expected, "seed {seed}, {at}");
        }
    }

    #[test]
    fn hours_are_no_kinds_and_a_few_slow_disks_are_none() {
        let seed = 37;
        let mut rng = Rng::new(seed);
        let hours: Vec<i64> = (0..100).map(|at| at / 20).collect();
        let slow_hour: Vec<f64> = (0..100)
            .map(|at| 0.03 * normal(&mut rng) + if at / 20 == 2 { 0.4 } else { 0.0 })
            .collect();
        assert_eq!(kinds(&slow_hour).number, 2, "seed {seed}");
        assert_eq!(Kinds::of(&slow_hour, &hours, 8).number, 1, "seed {seed}");
        let few: Vec<f64> = (0..100)
            .map(|at| 0.03 * normal(&mut rng) + if at < 10 { 0.4 } else { 0.0 })
            .collect();
        assert_eq!(kinds(&few).number, 1, "seed {seed}");
        assert_eq!(kinds(&[]).number, 1);
        assert_eq!(kinds(&[1.0; 40]).number, 1);
    }
}
