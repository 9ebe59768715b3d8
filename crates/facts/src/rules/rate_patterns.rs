//! The rates of a stage follow a pattern: they change their level, drift, or come and go
//! between two levels. One number then stands for several states, and which of them it
//! shows depends on when and for how long it was measured.
//!
//! Looked for from trial to trial, and within each trial, where most have to show the
//! same. No value is left out of a figure for it.

use super::cpu_varies;
use super::prelude::*;
use crate::course::{self, Course, Kind};
use crate::spread::{WARNING, trials_behind};

pub(super) const CHANGE: Rule = Rule {
    name: "change-point",
    check: Check::Stages(&[StageCheck(|facts| course(facts, Kind::Change), changed)]),
    ..Rule::NOTE
};

pub(super) const DRIFT: Rule = Rule {
    name: "drift",
    check: Check::Stages(&[StageCheck(|facts| course(facts, Kind::Drift), drifted)]),
    ..CHANGE
};

pub(super) const MODES: Rule = Rule {
    name: "several-modes",
    check: Check::Stages(&[StageCheck(|facts| course(facts, Kind::Modes), alternated)]),
    ..CHANGE
};

/// What the trials of a stage do one after the other.
pub(super) fn between(stage: &Stage<'_>) -> Option<Course> {
    course::between(trials_behind(stage))
}

/// What is told of a stage whose rates follow a pattern: from trial to trial, else
/// within the trials. The rate of an open loop is the plan's.
pub(super) fn told(stage: &Stage<'_>) -> Option<(Course, String)> {
    if stage.is_null() || stage.workload().rate.is_some() || cpu_varies::is_cause(stage) {
        return None;
    }
    if let Some(course) = between(stage) {
        let line = of_trials(stage, &course);
        return Some((course, line));
    }
    let (course, alike) = course::within(stage)?;
    let line = of_parts(stage, &course, alike);
    Some((course, line))
}

/// A stage whose rates follow this pattern.
fn course(facts: &StageFacts<'_>, kind: Kind) -> Option<Seen> {
    let all = || facts.context.stages.iter().map(told).collect();
    let courses = facts.context.courses.get_or_init(all);
    let (course, line) = courses.get(facts.place?)?.as_ref()?;
    (course.kind == kind).then(|| Seen::line(course.size(), line.clone()))
}

fn changed(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let by = percent(shown.most());
    let claim = format!(
        "{} went from one rate to another, by up to {by}, while measured: the figure is of both.",
        upper_first(&shown.list())
    );
    let headline = format!("the rate changed by up to {by} on the way");
    of_pattern(context, shown, CHANGE.claim(claim).headline(headline))
}

fn drifted(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let by = percent(shown.most());
    let claim = format!(
        "{} became faster or slower all the time, by up to {by}: the figure depends on how long \
         was measured.",
        upper_first(&shown.list())
    );
    let headline = format!("the rate rose or fell all the time, by up to {by}");
    of_pattern(context, shown, DRIFT.claim(claim).headline(headline))
}

fn alternated(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let by = percent(shown.most());
    let claim = format!(
        "{} came and went between two rates, which differ by up to {by}: the median is of neither \
         alone.",
        upper_first(&shown.list())
    );
    let headline = format!("bimodal: two rates, {by} apart");
    of_pattern(context, shown, MODES.claim(claim).headline(headline))
}

/// What is the same of all patterns.
fn of_pattern(context: &Context<'_>, shown: &mut Shown<'_>, found: Found) -> Found {
    shown.keep_worst();
    found
        .severity(warning_if(shown.most() >= WARNING))
        .remedy(remedy(context))
}

fn remedy(context: &Context<'_>) -> String {
    let run = context.run;
    if let Some(said) = of_document(run, "measure longer") {
        return said;
    }
    let longer = format!("type `{}`", measure_longer(run, 4));
    match planted(
        run,
        "[faults], or a write cache that earlier stages filled,",
    ) {
        Some(said) => format!("{said}. To see which rate lasts, {longer}."),
        None => format!(
            "To see which rate lasts, {longer}. Credits of a cloud volume, heat, a cache that is \
             full and what others do on the device make such steps."
        ),
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
            let (at, settled) = (percent(course.at), settled(stage));
            format!("from {from} to {to} IOPS after {at} of a trial, {of}.{settled}")
        }
        Kind::Drift => {
            format!("from {from} at the beginning of a trial to {to} IOPS at its end, {of}.")
        }
        Kind::Modes => format!("{from} and {to} IOPS alternate within a trial, {of}."),
    }
}

