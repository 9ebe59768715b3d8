//! How rates follow one another, from trial to trial and within each trial: level, or
//! with a change, a drift, or a coming and going between two levels. Nothing is left
//! out of any figure for it.

use crate::processor_varies::ProcessorVaries;
use crate::spread::trials_behind;
use crate::stages::Stage;
use crate::stats;
use crate::words::{count, percent};
use diskfacts_plan::units::{rate_digits, show_duration};
use diskfacts_record::Trial;
use diskfacts_record::evidence::Intervals;

/// What rates do as they follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They are on one level and then on another.
    Change,
    /// They rise or fall all the time.
    Drift,
    /// They come and go between two levels.
    Modes,
}

/// What a series of rates does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Course {
    pub(crate) kind: Kind,
    /// The first level, or the lower one of two that come and go.
    pub(crate) from: f64,
    /// The last level, or the upper one.
    pub(crate) to: f64,
    /// Where the last level begins, as a share of the series; of a change alone.
    pub(crate) at: f64,
}

impl Course {
    /// By how much the levels differ, as a share of the larger.
    pub(crate) fn size(&self) -> f64 {
        (self.to - self.from).abs() / self.from.max(self.to)
    }

    fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind
            && (self.kind == Kind::Modes || (self.to > self.from) == (other.to > other.from))
    }
}

/// Trials from which on they are a series.
const TRIALS: usize = 8;

/// Levels that differ by less than this are one, from trial to trial and within one.
const BETWEEN: f64 = 0.1;
const WITHIN: f64 = 0.25;

/// Parts of a trial that are looked at, at most and at least.
const PARTS_MAX: usize = 64;
const PARTS_MIN: usize = 20;

/// Operations that a part has in the mean, at least: chance then moves it by a tenth.
const OPERATIONS: f64 = 100.0;

/// Trials of a stage that have to do the same within, at least, and as a share.
const ALIKE: usize = 3;
const ALIKE_SHARE: f64 = 0.8;

/// What the rates of a stage do, and in how many of its trials they do so within; `None` of what
/// they do from trial to trial.
pub(crate) type OfStage = (Course, Option<usize>);

/// The rate of an open loop is the plan's, and that the processor time of operations differs is no
/// pattern.
pub(crate) fn of_stage(stage: &Stage<'_>) -> Option<OfStage> {
    let is_open = stage.workload().rate.is_some();
    if stage.is_null() || is_open || ProcessorVaries::of(stage).is_some() {
        return None;
    }
    let from_trial_to_trial = between(trials_behind(stage)).map(|course| (course, None));
    from_trial_to_trial.or_else(|| {
        let (course, alike) = within(stage)?;
        Some((course, Some(alike)))
    })
}

/// What the rates of these trials do, one after the other.
pub(crate) fn between(trials: &[&Trial]) -> Option<Course> {
    let rates: Vec<f64> = trials.iter().map(|trial| trial.iops).collect();
    if rates.len() < TRIALS || is_level(&rates, BETWEEN) {
        return None;
    }
    of(&rates).filter(|course| course.size() >= BETWEEN)
}

/// What most trials of a stage do within, by its median, and how many of them do so.
fn within(stage: &Stage<'_>) -> Option<(Course, usize)> {
    let courses: Vec<Course> = stage
        .trials
        .iter()
        .filter_map(|trial| parts(&trial.evidence.intervals))
        .filter(|rates| !is_level(rates, WITHIN))
        .filter_map(|rates| of(&rates))
        .filter(|course| course.size() >= WITHIN)
        .collect();
    let first = courses.iter().max_by_key(|course| {
        let alike = courses.iter().filter(|other| course.is_like(other));
        alike.count()
    })?;
    let alike: Vec<&Course> = courses.iter().filter(|c| first.is_like(c)).collect();
    let most = stage.trials.len() as f64 * ALIKE_SHARE;
    if alike.len() < ALIKE || (alike.len() as f64) < most {
        return None;
    }
    let of_all = |value: fn(&Course) -> f64| {
        let values: Vec<f64> = alike.iter().map(|course| value(course)).collect();
        stats::median(&values)
    };
    let course = Course {
        kind: first.kind,
        from: of_all(|course| course.from)?,
        to: of_all(|course| course.to)?,
        at: of_all(|course| course.at)?,
    };
    Some((course, alike.len()))
}

