//! The rates of a stage follow a pattern: they change their level, drift, or come and go
//! between two levels. One number then stands for several states, and which of them it
//! shows depends on when and for how long it was measured.
//!
//! Looked for from trial to trial, and within each trial, where most have to show the
//! same. No value is left out of a figure for it.

use super::{Context, names, warm_up};
use crate::course::{self, Course, Kind};
use crate::simulated::planted;
use crate::stages::Stage;
use crate::stats;
use crate::words::{count, measure_longer, of_document, percent, stage_list, worst};
use diskfacts_plan::units::{rate_digits, show_duration};
use diskfacts_record::{Confidence, Finding, Severity, Trial};

pub(super) const CHANGE: &str = "change-point";
pub(super) const DRIFT: &str = "drift";
pub(super) const MODES: &str = "several-modes";

/// Difference between levels from which on it is a warning: where SNIA's Performance
/// Test Specification no longer calls a device steady.
const WARNING: f64 = 0.2;

/// The trials of a stage without a first one that stands apart, which is a finding of
/// its own.
fn trials<'s, 'a>(stage: &'s Stage<'a>) -> &'s [&'a Trial] {
    let skip = usize::from(warm_up::difference(stage).is_some());
    &stage.trials[skip..]
}

/// What the trials of a stage do one after the other.
pub(super) fn between(stage: &Stage<'_>) -> Option<Course> {
    course::between(trials(stage))
}

/// What is told of a stage.
#[derive(Debug)]
pub(super) struct Told {
    kind: Kind,
    size: f64,
    line: String,
}

/// What is told of each stage whose rates follow a pattern: from trial to trial, else
/// within the trials. The rate of an open loop is the plan's.
pub(super) fn of_stages(stages: &[Stage<'_>]) -> Vec<(usize, Told)> {
    let told = |stage: &Stage<'_>| {
        if stage.is_null() || stage.workload().rate.is_some() {
            return None;
        }
        let (course, line) = if let Some(course) = between(stage) {
            let line = of_trials(stage, &course);
            (course, line)
        } else {
            let (course, alike) = course::within(stage)?;
            let line = of_parts(stage, &course, alike);
            (course, line)
        };
        Some(Told {
            kind: course.kind,
            size: course.size(),
            line,
        })
    };
    let all = stages.iter().enumerate();
    all.filter_map(|(place, stage)| Some((place, told(stage)?)))
        .collect()
}

pub(super) fn change(context: &Context<'_>) -> Vec<Finding> {
    check(context, Kind::Change)
}

pub(super) fn drift(context: &Context<'_>) -> Vec<Finding> {
    check(context, Kind::Drift)
}

pub(super) fn modes(context: &Context<'_>) -> Vec<Finding> {
    check(context, Kind::Modes)
}

