//! Writes through the page cache that cover parts of pages: what is not in memory has to be
//! read before the rest of its page can be filled (kernel, `block_write_begin` in
//! fs/buffer.c, `iomap_write_begin` in fs/iomap/buffered-io.c).

use super::{Candidate, Standing, Subject};
use crate::words::ratio;
use diskfacts_plan::Workload;
use diskfacts_plan::units::{show_duration, show_size};
use diskfacts_record::{Confidence, Spent, Trial};

pub(super) const NAME: &str = "partial-pages";

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

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    if subject.imported()
        || !are_written(workload)
        || !subject.moves_blocks()
        || !subject.only_writes()
        || subject
            .trials()
            .iter()
            .any(|trial| trial.evidence.engine.direct)
    {
        return None;
    }
    let top = subject.stack().top()?;
    let writes = subject.stage.sum(|trial| trial.ops) as f64;
    // Those that this process caused: others may read the device too.
    let each = subject.trials().iter().map(|trial| own_reads(trial));
    let reads = each.sum::<Option<f64>>()? / writes;
    if !reads.is_finite() || reads < READS {
        return None;
    }
    let share = subject.spent(&[Spent::Device, Spent::BlockLayer])?;
    let each_ns = share * subject.latency_ns()?;
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "Writes of {} cover parts of pages of {} that are not in memory: {} reads for each \
             write come first.",
            show_size(workload.block_size),
            show_size(PAGE),
            ratio(reads)
        ),
        evidence: vec![format!(
            "This process had {} pages read from {} for {} writes, and a write waits {} for them.",
            (reads * writes).round(),
            top.name,
            writes,
            show_duration(each_ns as u64)
        )],
        share: Some(share),
        confidence: Confidence::Certain,
        refuted_by: "Writes of whole pages that take as long.".into(),
        experiment: subject.experiment(
            "Writes of whole pages, at their boundaries: a higher rate speaks for it.",
            &[
                ("parts", workload.clone()),
                (
                    "whole-pages",
                    subject.with(|w| {
                        w.block_size = w.block_size.next_multiple_of(PAGE);
                        w.offset -= w.offset % PAGE;
                    }),
                ),
            ],
        ),
        remedy: format!(
            "Write whole pages of {} at their boundaries, or read what is to be changed before, \
             while there is time.",
            show_size(PAGE)
        ),
    })
}
