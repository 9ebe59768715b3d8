//! What is written over is shared with other files or snapshots: the new blocks go elsewhere,
//! and the filesystem has to write down where.

use super::{Candidate, Standing, Subject};
use crate::words::percent;
use diskfacts_plan::units::show_size;
use diskfacts_record::{Confidence, Spent};

pub(super) const NAME: &str = "copy-on-write";

/// Share of the file from which on it is worth a word.
const SHARE: f64 = 0.1;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let extents = subject.run().target.extents.as_ref()?;
    let shared = extents.shared_bytes? as f64 / extents.span_bytes as f64;
    let to_disk = subject.moves_blocks() && subject.from_memory() < 0.5;
    if !shared.is_finite() || shared < SHARE || !subject.only_writes() || !to_disk {
        return None;
    }
    // What the devices need for the data itself is the same elsewhere; the rest is work, or
    // waits for a processor to do it.
    let elsewhere = [
        Spent::Device,
        Spent::Scheduler,
        Spent::Admission,
        Spent::Flush,
        Spent::Due,
    ];
    let share = subject
        .spent(&elsewhere)
        .map(|other| (1.0 - other) * shared);
    Some(Candidate {
        standing: share.map_or(Standing::Beside, Standing::cause),
        claim: format!(
            "{} of the file is shared with other files or snapshots: what is written goes to new \
             places, which the filesystem has to find and write down.",
            percent(shared)
        ),
        evidence: vec![format!(
            "{} of {} were in shared extents when the run began (FIEMAP).",
            show_size(extents.shared_bytes?),
            show_size(extents.span_bytes)
        )],
        share,
        confidence: Confidence::Likely,
        refuted_by: "The same rate on a file that shares nothing.".into(),
        experiment: subject.again(
            "The same once more: what was written over is no longer shared, so a higher rate \
             speaks for it.",
        ),
        remedy: "Write to a file that is no clone and in no snapshot (`cp --reflink=never`), or \
                 once over all of it first."
            .into(),
    })
}
