//! The first trial of a stage differs from all later ones: something was warm,
//! empty or awake the second time.
//!
//! Tested with Dixon's ratio at 1 %, which only the first trial has to pass, so
//! chance calls a stage of five trials different once in 500; and only where
//! the difference is worth telling.

use super::cpu_varies;
use super::prelude::*;
use super::too_noisy::WARNING;

pub(super) const RULE: Rule = Rule {
    name: "warm-up",
    about: "the first trial differs from the later ones",
    refuted_by: "A second run whose first trials do not differ.",
    check: Check::Stages(&[Look(&[], first_differs, warmed_up)]),
    ..Rule::NOTE
};

/// Trials of a stage from which on a rest has a range.
const TRIALS: usize = 4;
/// Difference from which on it is told.
const NOTE: f64 = 0.05;

/// How the first trial differs from the median of the rest, as a share of it;
/// `None` when it does not stand apart.
fn difference(stage: &Stage<'_>) -> Option<f64> {
    let rates: Vec<f64> = stage.trials.iter().map(|t| t.iops).collect();
    let (first, rest) = rates.split_first()?;
    if rates.len() < TRIALS || rates.iter().any(|rate| !rate.is_finite()) {
        return None;
    }
    let median = stats::median(rest)?;
    let ratio = stats::dixon_q(*first, rest)?;
    let critical = stats::dixon_critical_99(rates.len())?;
    let difference = (first - median) / median;
    (median > 0.0 && ratio > critical && difference.abs() > NOTE).then_some(difference)
}

/// The trials of a stage without a first one that stands apart, which is a finding of
/// its own.
pub(super) fn trials_behind<'s, 'a>(stage: &'s Stage<'a>) -> &'s [&'a Trial] {
    &stage.trials[usize::from(difference(stage).is_some())..]
}

fn first_differs(facts: &StageFacts<'_>) -> Option<Seen> {
    let stage = facts.stage;
    let difference = difference(stage).filter(|_| !cpu_varies::is_cause(stage))?;
    let line = format!(
        "the first trial did {} IOPS, {}, which is {} {} than the median of the {} after it.",
        rate_digits(stage.trials[0].iops),
        show_throughput(stage.trials[0].throughput_bytes_per_s),
        percent(difference.abs()),
        if difference < 0.0 { "less" } else { "more" },
        stage.trials.len() - 1
    );
    Some(Seen::line(difference.abs(), line))
}

fn warmed_up(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let by = percent(shown.most());
    let trials = context.run.plan.trials.max(4);
    let more = format!("set trials = {}", trials.saturating_mul(2));
    RULE.claim(format!(
        "The first trial of {} differs from all later ones, by up to {by}: the target had to warm \
         up, or had room that was used up.",
        shown.list()
    ))
    .severity(warning_if(shown.most() > WARNING))
    .headline(format!("the first trial differs by up to {by}"))
    .remedy(format!(
        "The median is little moved by one of {}. To settle it, {}",
        count(u64::from(trials), "trial"),
        lower_first(&edit_plan(context.run, &more))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only, set_rate};

    fn slow_first(run: &mut diskfacts_record::Run, stage: &str, factor: f64) {
        each(run, stage, |t| {
            if t.number == 1 {
                set_rate(t, factor);
            }
        });
    }

    #[test]
    fn a_slow_first_trial_is_found_and_not_called_noise() {
        let mut run = testing::healthy();
        slow_first(&mut run, "random-write-qd1", 0.6);
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.claim.contains("up to 40 %"), "{finding:?}");
        assert!(
            finding.evidence[0].contains("less than the median of the 4"),
            "{finding:?}"
        );
        assert!(finding.remedy.contains("trials = 10"), "{finding:?}");
    }

    #[test]
    fn a_fast_first_trial_is_found_too() {
        let mut run = testing::healthy();
        slow_first(&mut run, "random-write-qd1", 1.15);
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence[0].contains("more than"), "{finding:?}");
    }

    #[test]
    fn a_later_outlier_and_a_small_difference_are_not_a_warm_up() {
        let mut run = testing::healthy();
        slow_first(&mut run, "random-write-qd1", 0.97);
        testing::silent(&run);
        // 6 % off, but chance may do that where the rest differ by 2 %.
        let mut run = testing::healthy();
        slow_first(&mut run, "random-write-qd1", 0.94);
        testing::silent(&run);
        let mut run = testing::healthy();
        each(&mut run, "random-write-qd1", |t| {
            if t.number == 3 {
                set_rate(t, 0.94);
            }
        });
        testing::silent(&run);
    }
}
