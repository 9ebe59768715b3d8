//! The run did not do all that was planned.

use super::prelude::*;
use crate::planned_trials::PlannedTrials;
use diskfacts_record::Status;

pub(super) const RULE: Rule = Rule {
    name: "interrupted",
    check: Check::One(check),
    ..Rule::WARNING
};

fn check(context: &Context<'_>) -> Option<Found> {
    let run = context.run;
    let (headline, claim, how) = match run.run.status {
        Status::Complete => return None,
        Status::Interrupted => (
            "interrupted: only complete trials are counted",
            "The run was interrupted; only complete trials are in its figures.",
            "It was stopped by a signal.",
        ),
        Status::Failed => (
            "failed: only complete trials are counted",
            "The run ended early because an operation failed; only complete trials are in its \
             figures.",
            "It is recorded as failed.",
        ),
        Status::Running => (
            "not finished: still running, or killed",
            "The run did not end: it is still going on, or was killed.",
            "No end is recorded.",
        ),
    };
    let planned = PlannedTrials::of(run);
    // Operations failed and the run went on to its end: what failed is the matter of another
    // rule, and nothing is missing.
    unless(run.run.status == Status::Failed && planned.are_even)?;
    let not_measured = if_any(list(&planned.missing), |missing| {
        format!("Not measured: {missing}.")
    });
    let fewer = planned.fewer.iter();
    let fewer = list(fewer.map(|(stage, done)| format!("{stage} ({done})")));
    let fewer = if_any(fewer, |fewer| {
        let all = count(u64::from(run.plan.trials), "trial");
        format!("With fewer than {all}: {fewer}.")
    });
    let stages = planned.missing.into_iter();
    Some(
        RULE.claim(claim)
            .headline(headline)
            .remedy(format!("Type `{}` to measure again.", measure(run)))
            .stages(stages.map(str::to_owned).collect())
            .evidence([how.to_owned()])
            .evidence(not_measured)
            .evidence(fewer),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, only};

    #[test]
    fn what_is_missing_is_named() {
        let mut run = testing::healthy();
        run.run.status = Status::Interrupted;
        run.trials
            .retain(|t| t.stage != "mixed-70-30" && (t.stage != "log-write" || t.number < 5));
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(finding.stages, ["mixed-70-30"]);
        assert_eq!(
            finding.evidence[1..],
            [
                "Not measured: mixed-70-30.",
                "With fewer than 5 trials: log-write (4)."
            ]
        );
    }

    #[test]
    fn a_run_with_failed_operations_that_did_all_its_trials_was_not_interrupted() {
        let mut run = testing::healthy();
        run.run.status = Status::Failed;
        testing::silent(&run);
        run.trials.pop();
        assert!(only(&run, RULE.name).claim.contains("ended early"));
    }

    #[test]
    fn a_run_without_an_end_says_so() {
        let mut run = testing::healthy();
        run.run.status = Status::Running;
        assert!(only(&run, RULE.name).claim.contains("killed"));
    }

    #[test]
    fn stages_left_out_of_a_complete_run_are_no_finding() {
        let mut run = testing::healthy();
        run.trials.retain(|t| !t.workload.operation.writes());
        testing::silent(&run);
    }

    #[test]
    fn a_run_whose_operations_failed_but_whose_trials_are_all_there_is_no_finding() {
        let mut run = testing::healthy();
        run.run.status = Status::Failed;
        testing::silent(&run);
        // Two of five rounds, because the time allowed no more.
        run.trials.retain(|t| t.number <= 2);
        let rules = crate::findings(&run);
        assert!(
            rules.iter().all(|finding| finding.rule != RULE.name),
            "{rules:#?}"
        );
    }

    #[test]
    fn more_trials_of_one_stage_than_of_another_are_no_finding_where_a_precision_is_asked_for() {
        let mut run = testing::healthy();
        run.run.status = Status::Failed;
        let mut more = run.trials[0].clone();
        more.number = run.plan.trials + 1;
        run.trials.push(more);
        assert!(only(&run, RULE.name).claim.contains("ended early"));
        run.plan.until.precision = diskfacts_plan::Share::parse("3%").ok();
        let findings = crate::findings(&run);
        assert!(
            findings.iter().all(|f| f.rule != RULE.name),
            "{findings:#?}"
        );
    }

    #[test]
    fn a_failed_run_that_broke_off_within_a_round_is_found() {
        let mut run = testing::healthy();
        run.run.status = Status::Failed;
        run.trials
            .retain(|t| t.number <= 3 || t.stage != "log-write");
        assert!(only(&run, RULE.name).claim.contains("ended early"));
    }
}
