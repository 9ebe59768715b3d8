//! What is read is compressed (or encrypted) on the filesystem: a processor unpacks it, and
//! the device moves other bytes than those that are counted.

use super::{Candidate, Standing, Subject};
use crate::words::percent;
use diskfacts_plan::units::show_size;
use diskfacts_record::{Confidence, Spent};

pub(super) const NAME: &str = "compression";

/// Share of the file from which on it is worth a word.
const SHARE: f64 = 0.1;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let target = &subject.run().target;
    let extents = target.extents.as_ref()?;
    let encoded = extents.encoded_bytes? as f64 / extents.span_bytes as f64;
    let from_disk = subject.moves_blocks() && subject.from_memory() < 0.5;
    if !encoded.is_finite() || encoded < SHARE || !subject.only_reads() || !from_disk {
        return None;
    }
    // What is not with the devices is unpacking, by this thread or by those of the kernel, or
    // waits for a processor to do it.
    let elsewhere = [
        Spent::Device,
        Spent::BlockLayer,
        Spent::Scheduler,
        Spent::Admission,
        Spent::Due,
    ];
    let share = subject
        .spent(&elsewhere)
        .map(|other| (1.0 - other) * encoded);
    let work = subject.device_work();
    let issued = subject.stage.sum(|trial| trial.bytes);
    let mut evidence = vec![format!(
        "{} of the file's {} are encoded (FIEMAP): compressed, or encrypted.",
        percent(encoded),
        show_size(extents.span_bytes)
    )];
    evidence.extend(work.map(|work| {
        format!(
            "{} were asked for, and the devices read {}.",
            show_size(issued),
            show_size(work.read_bytes as u64)
        )
    }));
    Some(Candidate {
        standing: share.map_or(Standing::Beside, Standing::cause),
        claim: format!(
            "{} of the file is compressed or encrypted: processors unpack what is read, and the \
             rate is not that of the device.",
            percent(encoded)
        ),
        evidence,
        share,
        confidence: Confidence::Likely,
        refuted_by: "The same rate from a file that is not compressed.".into(),
        experiment: subject.again(
            "The same of a copy that is not compressed: another rate speaks for it, the same \
             rate against it.",
        ),
        remedy: "For the device's figures, measure in a folder without compression (`chattr +m` \
                 or `btrfs property set FOLDER compression none`, then a new copy); for those \
                 of use, data that compress as the real ones do."
            .into(),
    })
}
