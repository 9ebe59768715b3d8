//! What was to run beside a trial ended before it: the trial, or a part of it,
//! was undisturbed, and its figure says nothing of the disturbance.

use super::prelude::*;
use crate::beside::ended_early;

pub(super) const RULE: Rule = Rule {
    name: "beside-ended",
    check: Check::Stages(&[StageCheck(ended_early, undisturbed)]),
    ..Rule::WARNING
};

fn undisturbed(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    RULE.claim(format!(
        "What was to run beside {} ended early, so these trials were not disturbed to their end: \
         their figures are too high for what they stand for.",
        shown.list()
    ))
    .headline("the load beside it ended early: figures too high")
    .remedy(format!(
        "Mend what the error names, or give it another part of the target (offset and span in \
         [stage.beside]), then type `{}`.",
        measure(context.run)
    ))
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
        let finding = only(&run, RULE.name);
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
