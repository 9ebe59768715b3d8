//! Whether it matters which threads serve a stream, and in whose name.
//!
//! A fair I/O scheduler gives turns to I/O contexts and waits a little for the
//! next request of the one whose turn it is. It takes the threads of a server's
//! pool for as many readers, and waits for the wrong one (seed 001; Linux
//! `block/bfq-iosched.c`, formerly `block/cfq-iosched.c`). Schedulers that look
//! at offsets and deadlines alone do not care.
//!
//! Stages are compared that differ in their pool, and in nothing else.

mod documents;

use super::disturbed::TRIALS;
use super::{Context, names};
use crate::words::{edit_plan, lower_first, ratio, stage_list};
use diskfacts_plan::units::show_throughput;
use diskfacts_plan::{IoContext, Pool, Stop, Workload};
use diskfacts_record::{Confidence, Finding, Severity, StageFigures, TargetKind};

pub(super) const NAME: &str = "io-context";

/// How much faster the best must be than the slowest to be worth a word.
const RATIO: f64 = 1.1;

/// A stage that a pool serves: the pool, the stage's name, its figures.
type Served<'a> = (Pool, &'a str, &'a StageFigures);

/// Schedulers that look at I/O contexts: Linux's `bfq`, `cfq` until 5.0, and that
/// of a simulated host.
const FAIR: [&str; 3] = ["bfq", "cfq", "fair"];

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    if context.run.target.kind == TargetKind::Imported {
        return documents::check(context);
    }
    // Under another one a difference comes from how operations are handed over.
    let leaves = || context.run.stack.leaves();
    if !leaves().any(|disk| disk.scheduler.as_deref().is_some_and(|s| FAIR.contains(&s))) {
        return Vec::new();
    }
    let mut groups: Vec<(Workload, Vec<Served<'_>>)> = Vec::new();
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
        match groups.iter_mut().find(|(known, _)| *known == bare) {
            Some((_, members)) => members.push((pool, stage.name, figures)),
            None => groups.push((bare, vec![(pool, stage.name, figures)])),
        }
    }
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut most = 1.0_f64;
    for (bare, members) in &groups {
        let of = |context| {
            members
                .iter()
                .find(move |(pool, ..)| pool.io_context == context)
        };
        let (Some((pool, name, shared)), Some((_, _, separate))) =
            (of(IoContext::Shared), of(IoContext::Separate))
        else {
            continue;
        };
        let (one, many) = (
            &shared.throughput_bytes_per_s,
            &separate.throughput_bytes_per_s,
        );
        let gain = one.median / many.median;
        if one.trials.min(many.trials) < TRIALS || one.min <= many.max || gain < RATIO {
            continue;
        }
        most = most.max(gain);
        stages.push(*name);
        evidence.push(format!(
            "{name}{}: {} threads do {} in one I/O context, {} in contexts of their own.",
            if bare.beside.is_some() {
                ", disturbed"
            } else {
                ""
            },
            pool.threads,
            show_throughput(one.median),
            show_throughput(many.median),
        ));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    evidence.extend(scheduler(context));
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        claim: format!(
            "Threads that serve {} in turn do it up to {} times faster in one I/O context: the \
             scheduler takes them for one reader, not for many.",
            stage_list(&stages),
            ratio(most)
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "The same difference under the scheduler `none` or `mq-deadline`, which do \
                     not look at I/O contexts."
            .into(),
        remedy: format!(
            "Let the server's threads share one (`CLONE_IO` of clone(2), or one io_uring), or use \
             a scheduler that does not look at contexts. To see the one alone, {}",
            lower_first(&edit_plan(context.run, "leave one of the two in `vary`"))
        ),
        stages,
    }]
}

/// Which scheduler the disks of this target have.
fn scheduler(context: &Context<'_>) -> Option<String> {
    let leaves = context.run.stack.leaves();
    let named: Vec<String> = leaves
        .filter_map(|disk| {
            let scheduler = disk.scheduler.as_ref()?;
            Some(format!("{} has the scheduler {scheduler}", disk.name))
        })
        .collect();
    (!named.is_empty()).then(|| format!("{}.", named.join(", ")))
}
