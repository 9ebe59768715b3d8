//! Direct writes that the filesystem did through the page cache, though the file was opened with
//! `O_DIRECT` and the kernel says that it has direct I/O.
//!
//! btrfs does so with data that have checksums, from Linux 6.15 on, because a program that changes
//! its buffer meanwhile would leave a checksum that is wrong (`btrfs_direct_write` in
//! fs/btrfs/direct-io.c): it copies each write to pages, writes these back and waits. No answer to
//! `statx` tells it; the kernel's counts of pages do.

use crate::stage_facts::StageFacts;
use diskfacts_record::Trial;

/// Share of what was written that became dirty, and was written back, in each trial. Direct writes
/// make next to nothing dirty; of those that go through pages all of it does, but what the
/// counters, which each processor keeps for itself, lag behind.
const ALL: f64 = 0.9;

/// What went through pages, bytes, of all trials.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fallback {
    pub(crate) issued: f64,
    pub(crate) dirtied: f64,
    pub(crate) written_back: f64,
}

/// What a stage of direct writes did through the page cache.
pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Fallback> {
    let kind = &facts.run().stack.filesystem.as_ref()?.kind;
    // Elsewhere as many pages of others may be written meanwhile.
    let may = kind == "btrfs" && facts.only_writes() && facts.direct() == Some(true);
    may.then_some(())?;
    let sum = |of: fn(&Fallback) -> f64| facts.sum(|trial| Some(of(&of_trial(trial)?)));
    Some(Fallback {
        issued: sum(|one| one.issued)?,
        dirtied: sum(|one| one.dirtied)?,
        written_back: sum(|one| one.written_back)?,
    })
}

fn of_trial(trial: &Trial) -> Option<Fallback> {
    let pages = trial.evidence.write_back?;
    let found = Fallback {
        issued: trial.evidence.issued.write_bytes as f64,
        dirtied: pages.dirtied_bytes as f64,
        written_back: pages.written_bytes as f64,
    };
    let through = found.dirtied.min(found.written_back);
    (found.issued > 0.0 && through >= ALL * found.issued).then_some(found)
}
