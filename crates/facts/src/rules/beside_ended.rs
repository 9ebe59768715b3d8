//! What was to run beside a trial ended before it: the trial, or a part of it,
//! was undisturbed, and its figure says nothing of the disturbance.

use super::{Context, names};
use crate::words::{measure, stage_list};
use diskfacts_plan::units::show_size;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "beside-ended";

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    for (stage, _) in context.each() {
        let ended: Vec<_> = stage
            .trials
            .iter()
            .filter_map(|trial| {
                let beside = trial.evidence.beside.as_ref()?;
                let why = beside.ended_early.as_ref()?;
                Some((*trial, beside, why))
            })
            .collect();
        let Some((trial, beside, why)) = ended.first() else {
            continue;
        };
        stages.push(stage.name);
        evidence.push(format!(
            "{}: in {} of {} trials; first after {:.2} s and {}, where the trial took {:.2} s: {}.",
            stage.label(),
            ended.len(),
            stage.trials.len(),
            beside.seconds,
            show_size(beside.read_bytes + beside.write_bytes),
            trial.seconds,
            why.trim_end_matches('.')
        ));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        headline: "the load beside it ended early: figures too high".into(),
        claim: format!(
            "What was to run beside {} ended early, so these trials were not disturbed to their \
             end: their figures are too high for what they stand for.",
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "A trial beside which it ran to the end.".into(),
        remedy: format!(
            "Mend what the error names, or give it another part of the target (offset and span in \
             [stage.beside]), then type `{}`.",
            measure(context.run)
        ),
        stages,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_record::evidence::Beside;

    fn beside(ended_early: Option<&str>) -> Beside {
        Beside {
            engine: "sync".into(),
            ops: 10,
            read_bytes: 40960,
            seconds: 0.25,
            ended_early: ended_early.map(Into::into),
            ..Beside::default()
        }
    }

    #[test]
    fn one_that_died_is_named_with_its_reason() {
        let mut run = testing::healthy();
        each(&mut run, "sequential-read", |trial| {
            trial.evidence.beside = Some(beside(Some("it gave up after 1000 failed operations")));
        });
        let finding = only(&run, NAME);
        assert_eq!(finding.stages, ["sequential-read"]);
        let evidence = &finding.evidence[0];
        assert!(evidence.contains("after 0.25 s and 40 KiB"), "{evidence}");
        assert!(evidence.ends_with("1000 failed operations."), "{evidence}");
    }

    #[test]
    fn one_that_ran_to_the_end_is_none() {
        let mut run = testing::healthy();
        each(&mut run, "sequential-read", |trial| {
            trial.evidence.beside = Some(beside(None));
        });
        testing::silent(&run);
    }
}
