//! What is written over is shared with other files or snapshots: the new blocks go elsewhere,
//! and the filesystem has to write down where.

use super::prelude::*;

pub(super) const LIMITER: Limiter = Limiter {
    name: "copy-on-write",
    about: "shared extents: copy on write",
    needs: &[Blocks, OnlyWrites, FromDisk],
    refuted_by: "The same rate on a file that shares nothing.",
    question: "The same once more: what was written over is no longer shared, so a higher rate \
               speaks for it.",
    remedy: "Write to a file that is no clone and in no snapshot (`cp --reflink=never`), or \
             once over all of it first.",
    in_short: "write over all of it once first",
    find: writes_to_shared_extents,
    ..Limiter::ANY
};

fn writes_to_shared_extents(facts: &StageFacts<'_>) -> Option<Candidate> {
    let extents = facts.run().target.extents.as_ref()?;
    let shared_bytes = extents.shared_bytes?;
    let shared = shared_bytes as f64 / extents.span_bytes as f64;
    unless(!shared.is_finite() || shared < WORTH_A_WORD)?;
    // What the devices need for the data itself is the same elsewhere; the rest is work, or
    // waits for a processor to do it.
    let elsewhere = [
        Spent::Device,
        Spent::Scheduler,
        Spent::Admission,
        Spent::Flush,
        Spent::Due,
    ];
    let share = facts.spent(&elsewhere).map(|other| (1.0 - other) * shared);
    let claim = format!(
        "{} of the file is shared with other files or snapshots: what is written goes to new \
         places, which the filesystem has to find and write down.",
        percent(shared)
    );
    let [shared, span] = [shared_bytes, extents.span_bytes].map(show_size);
    let line = format!("{shared} of {span} were in shared extents when the run began (FIEMAP).");
    let standing = share.map_or(Standing::Beside, Standing::cause);
    Some(Candidate::new(standing, share, Likely, claim).evidence([line]))
}
