//! A write cache takes what is written: the drive's, or a controller's. What a write takes then
//! is its command and its bytes on the link, and not the medium, which goes on behind it.
//!
//! Of a rotating disk it shows in two ways. Writes anywhere are answered in less time than an
//! arm needs to start, on average over a stage; and what is written in order goes in faster than
//! the same place is read, of which a disk does both in as many revolutions.

use super::prelude::*;
use crate::device_physics::no_drives;
use crate::revolution::Spindle;
use crate::stage_facts::visit::drained;

pub(super) const LIMITER: Limiter = Limiter {
    name: "write-cache",
    needs: &[
        NoDocument, Blocks, OnlyWrites, Device, Closed, Alone, Platter,
    ],
    find: cache_takes_the_writes,
    ..Limiter::OF_BUSY_DEVICE
};

fn cache_takes_the_writes(facts: &StageFacts<'_>) -> Option<Candidate> {
    let found = faster_than_an_arm(facts).or_else(|| faster_than_reads(facts))?;
    let stages = facts.as_it_was().and("ten-times-as-long", |w| {
        w.stop.time_ns = w.stop.time_ns.map(|ns| ns.saturating_mul(10));
        w.stop.operations = w.stop.operations.map(|n| n.saturating_mul(10));
    });
    Some(found.settled_by(stages))
}

/// Writes that are answered faster than an arm moves: without it for each, and, where they are
/// synced, without a flush.
fn faster_than_an_arm(facts: &StageFacts<'_>) -> Option<Candidate> {
    let synced = facts.syncs_each();
    let by_host = !facts.asks_direct() && !synced;
    unless(by_host || synced && facts.flushes().is_some() || facts.in_order() && !synced)?;
    let each_ns = facts.answered_before_an_arm_ns()?;
    let [each, turn] = [each_ns, Spindle::of(facts).turn_ns()].map(duration);
    let quick = format!(
        "Half of the writes take up to {each}, beside those before them; a revolution of the disk \
         is {turn}, and no arm moves in a small part of one."
    );
    // Once it is full, each waits until one is on the medium: what is left of a stage for which it
    // was full is the medium's.
    let drained = drained(facts).map(|step| [step.before.seconds, step.after.seconds]);
    let share = drained.map_or(1.0, |[room_s, full_s]| room_s / (room_s + full_s));
    let drained = drained.map(|step| {
        let [room, full] = step.map(seconds);
        format!("There was room in it for {room}; then it was full, for {full}.")
    });
    let claim = format!("A write cache takes each write, in {each}: no arm moves for it.");
    let standing = Standing::Nature.only_if(share >= Standing::CAUSE_MIN);
    let found = Candidate::new(standing, share, Likely, claim);
    Some(found.evidence([quick]).evidence(drained))
}

/// Writes in order that are faster than reads of the same place.
fn faster_than_reads(facts: &StageFacts<'_>) -> Option<Candidate> {
    let rate = facts.flow()?;
    // Of a disk behind a network the way there is one for writes, and one for reads.
    unless(facts.syncs_each() || no_drives(facts.run()).is_some())?;
    let most = facts.outdone_reads(rate)?;
    let [written, by_read] = [rate, most].map(show_throughput);
    let claim = format!(
        "A write cache takes part of it: {written} written, where the disk reads the same place at \
         {by_read}."
    );
    let line = format!(
        "A rotating disk writes in order no faster than it reads; {} of these bytes, at least, were \
         in the cache when the trials ended.",
        percent(1.0 - most / rate)
    );
    Some(Candidate::new(Standing::Nature, 1.0, Likely, claim).evidence([line]))
}
