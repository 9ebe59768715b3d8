//! A plan asked for an engine or an ability by name and got another.

use super::prelude::*;

pub(super) const RULE: Rule = Rule {
    name: "engine-fell-back",
    check: Check::Stages(&[StageCheck(lacks, another_engine)]),
    ..Rule::WARNING
};

fn lacks(facts: &StageFacts<'_>) -> Option<Seen> {
    let missing = facts.engine_lacks();
    let engine = &facts.trials()[0].evidence.engine;
    unless(missing.is_empty() || engine.name.is_empty())?;
    let reason = if engine.fallbacks.is_empty() {
        "no reason was recorded".to_owned()
    } else {
        engine.fallbacks.join("; ")
    };
    let line = format!(
        "{} asked for, {} used: {}.",
        list(&missing),
        engine.name,
        reason.trim_end_matches('.')
    );
    Some((1.0, vec![line]))
}

fn another_engine(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let edit = edit_plan(
        context.run,
        "set engine = \"auto\" and leave iopoll and sqpoll out",
    );
    RULE.claim(format!(
        "{} ran without what the plan asked of the engine.",
        shown.list()
    ))
    .headline("not run by the engine that was asked for")
    .remedy(format!(
        "Remove the reason given (for io_uring, `sysctl kernel.io_uring_disabled` should be 0), or \
         ask for what there is. {edit}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_plan::EngineChoice;

    #[test]
    fn another_engine_than_asked_for_is_found_with_the_reason() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |t| {
            t.workload.engine = EngineChoice::IoUring;
            t.evidence.engine.name = "sync".into();
            t.evidence.engine.fallbacks = vec!["io_uring_setup gave ENOSYS".into()];
        });
        let finding = only(&run, RULE.name);
        assert_eq!(
            finding.evidence,
            ["random-read-qd1: io_uring asked for, sync used: io_uring_setup gave ENOSYS."]
        );
    }

    #[test]
    fn polling_that_is_not_there_is_found() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |t| t.workload.iopoll = true);
        assert!(only(&run, RULE.name).evidence[0].contains("iopoll asked for"));
        each(&mut run, "random-read-qd1", |t| {
            t.evidence.engine.features = vec!["iopoll".into()];
        });
        testing::silent(&run);
    }

    #[test]
    fn a_simulated_disk_does_what_each_engine_does_but_may_refuse_to_poll() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |t| {
            t.workload.engine = EngineChoice::IoUring;
            t.evidence.engine.name = "sim".into();
        });
        testing::silent(&run);
        each(&mut run, "random-read-qd1", |t| t.workload.iopoll = true);
        assert!(only(&run, RULE.name).evidence[0].contains("iopoll asked for"));
    }

    #[test]
    fn the_choice_of_auto_is_no_fall_back() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |t| {
            t.evidence.engine.name = "sync".into();
            t.evidence.engine.fallbacks = vec!["io_uring_setup gave ENOSYS".into()];
        });
        testing::silent(&run);
    }
}
