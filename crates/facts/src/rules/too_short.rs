//! Trials are too short to stand for more than themselves.
//!
//! Below 100 ms: limits of processor time and of I/O are enforced in slices of
//! 100 ms (the default period of `cpu.max`; `block/blk-throttle.c` hands out
//! its allowance by 100 ms on disks), so a shorter trial sees a burst or a
//! pause, not the rate. Below 30 operations: not even the 90th percentile is
//! bounded (Wilks: 29 are needed at 95 %).

use super::{Context, names};
use crate::stats;
use crate::words::{longer, stage_list};
use diskfacts_plan::units::{show_duration, three_digits};
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "too-short";

const SECONDS: f64 = 0.1;
const OPERATIONS: f64 = 30.0;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut factor = 2.0_f64;
    let mut cells_only = true;
    for (stage, figures) in context.each() {
        // Of trials that failed, the errors say all there is to say.
        if figures.errors > 0 {
            continue;
        }
        let seconds: Vec<f64> = stage.trials.iter().map(|t| t.seconds).collect();
        let operations: Vec<f64> = stage.trials.iter().map(|t| t.ops as f64).collect();
        let Some((seconds, operations)) = stats::median(&seconds).zip(stats::median(&operations))
        else {
            continue;
        };
        if seconds >= SECONDS && operations >= OPERATIONS {
            continue;
        }
        factor = factor
            .max(SECONDS / seconds.max(0.001))
            .max(OPERATIONS / operations.max(1.0));
        stages.push(stage.name);
        cells_only &= !stage.settings.is_empty();
        evidence.push(format!(
            "{}: a trial took {} and did {} operations, in the median.",
            stage.label(),
            show_duration((seconds.max(0.0) * 1e9) as u64),
            three_digits(operations)
        ));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    let factor = factor.ceil().min(100.0) as u64;
    vec![Finding {
        rule: NAME.into(),
        // The cell of a matrix is read beside its neighbours, which bear it out
        // or not.
        severity: if cells_only {
            Severity::Note
        } else {
            Severity::Warning
        },
        headline: "trials too short: below 30 operations or 100 ms".into(),
        claim: format!(
            "The trials of {} are too short: fewer than 30 operations or less than 100 ms each.",
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "Longer trials with the same figures.".into(),
        remedy: format!("Measure longer. {}", longer(context.run, &stages, factor)),
        stages,
    }]
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
        let finding = only(&run, NAME);
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
        let remedy = only(&run, NAME).remedy;
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
            .find(|finding| finding.rule == NAME)
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
        only(&run, super::super::io_errors::NAME);
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
