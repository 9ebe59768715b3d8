//! The drive does not keep writes back: each goes to the medium before it is answered.

use super::prelude::*;
use crate::stage_facts::drive_cache::ToMedium;
use crate::stage_facts::spindle::{arithmetic, wait_ns, whole_wait};

pub(super) const LIMITER: Limiter = Limiter {
    name: "write-cache-off",
    needs: &[OnlyWrites, Device],
    find: no_write_is_kept_back,
    ..Limiter::OF_HARDWARE
};

fn no_write_is_kept_back(facts: &StageFacts<'_>) -> Option<Candidate> {
    let writes = ToMedium::of(facts).filter(|writes| writes.share >= DETAIL)?;
    let (turns, in_order) = (writes.turns, facts.in_order());
    let said = if writes.is_off {
        "The kernel knows of no volatile write cache on the device (`write through`), and writes \
         take as long as the medium needs."
    } else {
        "Each write asks to be on the medium when it returns (O_DSYNC on a device with FUA)."
    };
    let whole = whole_wait(facts).filter(|_| turns);
    let wait_ns = wait_ns(facts, facts.each_ns()?);
    let revolutions = whole.map(|whole| format!("{}.", arithmetic(whole.rpm, wait_ns)));
    let medium = if turns { "platter" } else { "flash" };
    let of_time = if in_order {
        format!(": {} of its time", percent(writes.share))
    } else {
        String::new()
    };
    let why = if writes.is_off {
        "The drive's write cache is off, so each write"
    } else {
        "Each write asks to pass the drive's cache (O_DSYNC with FUA), and"
    };
    let claim = format!("{why} goes to the {medium} before it is answered{of_time}.");
    // Where each write is synced, a cache would have to be emptied each time. Flash that
    // survives a power cut says `write through` too, and answers from its memory.
    let of_use = (!facts.syncs_each() || (writes.is_forced && !turns))
        && (turns || writes.is_forced || facts.is_slower_than_reads());
    let standing = Standing::cause(writes.share).only_if(of_use);
    let stages = facts
        .stages()
        .and("small", |w| w.sync = SyncMode::None)
        .and("large", |w| {
            w.sync = SyncMode::None;
            w.block_size = 4 << 20;
        });
    let share = in_order.then_some(writes.share);
    let found = Candidate::new(standing, share, likely_if(turns || writes.is_forced), claim)
        .evidence([said.to_owned()])
        .evidence(revolutions)
        .evidence([writes.line])
        .settled_by(stages);
    if !writes.is_off {
        return Some(found.case("each-write"));
    }
    let mut leaves = facts.leaves();
    let device = leaves.next().map_or("/dev/sdX", |leaf| &leaf.path);
    let found = found.remedy(format!(
        "Switch the cache on, where what is written can be lost in a power cut or is synced where \
         it matters: `hdparm -W1 {device}` (SATA), `sdparm --set=WCE {device}` (SAS)."
    ));
    // Of simulated flash no key switches it.
    Some(if turns {
        found.profile(facts.run(), "set enabled = true in [hdd.write_cache]")
    } else {
        found
    })
}
