//! What is read has no data: the kernel fills pages with zeros, and no device is asked.

use super::{Candidate, Standing, Subject};
use crate::rules::holes::{empty_share, explain, path};
use crate::words::{percent, shell};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "holes";

/// Share of the file from which on it is worth a word.
const SHARE: f64 = 0.1;

/// Whether holes, and no page cache, are why no device was read.
pub(super) fn are_read(subject: &Subject<'_>) -> bool {
    let target = &subject.run().target;
    let reads = subject.only_reads() && subject.moves_blocks();
    let empty = empty_share(target).is_some_and(|share| share >= SHARE);
    reads && empty && explain(target, subject.workload(), subject.from_memory())
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let target = &subject.run().target;
    let share = empty_share(target)?;
    if !are_read(subject) {
        return None;
    }
    let path = shell(path(subject.run()));
    Some(Candidate {
        standing: if share >= Standing::CAUSE_MIN {
            Standing::NotTheDevice
        } else {
            Standing::Beside
        },
        claim: format!(
            "{} of the file has no data of its own: the kernel makes up zeros for it, and no \
             disk is read.",
            percent(share)
        ),
        evidence: vec![
            "The filesystem says so (FIEMAP, SEEK_HOLE): holes, or space that was set aside and \
             never written."
                .into(),
        ],
        share: Some(share),
        confidence: Confidence::Certain,
        refuted_by: "As many bytes counted by the device as were issued.".into(),
        experiment: subject.again(
            "The same of a copy that was written in full: a lower rate speaks for it, the same \
             rate against it.",
        ),
        remedy: format!(
            "Measure a copy that is written in full: `cp --sparse=never {path} {path}.full`."
        ),
    })
}
