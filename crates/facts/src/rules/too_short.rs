//! Trials are too short to stand for more than themselves.
//!
//! Below 100 ms: limits of processor time and of I/O are enforced in slices of
//! 100 ms (the default period of `cpu.max`; `block/blk-throttle.c` hands out
//! its allowance by 100 ms on disks), so a shorter trial sees a burst or a
//! pause, not the rate. Below 30 operations: not even the 90th percentile is
//! bounded (Wilks: 29 are needed at 95 %).

use super::prelude::*;

pub(super) const RULE: Rule = Rule {
    name: "too-short",
    check: Check::Stages(&[StageCheck(is_short, short)]),
    ..Rule::WARNING
};

const SECONDS: f64 = 0.1;
const OPERATIONS: f64 = 30.0;

/// How many times as long the trials of a stage would have to be.
fn is_short(facts: &StageFacts<'_>) -> Option<Seen> {
    let seconds = facts.stage.median(|t| Some(t.seconds))?;
    let operations = facts.stage.median(|t| Some(t.ops as f64))?;
    // Of trials that failed, the errors say all there is to say.
    let short = seconds < SECONDS || operations < OPERATIONS;
    unless(!short || facts.figures.errors > 0)?;
    let longer = (SECONDS / seconds.max(0.001)).max(OPERATIONS / operations.max(1.0));
    let line = format!(
        "a trial took {} and did {} operations, in the median.",
        show_duration((seconds.max(0.0) * 1e9) as u64),
        three_digits(operations)
    );
    Some((longer, vec![line]))
}

fn short(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let factor = shown.most().clamp(2.0, 100.0).ceil() as u64;
    // The cell of a matrix is read beside its neighbours, which bear it out or not.
    let is_alone = |facts: &StageFacts<'_>| facts.stage.settings.is_empty();
    RULE.claim(format!(
        "The trials of {} are too short: fewer than 30 operations or less than 100 ms each.",
        shown.list()
    ))
    .severity(warning_if(shown.facts().any(is_alone)))
    .headline("trials too short: below 30 operations or 100 ms")
    .remedy(format!(
        "Measure longer. {}",
        longer(context.run, &shown.stages, factor)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};

    #[test]
    fn few_operations_and_little_time_are_found() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |t| t.ops = 12);
        each(&mut run, "sequential-read", |t| t.seconds = 0.05);
        let finding = only(&run, RULE.name);
        assert_eq!(finding.stages, ["sequential-read", "random-read-qd1"]);
        assert!(finding.evidence[0].contains("took 50 ms"), "{finding:?}");
        assert!(
            finding.evidence[1].contains("did 12 operations"),
            "{finding:?}"
        );
        assert!(finding.remedy.contains("--time 180s"), "{finding:?}");
    }

    #[test]
    fn stages_with_a_stop_rule_of_their_own_are_made_longer_in_the_plan() {
        let mut run = testing::healthy();
        for stage in &mut run.plan.stages {
            stage.workload.stop.operations = Some(12);
        }
        each(&mut run, "random-read-qd1", |t| t.ops = 12);
        let remedy = only(&run, RULE.name).remedy;
        assert!(
            remedy.contains("`operations`") && !remedy.contains("--time"),
            "{remedy}"
        );
    }

    #[test]
    fn stages_on_files_are_given_more_files_and_not_more_time() {
        let mut run = testing::healthy();
        for stage in &mut run.plan.stages {
            stage.workload.operation = diskfacts_plan::Operation::Stat;
        }
        each(&mut run, "random-read-qd1", |t| t.seconds = 0.05);
        let finding = crate::findings(&run)
            .into_iter()
            .find(|finding| finding.rule == RULE.name)
            .expect("the finding");
        assert!(
            finding.remedy.contains("more `files`") && !finding.remedy.contains("--time"),
            "{finding:?}"
        );
    }

    #[test]
    fn trials_that_failed_are_left_to_their_errors() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |t| {
            t.ops = 1;
            t.errors = 1000;
        });
        only(&run, super::super::io_errors::RULE.name);
    }

    #[test]
    fn enough_is_enough() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |t| {
            t.ops = 30;
            t.seconds = 0.1;
        });
        testing::silent(&run);
    }
}
