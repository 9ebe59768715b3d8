//! The rate steps down after a while under load, and stays down.

use super::credit_throttle::{cap, same_rate};
use super::prelude::*;

pub(super) const LIMITER: Limiter = Limiter {
    name: "thermal-throttle",
    // A disk that turns slows down with its place and its cache, hardly with heat.
    needs: &[Device, Closed, NoPlatter],
    find: rate_falls_under_load,
    ..Limiter::OF_HARDWARE
};

/// Reads in service, by throughput and the shortest latency, up to which something
/// holds the drive back: one that is full of them has one or more.
const AT_WORK: f64 = 0.5;

fn rate_falls_under_load(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(cap(facts).is_some())?;
    let found = stepped(facts).or_else(|| held_down(facts))?;
    unless(same_rate(facts).is_some())?;
    Some(found.planted(facts.run(), "[faults.heat]"))
}

/// The step is seen.
fn stepped(facts: &StageFacts<'_>) -> Option<Candidate> {
    let held = facts.held_down()?;
    let flat = held.after.is_exact();
    // A cache that is full makes writes step down too, to what is behind it.
    let reads = facts.only_reads();
    unless(!(reads || flat) || (!facts.is_of_bytes() && flat))?;
    let moved = held.before.rate * held.before.seconds * facts.workload().block_size as f64;
    let [from, to] = [held.before.rate, held.after.rate].map(|rate| facts.show_rate(rate));
    let claim = format!(
        "Under load the rate steps down from {from} to {to} and stays there, as a drive does that \
         has become too warm."
    );
    let step = format!(
        "The step, {} times, came after {} of load.",
        ratio(held.before.rate / held.after.rate),
        size(moved)
    );
    let found = cause(held.lost(), likely_if(reads), claim);
    Some(found.evidence([facts.show_step(&held), step]))
}

/// The drive was too warm from nearly the beginning on: reads wait, though hardly any is
/// at work. Only the first were as fast as the drive can be.
fn held_down(facts: &StageFacts<'_>) -> Option<Candidate> {
    // The shortest is of all trials, the rate of the one in the middle. And the shortest read
    // through the page cache is of what was read ahead.
    unless(
        !facts.only_reads()
            || !facts.is_of_bytes()
            || facts.outstanding() <= 1.0
            || !facts.agrees()
            || !facts.asks_direct(),
    )?;
    let at_work = facts.in_service()?;
    unless(at_work > AT_WORK)?;
    let claim = format!(
        "Reads are throttled to {}, as by an overheated drive.",
        facts.show_rate(facts.iops()?)
    );
    let line = format!(
        "{}, though {} are in flight: the first were {} times faster.",
        in_service(facts.iops()?, "reads", facts.shortest_ns()?),
        ratio(facts.depth()),
        ratio(1.0 / at_work)
    );
    Some(cause(1.0 - at_work, Possible, claim).evidence([line]))
}
