//! Too few operations are in flight to fill the device: each waits for the one before.

use super::ladder::{Ladder, MORE};
use super::prelude::*;
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
    let workload = facts.workload();
    let by_kernel =
        facts.in_order() && workload.cache != CacheMode::Direct && !workload.sync.each_write();
    let said = ["block_size", "queue_depth", "streams", "pattern"];
    let said = said.iter().all(|key| facts.says(key));
    facts.imported() && (by_kernel || facts.flows() || !said || workload.block_size == 0)
}

fn each_waits_for_the_one_before(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(is_unknown(facts))?;
    let ladder = Ladder::of(facts)?;
    let (depth, latency_ns) = (ladder.own.depth, ladder.own.latency_ns);
    let mean_iops = facts.mean_iops()?;
    let in_flight = mean_iops * latency_ns / 1e9;
    // Else most of the time went by elsewhere: in a sync after the last write.
    let sure = ladder.has_room(facts)?;
    unless(in_flight < MOST * depth)?;
    let latency = duration(latency_ns);
    let qd = three_digits(depth);
    let law = format!("QD{qd}: rate = {qd} / latency = {qd} / {latency}");
    let claim = if sure == Possible {
        format!("{law}; whether more in flight do more was not measured.")
    } else {
        format!("{law}.")
    };
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
    let measured = measured.unwrap_or_default();
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
            "Have more in flight: asynchronous I/O, more threads, read-ahead.{measured} Where the \
             next operation depends on this one, only a device of shorter latency helps."
        ));
    Some(found)
}
