//! What is read has no data: the kernel fills pages with zeros, and no device is asked.

use super::prelude::*;
use crate::holes::{path, share_of_reads};

pub(super) const LIMITER: Limiter = Limiter {
    name: "holes",
    find: no_data_is_read,
    ..Limiter::ANY
};

fn no_data_is_read(facts: &StageFacts<'_>) -> Option<Candidate> {
    let share = share_of_reads(facts).filter(|share| *share >= WORTH_A_WORD)?;
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
