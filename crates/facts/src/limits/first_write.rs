//! What is written has no place yet, or one that nothing was written to: the filesystem that
//! the file lies in has to find it, and to write down where.

use super::copy_on_write::new_places;
use super::prelude::*;
use crate::holes::empty_share;

pub(super) const LIMITER: Limiter = Limiter {
    name: "first-write",
    needs: &[Blocks, OnlyWrites, FromDisk],
    find: writes_to_no_place,
    ..Limiter::ANY
};

fn writes_to_no_place(facts: &StageFacts<'_>) -> Option<Candidate> {
    // Then it is the journal, which says so itself.
    unless(facts.workload().sync.each_write())?;
    let target = &facts.run().target;
    let new = empty_share(target).filter(|share| *share >= WORTH_A_WORD)?;
    let claim = format!(
        "{} of it was never written: the filesystem below has to find a place for what is written \
         there, and to write down where.",
        percent(new)
    );
    let extents = target.extents.as_ref()?;
    // Lseek tells holes alone.
    let unwritten_bytes = extents.unwritten_bytes.unwrap_or(0);
    let [holes, unwritten, span] =
        [extents.hole_bytes, unwritten_bytes, extents.span_bytes].map(show_size);
    let line = format!(
        "Of {span}, {holes} were holes and {unwritten} set aside and not written when the run began \
         (FIEMAP)."
    );
    Some(new_places(facts, new, claim).evidence([line]))
}
