//! Writes through the page cache that cover parts of pages: what is not in memory has to be
//! read before the rest of its page can be filled (kernel, `block_write_begin` in
//! fs/buffer.c, `iomap_write_begin` in fs/iomap/buffered-io.c).

use super::prelude::*;
use crate::pages::{PAGE, are_partial, own_reads};

pub(super) const LIMITER: Limiter = Limiter {
    name: "partial-pages",
    needs: &[NoDocument, Blocks, OnlyWrites, Buffered],
    find: pages_are_read_first,
    ..Limiter::ANY
};

/// Reads for each write from which on it is one in two.
const READS: f64 = 0.5;

fn pages_are_read_first(facts: &StageFacts<'_>) -> Option<Candidate> {
    let workload = facts.workload();
    unless(!are_partial(workload))?;
    let top = &facts.stack().top()?.name;
    let writes = facts.ops();
    // Those that this process caused: others may read the device too.
    let reads = facts.sum(own_reads)? / writes;
    unless(!reads.is_finite() || reads < READS)?;
    let share = facts.spent(&[Spent::Device, Spent::BlockLayer])?;
    let waits = duration(share * facts.latency_ns()?);
    let page = show_size(PAGE);
    let claim = format!(
        "Writes of {} cover parts of pages of {page} that are not in memory: {} reads for each \
         write come first.",
        show_size(workload.block_size),
        ratio(reads)
    );
    let pages = (reads * writes).round();
    let line = format!(
        "This process had {pages} pages read from {top} for {writes} writes, and a write waits \
         {waits} for them."
    );
    let stages = facts.stages().and("parts", |_| ());
    let stages = stages.and("whole-pages", |w| {
        w.block_size = w.block_size.next_multiple_of(PAGE);
        w.offset -= w.offset % PAGE;
    });
    let found = cause(share, Certain, claim)
        .evidence([line])
        .settled_by(stages)
        .remedy(format!(
            "Write whole pages of {page} at their boundaries, or read what is to be changed \
             before, while there is time."
        ));
    Some(found)
}
