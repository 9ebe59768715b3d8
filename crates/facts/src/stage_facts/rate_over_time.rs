//! How the rate of a stage ran over time, from the operations completed in equal
//! intervals.

use super::StageFacts;
use crate::course;
use crate::prelude::unless;
use crate::stats;

/// Points that a trial is seen in: enough to see a step, and few enough for each to
/// hold many operations.
const POINTS: usize = 128;
/// Operations that a point holds at least, on average: below, a count is chance.
const OPERATIONS_MIN: f64 = 24.0;
const OPERATIONS_FEW: f64 = 4.0;
/// Points that a plateau has at least.
const PLATEAU_MIN: usize = 3;
/// Points that are left, at least, where neighbours are joined.
const JOINED_MIN: f64 = 8.0;

/// Share of a step by which a point may be off the rate of its plateau: one that is farther off is
/// on its way to the other.
const HELD_OFF: f64 = 1.0 / 3.0;

/// The rate of a stage over the time of all its trials, one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct RateOverTime {
    /// Operations per second, and seconds, of each point.
    pub(crate) points: Vec<(f64, f64)>,
}

/// A rate that was held for a while.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plateau {
    /// Operations per second, median of the points.
    pub(crate) rate: f64,
    /// Standard deviation of the points over their median, without the lowest and the
    /// highest twentieth: a plateau has an end.
    pub(crate) scatter: f64,
    /// Points of which that is the scatter.
    pub(crate) points: usize,
    /// Operations of a point, on average.
    pub(crate) operations: f64,
    /// Seconds.
    pub(crate) seconds: f64,
}

/// A step from one rate to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) before: Plateau,
    pub(crate) after: Plateau,
    /// Share of the scatter of all points that the step explains.
    pub(crate) explained: f64,
    /// Share of the points of either plateau, of that where it is less, which lie within
    /// [`HELD_OFF`] of the step from the rate there.
    pub(crate) held: f64,
}

impl Step {
    /// Share of the time that lies behind it.
    pub(crate) fn behind(&self) -> f64 {
        self.after.seconds / (self.before.seconds + self.after.seconds)
    }

    /// Share of the time that would go away at the first rate.
    pub(crate) fn lost(&self) -> f64 {
        self.behind() * (1.0 - self.after.rate / self.before.rate)
    }
}

/// A rate that rises or falls evenly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    /// Operations per second at the beginning and at the end.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Share of the scatter of all points that it explains.
    pub(crate) explained: f64,
    /// How long it is.
    pub(crate) seconds: f64,
}

impl RateOverTime {
    /// With so many operations in a point that its rate is no chance.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Self {
        Self::with(facts, OPERATIONS_MIN)
    }

    /// With few operations in a point: large transfers are even, and not many.
    pub(crate) fn finely(facts: &StageFacts<'_>) -> Self {
        Self::with(facts, OPERATIONS_FEW)
    }

    fn with(facts: &StageFacts<'_>, operations: f64) -> Self {
        let mut points = Vec::new();
        for trial in facts.trials() {
            let intervals = &trial.evidence.intervals;
            // The first interval holds the start, and the last is cut short.
            let [_, counts @ .., _] = intervals.operations.as_slice() else {
                continue;
            };
            let total: u64 = counts.iter().sum();
            let most = (total as f64 / operations).floor().max(1.0) as usize;
            let wanted = POINTS.min(most).min(counts.len().max(1));
            let each = counts.len().div_ceil(wanted).max(1);
            let seconds = intervals.length_ns as f64 / 1e9 * each as f64;
            let chunks = counts.chunks_exact(each);
            points.extend(chunks.map(|ops| (ops.iter().sum::<u64>() as f64 / seconds, seconds)));
        }
        points.retain(|(rate, seconds)| rate.is_finite() && *seconds > 0.0);
        Self { points }
    }

    /// All of it as one plateau; `None` when there is too little of it.
    pub(crate) fn whole(&self) -> Option<Plateau> {
        plateau(&self.points)
    }

    fn rates(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|(rate, _)| *rate)
    }

    /// The sum of all rates, and of their squares.
    fn sums(&self) -> (f64, f64) {
        (
            self.rates().sum(),
            self.rates().map(|rate| rate * rate).sum(),
        )
    }

    /// The straight line through all points, by least squares.
    pub(crate) fn line(&self) -> Line {
        let n = self.points.len() as f64;
        let middle = (n - 1.0) / 2.0;
        let (total, squares) = self.sums();
        let mean = total / n;
        let along: f64 = (0..)
            .zip(self.rates())
            .map(|(place, rate)| (f64::from(place) - middle) * (rate - mean))
            .sum();
        // The squares of the places about their middle.
        let places = n * (n * n - 1.0) / 12.0;
        let rise = along / places * middle;
        Line {
            from: mean - rise,
            to: mean + rise,
            explained: finite(along * along / places / (squares - mean * total)),
            seconds: self.points.iter().map(|(_, seconds)| seconds).sum(),
        }
    }

    /// The one step that explains most of the scatter, by least squares; `None` when
    /// there is too little to see one.
    pub(crate) fn step(&self) -> Option<Step> {
        let n = self.points.len();
        unless(n < 2 * PLATEAU_MIN)?;
        let (total, squares) = self.sums();
        let spread = squares - total * total / n as f64;
        let (mut left, mut best) = (0.0, (f64::NEG_INFINITY, 0));
        for (i, rate) in self.rates().enumerate() {
            if i >= PLATEAU_MIN && i + PLATEAU_MIN <= n {
                let (before, after) = (i as f64, (n - i) as f64);
                let right = total - left;
                // What the two means explain of the squares.
                let gain = left * left / before + right * right / after;
                if gain > best.0 {
                    best = (gain, i);
                }
            }
            left += rate;
        }
        let (first, second) = self.points.split_at(best.1);
        let (before, after) = (plateau(first)?, plateau(second)?);
        let most_off = HELD_OFF * (before.rate - after.rate).abs();
        let held = |points: &[(f64, f64)], plateau: &Plateau| {
            let near = |(rate, _): &&(f64, f64)| (rate - plateau.rate).abs() <= most_off;
            points.iter().filter(near).count() as f64 / points.len() as f64
        };
        Some(Step {
            before,
            after,
            held: held(first, &before).min(held(second, &after)),
            explained: finite((best.0 - total * total / n as f64) / spread),
        })
    }
}

