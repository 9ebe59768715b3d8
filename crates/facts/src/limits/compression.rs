//! What is read is compressed (or encrypted) on the filesystem: a processor unpacks it, and
//! the device moves other bytes than those that are counted.

use super::prelude::*;

pub(super) const LIMITER: Limiter = Limiter {
    name: "compression",
    needs: &[Blocks, OnlyReads, FromDisk],
    find: reads_are_unpacked,
    ..Limiter::ANY
};

fn reads_are_unpacked(facts: &StageFacts<'_>) -> Option<Candidate> {
    let (encoded, of_file) = facts.encoded()?;
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
    let found = cause(share, Likely, claim);
    Some(found.evidence([of_file]).evidence(moved))
}
