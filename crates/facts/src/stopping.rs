//! When a stage has trials enough, and why it had no more.
//!
//! To look at an interval after each trial and stop when it is narrow makes it hold less
//! often than it says, because it is also narrow by chance (Anscombe, "Sequential
//! Estimation", Journal of the Royal Statistical Society B 15, 1953; Chow and Robbins,
//! Annals of Mathematical Statistics 36, 1965, for the limit of many trials): 95 %
//! intervals that were stopped by their own width held 91 % of simulated medians. So
//! trials go on until the 99 % interval is as narrow as asked, which takes eight of them
//! at least, and the 95 % interval that is stated then holds what it says: 93 to 97 %
//! of simulated runs (`stats/coverage.rs`).

use crate::stages::Stage;
use crate::stats;
use diskfacts_plan::{Plan, Precondition, Until};
use diskfacts_record::{Ended, Run, Status, TargetKind};

/// Trials below which a median has no interval.
const TRIALS_MIN: u32 = 6;

/// Trials of each stage that are made in any case.
pub fn trials_min(plan: &Plan) -> u32 {
    if plan.until.precision.is_some() {
        plan.trials.max(TRIALS_MIN)
    } else {
        plan.trials
    }
}

/// Trials of each stage that are made at most.
pub fn trials_max(plan: &Plan) -> u32 {
    let least = trials_min(plan);
    if plan.until.is_adaptive() {
        let most = plan.until.trials_max.unwrap_or(Until::TRIALS_MAX);
        most.max(least)
    } else {
        least
    }
}

/// Confidence of the interval that is looked at after each trial.
const LOOK: f64 = 0.99;

/// Half of the 99 % interval of the median of these rates, as a share of it: what is
/// held against the precision. `None` without an interval, and when the median is not
/// above 0.
pub fn half_width(rates: &[f64]) -> Option<f64> {
    let [low, high] = stats::median_ci(rates, LOOK)?.interval;
    let median = stats::median(rates).filter(|median| *median > 0.0)?;
    Some((high - low) / 2.0 / median)
}

/// Whether these rates are all that the plan asks for, so that no more are needed; never
/// when it asks for nothing but a number of trials.
pub fn is_reached(plan: &Plan, rates: &[f64]) -> bool {
    if !plan.until.is_adaptive() || (rates.len() as u64) < u64::from(trials_min(plan)) {
        return false;
    }
    let precise = plan
        .until
        .precision()
        .is_none_or(|precision| half_width(rates).is_some_and(|half| half <= precision));
    let steady = !plan.until.steady
        || stats::steadiness(rates).is_some_and(|steadiness| steadiness.is_steady());
    precise && steady
}

/// Whether the work that is done before the trials needs no more rounds, of which these
/// are the rates.
pub fn is_preconditioned(work: &Precondition, rates: &[f64]) -> bool {
    let rounds = rates.len() as u64;
    let least = u64::from(work.at_least());
    let is_steady = || stats::steadiness(rates).is_some_and(|steadiness| steadiness.is_steady());
    rounds >= u64::from(work.at_most()) || (rounds >= least && (!work.steady || is_steady()))
}

/// Why a stage of a run had no more trials.
pub(crate) fn ended(run: &Run, stage: &Stage<'_>) -> Option<Ended> {
    if run.run.status != Status::Complete || run.target.kind == TargetKind::Imported {
        return None;
    }
    let rates: Vec<f64> = stage.trials.iter().map(|trial| trial.iops).collect();
    Some(if is_reached(&run.plan, &rates) {
        Ended::Reached
    } else if rates.len() as u64 >= u64::from(trials_max(&run.plan)) {
        Ended::Trials
    } else {
        Ended::Time
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use diskfacts_plan::Share;

    fn plan(precision: Option<&str>, steady: bool) -> Plan {
        let mut plan = diskfacts_plan::builtin::plan("survey").unwrap();
        plan.until.precision = precision.map(|share| Share::parse(share).unwrap());
        plan.until.steady = steady;
        plan
    }

    #[test]
    fn an_interval_within_the_precision_is_enough_from_eight_trials_on() {
        let plan = plan(Some("3%"), false);
        // The range of eight holds the median with 1 - 2^-7, which is 99.2 %.
        let near = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 100.2, 99.8];
        assert!(is_reached(&plan, &near));
        assert!(!is_reached(&plan, &near[..7]));
        let far = near.map(|rate| 100.0 + 10.0 * (rate - 100.0));
        assert!(!is_reached(&plan, &far));
        let half = half_width(&near).unwrap();
        assert!((0.008..=0.01).contains(&half), "{half}");
        assert_eq!((trials_min(&plan), trials_max(&plan)), (6, 30));
    }

    #[test]
    fn five_steady_rounds_are_enough_where_that_is_asked_for() {
        let plan = plan(None, true);
        assert!(is_reached(
            &plan,
            &[500.0, 300.0, 100.0, 105.0, 95.0, 103.0, 97.0]
        ));
        assert!(!is_reached(
            &plan,
            &[300.0, 200.0, 100.0, 105.0, 95.0, 103.0]
        ));
        assert_eq!(trials_min(&plan), 6);
    }

    #[test]
    fn without_a_wish_zeros_and_bad_rates_nothing_is_reached() {
        let near = [100.0; 12];
        assert!(!is_reached(&plan(None, false), &near));
        assert!(!is_reached(&plan(Some("3%"), false), &[0.0; 12]));
        assert!(!is_reached(&plan(Some("3%"), true), &[f64::NAN; 12]));
        assert!(!is_reached(&plan(Some("3%"), true), &[-1.0; 12]));
    }

    #[test]
    fn what_is_done_before_the_trials_goes_on_until_it_is_steady_or_long_enough() {
        let text = |more: &str| {
            format!("name = \"x\"\n[[precondition]]\nname = \"age\"\noperation = \"write\"\n{more}")
        };
        let work = |more: &str| {
            let plan = diskfacts_plan::file::parse(&text(more)).unwrap();
            plan.precondition[0].clone()
        };
        let falls = [900.0, 500.0, 300.0, 100.0, 105.0, 95.0, 103.0, 97.0];
        let ends = |work: &Precondition| {
            let rounds = 1..=falls.len();
            rounds
                .into_iter()
                .find(|n| is_preconditioned(work, &falls[..*n]))
        };
        assert_eq!(ends(&work("")), Some(1));
        assert_eq!(ends(&work("rounds = 3")), Some(3));
        assert_eq!(ends(&work("steady = true")), Some(8));
        assert_eq!(ends(&work("steady = true\nrounds_max = 6")), Some(6));
        assert_eq!(work("steady = true").at_most(), 25);
    }

    #[test]
    fn the_reason_for_the_end_is_in_the_figures() {
        let mut run = testing::healthy();
        let ended = |run: &Run| crate::figures(run)[0].ended;
        assert_eq!(ended(&run), Some(Ended::Trials));
        run.plan.trials = 8;
        assert_eq!(ended(&run), Some(Ended::Time));
        run.plan.trials = 5;
        run.plan.until.steady = true;
        assert_eq!(ended(&run), Some(Ended::Reached));
        run.plan.until.precision = Share::parse("3%").ok();
        assert_eq!(ended(&run), Some(Ended::Time));
        run.run.status = Status::Interrupted;
        assert_eq!(ended(&run), None);
    }
}
