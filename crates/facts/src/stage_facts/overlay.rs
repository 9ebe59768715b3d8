//! The trials of a stage laid over each other by the position of their intervals: whether
//! they settle at one pace that is exact, and how many operations more come before it.
//!
//! A limiter pays out a budget, so what it lets pass in equal times is the same number of
//! operations, to one: [60, 10, 10, 10, ..] in intervals of 20 ms is a limit of 500 a second
//! whose first tenth of a second goes at once (QEMU, `util/throttle.c`), and
//! [20, 0, 0, 0, 0, 20, ..] one of 200 that is paid out in slices of 100 ms (kernel,
//! `block/blk-throttle.c`). Operations that come by themselves scatter by the root of their
//! number (Poisson). That a pace is exact does not yet make it a limiter's: a device that
//! always takes equally long has one too.

use crate::prelude::unless;
use crate::stats;

/// How closely trials are looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Lumps that a window of intervals holds at least.
    lumps_min: f64,
    /// Intervals that a window is made of at most.
    intervals_max: usize,
    /// Windows of a trial at least: fewer have no beginning and no rest.
    windows_of_trial: usize,
    /// Windows of all trials that a pace is seen in at least.
    windows_min: usize,
}

/// Closely enough that a pace is no chance.
pub(crate) const CLOSE: Look = Look {
    lumps_min: 10.0,
    intervals_max: 32,
    windows_of_trial: 4,
    windows_min: 20,
};

/// As far as few large operations show it: of Poisson counts one stage in ten would pass, so
/// something else has to say it too.
pub(crate) const COARSE: Look = Look {
    lumps_min: 5.0,
    intervals_max: 64,
    windows_of_trial: 2,
    windows_min: 10,
};

/// How far a window may be off: one operation for where it begins, and half a one because
/// the mean need not be whole; or so large a share. Of a Poisson count of 10 a third is as
/// near. Operations that come back several at a time are off by so many.
const COUNTED_OFF: f64 = 1.5;
const SHARE_OFF: f64 = 0.01;
/// Windows that may be farther off: of a machine that had something else to do.
const OTHERS: f64 = 0.1;
/// What comes at the beginning beyond the pace is a burst from so many operations on, and
/// from this share of a window.
const BURST_MIN: f64 = 4.5;
const BURST_SHARE: f64 = 0.4;
/// Share of the trials that have half of the usual burst.
const WITH_BURST: f64 = 0.8;
/// Share of the intervals that are empty where operations come in bunches.
const EMPTY: f64 = 0.6;

/// The pace that the trials of a stage settle at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overlay {
    /// Operations per interval, above 0.
    pub(crate) pace: f64,
    /// Intervals of a window, at least 1: over so many the pace is exact.
    pub(crate) window: usize,
    /// Windows that it was seen in, in all trials, and the share of them that is off.
    pub(crate) windows: usize,
    pub(crate) off: f64,
    /// Operations by which a window is off at most where it is not.
    pub(crate) tolerance: f64,
    /// Operations beyond the pace at the beginning of a trial, median; 0 where there is
    /// no burst.
    pub(crate) burst: f64,
    /// Operations that come together where most intervals are empty, median; 0 where they
    /// are not.
    pub(crate) bunch: f64,
}

/// An exact pace of a stage; it is worked out where a [cap](super::cap) is, once for a run.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    pub(crate) overlay: Overlay,
    pub(crate) interval_s: f64,
    /// Operations per second.
    pub(crate) per_s: f64,
    /// The shortest latency of a trial, where it is known: such as a quarter of them have.
    pub(crate) alone_ns: Option<f64>,
    /// Whether more operations come together than are in flight, with silence between.
    pub(crate) is_bunched: bool,
    /// Share by which the pace may be off.
    pub(crate) off: f64,
    /// Whether the stage by itself tells a cap from a device that always takes equally long.
    pub(crate) shows_a_cap: bool,
}

impl Overlay {
    /// Of the operations in the intervals of each trial, without the last interval, which
    /// is cut short; `None` where there is no exact pace, or too little to see one.
    pub(crate) fn of(trials: &[&[u64]], look: &Look, lump: f64) -> Option<Self> {
        let shortest = trials.iter().map(|trial| trial.len()).min()?;
        let later = trials.iter().map(|trial| mean(&trial[trial.len() / 2..]));
        let pace = stats::median(&later.collect::<Vec<_>>());
        let pace = pace.filter(|pace| *pace > 0.0)?;
        let least = (look.lumps_min * lump / pace).ceil().max(1.0) as usize;
        let most = (shortest / look.windows_of_trial).min(look.intervals_max);
        (least..=most).find_map(|window| {
            let mut skips = (0..window).step_by(window.div_ceil(8));
            skips.find_map(|skip| with(trials, look, lump, (window, skip)))
        })
    }
}

fn sum(counts: &[u64]) -> f64 {
    counts.iter().map(|n| *n as f64).sum()
}

fn mean(counts: &[u64]) -> f64 {
    sum(counts) / counts.len() as f64
}