/// Operations per second of a stage once its trials have left their beginning behind, and how long
/// that is, nanoseconds: medians; `None` where less than half of them do.
fn settled(stage: &Stage<'_>) -> Option<(f64, f64)> {
    let of_trial = |trial: &&Trial| {
        let intervals = &trial.evidence.intervals;
        let parts = parts(intervals)?;
        let whole = intervals.operations.len().saturating_sub(1);
        let joined = whole / parts.len();
        let from = stats::truncation(&parts).filter(|from| *from > 0)?;
        let rest = &parts[from..];
        let left_ns = (from * joined) as f64 * intervals.length_ns as f64;
        Some((rest.iter().sum::<f64>() / rest.len() as f64, left_ns))
    };
    let (rates, left_ns): (Vec<f64>, Vec<f64>) = stage.trials.iter().filter_map(of_trial).unzip();
    let enough = rates.len() * 2 > stage.trials.len();
    let settled = stats::median(&rates).zip(stats::median(&left_ns));
    settled.filter(|_| enough)
}

/// The rates of a trial over equal parts of its time, operations per second; `None`
/// where its intervals hold too few operations, or one that was empty: a stall is
/// named by itself. The last interval, which may be short, is left out.
fn parts(intervals: &Intervals) -> Option<Vec<f64>> {
    let whole = intervals.operations.split_last()?.1;
    let total: u64 = whole.iter().fold(0, |sum, n| sum.saturating_add(*n));
    let enough = (total as f64 / OPERATIONS) as usize;
    let number = whole.len().min(PARTS_MAX).min(enough);
    if number < PARTS_MIN {
        return None;
    }
    let joined = whole.len().div_ceil(number);
    let seconds = intervals.length_ns.saturating_mul(joined as u64) as f64 / 1e9;
    let rates: Vec<f64> = whole
        .chunks_exact(joined)
        .map(|part| part.iter().map(|n| *n as f64).sum::<f64>() / seconds)
        .collect();
    let stalled = whole.contains(&0);
    (rates.len() >= PARTS_MIN && seconds > 0.0 && !stalled).then_some(rates)
}

/// Whether rates differ by less than levels would have to: nothing is to be found then.
fn is_level(rates: &[f64], by: f64) -> bool {
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    high - low < by * high
}

/// What a series does; `None` when it is level, and when it is no series of rates.
fn of(rates: &[f64]) -> Option<Course> {
    if rates.iter().any(|rate| !rate.is_finite() || *rate <= 0.0) {
        return None;
    }
    let changes = stats::change_points(rates);
    let levels = stats::levels(rates, &changes);
    if let Some(modes) = modes(rates).filter(|_| changes.len() != 1) {
        return Some(modes);
    }
    let trend = stats::trend(rates)?;
    let last = (rates.len() - 1) as f64;
    let middle = stats::median(rates)?;
    let drift = (trend.chance < 0.002).then(|| Course {
        kind: Kind::Drift,
        from: (middle - trend.slope * last / 2.0).max(0.0),
        to: (middle + trend.slope * last / 2.0).max(0.0),
        at: 0.0,
    });
    let (Some(from), Some(to)) = (levels.first(), levels.last()) else {
        return drift;
    };
    let steps = levels.len() - 1;
    if steps == 0 {
        return drift;
    }
    if drift.is_some() && line_is_nearer(rates, &changes, &levels) {
        return drift;
    }
    let one_way = levels
        .windows(2)
        .all(|pair| (pair[1] > pair[0]) == (to > from));
    (one_way && steps <= 2).then(|| Course {
        kind: Kind::Change,
        from: *from,
        to: *to,
        at: changes[steps - 1] as f64 / rates.len() as f64,
    })
}

/// Two levels that rates come and go between; `None` where one of them is none.
pub(crate) fn turns(rates: &[f64]) -> Option<Course> {
    let sound = rates.iter().all(|rate| rate.is_finite() && *rate > 0.0);
    sound.then(|| modes(rates)).flatten()
}

/// Two levels that take turns: the dip says that there are two, and each is visited more
/// than once.
fn modes(rates: &[f64]) -> Option<Course> {
    if stats::dip(rates)? <= stats::dip_critical_99(rates.len()) {
        return None;
    }
    let cut = stats::cut(rates)?;
    let turns = rates
        .windows(2)
        .filter(|pair| (pair[0] > cut) != (pair[1] > cut))
        .count();
    let (upper, lower): (Vec<f64>, Vec<f64>) = rates.iter().partition(|rate| **rate > cut);
    let rare = upper.len().min(lower.len()) * 10 < rates.len();
    (turns >= 3 && !rare).then_some(Course {
        kind: Kind::Modes,
        from: stats::median(&lower)?,
        to: stats::median(&upper)?,
        at: 0.0,
    })
}

