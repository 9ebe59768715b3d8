//! What is read has no data: the kernel fills pages with zeros, and no device is asked.

use super::prelude::*;
use crate::holes::{empty_share, explain, may_be_read, path};

pub(super) const LIMITER: Limiter = Limiter {
    name: "holes",
    find: no_data_is_read,
    ..Limiter::ANY
};

/// Whether holes, and no page cache, are why no device was read.
pub(super) fn are_read(facts: &StageFacts<'_>) -> bool {
    let target = &facts.run().target;
    let reads = facts.only_reads() && facts.moves_blocks();
    let empty = empty_share(target).is_some_and(|share| share >= WORTH_A_WORD);
    let workload = facts.workload();
    reads
        && empty
        && may_be_read(target, workload, &facts.figures.layers)
        && explain(target, workload, facts.memory_share())
}

fn no_data_is_read(facts: &StageFacts<'_>) -> Option<Candidate> {
    let target = &facts.run().target;
    let share = empty_share(target).filter(|_| are_read(facts))?;
    let standing = Standing::NotTheDevice.only_if(share >= Standing::CAUSE_MIN);
    let claim = format!(
        "{} of the file has no data of its own: the kernel makes up zeros for it, and no disk is \
         read.",
        percent(share)
    );
    let line = "The filesystem says so (FIEMAP, SEEK_HOLE): holes, or space that was set aside and \
                never written.";
    let path = shell(path(facts.run()));
    let found = Candidate::new(standing, share, Certain, claim)
        .evidence([line.to_owned()])
        .remedy(format!(
            "Measure a copy that is written in full: `cp --sparse=never {path} {path}.full`."
        ));
    Some(found)
}
