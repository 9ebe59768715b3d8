//! The rates of a stage follow a pattern: they change their level, drift, or come and go
//! between two levels. One number then stands for several states, and which of them it
//! shows depends on when and for how long it was measured.
//!
//! Looked for from trial to trial, and within each trial, where most have to show the
//! same ([`course`]). No value is left out of a figure for it.

use super::prelude::*;
use crate::course::{self, Kind};
use crate::spread::WARNING;

pub(super) const CHANGE: Rule = Rule {
    name: "change-point",
    check: Check::Stages(&[StageCheck(
        |facts| follows(facts, Kind::Change),
        |context, shown| {
            let by = percent(shown.most());
            let claim = format!(
                "went from one rate to another, by up to {by}, while measured: the figure is of \
                 both."
            );
            let headline = format!("the rate changed by up to {by} on the way");
            pattern(&CHANGE, context, shown, &claim, headline)
        },
    )]),
    ..Rule::NOTE
};

pub(super) const DRIFT: Rule = Rule {
    name: "drift",
    check: Check::Stages(&[StageCheck(
        |facts| follows(facts, Kind::Drift),
        |context, shown| {
            let by = percent(shown.most());
            let claim = format!(
                "became faster or slower all the time, by up to {by}: the figure depends on how \
                 long was measured."
            );
            let headline = format!("the rate rose or fell all the time, by up to {by}");
            pattern(&DRIFT, context, shown, &claim, headline)
        },
    )]),
    ..CHANGE
};

pub(super) const MODES: Rule = Rule {
    name: "several-modes",
    check: Check::Stages(&[StageCheck(
        |facts| follows(facts, Kind::Modes),
        |context, shown| {
            let by = percent(shown.most());
            let claim = format!(
                "came and went between two rates, which differ by up to {by}: the median is of \
                 neither alone."
            );
            let headline = format!("bimodal: two rates, {by} apart");
            pattern(&MODES, context, shown, &claim, headline)
        },
    )]),
    ..CHANGE
};

/// A stage whose rates follow this pattern.
fn follows(facts: &StageFacts<'_>, kind: Kind) -> Option<Seen> {
    let of_stage = facts.context.course(facts.place?)?;
    let course = &of_stage.0;
    (course.kind == kind).then(|| (course.size(), vec![course::said(facts.stage, of_stage)]))
}

/// What is the same of all patterns.
fn pattern(
    rule: &Rule,
    context: &Context<'_>,
    shown: &mut Shown<'_>,
    claim: &str,
    headline: String,
) -> Found {
    shown.keep_worst();
    rule.claim(format!("{} {claim}", upper_first(&shown.list())))
        .headline(headline)
        .severity(warning_if(shown.most() >= WARNING))
        .remedy(remedy(context.run))
        .of_document(context.run, "measure longer")
}

fn remedy(run: &Run) -> String {
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