/// Two levels of a rate that take turns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TwoLevels {
    /// Operations per second of either.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Seconds on the lower one, and in all.
    pub(crate) slow_s: f64,
    pub(crate) all_s: f64,
    /// Points that a level is held for before the other has its turn, on average.
    pub(crate) held: f64,
    /// Operations by which the levels differ in one point.
    pub(crate) apart: f64,
    /// Operations of a point on the upper level.
    pub(crate) of_point: f64,
    /// Share of the scatter of all points that the levels explain.
    pub(crate) explained: f64,
}

impl TwoLevels {
    /// Those of a course; `None` where it has none.
    pub(crate) fn of(course: &RateOverTime) -> Option<Self> {
        let points = &course.points;
        let rates: Vec<f64> = points.iter().map(|(rate, _)| *rate).collect();
        let levels = course::turns(&rates)?;
        let (low, high) = (levels.from, levels.to);
        let cut = f64::midpoint(low, high);
        let slow = |(rate, _): &(f64, f64)| *rate < cut;
        let pairs = points.windows(2);
        let turns = pairs.filter(|two| slow(&two[0]) != slow(&two[1])).count();
        let number = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / number;
        let level = |point: &(f64, f64)| if slow(point) { low } else { high };
        let off: f64 = points.iter().map(|one| (one.0 - level(one)).powi(2)).sum();
        let spread: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        let all_s: f64 = points.iter().map(|point| point.1).sum();
        let slow_points = points.iter().filter(|point| slow(point));
        let each_s = all_s / number;
        Some(Self {
            low,
            high,
            slow_s: slow_points.map(|point| point.1).sum(),
            all_s,
            held: number / turns as f64,
            apart: (high - low) * each_s,
            of_point: high * each_s,
            explained: 1.0 - off / spread,
        })
    }
}

/// Nothing is explained of what does not scatter.
fn finite(explained: f64) -> f64 {
    if explained.is_finite() {
        explained
    } else {
        0.0
    }
}

/// Whether the operations of nine of ten points are as many but for two, as those of an even
/// pace are: one at either end, where the point begins and ends. The tenth is of the ends of
/// trials.
fn are_of_an_even_pace(points: &[(f64, f64)], operations: f64) -> bool {
    let mean = operations / points.len() as f64;
    let off = |(rate, seconds): &&(f64, f64)| (rate * seconds - mean).abs() > 2.0;
    10 * points.iter().filter(off).count() <= points.len()
}

/// Operations and seconds of some points together.
fn together(points: &[(f64, f64)]) -> (f64, f64) {
    let operations = points.iter().map(|(rate, seconds)| rate * seconds).sum();
    (operations, points.iter().map(|(_, seconds)| seconds).sum())
}

