//! Whether it matters which threads serve a stream, and in whose name.
//!
//! A fair I/O scheduler gives turns to I/O contexts and waits a little for the
//! next request of the one whose turn it is. It takes the threads of a server's
//! pool for as many readers, and waits for the wrong one (seed 001; Linux
//! `block/bfq-iosched.c`, formerly `block/cfq-iosched.c`). Schedulers that look
//! at offsets and deadlines alone do not care.
//!
//! Stages are compared that differ in their pool, and in nothing else
//! ([`gain_of_one_context`]). Under another scheduler a difference comes from how operations
//! are handed over.

use super::prelude::*;
use crate::stage_facts::pool::{fair_disks, gain_of_one_context};
use std::collections::BTreeSet;

pub(crate) const RULE: Rule = Rule {
    name: "io-context",
    needs: &[NoDocument, Blocks],
    check: Check::Stages(&[StageCheck(slower_than_in_one, share_one)]),
    ..Rule::NOTE
};

/// How much faster the best must be than the slowest to be worth a word.
pub(crate) const RATIO: f64 = 1.1;

fn slower_than_in_one(facts: &StageFacts<'_>) -> Option<Seen> {
    fair_disks(facts).next()?;
    gain_of_one_context(facts).filter(|(gain, _)| *gain >= RATIO)
}

fn share_one(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let most = ratio(shown.most());
    let schedulers: BTreeSet<(&str, &str)> = shown.facts().flat_map(fair_disks).collect();
    let schedulers = schedulers.into_iter();
    let schedulers = schedulers.map(|(disk, of)| format!("{disk} has the scheduler {of}."));
    RULE.claim(format!(
        "The threads that serve {} would be up to {most} times faster in one I/O context: the \
         scheduler then sees one reader, not many.",
        shown.list()
    ))
    .headline(format!(
        "one I/O context: up to {most} times faster than many"
    ))
    .evidence(schedulers)
    .remedy(format!(
        "Let the server's threads share one (`CLONE_IO` of clone(2), or one io_uring), or use a \
         scheduler that does not look at contexts. To see the one alone, {}",
        lower_first(&edit_plan(context.run, "leave one of the two in `vary`"))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use diskfacts_plan::{IoContext, Pool};
    use diskfacts_record::Run;
    use diskfacts_record::evidence::SettingInForce;

    /// Five threads in one I/O context, twice as fast as in five; the scheduler before
    /// the run, and the one of the trials where it was changed.
    fn run(before: &str, in_force: Option<&str>) -> Run {
        let mut plan = testing::healthy().plan;
        let mut stage = plan.stages.swap_remove(0);
        stage.kernel.clear();
        let contexts = [("one", IoContext::Shared), ("five", IoContext::Separate)];
        plan.stages = contexts
            .into_iter()
            .map(|(name, io_context)| {
                let mut stage = stage.clone();
                stage.name = name.to_owned();
                stage.workload.pool = Some(Pool {
                    threads: 5,
                    io_context,
                });
                stage
            })
            .collect();
        let mut stack = testing::stack();
        for device in &mut stack.devices {
            device.scheduler = Some(before.to_owned());
        }
        let mut run = testing::run_of(plan, stack);
        testing::each(&mut run, "one", |trial| testing::set_rate(trial, 2.0));
        let setting = in_force.map(|scheduler| SettingInForce {
            device: Some("vda".to_owned()),
            name: "scheduler".to_owned(),
            asked: scheduler.to_owned(),
            before: Some(before.to_owned()),
            in_force: Some(scheduler.to_owned()),
            note: None,
        });
        for trial in &mut run.trials {
            trial.evidence.settings.extend(setting.clone());
        }
        run
    }

    #[test]
    fn the_scheduler_of_the_trials_counts_and_not_the_one_before_the_run() {
        let said = |before: &str, in_force: Option<&str>| {
            let run = run(before, in_force);
            let found = testing::all_of_rule(&run, RULE.name);
            found.first().map(|finding| finding.evidence.join(" "))
        };
        assert!(said("bfq", None).is_some());
        assert_eq!(said("none", None), None);
        assert_eq!(said("bfq", Some("none")), None);
        let evidence = said("none", Some("bfq")).expect("bfq was in force");
        assert!(evidence.contains("vda has the scheduler bfq"), "{evidence}");
    }
}
