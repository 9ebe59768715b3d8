//! Too few trials to state a spread: with fewer than three, one odd trial moves
//! the median, and nothing shows it.

use super::prelude::*;
use crate::spread::{TRIALS_MIN, few_trials};
use crate::words::is_copy;

pub(super) const RULE: Rule = Rule {
    name: "too-few-trials",
    confidence: Confidence::Certain,
    check: Check::One(check),
    ..Rule::NOTE
};

fn check(context: &Context<'_>) -> Option<Found> {
    let few = few_trials(&context.stages);
    // A copy is made once; its figure is of that one.
    unless(is_copy(context.run) || few.is_empty())?;
    let counts = few.iter().map(|(name, trials, cells)| match cells {
        1 => format!("{name} ({trials})"),
        several => format!("{name} ({trials}, in {several} cells)"),
    });
    let evidence = format!("Trials: {}.", list(counts));
    let stages = names(few.iter().map(|(name, ..)| *name));
    let have = if stages.len() == 1 { "has" } else { "have" };
    Some(
        RULE.claim(format!(
            "{} {have} too few trials, less than three, for an interval.",
            stage_list(&stages)
        ))
        .headline("too few trials: no interval")
        .remedy(remedy(context.run))
        .stages(stages)
        .evidence([evidence]),
    )
}

/// More trials, or the time for those that the plan has.
fn remedy(run: &Run) -> String {
    let command = if run.plan.trials as usize >= TRIALS_MIN {
        measure_longer(run, 5)
    } else {
        measure_with(run, "--trials", "5")
    };
    format!("Type `{command}`.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, only};

    #[test]
    fn two_trials_are_a_note_and_three_are_enough() {
        let mut run = testing::healthy();
        run.trials
            .retain(|t| t.stage != "log-write" || t.number <= 2);
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(finding.evidence, ["Trials: log-write (2)."]);
        let mut run = testing::healthy();
        run.trials.retain(|t| t.number <= 3);
        testing::silent(&run);
    }
}
