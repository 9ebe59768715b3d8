//! Each write pays for a flush of the drive's cache.

use super::journal;
use super::prelude::*;
use crate::device_physics::no_drives;
use crate::journal::Commits;

pub(super) const LIMITER: Limiter = Limiter {
    name: "flush-per-write",
    not_in: &[
        Spent::User,
        Spent::Kernel,
        Spent::Processor,
        Spent::Completion,
        Spent::Admission,
        Spent::Scheduler,
    ],
    needs: &[Blocks, Written, EachSynced],
    find: each_write_flushes,
    ..Limiter::OF_BUSY_DEVICE
};

/// Flushes for each write, of one that is in flight alone, from which on it is each that pays:
/// some kernels and filesystems let two syncs share one, and all that wait at the same time may
/// (`blk_kick_flush` in block/blk-flush.c).
const EACH: f64 = 0.5;
/// With more than that of them for each write, on a disk that turns, the arm goes between
/// the data and a journal: the flushes are what it takes, and not why.
const SEVERAL: f64 = 1.5;

/// What the flush of a write costs, ns, the line that shows it, and how sure that is.
type Cost = (f64, String, Confidence);

fn each_write_flushes(facts: &StageFacts<'_>) -> Option<Candidate> {
    let latency_ns = facts.latency_ns()?;
    let (cost_ns, by, confidence) = counted(facts).or_else(|| compared(facts))?;
    let share = (cost_ns / latency_ns).min(1.0);
    // On a platter the flush is a wait for the platter, which says more, where it may be said.
    let several = |(_, for_each): (f64, f64)| for_each > SEVERAL;
    let several = facts.rotates() == Some(true) && facts.flushes().is_some_and(several);
    let turning = no_drives(facts.run()).is_none() && (several || facts.waits_for_the_platter());
    let standing = Standing::cause(share).only_if(!turning);
    let of_time = percent(share);
    let [all, flush] = [latency_ns, cost_ns].map(duration);
    let claim =
        format!("Each write waits for a flush of the drive's cache: {of_time} of its time.");
    let sum =
        format!("Of the {all} that a write and its sync take, {flush} are the flush: {of_time}.");
    let platter = turning.then(|| {
        "On a disk that turns a flush takes as long as the platter needs to come round; \
         without the syncs the cache would take the writes."
            .to_owned()
    });
    let stages = facts
        .as_it_was()
        .and("no-sync", |w| w.sync = SyncMode::None)
        .and("one-sync-at-the-end", |w| w.sync = SyncMode::FdatasyncAtEnd)
        .without(("no-sync", "as-it-was"), Iops, share);
    let found = Candidate::new(standing, share, confidence, claim)
        .evidence([by, sum])
        .evidence(platter)
        .settled_by(stages);
    Some(found)
}

/// By what the devices counted.
fn counted(facts: &StageFacts<'_>) -> Option<Cost> {
    let (mean_ns, all_for_each) = facts.flushes()?;
    // Commits that others asked for have flushes of their own.
    let of_others = Commits::beside(facts.trials(), facts.run());
    let of_others = of_others.map_or(0, |commits| commits.others());
    let for_each = all_for_each - of_others as f64 / facts.ops();
    // Those beyond one for each sync are the journal's, where it writes for each.
    let by_journal = journal::LIMITER.speaks_of(facts);
    let for_each = for_each.min(if by_journal { 1.0 } else { f64::INFINITY });
    // Who shares one waits for all of it, and for the one that is under way before it.
    let shared_ns = facts.spent(&[Spent::Flush]).zip(facts.latency_ns());
    let shared_ns = shared_ns.filter(|_| facts.outstanding() > 1.0);
    let shared_ns = shared_ns.map_or(0.0, |(share, latency_ns)| share * latency_ns);
    let cost_ns = (mean_ns * for_each).max(shared_ns);
    (for_each >= EACH / facts.outstanding() && cost_ns > 0.0).then(|| {
        let syncs = facts.stage.sum(|trial| trial.evidence.issued.syncs);
        let line = format!(
            "The device counted {} for each write ({syncs} syncs of {} writes), {} each.",
            ratio_of(all_for_each, "flush", "flushes"),
            facts.ops(),
            duration(mean_ns)
        );
        (cost_ns, line, Certain)
    })
}

/// By a stage that writes the same without syncs.
fn compared(facts: &StageFacts<'_>) -> Option<Cost> {
    let without = facts
        .alike(&[
            Same::Operation,
            Same::Pattern,
            Same::Block,
            Same::Cache,
            Same::Depth,
        ])
        .find(|other| other.workload().sync == SyncMode::None)?;
    let (mine_ns, theirs_ns) = (facts.latency_ns()?, without.latency_ns()?);
    // A device without a volatile cache is sent no flush, so there is none to pay.
    (facts.has_write_cache() && mine_ns > 2.0 * theirs_ns).then(|| {
        let (label, takes) = (without.stage.label(), duration(theirs_ns));
        let line = format!("The same writes without a sync take {takes} ({label}).");
        (mine_ns - theirs_ns, line, Likely)
    })
}
