//! Too few operations are in flight to fill the device: each waits for the one before.

use super::prelude::*;
use crate::stage_facts::ladder::{Alone, Ladder, MORE, Place, ROOM, alone, fewer};
use diskfacts_plan::check::QUEUE_DEPTH_MAX;

pub(super) const LIMITER: Limiter = Limiter {
    name: "one-at-a-time",
    needs: &[Device, Closed],
    find: each_waits_for_the_one_before,
    ..Limiter::ANY
};

/// Share of the time of all that may be in flight, from which on the latencies are what the
/// rate comes of.
const MOST: f64 = 0.5;

/// Whether the document does not say how many were in flight: it does not name the
/// streams or the blocks, or the kernel may have read ahead or written behind. And
/// whether its blocks are so large that their time is that of the bytes: what more in
/// flight would do then, one figure does not show.
fn is_unknown(facts: &StageFacts<'_>) -> bool {
    let by_kernel = facts.in_order() && !facts.asks_direct() && !facts.syncs_each();
    let said = ["block_size", "queue_depth", "streams", "pattern"];
    let said = said.iter().all(|key| facts.stage.says(key));
    let no_blocks = facts.workload().block_size == 0;
    facts.imported() && (by_kernel || facts.flows() || !said || no_blocks)
}

/// Whether there is room for more in flight, and how sure that is: some stage shows it, or,
/// where none had more, they do not take much longer than fewer. Without another stage it is
/// possible only: where each waits for all the others, all take equally long, too.
fn has_room(facts: &StageFacts<'_>, ladder: &Ladder) -> Option<Confidence> {
    let takes_as_long = |other: Alone| ladder.own.usual_ns <= ROOM * other.usual_ns;
    match ladder.place() {
        Place::Room => Some(Certain),
        Place::Deepest if ladder.own.depth <= 1.0 => Some(Possible),
        Place::Deepest => match fewer(facts, ladder) {
            Some(fewer) => takes_as_long(fewer).then_some(Likely),
            None => takes_as_long(alone(facts, ladder)?).then_some(Possible),
        },
        Place::NearlyFull | Place::Full(_) | Place::Behind => None,
    }
}

fn each_waits_for_the_one_before(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(is_unknown(facts))?;
    let ladder = Ladder::of(facts)?;
    let (depth, latency_ns) = (ladder.own.depth, ladder.own.latency_ns);
    let mean_iops = facts.mean_iops()?;
    let in_flight = mean_iops * latency_ns / 1e9;
    // Else most of the time went by elsewhere: in a sync after the last write.
    unless(in_flight < MOST * depth)?;
    let sure = has_room(facts, &ladder)?;
    let (qd, latency) = (three_digits(depth), duration(latency_ns));
    let measured = if sure == Possible {
        "; whether more in flight do more was not measured"
    } else {
        ""
    };
    let claim = format!("QD{qd}: rate = {qd} / latency = {qd} / {latency}{measured}.");
    let sum = format!(
        "Means: {} operations/s x {latency} is {} in flight (Little's law).",
        rate_digits(mean_iops),
        three_digits(in_flight)
    );
    let deeper = ladder.best_deeper();
    let more = deeper.map(|deeper| {
        format!(
            "With {} in flight ({}) it is {} operations/s, {} times as many.",
            deeper.depth,
            deeper.label,
            rate_digits(deeper.iops),
            deeper.against(&ladder.own).0
        )
    });
    let measured = deeper.map(|_| format!(" Measured: {}.", ladder.advice()));
    let mut stages = facts.as_it_was();
    for (name, times) in [
        ("four-times-the-depth", 4),
        ("sixteen-times-the-depth", 16),
        ("64-times-the-depth", 64),
    ] {
        stages = stages.and(name, |w| {
            w.queue_depth = (w.queue_depth.max(1) * times).min(QUEUE_DEPTH_MAX);
        });
    }
    let found = Candidate::new(Standing::Load, 1.0, sure, claim)
        .evidence([sum])
        .evidence(more)
        .settled_by(stages.at_least(("four-times-the-depth", "as-it-was"), Iops, MORE))
        .remedy(format!(
            "Have more in flight: asynchronous I/O, more threads, read-ahead.{} Where the next \
             operation depends on this one, only a device of shorter latency helps.",
            measured.unwrap_or_default()
        ));
    Some(found)
}
