//! Too few trials to state a spread: with fewer than three, one odd trial moves
//! the median, and nothing shows it.

use super::prelude::*;
use crate::words::is_copy;

pub(super) const RULE: Rule = Rule {
    name: "too-few-trials",
    confidence: Confidence::Certain,
    check: Check::One(check),
    ..Rule::NOTE
};

/// Fewest trials of a stage that have a spread.
pub(super) const TRIALS: usize = 3;

fn check(context: &Context<'_>) -> Option<Found> {
    let few = || {
        let stages = context.stages.iter();
        let each = stages.map(|stage| (stage.name, stage.trials.len()));
        each.filter(|(_, trials)| *trials < TRIALS)
    };
    // A copy is made once; its figure is of that one.
    if is_copy(context.run) || few().next().is_none() {
        return None;
    }
    // The cells of a matrix are told together.
    let mut told: Vec<(&str, usize)> = Vec::new();
    for one in few() {
        if !told.contains(&one) {
            told.push(one);
        }
    }
    let counts = told.into_iter().map(|(name, trials)| {
        match few().filter(|other| *other == (name, trials)).count() {
            1 => format!("{name} ({trials})"),
            several => format!("{name} ({trials}, in {several} cells)"),
        }
    });
    let evidence = format!("Trials: {}.", list(counts));
    let stages = names(few().map(|(name, _)| name));
    let have = if stages.len() == 1 { "has" } else { "have" };
    Some(
        RULE.claim(format!(
            "{} {have} too few trials, less than three, for an interval.",
            stage_list(&stages)
        ))
        .headline("too few trials: no interval")
        .remedy(remedy(context.run))
        .stages(stages)
        .evidence(vec![evidence]),
    )
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
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(finding.evidence, ["Trials: log-write (2)."]);
        let mut run = testing::healthy();
        run.trials.retain(|t| t.number <= 3);
        testing::silent(&run);
    }
}
