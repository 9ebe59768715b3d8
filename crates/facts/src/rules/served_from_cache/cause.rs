//! Why bytes did not reach a device.

use crate::holes;
use crate::layers::in_memory;
use crate::layers::reach::Reach;
use crate::rules::prelude::*;

/// Where the bytes stayed, and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cause {
    /// The target has no device under it.
    Memory,
    /// In the page cache of the file behind a loop device.
    Loop(Vec<String>),
    /// Past `O_DIRECT`.
    DirectIgnored,
    /// Of a stage that was to begin with an empty page cache.
    Cold(Cold),
    /// Of a stage that goes through the page cache.
    Buffered(Buffered),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cold {
    /// It read its span more than once.
    ReadAgain,
    /// It began with pages in the cache.
    NotDropped,
    /// None of these.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Buffered {
    /// Synced writes of blocks that were written again before the only sync.
    Rewritten,
    /// Synced writes that the device did not count.
    SyncKept,
    /// As buffered I/O does.
    AsItDoes,
}

/// What kept this share of the bytes of this stage; `None` when it was meant so, or when
/// another rule has the reason.
pub(super) fn of(context: &Context<'_>, stage: &Stage<'_>, share: f64) -> Option<Cause> {
    let workload = stage.workload();
    if workload.cache == CacheMode::Warm {
        return None;
    }
    if in_memory(&context.run.stack) {
        return Some(Cause::Memory);
    }
    if let Some(names) = kept_by_loop(context, stage) {
        return Some(Cause::Loop(names));
    }
    if workload.operation.reads() && holes::explain(&context.run.target, workload, share) {
        return None;
    }
    kept_by_target(stage)
}

/// The loop devices that kept more than the target's own page cache did.
fn kept_by_loop(context: &Context<'_>, stage: &Stage<'_>) -> Option<Vec<String>> {
    let mut target = 0.0;
    let mut loops = Vec::new();
    let stack = &context.run.stack;
    for reach in stage.trials.iter().flat_map(|t| Reach::both(t, stack)) {
        let issued = reach.issued as f64;
        target += reach.kept_by_target() * issued;
        for (step, share) in reach.kept_by_loops() {
            join(&mut loops, step.names.clone(), share * issued);
        }
    }
    let loops = loops.into_iter();
    let sums = loops.map(|(names, bytes)| (names, bytes.iter().sum::<f64>()));
    let more = sums.filter(|(_, bytes)| *bytes > target);
    more.max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(names, _)| names)
}

fn kept_by_target(stage: &Stage<'_>) -> Option<Cause> {
    let workload = stage.workload();
    let was_direct = stage.trials.iter().all(|t| t.evidence.engine.direct);
    match workload.cache {
        CacheMode::Direct if was_direct => Some(Cause::DirectIgnored),
        // Another rule says that direct I/O was refused.
        CacheMode::Direct | CacheMode::Warm => None,
        // A cache that is empty in the beginning keeps writes all the same.
        CacheMode::Cold if !workload.operation.writes() => Some(Cause::Cold(cold(stage))),
        CacheMode::Cold | CacheMode::Buffered => Some(Cause::Buffered(match workload.sync {
            SyncMode::None => Buffered::AsItDoes,
            SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => Buffered::Rewritten,
            _ if !workload.operation.writes() => Buffered::AsItDoes,
            _ => Buffered::SyncKept,
        })),
    }
}

fn cold(stage: &Stage<'_>) -> Cold {
    let again = stage.trials.iter().any(|t| {
        let span = t.workload.span;
        span.is_some_and(|span| t.evidence.issued.read_bytes > span)
    });
    let drawn = matches!(
        stage.workload().pattern,
        Pattern::Random | Pattern::Zipf { .. } | Pattern::Stride { .. }
    );
    if cached_before(stage) > SERVED_FROM_CACHE {
        Cold::NotDropped
    } else if again || drawn {
        Cold::ReadAgain
    } else {
        Cold::Unknown
    }
}

/// The most of its span that was in the page cache when a trial of it began.
pub(super) fn cached_before(stage: &Stage<'_>) -> f64 {
    let before = stage.trials.iter();
    let before = before.filter_map(|t| t.evidence.residency_before);
    let shares = before
        .filter(|r| r.span_bytes > 0)
        .map(|r| r.cached_bytes as f64 / r.span_bytes as f64);
    shares.fold(0.0, f64::max)
}
