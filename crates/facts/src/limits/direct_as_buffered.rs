//! Direct writes that the filesystem does through the page cache, with the lock of the file held:
//! they are copied, given their checksums and written back one after the other.

use super::prelude::*;
use crate::buffered_fallback::{self, Fallback};
use crate::stage_facts::handed_on::OneByOne;

pub(super) const LIMITER: Limiter = Limiter {
    name: "direct-as-buffered",
    needs: &[NoDocument, Blocks, OnlyWrites],
    find: copied_and_written_back,
    ..Limiter::ANY
};

/// Writes that went through pages one after the other: of several streams, each may hold a lock of
/// its own.
fn one_after_the_other(facts: &StageFacts<'_>) -> Option<Fallback> {
    let alone = facts.workload().streams <= 1 || OneByOne::of_filesystem(facts).is_some();
    alone.then(|| buffered_fallback::of(facts)).flatten()
}

fn copied_and_written_back(facts: &StageFacts<'_>) -> Option<Candidate> {
    let through = one_after_the_other(facts)?;
    // The lock makes them one after the other, whoever does them.
    let work_ns = facts.figures.cpu_system_ns_per_io? * facts.mean_iops()?;
    let work = (work_ns / 1e9).min(1.0);
    // With several in flight they wait for each other, with a slow device far longer than for the
    // copies.
    let queued = OneByOne::of_filesystem(facts);
    let waits = queued.and_then(|found| found.waits(facts));
    let share = work.max(waits.unwrap_or(0.0));
    let claim = format!(
        "btrfs does these direct writes through the page cache, one after the other: copies and \
         checksums take {} of the time.",
        percent(work)
    );
    let [issued, dirtied, back] = [through.issued, through.dirtied, through.written_back].map(size);
    let lines = [
        format!(
            "{issued} were written past the page cache, as was asked; {dirtied} of pages became \
             dirty and {back} were written back meanwhile."
        ),
        format!(
            "A write takes {} in the kernel, {} of them a second.",
            duration(facts.figures.cpu_system_ns_per_io?),
            rate_digits(facts.mean_iops()?)
        ),
    ];
    Some(
        cause(share, Likely, claim)
            .evidence(lines)
            .evidence(queued.map(|found| found.counted())),
    )
}
