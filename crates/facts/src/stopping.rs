//! When a stage has trials enough, and why it had no more.
//!
//! To look at an interval after each trial and stop when it is narrow makes it hold a
//! little less often than it says (Chow and Robbins, Annals of Mathematical Statistics
//! 36, 1965, for the limit of many trials). So trials are looked at from six on only,
//! and the precision is one of the rates' own, not a test of a claim.

use crate::stages::Stage;
use crate::stats;
use diskfacts_plan::{Plan, Until};
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

/// Half of the 95 % interval of the median of these rates, as a share of it; `None`
/// without an interval, and when the median is not above 0.
pub fn half_width(rates: &[f64]) -> Option<f64> {
    let [low, high] = stats::median_ci(rates, 0.95)?.interval;
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
    fn an_interval_within_the_precision_is_enough_from_six_trials_on() {
        let plan = plan(Some("3%"), false);
        let near = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0];
        assert!(is_reached(&plan, &near));
        assert!(!is_reached(&plan, &near[..5]));
        assert!(!is_reached(
            &plan,
            &[100.0, 110.0, 90.0, 105.0, 95.0, 100.0]
        ));
        let half = half_width(&near).unwrap();
        assert!((half - 0.01).abs() < 1e-12, "{half}");
        assert_eq!((trials_min(&plan), trials_max(&plan)), (6, 100));
    }

    #[test]
    fn five_steady_rounds_are_enough_where_that_is_asked_for() {
        let plan = plan(None, true);
        assert!(is_reached(
            &plan,
            &[500.0, 300.0, 100.0, 105.0, 95.0, 103.0, 97.0]
        ));
        assert!(!is_reached(&plan, &[300.0, 100.0, 105.0, 95.0, 103.0]));
        assert_eq!(trials_min(&plan), 5);
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