/// What a stage does once its trials have left their beginning behind, where that is
/// less than half of them.
fn settled(stage: &Stage<'_>) -> String {
    let of_trial = |trial: &&Trial| {
        let intervals = &trial.evidence.intervals;
        let parts = course::parts(intervals)?;
        let whole = intervals.operations.len().saturating_sub(1);
        let joined = whole / parts.len();
        let from = stats::truncation(&parts).filter(|from| *from > 0)?;
        let rest = &parts[from..];
        let left_ns = (from * joined) as f64 * intervals.length_ns as f64;
        Some((rest.iter().sum::<f64>() / rest.len() as f64, left_ns))
    };
    let (rates, left_ns): (Vec<f64>, Vec<f64>) = stage.trials.iter().filter_map(of_trial).unzip();
    let enough = rates.len() * 2 > stage.trials.len();
    match (stats::median(&rates), stats::median(&left_ns)) {
        (Some(rate), Some(ns)) if enough => format!(
            " Without the first {} of each it would be {} IOPS (MSER-5).",
            show_duration(ns as u64),
            rate_digits(rate)
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only, set_rate};
    use diskfacts_record::Run;

    fn trials_of(factor: impl Fn(u32) -> f64) -> Run {
        let mut plan = diskfacts_plan::builtin::plan("survey").unwrap();
        plan.trials = 12;
        plan.stages.retain(|stage| stage.name == "random-write-qd1");
        let mut run = testing::run_of(plan, testing::stack());
        each(&mut run, "random-write-qd1", |t| {
            set_rate(t, factor(t.number));
        });
        run
    }

    /// Each trial with so many operations in each of its intervals.
    fn parts_of(operations: impl Fn(usize) -> u64) -> Run {
        let mut run = testing::healthy();
        run.plan
            .stages
            .retain(|stage| stage.name == "random-write-qd1");
        run.trials.retain(|trial| trial.stage == "random-write-qd1");
        each(&mut run, "random-write-qd1", |t| {
            t.evidence.intervals.operations = (0..60)
                .map(|i| operations(i) + (i as u64 * 7 + u64::from(t.number)) % 5)
                .collect();
        });
        run
    }

    #[test]
    fn a_step_between_trials_is_one_finding_and_no_noise() {
        let finding = only(&trials_of(|n| if n <= 6 { 1.0 } else { 0.5 }), CHANGE.name);
        assert_eq!(finding.severity, Severity::Warning);
        assert!(
            finding.evidence[0].contains("before trial 7"),
            "{finding:?}"
        );
        let finding = only(&trials_of(|n| if n <= 6 { 1.0 } else { 0.85 }), CHANGE.name);
        assert_eq!(finding.severity, Severity::Note);
        testing::silent(&trials_of(|n| if n <= 6 { 1.0 } else { 0.95 }));
    }

    #[test]
    fn a_drift_and_turns_between_trials_are_told_apart() {
        let finding = only(&trials_of(|n| 1.0 - 0.03 * f64::from(n)), DRIFT.name);
        assert!(finding.evidence[0].contains("12 trials"), "{finding:?}");
        let finding = only(&trials_of(|n| [1.0, 0.6][n as usize / 2 % 2]), MODES.name);
        assert!(finding.evidence[0].contains("alternate"), "{finding:?}");
    }

    #[test]
    fn what_happens_within_most_trials_is_found_too() {
        let finding = only(&parts_of(|i| if i < 20 { 400 } else { 200 }), CHANGE.name);
        assert!(
            finding.evidence[0].contains("in 5 of 5 trials"),
            "{finding:?}"
        );
        assert!(finding.evidence[0].contains("MSER-5"), "{finding:?}");
        only(&parts_of(|i| 400 - 4 * i as u64), DRIFT.name);
        only(&parts_of(|i| [400, 200][i / 3 % 2]), MODES.name);
        testing::silent(&parts_of(|_| 400));
    }

    #[test]
    fn what_one_trial_does_alone_is_not_told_of_all() {
        let mut run = parts_of(|i| if i < 20 { 400 } else { 200 });
        each(&mut run, "random-write-qd1", |t| {
            if t.number > 2 {
                t.evidence.intervals.operations = vec![400; 60];
            }
        });
        testing::silent(&run);
    }
}
