//! Whether it matters which threads serve a stream, and in whose name.
//!
//! A fair I/O scheduler gives turns to I/O contexts and waits a little for the
//! next request of the one whose turn it is. It takes the threads of a server's
//! pool for as many readers, and waits for the wrong one (seed 001; Linux
//! `block/bfq-iosched.c`, formerly `block/cfq-iosched.c`). Schedulers that look
//! at offsets and deadlines alone do not care.
//!
//! Stages are compared that differ in their pool, and in nothing else.

use super::prelude::*;
use crate::beside::TRIALS;
use diskfacts_plan::{IoContext, Pool};
use std::collections::BTreeSet;

pub(crate) const RULE: Rule = Rule {
    name: "io-context",
    about: "it matters whether a pool's threads share an I/O context",
    refuted_by: "The same difference under the scheduler `none` or `mq-deadline`, which do not \
                 look at I/O contexts.",
    check: Check::One(check),
    ..Rule::NOTE
};

/// How much faster the best must be than the slowest to be worth a word.
pub(crate) const RATIO: f64 = 1.1;

/// A stage that a pool serves: the pool, the stage's name, its figures.
type Served<'a> = (Pool, &'a str, &'a StageFigures);

/// Schedulers that look at I/O contexts: Linux's `bfq`, `cfq` until 5.0, and that
/// of a simulated host.
pub(crate) const FAIR: [&str; 3] = ["bfq", "cfq", "fair"];

fn check(context: &Context<'_>) -> Option<Found> {
    let (mut evidence, mut stages) = (Vec::new(), Vec::new());
    let mut most = 1.0_f64;
    let mut schedulers = BTreeSet::new();
    for ((bare, stack), members) in &groups(context) {
        let of = |context| {
            let mut members = members.iter();
            members.find(|(pool, ..)| pool.io_context == context)
        };
        let both = of(IoContext::Shared).zip(of(IoContext::Separate));
        let Some(((pool, name, shared), (_, _, separate))) = both else {
            continue;
        };
        let one = &shared.throughput_bytes_per_s;
        let many = &separate.throughput_bytes_per_s;
        let gain = one.median / many.median;
        if one.trials.min(many.trials) < TRIALS || one.min <= many.max || gain < RATIO {
            continue;
        }
        most = most.max(gain);
        schedulers.extend(of_disks(stack));
        stages.push(*name);
        let disturbed = bare.beside.as_ref().map_or("", |_| ", disturbed");
        evidence.push(format!(
            "{name}{disturbed}: {} threads do {} in one I/O context, {} in contexts of their own.",
            pool.threads,
            show_throughput(one.median),
            show_throughput(many.median),
        ));
    }
    if stages.is_empty() {
        return None;
    }
    let stages = names(stages);
    let schedulers = Vec::from_iter(schedulers).join(", ");
    evidence.extend(if_any(schedulers, |said| format!("{said}.")));
    let most = ratio(most);
    Some(
        RULE.claim(format!(
            "The threads that serve {} are up to {most} times faster in one I/O context: the \
             scheduler then sees one reader, not many.",
            stage_list(&stages)
        ))
        .headline(format!(
            "one I/O context: up to {most} times faster than many"
        ))
        .remedy(format!(
            "Let the server's threads share one (`CLONE_IO` of clone(2), or one io_uring), or use \
             a scheduler that does not look at contexts. To see the one alone, {}",
            lower_first(&edit_plan(context.run, "leave one of the two in `vary`"))
        ))
        .stages(stages)
        .evidence(evidence),
    )
}

/// Stages under a scheduler that looks at I/O contexts that differ in their pool only;
/// under another one a difference comes from how operations are handed over.
fn groups<'a>(context: &'a Context<'_>) -> Vec<((Workload, Stack), Vec<Served<'a>>)> {
    let mut groups = Vec::new();
    for (stage, figures) in context.doing_io() {
        let workload = stage.workload();
        let Some(pool) = workload.pool.filter(|pool| pool.threads > 1) else {
            continue;
        };
        let bare = Workload {
            pool: None,
            stop: Stop::default(),
            ..workload.clone()
        };
        // Settings may have been changed for its trials.
        let stack = context.run.stack.under(&stage.trials[0].evidence.settings);
        let fair =
            |disk: &BlockDevice| disk.scheduler.as_deref().is_some_and(|s| FAIR.contains(&s));
        if stack.leaves().any(fair) {
            join(&mut groups, (bare, stack), (pool, stage.name, figures));
        }
    }
    groups
}

/// Which schedulers the disks of a stack have.
fn of_disks(stack: &Stack) -> impl Iterator<Item = String> {
    stack.leaves().filter_map(|disk| {
        let scheduler = disk.scheduler.as_ref()?;
        Some(format!("{} has the scheduler {scheduler}", disk.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
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
            check(&Context::new(&run)).map(|finding| finding.evidence.join(" "))
        };
        assert!(said("bfq", None).is_some());
        assert_eq!(said("none", None), None);
        assert_eq!(said("bfq", Some("none")), None);
        let evidence = said("none", Some("bfq")).expect("bfq was in force");
        assert!(evidence.contains("vda has the scheduler bfq"), "{evidence}");
    }
}
