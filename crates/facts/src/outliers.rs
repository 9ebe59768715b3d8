//! Trials that stand apart from all others of their stage. They are named and stay in
//! every figure: the median is little moved by one of several, and what made it so may
//! be the disk itself.

use crate::stages::Stage;
use crate::stats;
use crate::words::list;

/// Trials from which on one of them can stand apart.
const TRIALS: usize = 5;

/// Difference from the median from which on it is told.
const DIFFERENCE: f64 = 0.1;

/// Chance that values without an outlier are given one.
const CHANCE: f64 = 0.01;

/// The places of the trials of a stage that stand apart by 10 % or more: by Dixon's
/// ratio at 1 %, of one of a few; by the generalised ESD test, from 15 trials on.
pub(crate) fn of(stage: &Stage<'_>) -> Vec<usize> {
    let rates: Vec<f64> = stage.trials.iter().map(|t| t.iops).collect();
    let Some(median) = stats::median(&rates).filter(|median| *median > 0.0) else {
        return Vec::new();
    };
    if rates.len() < TRIALS || rates.iter().any(|rate| !rate.is_finite()) {
        return Vec::new();
    }
    let away = |i: &usize| (rates[*i] - median).abs() / median;
    let mut apart = stats::outliers(&rates, CHANCE);
    if rates.len() < 15 {
        let farthest = (0..rates.len()).max_by(|a, b| away(a).total_cmp(&away(b)));
        apart.extend(farthest.filter(|place| {
            let mut rest = rates.clone();
            let value = rest.remove(*place);
            let ratio = stats::dixon_q(value, &rest);
            let critical = stats::dixon_critical_99(rates.len());
            ratio.zip(critical).is_some_and(|(r, c)| r > c)
        }));
    }
    apart.retain(|place| away(place) >= DIFFERENCE);
    apart.sort_unstable();
    apart
}

/// Which trials stand apart from the others, if any do, a sentence behind another.
pub(crate) fn said(numbers: &[u32]) -> String {
    let told: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match told.as_slice() {
        [] => String::new(),
        [one] => format!(" Trial {one} stands apart from the others."),
        several => format!(" Trials {} stand apart from the others.", list(several)),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, each, set_rate};

    /// The numbers of the trials of `log-write` that stand apart.
    fn apart(trials: u32, factor: impl Fn(u32) -> f64) -> Vec<u32> {
        let mut plan = diskfacts_plan::builtin::plan("survey").unwrap();
        plan.trials = trials;
        plan.stages.retain(|stage| stage.name == "log-write");
        let mut run = testing::run_of(plan, testing::stack());
        each(&mut run, "log-write", |t| set_rate(t, factor(t.number)));
        let figures = crate::figures(&run);
        let stage = figures.iter().find(|f| f.stage == "log-write").unwrap();
        assert_eq!(stage.iops.trials, trials, "nothing is left out");
        stage.outliers.clone()
    }

    #[test]
    fn one_slow_trial_is_named_and_stays_in_the_figures() {
        for trials in [5, 10, 16] {
            assert_eq!(apart(trials, |n| if n == 4 { 0.5 } else { 1.0 }), [4]);
        }
    }

    #[test]
    fn two_side_by_side_are_found_among_many() {
        let two = |n| if n == 4 || n == 11 { 0.5 } else { 1.0 };
        assert_eq!(apart(20, two), [4, 11]);
    }

    #[test]
    fn small_differences_few_trials_zeros_and_bad_values_have_none() {
        assert_eq!(apart(5, |n| if n == 4 { 0.93 } else { 1.0 }), [0; 0]);
        assert_eq!(apart(3, |n| if n == 2 { 0.5 } else { 1.0 }), [0; 0]);
        assert_eq!(apart(16, |_| 0.0), [0; 0]);
        let mut run = testing::healthy();
        each(&mut run, "log-write", |t| t.iops = f64::NAN);
        assert!(crate::figures(&run).iter().all(|f| f.outliers.is_empty()));
    }
}
