//! Trials whose figure cannot be one: no rate, or one below nothing. A document may
//! hold such lines, and a trial may end before its first operation does; that is no figure.

use super::prelude::*;
use crate::planned_trials::{nothing_completed, without_rate};
use crate::words::is_copy;

pub(super) const RULE: Rule = Rule {
    name: "no-figure",
    needs: &[Something],
    check: Check::Stages(&[
        StageCheck(completed_nothing, not_measured),
        StageCheck(has_no_rate, not_of_a_disk),
    ]),
    ..Rule::WARNING
};

/// Trials in which no operation completed, and none failed.
fn completed_nothing(facts: &StageFacts<'_>) -> Option<Seen> {
    let run = facts.run();
    unless(run.run.source.is_some() || is_copy(run))?;
    let empty = nothing_completed(facts.stage);
    let all = count(facts.stage.all_trials().count() as u64, "trial");
    let line = format!("no operation completed in {empty} of {all}.");
    (empty > 0).then(|| (1.0, vec![line]))
}

fn not_measured(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let without = shown.facts().filter(|facts| !facts.stage.is_sound());
    let without = names(without.map(|facts| facts.stage.name));
    let found = if without.is_empty() {
        RULE.claim(format!(
            "Trials of {} in which no operation completed are excluded from the results.",
            list(&shown.stages)
        ))
        .headline("trials without a completed operation are left out")
    } else {
        let verb = if without.len() == 1 { "was" } else { "were" };
        RULE.claim(format!(
            "{} {verb} not measured: no operation completed, so there is no figure.",
            list(&without)
        ))
        .headline("no operation completed")
    };
    found
        .case("nothing-completed")
        .remedy(longer(context.run, &shown.stages, 5))
}

fn has_no_rate(facts: &StageFacts<'_>) -> Option<Seen> {
    let empty = without_rate(facts);
    let lines = empty.iter().filter_map(|trial| trial.line);
    let line = format!(
        "{} of {} trials{}.",
        empty.len(),
        facts.trials().len(),
        in_lines(lines)
    );
    (!empty.is_empty()).then(|| (1.0, vec![line]))
}

fn not_of_a_disk(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    RULE.claim(format!(
        "Trials of {} have a rate of zero or below, which no disk has: their figures, and medians \
         with them, say nothing.",
        list(&shown.stages)
    ))
    .headline("rates of zero or below: no figure")
    .remedy(longer(context.run, &shown.stages, 5))
    .of_document(context.run, "measure for longer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each};

    fn found(run: &diskfacts_record::Run) -> Vec<diskfacts_record::Finding> {
        testing::all_of_rule(run, RULE.name)
    }

    #[test]
    fn rates_of_zero_and_below_are_no_figures() {
        for rate in [0.0, -0.0, -3.0] {
            let mut run = testing::healthy();
            each(&mut run, "log-write", |trial| {
                if trial.number <= 2 {
                    (trial.throughput_bytes_per_s, trial.iops) = (rate, rate);
                }
            });
            let found = found(&run);
            assert_eq!(found.len(), 1, "{rate}");
            assert_eq!(found[0].stages, ["log-write"]);
            assert_eq!(found[0].evidence, ["log-write: 2 of 5 trials."]);
        }
    }

    #[test]
    fn a_stage_in_which_nothing_completed_has_no_figure_and_one_with_other_trials_has_theirs() {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |trial| {
            (trial.throughput_bytes_per_s, trial.iops, trial.ops) = (0.0, 0.0, 0);
        });
        let some = found(&run);
        assert_eq!(some.len(), 1);
        assert_eq!(
            some[0].claim,
            "log-write was not measured: no operation completed, so there is no figure."
        );
        assert_eq!(
            some[0].evidence,
            ["log-write: no operation completed in 5 of 5 trials."]
        );
        let figures = crate::figures(&run);
        let figure = |name| {
            figures
                .iter()
                .find(|f| f.stage == name)
                .expect("its figures")
        };
        assert!(figure("log-write").iops.median.is_nan());
        let mut run = testing::healthy();
        let all = crate::figures(&run);
        let whole = all
            .iter()
            .find(|f| f.stage == "log-write")
            .expect("its figures");
        each(&mut run, "log-write", |trial| {
            if trial.number == 1 {
                (trial.throughput_bytes_per_s, trial.iops, trial.ops) = (0.0, 0.0, 0);
            }
        });
        let some = found(&run);
        assert!(
            some[0].claim.ends_with("are excluded from the results."),
            "{}",
            some[0].claim
        );
        let figures = crate::figures(&run);
        let cut = figures
            .iter()
            .find(|f| f.stage == "log-write")
            .expect("its figures");
        assert_eq!((whole.iops.trials, cut.iops.trials), (5, 4));
        assert!(cut.iops.min > 0.0);
    }

    #[test]
    fn what_is_missing_what_failed_and_what_moves_no_bytes_is_another_matter() {
        assert_eq!(found(&testing::healthy()), []);
        let mut run = testing::healthy();
        each(&mut run, "log-write", |trial| match trial.number {
            1 => (trial.throughput_bytes_per_s, trial.iops) = (f64::NAN, f64::NAN),
            2 => (trial.throughput_bytes_per_s, trial.iops) = (0.0, 20_000.0),
            3 => (trial.throughput_bytes_per_s, trial.iops, trial.errors) = (0.0, 0.0, 1),
            _ => {}
        });
        assert_eq!(found(&run), []);
    }
}
