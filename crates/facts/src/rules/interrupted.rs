//! The run did not do all that was planned.

use super::Context;
use crate::words::{count, list, measure};
use diskfacts_record::{Confidence, Finding, Severity, Status};

pub(super) const NAME: &str = "interrupted";

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let run = context.run;
    let (claim, how) = match run.run.status {
        Status::Complete => return Vec::new(),
        Status::Interrupted => (
            "The run was interrupted; only complete trials are in its figures.",
            "It was stopped by a signal.",
        ),
        Status::Failed => (
            "The run ended early because an operation failed; only complete trials are in its \
             figures.",
            "It is recorded as failed.",
        ),
        Status::Running => (
            "The run did not end: it is still going on, or was killed.",
            "No end is recorded.",
        ),
    };
    let planned = u64::from(run.plan.trials);
    let mut evidence = vec![how.to_owned()];
    let mut missing = Vec::new();
    let mut fewer = Vec::new();
    for stage in &run.plan.stages {
        let done = run.trials.iter().filter(|t| t.stage == stage.name).count() as u64;
        if done == 0 {
            missing.push(stage.name.clone());
        } else if done < planned {
            fewer.push(format!("{} ({done})", stage.name));
        }
    }
    if run.run.status == Status::Failed && missing.is_empty() && fewer.is_empty() {
        // Operations failed, and all that was planned was done all the same:
        // another rule has the errors.
        return Vec::new();
    }
    if !missing.is_empty() {
        evidence.push(format!("Not measured: {}.", list(&missing)));
    }
    if !fewer.is_empty() {
        evidence.push(format!(
            "With fewer than {}: {}.",
            count(planned, "trial"),
            list(&fewer)
        ));
    }
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        claim: claim.into(),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "All stages of the plan with all their trials.".into(),
        remedy: format!("Type `{}` to measure again.", measure(run, "")),
        stages: missing,
    }]
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
        let finding = only(&run, NAME);
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
        assert!(only(&run, NAME).claim.contains("ended early"));
    }

    #[test]
    fn a_run_without_an_end_says_so() {
        let mut run = testing::healthy();
        run.run.status = Status::Running;
        assert!(only(&run, NAME).claim.contains("killed"));
    }

    #[test]
    fn stages_left_out_of_a_complete_run_are_no_finding() {
        let mut run = testing::healthy();
        run.trials.retain(|t| !t.workload.operation.writes());
        testing::silent(&run);
    }
}