/// With windows of so many intervals, the first of which begins after `skip`: slices need
/// not begin with a trial.
fn with(
    trials: &[&[u64]],
    look: &Look,
    lump: f64,
    (window, skip): (usize, usize),
) -> Option<Overlay> {
    let tolerance = |count: f64| COUNTED_OFF.max(lump).max(SHARE_OFF * count);
    let windows = |trial: &&[u64]| trial[skip..].chunks_exact(window).map(sum).collect();
    let rows: Vec<Vec<f64>> = trials.iter().map(windows).collect();
    let later = rows.iter().flat_map(|row| &row[row.len() / 2..]);
    let mut near: Vec<f64> = later.copied().collect();
    let middle = stats::median(&near)?;
    near.retain(|count| (count - middle).abs() <= 2.0 * tolerance(middle));
    let usual = near.iter().sum::<f64>() / near.len() as f64;
    let tolerance = tolerance(usual);
    let positions = rows.iter().map(Vec::len).min()?;
    let begin = (0..positions / 2).find(|at| {
        let counts: Vec<f64> = rows.iter().map(|row| row[*at]).collect();
        stats::median(&counts).is_some_and(|count| count <= usual + tolerance)
    })?;
    let rest: Vec<f64> = rows.iter().flat_map(|row| &row[begin..]).copied().collect();
    let is_off = |count: &&f64| (**count - usual).abs() > tolerance;
    let off = rest.iter().filter(is_off).count() as f64 / rest.len() as f64;
    unless(usual < look.lumps_min * lump || rest.len() < look.windows_min || off > OTHERS)?;
    let first = skip + begin * window;
    // Windows and lumps may fall into step; what a trial has in all does not.
    let paces = trials.iter().map(|trial| mean(&trial[first..]));
    let pace = stats::median(&paces.collect::<Vec<_>>())?;
    let after = || trials.iter().flat_map(|trial| &trial[first..]);
    let busy: Vec<f64> = after().filter(|n| **n > 0).map(|n| *n as f64).collect();
    let is_bunched = busy.len() as f64 <= (1.0 - EMPTY) * after().count() as f64;
    Some(Overlay {
        pace,
        window,
        windows: rest.len(),
        off,
        tolerance,
        burst: burst(trials, pace, first.max(window), usual),
        bunch: stats::median(&busy).filter(|_| is_bunched).unwrap_or(0.0),
    })
}

