//! The run did not do all that was planned.

use super::prelude::*;
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
    let planned = u64::from(run.plan.trials);
    let mut evidence = vec![how.to_owned()];
    let (mut missing, mut fewer) = (Vec::new(), Vec::new());
    for stage in &run.plan.stages {
        let done = run.trials.iter().filter(|t| t.stage == stage.name).count() as u64;
        if done == 0 {
            missing.push(stage.name.clone());
        } else if done < planned {
            fewer.push(format!("{} ({done})", stage.name));
        }
    }
    let rounds = rounds_of_all(run);
    // A precision takes more trials of some stages than of others.
    let all_and_more = run.plan.until.is_adaptive() && u64::from(rounds) >= planned;
    let even = all_and_more || run.planned_trials().all(|t| t.number <= rounds);
    if run.run.status == Status::Failed && missing.is_empty() && even {
        // Operations failed and the run went on to its end: what failed is the
        // matter of another rule, and nothing is missing.
        return None;
    }
    let not_measured = |missing| format!("Not measured: {missing}.");
    evidence.extend(if_any(list(&missing), not_measured));
    evidence.extend(if_any(list(fewer), |fewer| {
        format!("With fewer than {}: {fewer}.", count(planned, "trial"))
    }));
    Some(
        RULE.claim(claim)
            .headline(headline)
            .remedy(format!("Type `{}` to measure again.", measure(run)))
            .stages(missing)
            .evidence(evidence),
    )
}

/// Rounds that were done of every stage: trials are done in rounds, and a short
/// time makes fewer of them than the plan has.
fn rounds_of_all(run: &Run) -> u32 {
    let stages = run.plan.stages.iter();
    let done = stages.map(|stage| {
        let trials = run.trials.iter().filter(|t| t.stage == stage.name);
        trials.map(|t| t.number).max().unwrap_or(0)
    });
    done.min().unwrap_or(0)
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
