//! A write cache takes what is written: the drive's, or a controller's. What a write takes then
//! is its command and its bytes on the link, and not the medium, which goes on behind it.
//!
//! Of a rotating disk it shows in two ways. Writes anywhere are answered in less time than an
//! arm needs to start, on average over a stage; and what is written in order goes in faster than
//! the same place is read, of which a disk does both in as many revolutions.

use super::prelude::*;
use super::visit::{MOVED, drained};
use crate::device_physics::no_drives;
use crate::revolution::Spindle;
use crate::stage_facts::rate_over_time::Step;

pub(super) const LIMITER: Limiter = Limiter {
    name: "write-cache",
    needs: &[
        NoDocument, Blocks, OnlyWrites, Device, Closed, Alone, Platter,
    ],
    find: cache_takes_the_writes,
    ..Limiter::OF_BUSY_DEVICE
};

/// A stream of writes is so many times as fast as the reads of the same place: trials of one
/// stage differ by a few percent.
const FASTER: f64 = 1.0 + DETAIL;

/// Of several in flight each waits for those before it, and takes so many times what one takes.
const ONE_BY_ONE: f64 = 1.15;

/// Share of the time, and what shows it.
type Found = (f64, String, Vec<String>);

fn cache_takes_the_writes(facts: &StageFacts<'_>) -> Option<Candidate> {
    let (share, claim, lines) = faster_than_an_arm(facts).or_else(|| faster_than_reads(facts))?;
    let stages = facts.as_it_was().and("ten-times-as-long", |w| {
        w.stop.time_ns = w.stop.time_ns.map(|ns| ns.saturating_mul(10));
        w.stop.operations = w.stop.operations.map(|n| n.saturating_mul(10));
    });
    // What is left of a stage for which it was full is the medium's.
    let standing = Standing::Nature.only_if(share >= Standing::CAUSE_MIN);
    let found = Candidate::new(standing, share, Likely, claim)
        .evidence(lines)
        .settled_by(stages);
    Some(found)
}

/// Writes that are answered faster than an arm moves: without it for each, and, where they are
/// synced, without a flush.
fn faster_than_an_arm(facts: &StageFacts<'_>) -> Option<Found> {
    let workload = facts.workload();
    let synced = workload.sync.each_write();
    let by_host = workload.cache != CacheMode::Direct && !synced;
    unless(by_host || synced && facts.flushes().is_some() || facts.in_order() && !synced)?;
    let each_ns = answered_in(facts)?;
    let [each, turn] = [each_ns, Spindle::of(facts).turn_ns()].map(duration);
    let mut lines = vec![format!(
        "Half of the writes take up to {each}, beside those before them; a revolution of the disk \
         is {turn}, and no arm moves in a small part of one."
    )];
    // Once it is full, each waits until one is on the medium.
    let mut share = 1.0;
    if let Some(Step { before, after, .. }) = drained(facts) {
        share = before.seconds / (before.seconds + after.seconds);
        let [room, full] = [before.seconds, after.seconds].map(seconds);
        lines.push(format!(
            "There was room in it for {room}; then it was full, for {full}."
        ));
    }
    let claim = format!("A write cache takes each write, in {each}: no arm moves for it.");
    Some((share, claim, lines))
}

/// What a write takes beside those before it, ns, where that is too little for an arm.
fn answered_in(facts: &StageFacts<'_>) -> Option<f64> {
    let (p50_ns, depth) = (median_ns(facts)?, facts.outstanding());
    let moved_ns = MOVED * Spindle::of(facts).turn_ns();
    if depth <= 1.0 {
        return (p50_ns < moved_ns).then_some(p50_ns);
    }
    // An array of many disks completes as many with an arm for each: there one at a time tells.
    let mut alone = facts.alike(Same::WORK);
    let alone = alone.find(|other| other.outstanding() <= 1.0)?;
    let each_ns = median_ns(&alone).filter(|ns| *ns < moved_ns)?;
    (p50_ns <= ONE_BY_ONE * depth * each_ns).then_some(p50_ns / depth)
}

fn median_ns(facts: &StageFacts<'_>) -> Option<f64> {
    Some(facts.figures.latency_ns.p50? as f64)
}

/// Writes in order that are faster than reads of the same place.
fn faster_than_reads(facts: &StageFacts<'_>) -> Option<Found> {
    let rate = facts.flow()?;
    // Of a disk behind a network the way there is one for writes, and one for reads.
    unless(facts.workload().sync.each_write() || no_drives(facts.run()).is_some())?;
    let (read, most) = facts.read_of_its_place()?;
    let ends = |one: &StageFacts<'_>| {
        let rate = &one.figures.throughput_bytes_per_s;
        rate.ci95.unwrap_or([rate.min, rate.max])
    };
    let apart = ends(facts)[0] > ends(&read)[1];
    unless(rate < FASTER * most || !apart)?;
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
    Some((1.0, claim, vec![line]))
}
