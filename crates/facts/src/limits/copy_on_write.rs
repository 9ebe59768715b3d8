//! What is written over is shared with other files or snapshots: the new blocks go elsewhere,
//! and the filesystem has to write down where.

use super::prelude::*;

pub(super) const LIMITER: Limiter = Limiter {
    name: "copy-on-write",
    needs: &[Blocks, OnlyWrites, FromDisk],
    find: writes_to_shared_extents,
    ..Limiter::ANY
};

fn writes_to_shared_extents(facts: &StageFacts<'_>) -> Option<Candidate> {
    let extents = facts.run().target.extents.as_ref()?;
    let shared_bytes = extents.shared_bytes?;
    let shared = shared_bytes as f64 / extents.span_bytes as f64;
    unless(!shared.is_finite() || shared < WORTH_A_WORD)?;
    let claim = format!(
        "{} of the file is shared with other files or snapshots: what is written goes to new \
         places, which the filesystem has to find and write down.",
        percent(shared)
    );
    let [shared_bytes, span] = [shared_bytes, extents.span_bytes].map(show_size);
    let line =
        format!("{shared_bytes} of {span} were in shared extents when the run began (FIEMAP).");
    Some(new_places(facts, shared, claim).evidence([line]))
}

/// That the work of finding new places limits a stage, of which so large a part goes to some.
pub(super) fn new_places(facts: &StageFacts<'_>, part: f64, claim: String) -> Candidate {
    // What the devices need for the data itself is the same elsewhere; the rest is work, or
    // waits for a processor to do it.
    let elsewhere = [
        Spent::Device,
        Spent::BlockLayer,
        Spent::Mapping,
        Spent::Scheduler,
        Spent::Admission,
        Spent::Flush,
        Spent::Due,
    ];
    let share = facts.spent(&elsewhere).map(|other| (1.0 - other) * part);
    cause(share, Likely, claim)
}
