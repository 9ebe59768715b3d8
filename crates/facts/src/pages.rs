//! Pages of the page cache that a stage covers in part, and those that it has read.

use diskfacts_plan::Workload;
use diskfacts_record::Trial;

/// The smallest page of the machines of today, bytes; larger ones are read in part all the
/// more often.
pub(crate) const PAGE: u64 = 4096;
/// Whether writes end or begin within pages.
pub(crate) fn are_partial(workload: &Workload) -> bool {
    !workload.block_size.is_multiple_of(PAGE) || !workload.offset.is_multiple_of(PAGE)
}

/// Pages that this process had read while a trial ran; `None` where that was not counted.
pub(crate) fn own_reads(trial: &Trial) -> Option<f64> {
    let io = trial.evidence.process_io.as_ref()?;
    Some(io.read_bytes as f64 / PAGE as f64)
}
