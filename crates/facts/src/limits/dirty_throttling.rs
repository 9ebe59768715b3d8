//! Writers through the page cache had to wait, because too many pages were dirty:
//! from then on they go as fast as the disk writes back.
//!
//! The kernel holds writers back from half way between the limit of write-back and
//! that of dirty pages on (`dirty_freerun_ceiling`, `balance_dirty_pages` in
//! mm/page-writeback.c), with pauses of up to 200 ms between writes that go at the
//! speed of memory.

use super::prelude::*;
use super::sync_mount;
use crate::blocked::{By, Looks, SEEN_MIN};
use crate::dirty_pages;
use crate::memory_limit::group_limit;
use diskfacts_record::evidence::WriteBack;

pub(super) const LIMITER: Limiter = Limiter {
    name: "dirty-throttling",
    find: writers_wait,
    ..Limiter::ANY
};

/// Share of the time that writers waited where the limit was not seen to be reached, but what became dirty was written
/// back in the same time: each device has a share of the limit of its own, which nobody
/// tells (`__wb_calc_thresh` in mm/page-writeback.c).
const WAITED_BY_RATE: f64 = 0.5;
/// Share of what became dirty that was written back meanwhile. Writers that nobody holds
/// back go at the speed of memory, and what they write piles up.
const WRITTEN_BACK: f64 = 0.5;

/// What waiting for dirty pages came to.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    /// Share of the trials' time that writes waited.
    share: f64,
    /// A write that does not wait, ns.
    unhindered_ns: f64,
    /// Dirty pages of the trial that had most of them, and its limits.
    fullest: WriteBack,
    /// Whether they were counted at the limit.
    at_limit: bool,
}

/// Whether buffered writers waited because the limit on dirty pages was reached.
pub(super) fn is_waited_for(facts: &StageFacts<'_>) -> bool {
    waiting(facts).is_some()
}

/// What came to be dirty in its trials, where that was counted.
fn write_back<'a>(facts: &'a StageFacts<'_>) -> impl Iterator<Item = WriteBack> + 'a {
    let trials = facts.trials().iter();
    trials.filter_map(|trial| trial.evidence.write_back)
}

fn waiting(facts: &StageFacts<'_>) -> Option<Waiting> {
    let workload = facts.workload();
    let direct = facts.direct() != Some(false);
    let synced = workload.sync.each_write() || sync_mount::syncs_unasked(facts);
    unless(direct || !workload.operation.writes() || synced)?;
    let most = |dirty: &WriteBack| dirty.dirty_after_bytes.max(dirty.dirtied_bytes);
    let at_limit = write_back(facts)
        .filter(|dirty| dirty_pages::reached_ceiling(dirty, workload.sync))
        .max_by_key(most);
    let as_fast_as_written = |dirty: WriteBack| {
        let written = dirty.written_bytes as f64;
        dirty.dirtied_bytes > 0 && written >= WRITTEN_BACK * dirty.dirtied_bytes as f64
    };
    // A sync at the end writes all of it, whoever was held back before.
    let by_rate = !workload.sync.at_end() && write_back(facts).all(as_fast_as_written);
    let by_rate = || write_back(facts).filter(|_| by_rate).max_by_key(most);
    let fullest = at_limit.or_else(by_rate)?;
    let unhindered_ns = unhindered(facts)?;
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
        // Less of it is told as a place where the threads sleep, of which it is one.
        Standing::CAUSE_MIN
    } else {
        WAITED_BY_RATE
    };
    let share = facts.stage.median(share)?.min(1.0);
    (share >= least).then_some(Waiting {
        share,
        unhindered_ns,
        fullest,
        at_limit,
    })
}

/// Whether its threads were seen to wait for memory in a control group that limits it: then that
/// limit was reached.
fn waits_for_memory_of_group(facts: &StageFacts<'_>) -> bool {
    let looks = || Looks::of(facts.trials().iter().copied());
    group_limit(facts.trials()).is_some()
        && looks().is_some_and(|looks| looks.by(By::Memory) >= SEEN_MIN)
}

/// What a write takes that does not wait: processor time where it is known, else
/// the fastest.
fn unhindered(facts: &StageFacts<'_>) -> Option<f64> {
    match facts.processor_ns() {
        // Other threads of the process may have cost more than the writes did.
        Some(ns) if ns > 0.0 => Some(facts.latency_ns().map_or(ns, |mean| ns.min(mean))),
        _ => facts.shortest_ns(),
    }
}

fn writers_wait(facts: &StageFacts<'_>) -> Option<Candidate> {
    let Waiting {
        share,
        unhindered_ns,
        fullest,
        at_limit,
    } = waiting(facts)?;
    let written: f64 = write_back(facts)
        .map(|dirty| dirty.written_bytes as f64)
        .sum();
    let [mean, unhindered] = [facts.latency_ns()?, unhindered_ns].map(duration);
    let [after, dirtied, background, limit] = [
        fullest.dirty_after_bytes,
        fullest.dirtied_bytes,
        fullest.dirty_background_bytes,
        fullest.dirty_limit_bytes,
    ]
    .map(show_size);
    let waited = percent(share);
    let evidence = [
        format!(
            "{after} were dirty in the end and {dirtied} became dirty, where writers are held back \
             from {} on at the latest, sooner on a device with a small share of it: half way \
             between {background} and the limit of {limit}.",
            size(dirty_pages::ceiling(&fullest))
        ),
        format!(
            "A write took {mean} on average, and {unhindered} when nothing held it back: {waited} \
             of the time was waiting."
        ),
        format!(
            "{} was written in the meantime, and {} written back.",
            facts.rate().map_or_else(|| "It".into(), show_throughput),
            show_throughput(written / facts.seconds())
        ),
    ];
    // Twice, because writers are held back from half way on; and never less than there is.
    let most = fullest.dirtied_bytes.max(fullest.dirty_limit_bytes);
    let enough = most.saturating_mul(2).next_power_of_two();
    let remedy = format!(
        "What lasts can only be written as fast as the disk is. A burst of {dirtied} fits when the \
         limit is {}: `sysctl vm.dirty_bytes={enough} vm.dirty_background_bytes={}`, where \
         there is so much memory; all of it is lost in a power cut.",
        show_size(enough),
        enough / 4
    );
    // What a group may not keep it has to write back first, far below the limit of the machine.
    let group = group_limit(facts.trials());
    let group = group.filter(|group| !at_limit && group.bytes < fullest.dirty_limit_bytes);
    let why = match &group {
        _ if at_limit => "the limit on dirty pages was reached".to_owned(),
        None => "no more became dirty than was written back meanwhile".to_owned(),
        Some(group) => format!(
            "the memory of a control group, {}, holds no more",
            show_size(group.bytes)
        ),
    };
    let remedy = group.map_or(remedy, |group| {
        format!(
            "Raise `memory.max` (version 1: `memory.limit_in_bytes`) of {}, or write past the page \
             cache: what lasts can only be written as fast as the disk is.",
            group.folder
        )
    });
    let claim = format!("Writers waited for write-back in {waited} of the time: {why}.");
    let stages = facts.stages().and("past-the-cache", |w| {
        w.cache = CacheMode::Direct;
        w.sync = SyncMode::None;
    });
    // Where the clock stopped with dirty pages at the limit, they were counted there.
    let counted = at_limit && !facts.workload().sync.at_end();
    let limit = format!("set dirty_limit = \"{}\" under [host]", exact_size(enough));
    let found = cause(share, certain_if(counted), claim)
        .evidence(evidence)
        .settled_by(stages)
        .remedy(remedy)
        .profile(facts.run(), &limit);
    Some(found)
}
