//! The first trial of a stage differs from all later ones: something was warm,
//! empty or awake the second time.
//!
//! Tested with Dixon's ratio at 1 %, which only the first trial has to pass, so
//! chance calls a stage of five trials different once in 500; and only where
//! the difference is worth telling. Figures are medians, which one trial of five
//! hardly moves: it is a warning where it does.

use super::prelude::*;
use crate::processor_varies::ProcessorVaries;
use crate::spread::{NOISE, first_difference, first_moves};

pub(super) const RULE: Rule = Rule {
    name: "warm-up",
    check: Check::Stages(&[StageCheck(first_differs, warmed_up)]),
    ..Rule::NOTE
};

fn first_differs(facts: &StageFacts<'_>) -> Option<Seen> {
    let stage = facts.stage;
    let difference = first_difference(stage).filter(|_| ProcessorVaries::of(stage).is_none())?;
    let line = format!(
        "the first trial did {} IOPS, {}, which is {} {} than the median of the {} after it.",
        rate_digits(stage.trials[0].iops),
        show_throughput(stage.trials[0].throughput_bytes_per_s),
        percent(difference.abs()),
        if difference < 0.0 { "less" } else { "more" },
        stage.trials.len() - 1
    );
    Some((difference.abs(), vec![line]))
}

fn warmed_up(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let by = percent(shown.most());
    let moved = shown.facts().filter_map(|facts| first_moves(facts.stage));
    let moved = moved.fold(0.0, f64::max);
    let planned = context.run.plan.trials.max(4);
    let more = format!("set trials = {}", planned.saturating_mul(2));
    let fewest = shown.facts().map(|facts| facts.trials().len()).min();
    let of = if moved > NOISE {
        format!("It moves the median by {}.", percent(moved))
    } else {
        let trials = count(fewest.unwrap_or(0) as u64, "trial");
        format!("The median is little moved by one of {trials}.")
    };
    RULE.claim(format!(
        "The first trial of {} differs from all later ones, by up to {by}: the target had to warm \
         up, or had room that was used up.",
        shown.list()
    ))
    .severity(warning_if(moved > NOISE))
    .headline(format!("the first trial differs by up to {by}"))
    .remedy(format!(
        "{of} To settle it, {}",
        lower_first(&edit_plan(context.run, &more))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, of_rule, only, set_rate};

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
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.claim.contains("up to 40 %"), "{finding:?}");
        assert!(
            finding.evidence[0].contains("less than the median of the 4"),
            "{finding:?}"
        );
        assert!(finding.remedy.contains("trials = 10"), "{finding:?}");
        assert!(finding.remedy.contains("by one of 5 trials"), "{finding:?}");
    }

    #[test]
    fn a_first_trial_that_moves_the_median_is_a_warning() {
        let mut run = testing::healthy();
        each(&mut run, "random-write-qd1", |t| {
            set_rate(t, [3.2, 0.95, 0.97, 1.25, 1.27][t.number as usize - 1]);
        });
        let finding = of_rule(&run, RULE.name).expect("it stands apart");
        assert_eq!(finding.severity, Severity::Warning, "{finding:?}");
        assert!(
            finding.remedy.starts_with("It moves the median by 1"),
            "{finding:?}"
        );
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
