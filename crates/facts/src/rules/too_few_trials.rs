//! Too few trials to state a spread: with fewer than three, one odd trial moves
//! the median, and nothing shows it.

use super::{Context, names};
use crate::words::{is_copy, list, measure_longer, measure_with, stage_list};
use diskfacts_record::{Confidence, Finding, Run, Severity};

pub(super) const NAME: &str = "too-few-trials";

const TRIALS: usize = 3;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    // A copy is made once; its figure is of that one.
    if is_copy(context.run) {
        return Vec::new();
    }
    let few: Vec<_> = context
        .stages
        .iter()
        .filter(|stage| stage.trials.len() < TRIALS)
        .collect();
    if few.is_empty() {
        return Vec::new();
    }
    // The cells of a matrix are told together.
    let mut cells: Vec<(String, usize, usize)> = Vec::new();
    for stage in &few {
        let trials = stage.trials.len();
        let known = cells
            .iter_mut()
            .find(|(name, of, _)| name == stage.name && *of == trials);
        match known {
            Some((_, _, cells)) => *cells += 1,
            None => cells.push((stage.name.to_owned(), trials, 1)),
        }
    }
    let counts: Vec<String> = cells
        .iter()
        .map(|(name, trials, cells)| match cells {
            1 => format!("{name} ({trials})"),
            several => format!("{name} ({trials}, in {several} cells)"),
        })
        .collect();
    let stages = names(few.iter().map(|stage| stage.name));
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: "fewer than three trials: no spread".into(),
        claim: format!(
            "{} {} fewer than three trials: too few to state a spread.",
            stage_list(&stages),
            if stages.len() == 1 { "has" } else { "have" }
        ),
        evidence: vec![format!("Trials: {}.", list(&counts))],
        confidence: Confidence::Certain,
        refuted_by: "More trials.".into(),
        remedy: remedy(context.run),
        stages,
    }]
}

/// More trials, or the time for those that the plan has.
fn remedy(run: &Run) -> String {
    let command = if run.plan.trials as usize >= TRIALS {
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
        let finding = only(&run, NAME);
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(finding.evidence, ["Trials: log-write (2)."]);
        let mut run = testing::healthy();
        run.trials.retain(|t| t.number <= 3);
        testing::silent(&run);
    }
}