/// Whether a straight line lies nearer to the rates than their levels do: by the sum of
/// squares, where each has two numbers to choose, or more.
fn line_is_nearer(rates: &[f64], changes: &[usize], levels: &[f64]) -> bool {
    let n = rates.len() as f64;
    let centre = (n - 1.0) / 2.0;
    let mean = rates.iter().sum::<f64>() / n;
    let place = |i: usize| i as f64 - centre;
    let (mut along, mut squares) = (0.0, 0.0);
    for (i, rate) in rates.iter().enumerate() {
        along += place(i) * (rate - mean);
        squares += place(i) * place(i);
    }
    let slope = along / squares;
    let (mut of_line, mut of_levels) = (0.0, 0.0);
    for (i, rate) in rates.iter().enumerate() {
        let level = levels[changes.iter().filter(|change| **change <= i).count()];
        of_line += (rate - mean - slope * place(i)).powi(2);
        of_levels += (rate - level).powi(2);
    }
    // Each level has a place and a height to choose.
    let numbers = 2.0 * changes.len() as f64 + 1.0;
    of_line / (n - 2.0) < of_levels / (n - numbers).max(1.0)
}

/// What the rates of a stage do, a sentence.
pub(crate) fn said(stage: &Stage<'_>, (course, within): &OfStage) -> String {
    match within {
        None => of_trials(stage, course),
        Some(alike) => of_parts(stage, course, *alike),
    }
}

fn of_trials(stage: &Stage<'_>, course: &Course) -> String {
    let trials = trials_behind(stage);
    let (from, to) = (rate_digits(course.from), rate_digits(course.to));
    let all = count(trials.len() as u64, "trial");
    match course.kind {
        Kind::Change => {
            let first = (course.at * trials.len() as f64).round() as usize;
            let first = trials.get(first).map_or(0, |trial| trial.number);
            format!("{from} IOPS before trial {first}, {to} from it on, in the median; {all}.")
        }
        Kind::Drift => format!(
            "from {from} to {to} IOPS over {all}, by the median of the slopes between any two \
             (Theil and Sen)."
        ),
        Kind::Modes => {
            format!("{all} alternate between {from} and {to} IOPS: bimodal (Hartigan's dip, 1 %).")
        }
    }
}

fn of_parts(stage: &Stage<'_>, course: &Course, alike: usize) -> String {
    let (from, to) = (rate_digits(course.from), rate_digits(course.to));
    let all = count(stage.trials.len() as u64, "trial");
    let of = format!("in {alike} of {all}");
    match course.kind {
        Kind::Change => {
            let at = percent(course.at);
            let settled = settled(stage).map_or_else(String::new, |(rate, left_ns)| {
                format!(
                    " Without the first {} of each it would be {} IOPS (MSER-5).",
                    show_duration(left_ns as u64),
                    rate_digits(rate)
                )
            });
            format!("from {from} to {to} IOPS after {at} of a trial, {of}.{settled}")
        }
        Kind::Drift => {
            format!("from {from} at the beginning of a trial to {to} IOPS at its end, {of}.")
        }
        Kind::Modes => format!("{from} and {to} IOPS alternate within a trial, {of}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    fn wobble(rng: &mut Rng) -> f64 {
        1.0 + 0.02 * (rng.unit() - 0.5)
    }

    fn kind_of(n: usize, rate: impl Fn(usize) -> f64) -> Option<Kind> {
        let mut rng = Rng::new(4);
        let rates: Vec<f64> = (0..n).map(|i| rate(i) * wobble(&mut rng)).collect();
        of(&rates).map(|course| course.kind)
    }

    #[test]
    fn each_course_is_told_from_the_others() {
        for n in [12, 50] {
            assert_eq!(kind_of(n, |_| 1000.0), None);
            assert_eq!(kind_of(n, |i| 1000.0 - 10.0 * i as f64), Some(Kind::Drift));
            let step = |i| if i * 2 < n { 1000.0 } else { 700.0 };
            assert_eq!(kind_of(n, step), Some(Kind::Change));
            let turns = |i| if i % 4 < 2 { 1000.0 } else { 700.0 };
            assert_eq!(kind_of(n, turns), Some(Kind::Modes));
        }
    }

    #[test]
    fn zeros_and_what_is_no_number_have_no_course() {
        assert_eq!(of(&[0.0; 30]), None);
        assert_eq!(of(&[f64::NAN; 30]), None);
        assert_eq!(of(&[-1.0; 30]), None);
        assert_eq!(of(&[1.0]), None);
    }

    #[test]
    fn parts_have_many_operations_and_none_is_a_stall() {
        let mut intervals = Intervals {
            length_ns: 20_000_000,
            operations: vec![50; 101],
        };
        let rates = parts(&intervals).unwrap();
        assert_eq!(rates.len(), 50);
        assert!(rates.iter().all(|rate| (rate - 2500.0).abs() < 1e-9));
        intervals.operations[7] = 0;
        assert_eq!(parts(&intervals), None);
        intervals.operations = vec![10; 101];
        assert_eq!(parts(&intervals), None);
        intervals.operations = vec![5000; 15];
        assert_eq!(parts(&intervals), None);
        assert_eq!(parts(&Intervals::default()), None);
    }
}
