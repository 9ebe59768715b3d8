//! Too few trials to state a spread: with fewer than three, one odd trial moves
//! the median, and nothing shows it.

use super::{Context, names};
use crate::words::{edit_plan, list, stage_list};
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "too-few-trials";

const TRIALS: usize = 3;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let few: Vec<_> = context
        .stages
        .iter()
        .filter(|stage| stage.trials.len() < TRIALS)
        .collect();
    if few.is_empty() {
        return Vec::new();
    }
    let counts: Vec<String> = few
        .iter()
        .map(|stage| format!("{} ({})", stage.label(), stage.trials.len()))
        .collect();
    let stages = names(few.iter().map(|stage| stage.name));
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        claim: format!(
            "{} {} fewer than three trials: how far the figures can be trusted is not known.",
            stage_list(&stages),
            if stages.len() == 1 { "has" } else { "have" }
        ),
        evidence: vec![format!("Trials: {}.", list(&counts))],
        confidence: Confidence::Certain,
        refuted_by: "More trials.".into(),
        remedy: edit_plan(context.run, "set trials = 5"),
        stages,
    }]
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
        let finding = only(&run, NAME);
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(finding.evidence, ["Trials: log-write (2)."]);
        let mut run = testing::healthy();
        run.trials.retain(|t| t.number <= 3);
        testing::silent(&run);
    }
}
