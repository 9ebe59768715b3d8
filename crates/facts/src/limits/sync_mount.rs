//! The filesystem is mounted with `sync`: each write waits for the disk, whether the program
//! asks for it or not (`mount(8)`).

use super::prelude::*;
use crate::layers::is_mounted_sync;

pub(super) const LIMITER: Limiter = Limiter {
    name: "sync-mount",
    about: "mounted sync: each write waits for the disk",
    needs: &[Blocks, OnlyWrites],
    refuted_by: "The same rate after `mount -o remount,async`.",
    question: "The same after the option was taken away: a higher rate speaks for it, the same \
               rate against it.",
    find: each_write_waits,
    ..Limiter::ANY
};

fn each_write_waits(facts: &StageFacts<'_>) -> Option<Candidate> {
    let stack = facts.stack();
    unless(!is_mounted_sync(stack) || facts.workload().sync.each_write())?;
    let mount_point = &stack.filesystem.as_ref()?.mount_point;
    let own = [Spent::User, Spent::Kernel, Spent::Processor, Spent::Due];
    let share = facts.spent(&own).map(|own| 1.0 - own);
    let line = share.map(|share| {
        let waits = percent(share);
        format!(
            "A write is on no processor for {waits} of its time, where one that goes to memory \
             would be."
        )
    });
    let claim = format!(
        "{mount_point} is mounted with the option sync: each write waits until it is on the \
         disk, though nothing here asks for it."
    );
    let standing = share.map_or(Standing::Cause, Standing::cause);
    let found = Candidate::new(standing, share, Certain, claim).evidence(line);
    Some(found.remedy(format!(
        "Type `mount -o remount,async {mount_point}` as root, if nothing relies on it."
    )))
}