fn plateau(points: &[(f64, f64)]) -> Option<Plateau> {
    unless(points.len() < PLATEAU_MIN)?;
    // A course is divided by what it does on average: behind a deep step a point has so
    // few operations that where it begins is most of its scatter. Bunches with silence
    // between them are no such scatter.
    let (operations, seconds) = together(points);
    let each = (OPERATIONS_MIN * points.len() as f64 / operations).ceil();
    let many = points.len() as f64 / each >= JOINED_MIN;
    let joined = if each > 1.0 && many && are_of_an_even_pace(points, operations) {
        each as usize
    } else {
        1
    };
    let rates: Vec<f64> = if joined > 1 {
        let sums = points.chunks(joined).map(together);
        sums.map(|(operations, seconds)| operations / seconds)
            .collect()
    } else {
        points.iter().map(|(rate, _)| *rate).collect()
    };
    let sorted = stats::finite_sorted(&rates);
    let rate = stats::median(&sorted).filter(|rate| *rate > 0.0)?;
    let cut = (sorted.len() / 20).max(1).min((sorted.len() - 1) / 2);
    let inner = &sorted[cut..sorted.len() - cut];
    let squares: f64 = inner.iter().map(|value| (value - rate).powi(2)).sum();
    Some(Plateau {
        rate,
        scatter: (squares / inner.len() as f64).sqrt() / rate,
        points: inner.len(),
        operations: operations / rates.len() as f64,
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(rates: &[f64]) -> RateOverTime {
        RateOverTime {
            points: rates.iter().map(|rate| (*rate, 0.1)).collect(),
        }
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let mut rates = vec![3000.0; 20];
        rates.extend([300.0; 40]);
        let step = course(&rates).step().expect("a step");
        assert!((step.before.seconds - 2.0).abs() < 1e-9, "{step:?}");
        assert!((step.after.rate - 300.0).abs() < 1e-9);
        assert!(step.explained > 0.99 && step.after.scatter < 1e-9);
    }

    #[test]
    fn a_step_has_two_plateaus_and_a_rate_that_wanders_has_none() {
        let mut rates = vec![3000.0; 20];
        rates.extend([2000.0; 40]);
        assert!(course(&rates).step().expect("a step").held > 0.99);
        // Once around, by a quarter: a step explains most of it.
        let turn = |i: u32| (f64::from(i) / 60.0 * std::f64::consts::TAU).sin();
        let rates: Vec<f64> = (0..60).map(|i| 1000.0 + 250.0 * turn(i)).collect();
        let step = course(&rates).step().expect("points enough");
        assert!(step.explained > 0.7 && step.before.rate > 1.2 * step.after.rate);
        assert!(step.held < 0.9, "{step:?}");
    }

    #[test]
    fn of_three_points_one_is_left_and_shows_no_scatter() {
        let mut rates = vec![5000.0; 8];
        rates.extend([1000.0, 1300.0, 1700.0]);
        let step = course(&rates).step().expect("two plateaus");
        assert_eq!((step.after.points, step.after.scatter), (1, 0.0));
        assert_eq!(step.before.points, 6);
    }

    #[test]
    fn an_even_pace_of_few_operations_is_even_and_bunches_of_them_are_not() {
        let plateau = |counts: [f64; 4]| {
            // Points of a tenth of a second.
            let rates: Vec<f64> = (0..80).map(|i| 10.0 * counts[i % 4]).collect();
            course(&rates).whole().expect("points enough")
        };
        let paced = plateau([6.0, 5.0, 6.0, 7.0]);
        assert!(
            paced.scatter < 0.05 && paced.operations >= 24.0,
            "{paced:?}"
        );
        let bunched = plateau([0.0, 0.0, 12.0, 12.0]);
        assert!(
            bunched.scatter > 0.5 && bunched.operations < 7.0,
            "{bunched:?}"
        );
    }

    #[test]
    fn a_line_explains_a_drift_and_less_of_a_step_than_the_step_itself() {
        let drift: Vec<f64> = (0..60).map(|i| 1000.0 - 10.0 * f64::from(i)).collect();
        let of = |rates: &[f64]| {
            let course = course(rates);
            let step = course.step().expect("points enough");
            (course.line().explained, step.explained)
        };
        let (line, step) = of(&drift);
        assert!((line - 1.0).abs() < 1e-9 && (0.74..0.76).contains(&step));
        let mut rates = vec![3000.0; 30];
        rates.extend([300.0; 30]);
        let (line, step) = of(&rates);
        assert!(
            (0.74..0.76).contains(&line) && step > 0.999,
            "{line} {step}"
        );
        assert!(of(&[5.0; 60]).0.abs() < 1e-9);
        let line = course(&drift).line();
        assert!(
            (line.from - 1000.0).abs() < 1e-6 && (line.to - 410.0).abs() < 1e-6,
            "{line:?}"
        );
    }

    #[test]
    fn a_rate_that_goes_up_and_down_is_no_step() {
        let rates: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i % 7)).collect();
        let step = course(&rates).step().expect("points enough");
        assert!(step.explained < 0.3, "{step:?}");
        assert!(course(&rates[..5]).step().is_none());
        assert!(
            course(&[5.0; 60])
                .step()
                .is_some_and(|step| step.explained < 0.1)
        );
    }
}
