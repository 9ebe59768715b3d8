//! What is read is compressed (or encrypted) on the filesystem: a processor unpacks it, and
//! the device moves other bytes than those that are counted.

use super::prelude::*;
use crate::layers::reach::COMPRESSED;

pub(super) const LIMITER: Limiter = Limiter {
    name: "compression",
    needs: &[Blocks, OnlyReads, FromDisk],
    find: reads_are_unpacked,
    ..Limiter::ANY
};

fn reads_are_unpacked(facts: &StageFacts<'_>) -> Option<Candidate> {
    let (encoded, of_file) = encoded(facts)?;
    unless(!encoded.is_finite() || encoded < WORTH_A_WORD)?;
    // What is not with the devices is unpacking, by this thread or by those of the kernel, or
    // waits for a processor to do it.
    let elsewhere = [
        Spent::Device,
        Spent::BlockLayer,
        Spent::Scheduler,
        Spent::Admission,
        Spent::Due,
    ];
    let share = facts.spent(&elsewhere).map(|other| (1.0 - other) * encoded);
    let encoded = percent(encoded);
    let claim = format!(
        "{encoded} of the file is compressed or encrypted: processors unpack what is read, and \
         the rate is not that of the device."
    );
    let issued = show_size(facts.stage.sum(|trial| trial.bytes));
    let moved = facts.device_work().map(|work| {
        let read = size(work.read_bytes);
        format!("{issued} were asked for, and the devices read {read}.")
    });
    let standing = share.map_or(Standing::Beside, Standing::cause);
    let unpacked = Candidate::new(standing, share, Likely, claim);
    Some(unpacked.evidence([of_file]).evidence(moved))
}

/// Share of the file that is encoded, and what says so.
fn encoded(facts: &StageFacts<'_>) -> Option<(f64, String)> {
    // SEEK_HOLE tells nothing of it.
    let extents = facts.run().target.extents.as_ref();
    let told = extents.and_then(|all| Some((all.encoded_bytes?, all.span_bytes)));
    if let Some((bytes, span)) = told {
        let line = format!(
            "{} of the file's {} are encoded (FIEMAP): compressed, or encrypted.",
            show_size(bytes),
            show_size(span)
        );
        return Some((bytes as f64 / span as f64, line));
    }
    let kind = &facts.run().stack.filesystem.as_ref()?.kind;
    let line = format!("The filesystem is {kind}, whose data are compressed.");
    COMPRESSED.contains(&kind.as_str()).then_some((1.0, line))
}
