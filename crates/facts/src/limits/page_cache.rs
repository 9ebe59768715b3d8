//! Memory of the host served the bytes, or took them: the figure is not the disk's.

use super::partial_pages;
use super::prelude::*;
use crate::cpu_quota;
use crate::holes;
use crate::layers::is_mounted_sync;
use crate::stage_facts::evicted::Evicted;
use crate::stage_facts::io_limit;
use crate::stage_facts::write_back::DirtyWaiting;

pub(super) const LIMITER: Limiter = Limiter {
    name: "page-cache",
    needs: &[NoDocument, Blocks],
    // Who is kept from memory waits for others.
    not_in: &[Spent::Blocked],
    find: memory_serves_it,
    ..Limiter::ANY
};

/// Share of the time that devices worked from which on the figure is theirs after
/// all: the rest of the bytes came in so little time that they hardly count.
const DEVICE_BUSY: f64 = 0.5;
/// Share of the bytes from which on nothing but memory was at work: a miss may take
/// ten thousand times as long as a hit, so fewer could still fill the time.
const ALL: f64 = 0.9999;

fn memory_serves_it(facts: &StageFacts<'_>) -> Option<Candidate> {
    let memory = facts.memory_share();
    // Less makes the figure larger by less than a ninth.
    unless(memory < WORTH_A_WORD)?;
    let reads = facts.only_reads();
    let busy = facts.busy();
    // Next to nothing came from the device, whatever others did with it meanwhile.
    let all = memory > ALL;
    let idle = busy.map_or(memory > 1.0 - WORTH_A_WORD, |busy| busy < DEVICE_BUSY);
    // What is written goes down while the program goes on: only its waiting counts.
    let by_memory = if reads {
        all || (memory >= 0.5 && idle)
    } else {
        memory >= 0.5
            && DirtyWaiting::of(facts).is_none()
            && !partial_pages::LIMITER.speaks_of(facts)
            && !is_mounted_sync(facts.stack())
    };
    // The memory behind a loop device is fast, and a limit in front of it holds all
    // the same; so does one on the processor that copies.
    let held = holes::share_of_reads(facts).is_some_and(|share| share >= WORTH_A_WORD)
        || io_limit::is_reached(facts)
        || cpu_quota::holds_back(facts.stage)
        || Evicted::of(facts).is_some_and(|evicted| evicted.share() >= Standing::CAUSE_MIN);
    let standing = Standing::NotTheDevice.only_if(by_memory && !held);
    let share = match busy {
        Some(busy) if reads && !all => 1.0 - busy,
        // Where some are read and some written, each after the other, the reads keep the device
        // at work: memory has the rest of the time at most, whatever its share of the bytes.
        Some(busy) if !facts.only_writes() && !by_memory => memory.min(1.0 - busy),
        _ => memory,
    };
    let of_bytes = percent(memory);
    let issued = show_size(facts.stage.sum(|trial| trial.bytes));
    let rate = facts
        .rate()
        .map(|rate| format!(", at {}", show_throughput(rate)));
    let rate = rate.unwrap_or_default();
    let (which, claim) = if reads {
        let claim = format!("Memory served {of_bytes} of what was read, not the disk.");
        ("came from", claim)
    } else {
        let claim = format!(
            "Memory took {of_bytes} of what was written; the disk did not have it when the clock \
             stopped."
        );
        ("stayed in", claim)
    };
    let line = format!("Of {issued} {of_bytes} {which} the page cache{rate}.");
    let disks = busy.map(|busy| {
        let busy = percent(busy);
        format!("The disks were busy {busy} of the time.")
    });
    let past = facts.stages().and("past-the-cache", |w| {
        w.cache = CacheMode::Direct;
        if w.operation.writes() && !w.sync.each_write() {
            w.sync = SyncMode::FdatasyncAtEnd;
        }
    });
    let case = match facts.workload().cache {
        CacheMode::Warm => "warm",
        _ if reads => "reads",
        _ => "writes",
    };
    let found = Candidate::new(standing, share, Certain, claim)
        .evidence([line])
        .evidence(disks)
        .settled_by(past)
        .case(case);
    Some(found)
}
