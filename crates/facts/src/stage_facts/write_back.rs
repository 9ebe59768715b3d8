//! Writers through the page cache that had to wait for write-back, because too many pages were
//! dirty: from then on they go as fast as the disk writes.
//!
//! The kernel holds writers back from half way between the limit of write-back and
//! that of dirty pages on (`dirty_freerun_ceiling`, `balance_dirty_pages` in
//! mm/page-writeback.c), with pauses of up to 200 ms between writes that go at the
//! speed of memory.

use super::StageFacts;
use crate::blocked::{By, Looks, SEEN_MIN};
use crate::dirty_pages;
use crate::layers::{are_flushed, is_mounted_sync};
use crate::memory_limit::group_limit;
use crate::prelude::*;
use diskfacts_record::evidence::WriteBack;

/// Share of the time that writers waited where the limit was not seen to be reached, but what
/// became dirty was written back in the same time: each device has a share of the limit of its own,
/// which nobody tells (`__wb_calc_thresh` in mm/page-writeback.c).
const WAITED_BY_RATE: f64 = 0.5;
/// The same where the threads were seen to wait for the memory of their control group: as much as
/// the largest of two or three parts of their time often is. Less of it is a place where they
/// sleep, and no more.
const WAITED_FOR_MEMORY: f64 = 1.0 / 3.0;
/// Share of what became dirty that was written back meanwhile. Writers that nobody holds
/// back go at the speed of memory, and what they write piles up.
const WRITTEN_BACK: f64 = 0.5;

/// What waiting for dirty pages came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DirtyWaiting {
    /// Share of the trials' time that writes waited.
    pub(crate) share: f64,
    /// A write that does not wait, ns.
    pub(crate) unhindered_ns: f64,
    /// Dirty pages of the trial that had most of them, and its limits.
    pub(crate) fullest: WriteBack,
    /// Whether they were counted at the limit.
    pub(crate) at_limit: bool,
    /// What was written back meanwhile, bytes per second.
    pub(crate) written_back_per_s: f64,
}

impl DirtyWaiting {
    /// `None` where writers did not wait for so much of the time that it is told from chance.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let workload = facts.workload();
        let through_cache = facts.direct() == Some(false) && workload.operation.writes();
        unless(!through_cache || workload.sync.each_write() || syncs_unasked(facts))?;
        let trials = facts.trials().iter();
        let all: Vec<WriteBack> = trials
            .filter_map(|trial| trial.evidence.write_back)
            .collect();
        let most = |dirty: &&WriteBack| dirty.dirty_after_bytes.max(dirty.dirtied_bytes);
        let reached = all
            .iter()
            .filter(|dirty| dirty_pages::reached_ceiling(dirty, workload.sync));
        let at_limit = reached.max_by_key(most);
        let as_fast_as_written = |dirty: &WriteBack| {
            let written = dirty.written_bytes as f64;
            dirty.dirtied_bytes > 0 && written >= WRITTEN_BACK * dirty.dirtied_bytes as f64
        };
        // A sync at the end writes all of it, whoever was held back before.
        let by_rate = !workload.sync.at_end() && all.iter().all(as_fast_as_written);
        let by_rate = || all.iter().filter(|_| by_rate).max_by_key(most);
        let fullest = *at_limit.or_else(by_rate)?;
        let unhindered_ns = unhindered_ns(facts)?;
        let streams = f64::from(workload.streams.max(1));
        let share = |trial: &Trial| {
            let waited_ns = (trial.latency_ns.mean? - unhindered_ns).max(0.0);
            let samples = trial.latency_ns.samples as f64;
            Some(waited_ns * samples / (trial.seconds * 1e9 * streams))
        };
        let at_limit = at_limit.is_some();
        let least = if at_limit {
            WORTH_A_WORD
        } else if waits_for_memory_of_group(facts) {
            WAITED_FOR_MEMORY
        } else {
            WAITED_BY_RATE
        };
        let share = facts.stage.median(share)?.min(1.0);
        let written: f64 = all.iter().map(|dirty| dirty.written_bytes as f64).sum();
        (share >= least).then_some(Self {
            share,
            unhindered_ns,
            fullest,
            at_limit,
            written_back_per_s: written / facts.seconds(),
        })
    }
}

/// Whether each write of a stage is synced that asks for no sync.
pub(crate) fn syncs_unasked(facts: &StageFacts<'_>) -> bool {
    let stack = facts.stack();
    let mut trials = facts.trials().iter();
    !facts.workload().sync.each_write()
        && (is_mounted_sync(stack) || trials.all(|trial| are_flushed(trial, stack)))
}

/// Whether its threads were seen to wait for memory in a control group that limits it: then that
/// limit was reached.
fn waits_for_memory_of_group(facts: &StageFacts<'_>) -> bool {
    let seen = |looks: Looks| looks.by(By::Memory) >= SEEN_MIN;
    group_limit(facts.trials()).is_some() && facts.looks().is_some_and(seen)
}

/// What a write takes that does not wait: processor time where it is known, else
/// the fastest.
fn unhindered_ns(facts: &StageFacts<'_>) -> Option<f64> {
    match facts.processor_ns() {
        // Other threads of the process may have cost more than the writes did.
        Some(ns) if ns > 0.0 => Some(facts.latency_ns().map_or(ns, |mean| ns.min(mean))),
        _ => facts.shortest_ns(),
    }
}
