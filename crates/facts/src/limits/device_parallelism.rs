//! The device does as many at once as it can: more in flight only waits longer.

use super::credit_throttle::cap;
use super::prelude::*;
use crate::stage_facts::ladder::{ENOUGH, Ladder, MORE, Place, ROOM, Rung, alone};
use crate::stage_facts::scheduler_turns::Turns;
use std::ops::RangeInclusive;

pub(super) const LIMITER: Limiter = Limiter {
    name: "device-parallelism",
    needs: &[Device, Closed],
    find: more_only_wait,
    ..Limiter::OF_BUSY_DEVICE
};

/// In service on average, of a device that serves one at a time: what is on its way to the
/// device and back comes on top. Less says that the shortest is not what the others take.
const ONE: RangeInclusive<f64> = 0.75..=1.5;
/// Fewest in flight of which that is worth saying.
const SEVERAL: f64 = 3.0;

fn more_only_wait(facts: &StageFacts<'_>) -> Option<Candidate> {
    // What is held at a pace while the device idles is not full, nor what its scheduler
    // keeps from it.
    unless(!facts.agrees() || cap(facts).is_some() || Turns::of(facts).is_some())?;
    let ladder = Ladder::of(facts)?;
    let (found, most) = match ladder.place() {
        Place::Room => return None,
        // What is called nearly full leaves room for as much as is worth having more in flight
        // for; what is called full does all but what another is as good without.
        Place::NearlyFull => (a_little_more(&ladder), MORE),
        Place::Full(deeper) => (more_are_no_faster(&ladder, deeper), 1.0 / ENOUGH),
        Place::Behind => (fewer_are_as_fast(&ladder), 1.0 / ENOUGH),
        Place::Deepest => (waiting(facts, &ladder)?, 1.0 / ENOUGH),
    };
    let stages = facts
        .stages()
        .and("quarter", |w| w.queue_depth = (w.queue_depth / 4).max(1))
        .and("half", |w| w.queue_depth = (w.queue_depth / 2).max(1))
        .and("as-it-was", |_| ())
        .and("twice", |w| w.queue_depth = (w.queue_depth * 2).min(4096))
        .at_most(("twice", "as-it-was"), Iops, most);
    let times = ratio(most);
    let more = format!("{times} times as many operations a second with more in flight.");
    Some(found.refuted_by(more).settled_by(stages))
}

fn load(confidence: Confidence, claim: String) -> Candidate {
    Candidate::new(Standing::Load, 1.0, confidence, claim)
}

/// What those with more in flight do, held against those with fewer.
fn filled(by: &str, fewer: &Rung, more: &Rung) -> String {
    let (times, longer) = more.against(fewer);
    format!(
        "The device {by}: {} do {times} times as many, and each takes {longer} times as long.",
        more.depth
    )
}

/// Stages with more in flight do more, and less than a rate is worth that for.
fn a_little_more(ladder: &Ladder) -> Candidate {
    let (own, best) = (&ladder.own, ladder.best());
    let by = if own.depth > 1.0 {
        format!("is nearly saturated by these {} in flight", own.depth)
    } else {
        "is nearly saturated by one at a time".into()
    };
    let lost = percent(1.0 - own.iops / best.iops);
    let rest = format!("; these {} lose {lost} of it.", own.depth);
    load(Likely, filled(&by, own, best))
        .evidence([own.beside(best)])
        .remedy(measured(ladder, &rest))
}

/// A stage with fewer in flight does as much.
fn fewer_are_as_fast(ladder: &Ladder) -> Candidate {
    let (own, fewer) = (&ladder.own, ladder.knee());
    let by = format!("is saturated by {} in flight", fewer.depth);
    let [here, there] = [own.latency_ns, fewer.latency_ns].map(duration);
    let latencies = format!("The mean latency is {here} here and {there} there.");
    let rest = ". Beyond that only another device, or several of them, do more.";
    load(Likely, filled(&by, fewer, own))
        .evidence([fewer.beside(own), latencies])
        .remedy(measured(ladder, rest))
}

/// A stage with more in flight does no more that is worth it.
fn more_are_no_faster(ladder: &Ladder, more: &Rung) -> Candidate {
    let own = &ladder.own;
    let by = if own.depth > 1.0 {
        format!("is saturated by these {} in flight", own.depth)
    } else {
        "does one at a time".into()
    };
    let rest = ". Only another device, or several of them, do more.";
    load(Likely, filled(&by, own, more))
        .evidence([own.beside(more)])
        .remedy(measured(ladder, rest))
}

fn measured(ladder: &Ladder, rest: &str) -> String {
    format!("Measured: {}{rest}", ladder.advice())
}

/// Latency grew with the depth, and no other depth was measured that would tell where the
/// rate stops growing.
fn waiting(facts: &StageFacts<'_>, ladder: &Ladder) -> Option<Candidate> {
    let own = &ladder.own;
    let fewest = ladder.shallower().next();
    let alone = alone(facts, ladder)?;
    unless(own.depth <= 1.0 || own.usual_ns <= ROOM * alone.usual_ns)?;
    let (fewer_ns, of_what) = (alone.latency_ns, alone.by);
    let than = match fewest {
        Some(fewer) => format!("QD{}", fewer.depth),
        None => "one alone".to_owned(),
    };
    let times = ratio(own.latency_ns / fewer_ns);
    let [mean, fewer] = [own.latency_ns, fewer_ns].map(duration);
    let longer = format!("The mean latency is {mean}, {times} times that of {of_what}: {fewer}.");
    let in_service = own.iops * fewer_ns / 1e9;
    let at_once = format!(
        "{} operations/s x {fewer} = {} in service on average, if the service time is the same.",
        rate_digits(own.iops),
        three_digits(in_service)
    );
    let what = if ONE.contains(&in_service) && own.depth >= SEVERAL {
        "The device serves one at a time"
    } else {
        "Queueing"
    };
    let claim = format!(
        "{what}: at QD{} latency is {times}x that of {than}.",
        own.depth
    );
    let found = load(Possible, claim)
        .evidence([longer])
        .evidence(fewest.map(|fewer| fewer.beside(own)))
        .evidence([at_once]);
    // With less than the next fewer the loss is larger than what a depth is chosen for; where
    // that is the only one, nothing is said of it.
    Some(match ladder.shallower().skip(1).last() {
        Some(fewer) => found.remedy(format!(
            "Measured: {}, which loses {}. Whether more in flight do more was not measured: \
             `diskfacts tune`, or the plan below, does that.",
            fewer.reaches(own),
            percent(1.0 - fewer.iops / own.iops)
        )),
        None => found.case("knee-unknown"),
    })
}