fn check(context: &Context<'_>, kind: Kind) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut most = 0.0_f64;
    for (stage, told) in context
        .courses()
        .iter()
        .filter(|(_, told)| told.kind == kind)
    {
        most = most.max(told.size);
        stages.push(context.stages[*stage].name);
        evidence.push((told.size, told.line.clone()));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    let whose = stage_list(&stages);
    let by = percent(most);
    let (rule, headline, claim) = match kind {
        Kind::Change => (
            CHANGE,
            format!("the rate changed by up to {by} on the way"),
            format!(
                "{whose} went from one rate to another, by up to {by}, while measured: the figure is of both."
            ),
        ),
        Kind::Drift => (
            DRIFT,
            format!("the rate rose or fell all the time, by up to {by}"),
            format!(
                "{whose} became faster or slower all the time, by up to {by}: the figure depends on how long was measured."
            ),
        ),
        Kind::Modes => (
            MODES,
            format!("two rates in turn, up to {by} apart"),
            format!(
                "{whose} came and went between two rates, which differ by up to {by}: the median is of neither alone."
            ),
        ),
    };
    vec![Finding {
        rule: rule.into(),
        severity: if most >= WARNING {
            Severity::Warning
        } else {
            Severity::Note
        },
        headline,
        claim: capital(&claim),
        evidence: worst(evidence),
        confidence: Confidence::Likely,
        refuted_by: "A longer run whose rates stay on one level.".into(),
        remedy: remedy(context),
        stages,
    }]
}

fn remedy(context: &Context<'_>) -> String {
    let run = context.run;
    if let Some(said) = of_document(run, "measure longer") {
        return said;
    }
    let longer = format!("type `{}`", measure_longer(run, 4));
    match planted(run, "[faults.throttle], [faults.neighbour] and slow zones") {
        Some(said) => format!("{said}. To see which rate lasts, {longer}."),
        None => format!(
            "To see which rate lasts, {longer}. Credits of a cloud volume, heat, a cache that is \
             full and what others do on the device make such steps."
        ),
    }
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

fn of_trials(stage: &Stage<'_>, course: &Course) -> String {
    let trials = trials(stage);
    let label = stage.label();
    let (from, to) = (rate_digits(course.from), rate_digits(course.to));
    let all = count(trials.len() as u64, "trial");
    match course.kind {
        Kind::Change => {
            let first = (course.at * trials.len() as f64).round() as usize;
            format!(
                "{label}: {from} IOPS before trial {}, {to} from it on, in the median; {all}.",
                trials.get(first).map_or(0, |trial| trial.number)
            )
        }
        Kind::Drift => format!(
            "{label}: from {from} to {to} IOPS over {all}, by the median of the slopes between \
             any two (Theil and Sen)."
        ),
        Kind::Modes => format!(
            "{label}: {all} lie around {from} and around {to} IOPS, in turns (Hartigan's dip, 1 %)."
        ),
    }
}

fn of_parts(stage: &Stage<'_>, course: &Course, alike: usize) -> String {
    let label = stage.label();
    let (from, to) = (rate_digits(course.from), rate_digits(course.to));
    let of = format!(
        "in {alike} of {}",
        count(stage.trials.len() as u64, "trial")
    );
    match course.kind {
        Kind::Change => format!(
            "{label}: from {from} to {to} IOPS after {} of a trial, {of}.{}",
            percent(course.at),
            settled(stage)
        ),
        Kind::Drift => format!(
            "{label}: from {from} at the beginning of a trial to {to} IOPS at its end, {of}."
        ),
        Kind::Modes => {
            format!("{label}: {from} and {to} IOPS in turns within a trial, {of}.")
        }
    }
}

/// What a stage does once its trials have left their beginning behind, where that is
/// less than half of them.
fn settled(stage: &Stage<'_>) -> String {
    let mut rates = Vec::new();
    let mut left_ns = Vec::new();
    for trial in &stage.trials {
        let intervals = &trial.evidence.intervals;
        let Some(parts) = course::parts(intervals) else {
            continue;
        };
        let whole = intervals.operations.len().saturating_sub(1);
        let joined = whole / parts.len();
        if let Some(from) = stats::truncation(&parts).filter(|from| *from > 0) {
            let rest = &parts[from..];
            rates.push(rest.iter().sum::<f64>() / rest.len() as f64);
            left_ns.push((from * joined) as f64 * intervals.length_ns as f64);
        }
    }
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
        let finding = only(&trials_of(|n| if n <= 6 { 1.0 } else { 0.5 }), CHANGE);
        assert_eq!(finding.severity, Severity::Warning);
        assert!(
            finding.evidence[0].contains("before trial 7"),
            "{finding:?}"
        );
        let finding = only(&trials_of(|n| if n <= 6 { 1.0 } else { 0.85 }), CHANGE);
        assert_eq!(finding.severity, Severity::Note);
        testing::silent(&trials_of(|n| if n <= 6 { 1.0 } else { 0.95 }));
    }

    #[test]
    fn a_drift_and_turns_between_trials_are_told_apart() {
        let finding = only(&trials_of(|n| 1.0 - 0.03 * f64::from(n)), DRIFT);
        assert!(finding.evidence[0].contains("12 trials"), "{finding:?}");
        let finding = only(&trials_of(|n| [1.0, 0.6][n as usize / 2 % 2]), MODES);
        assert!(finding.evidence[0].contains("in turns"), "{finding:?}");
    }

    #[test]
    fn what_happens_within_most_trials_is_found_too() {
        let finding = only(&parts_of(|i| if i < 20 { 400 } else { 200 }), CHANGE);
        assert!(
            finding.evidence[0].contains("in 5 of 5 trials"),
            "{finding:?}"
        );
        assert!(finding.evidence[0].contains("MSER-5"), "{finding:?}");
        only(&parts_of(|i| 400 - 4 * i as u64), DRIFT);
        only(&parts_of(|i| [400, 200][i / 3 % 2]), MODES);
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
