//! Writes through the page cache that cover parts of pages: what is not in memory has to be
//! read before the rest of its page can be filled (kernel, `block_write_begin` in
//! fs/buffer.c, `iomap_write_begin` in fs/iomap/buffered-io.c).

use super::prelude::*;
use diskfacts_plan::Workload;

pub(super) const LIMITER: Limiter = Limiter {
    name: "partial-pages",
    about: "read-modify-write of pages",
    needs: &[NoDocument, Blocks, OnlyWrites, Buffered],
    refuted_by: "Writes of whole pages that take as long.",
    question: "Writes of whole pages, at their boundaries: a higher rate speaks for it.",
    find: pages_are_read_first,
    ..Limiter::ANY
};

/// The smallest page of the machines of today, bytes; larger ones are read in part all the
/// more often.
const PAGE: u64 = 4096;
/// Reads for each write from which on it is one in two.
const READS: f64 = 0.5;

/// Whether writes end or begin within pages.
pub(crate) fn are_written(workload: &Workload) -> bool {
    !workload.block_size.is_multiple_of(PAGE) || !workload.offset.is_multiple_of(PAGE)
}

/// Pages that this process had read while a trial ran; `None` where that was not counted.
pub(crate) fn own_reads(trial: &Trial) -> Option<f64> {
    let io = trial.evidence.process_io.as_ref()?;
    Some(io.read_bytes as f64 / PAGE as f64)
}

fn pages_are_read_first(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    unless(!are_written(workload))?;
    let top = &subject.stack().top()?.name;
    let writes = subject.ops();
    // Those that this process caused: others may read the device too.
    let reads = subject.sum(own_reads)? / writes;
    unless(!reads.is_finite() || reads < READS)?;
    let share = subject.spent(&[Spent::Device, Spent::BlockLayer])?;
    let waits = duration(share * subject.latency_ns()?);
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
    let stages = subject.stages().and("parts", |_| ());
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