/// Operations beyond the pace in the first intervals, where most trials have them.
fn burst(trials: &[&[u64]], pace: f64, first: usize, window: f64) -> f64 {
    let beyond = |trial: &&[u64]| sum(&trial[..first]) - pace * first as f64;
    let beyond: Vec<f64> = trials.iter().map(beyond).collect();
    let usual = stats::median(&beyond).unwrap_or(0.0);
    let have = beyond.iter().filter(|one| **one >= 0.5 * usual).count() as f64;
    let is_one = usual >= BURST_MIN.max(BURST_SHARE * window);
    if is_one && have >= WITH_BURST * trials.len() as f64 {
        usual
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    fn of(trials: &[Vec<u64>]) -> Option<Overlay> {
        let trials: Vec<&[u64]> = trials.iter().map(Vec::as_slice).collect();
        Overlay::of(&trials, &CLOSE, 1.0)
    }

    /// A budget of `rate` operations per interval, paid out each `slice` intervals from
    /// `phase` on, with `burst` at the beginning: the intervals in which they pass.
    fn paid_out(n: usize, rate: f64, burst: u64, (slice, phase): (usize, usize)) -> Vec<u64> {
        let mut passed = 0;
        let mut counts: Vec<u64> = (0..n)
            .map(|at| {
                let slices = (at + slice - phase) / slice;
                let due = (rate * (slices * slice) as f64) as u64;
                let now = due.saturating_sub(passed);
                passed = passed.max(due);
                now
            })
            .collect();
        counts[0] += burst;
        counts
    }

    /// A Poisson count, by the product of uniform numbers (Knuth).
    fn poisson(rng: &mut Rng, mean: f64) -> u64 {
        let (mut count, mut product) = (0, rng.unit());
        while product > (-mean).exp() {
            count += 1;
            product *= rng.unit();
        }
        count
    }

    #[test]
    fn a_first_tenth_of_a_second_and_then_ten_in_each_interval_is_a_pace_and_a_burst() {
        let mut trial = vec![10; 50];
        trial[0] = 60;
        let one = of(&[trial.clone()]).expect("a pace");
        assert_eq!((one.pace, one.burst, one.window), (10.0, 50.0, 1));
        assert!(one.bunch < 1e-9);
        // Where it takes longer than an interval, and one trial had none.
        trial[0] = 40;
        trial[1] = 30;
        let mut trials = vec![trial; 5];
        trials[3][..2].fill(10);
        let five = of(&trials).expect("a pace");
        assert_eq!((five.pace, five.burst), (10.0, 50.0));
        // Where most had none it is nothing of the stage.
        for trial in &mut trials[1..] {
            trial[..2].fill(10);
        }
        assert!(of(&trials).expect("a pace").burst < 1e-9);
    }

    #[test]
    fn operations_that_come_back_four_at_a_time_are_off_by_four() {
        // As qemu-storage-daemon 7.2 let 500 a second pass with four in flight.
        let trial: Vec<u64> = [8, 12, 8, 12, 8, 8, 12, 12, 8, 16, 8, 4].repeat(5);
        let trials = [trial.as_slice(); 3];
        assert_eq!(Overlay::of(&trials, &CLOSE, 1.0), None);
        let four = Overlay::of(&trials, &CLOSE, 4.0).expect("a pace");
        assert!(
            four.window <= 6 && (four.pace - 9.67).abs() < 0.1,
            "{four:?}"
        );
        // What comes by itself has none in lumps of this size either.
        let mut rng = Rng::new(4);
        for _ in 0..40 {
            let trials: Vec<Vec<u64>> = (0..5)
                .map(|_| (0..100).map(|_| poisson(&mut rng, 10.0)).collect())
                .collect();
            let rows: Vec<&[u64]> = trials.iter().map(Vec::as_slice).collect();
            assert_eq!(Overlay::of(&rows, &CLOSE, 8.0), None, "{trials:?}");
        }
    }

    #[test]
    fn few_large_operations_are_looked_at_coarsely() {
        // As qemu-storage-daemon 7.2 let 10 MB a second pass, 64 KiB each, 8 in flight.
        let trial: Vec<u64> = [0, 8, 0, 0, 8, 0, 8, 0, 0, 8, 0, 0, 8].repeat(4);
        let trials = [trial.as_slice(); 5];
        assert_eq!(Overlay::of(&trials, &CLOSE, 8.0), None);
        let coarse = Overlay::of(&trials, &COARSE, 8.0).expect("a pace");
        assert!((coarse.pace / 3.08 - 1.0).abs() < 0.03, "{coarse:?}");
        let uneven = [vec![8; 26], vec![0; 26]].concat();
        assert_eq!(Overlay::of(&[uneven.as_slice(); 5], &COARSE, 8.0), None);
    }

    #[test]
    fn twenty_in_each_slice_of_a_tenth_of_a_second_are_bunches() {
        let mut trial: Vec<u64> = [20, 0, 0, 0, 0].repeat(10);
        trial[0] = 19;
        let later = [vec![0, 0], trial.clone()].concat();
        let found = of(&[trial.clone(), later, trial]).expect("a pace");
        assert!(
            (found.bunch - 20.0).abs() < 1e-9 && found.window == 5,
            "{found:?}"
        );
        assert!((found.pace - 4.0).abs() < 0.04, "{found:?}");
        assert!(found.burst < 1e-9);
    }

    #[test]
    fn whatever_is_paid_out_is_found_with_its_rate_and_its_burst() {
        let mut rng = Rng::new(18);
        for case in 0..500 {
            let rate = (rng.unit() * 8.0 - 1.0).exp();
            let burst = rng.below(2) * ((rate * 5.0) as u64 + 20);
            let slice = [1, 1, 5][rng.below(3) as usize];
            let trials: Vec<Vec<u64>> = (0..5)
                .map(|_| paid_out(150, rate, burst, (slice, rng.below(slice as u64) as usize)))
                .collect();
            let found = of(&trials).unwrap_or_else(|| panic!("{case}: {rate} {slice} {trials:?}"));
            // A whole number is seen of what is paid out in a trial.
            let near = 0.01 + 1.5 / (rate * 100.0);
            assert!(
                (found.pace / rate - 1.0).abs() < near,
                "{case}: {rate} {found:?}"
            );
            // Where a slice begins within a trial is not known.
            let off = 3.0 + rate * slice as f64;
            let missed = (found.burst - burst as f64).abs();
            assert!(missed <= off, "{case}: {rate} {burst} {found:?}");
        }
    }

    #[test]
    fn operations_that_come_by_themselves_have_no_exact_pace() {
        let mut rng = Rng::new(81);
        for mean in [0.5, 2.0, 4.0, 10.0, 40.0, 200.0] {
            for _ in 0..40 {
                let trial = |rng: &mut Rng| (0..50).map(|_| poisson(rng, mean)).collect();
                let trials: Vec<Vec<u64>> = (0..5).map(|_| trial(&mut rng)).collect();
                assert_eq!(of(&trials), None, "{mean}: {trials:?}");
            }
        }
    }

    #[test]
    fn trials_at_different_paces_and_with_too_little_in_them_have_none() {
        assert_eq!(of(&[vec![10; 50], vec![12; 50], vec![14; 50]]), None);
        assert_eq!(of(&[vec![0; 50]]), None);
        assert_eq!(of(&[vec![1; 20]]), None, "20 operations");
        assert_eq!(of(&[vec![100; 7]]), None, "7 intervals");
        assert_eq!(of(&[vec![], vec![10; 50]]), None);
        assert_eq!(of(&[]), None);
        // No base is seen before it is there for half of a trial.
        let burst = [vec![100; 30], vec![10; 20]].concat();
        assert_eq!(of(&[burst]), None);
    }
}
