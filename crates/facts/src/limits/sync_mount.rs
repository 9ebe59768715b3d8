//! Each write waits for the disk, whether the program asks for it or not: the filesystem is
//! mounted with `sync` (`mount(8)`), or the file has the attribute `S` (`chattr(1)`).

use super::prelude::*;
use crate::layers::is_mounted_sync;
use crate::stage_facts::write_back::syncs_unasked;

pub(super) const LIMITER: Limiter = Limiter {
    name: "sync-mount",
    needs: &[Blocks, OnlyWrites],
    find: each_write_waits,
    ..Limiter::ANY
};

fn each_write_waits(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(!syncs_unasked(facts))?;
    let stack = facts.stack();
    let mounted = is_mounted_sync(stack);
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
    let claim = if mounted {
        format!(
            "{mount_point} is mounted with the option sync: each write waits until it is on the \
             disk, though nothing here asks for it."
        )
    } else {
        "Each write waits until it is on the disk, though nothing here asks for it: the device \
         counted a flush for each."
            .to_owned()
    };
    let standing = share.map_or(Standing::Cause, Standing::cause);
    let found = Candidate::new(standing, share, Certain, claim).evidence(line);
    Some(if mounted {
        found.remedy(format!(
            "Type `mount -o remount,async {mount_point}` as root, if nothing relies on it."
        ))
    } else {
        found.case("flushed")
    })
}
