//! A token bucket: a burst first, then exactly a base rate.

use super::device_queue;
use super::prelude::*;
use crate::device_physics::no_drives;
use crate::stage_facts::cap::{AT_WORK, Cap, Counted};
use crate::stage_facts::gaps::Gaps;
use crate::stage_facts::held_rate::SLOW_READS;
use crate::stage_facts::io_limit;
use crate::tested_claims::is_refuted;
use diskfacts_plan::check::QUEUE_DEPTH_MAX;

pub(super) const LIMITER: Limiter = Limiter {
    name: "credit-throttle",
    needs: &[Device, Closed],
    find: held_at_a_base_rate,
    ..Limiter::ANY
};

/// A figure that is so much above the base holds a part of the burst.
const OF_BURST: f64 = 1.01;
/// What a limit lets pass more with more in flight: the operations in flight when a trial
/// ends count in it, and a burst comes on top.
const NO_MORE: f64 = 1.1;

fn held_at_a_base_rate(facts: &StageFacts<'_>) -> Option<Candidate> {
    // A limit of the own control group is named as that.
    unless(io_limit::is_reached(facts))?;
    let deeper = facts.as_it_was().and("four-times-the-depth", |w| {
        w.queue_depth = (w.queue_depth.max(1) * 4).min(QUEUE_DEPTH_MAX);
    });
    // At an exact pace in all its trials, after a burst or not, with the device idle.
    let capped = || Some(capped(facts, &cap(facts)?));
    let found = match stepped(facts).or_else(capped).or_else(|| shared(facts)) {
        Some(found) => {
            found.settled_by(deeper.at_most(("four-times-the-depth", "as-it-was"), Iops, NO_MORE))
        }
        // A device that is full does no more with more in flight either.
        None => flat(facts)?.settled_by(deeper),
    };
    Some(found.planted(facts.run(), "[faults.credit]"))
}

/// The cap that the trials of a stage show, unless a test has refuted it: then the same intervals
/// are something else's.
pub(super) fn cap(facts: &StageFacts<'_>) -> Option<Cap> {
    unless(is_refuted(facts, LIMITER.name))?;
    Cap::of(facts)
}

/// Whether another stage of the run is held at a pace of which this is the turn of one
/// operation, nanoseconds: one at a time wait for it each time, and show nothing else.
pub(super) fn is_paced_elsewhere(facts: &StageFacts<'_>, turn_ns: f64) -> bool {
    /// A part of the turn goes by before the next is asked for.
    const ABOUT: f64 = 0.1;
    facts.others().any(|other| {
        let held = || {
            let exact = other.held_down()?.after;
            exact.is_exact().then_some(exact.rate)
        };
        let pace = cap(&other).map(|cap| cap.pace.per_s).or_else(held);
        pace.is_some_and(|per_s| (turn_ns * per_s / 1e9 - 1.0).abs() <= ABOUT)
    })
}

fn capped(facts: &StageFacts<'_>, cap: &Cap) -> Candidate {
    let per_s = cap.pace.per_s;
    // The base, in the unit that is counted.
    let operations = format!("{} operations/s", rate_digits(per_s));
    let bytes = show_throughput(per_s * facts.workload().block_size as f64);
    let rate = match cap.counted {
        Counted::Operations => operations,
        Counted::Bytes => bytes,
        Counted::Unknown => format!("{operations}, which is {bytes}"),
    };
    let burst = cap.pace.overlay.burst;
    let of_burst = facts.iops().is_some_and(|iops| iops > OF_BURST * per_s);
    let claim = if burst > 0.0 && of_burst {
        format!(
            "The figure holds a burst, {burst:.0} operations at once at the beginning of a trial; \
             then operations are throttled to {rate}."
        )
    } else if cap.pace.is_exact() {
        format!("Throttled to exactly {rate}.")
    } else {
        format!("Throttled to about {rate}.")
    };
    let sure = likely_if(cap.is_shown_twice);
    cause(cap.share(facts), sure, claim).evidence(cap.evidence(facts))
}

/// Faster at first, then exactly one rate.
fn stepped(facts: &StageFacts<'_>) -> Option<Candidate> {
    let held = facts.held_down().filter(|held| held.after.is_exact())?;
    let writes = facts.workload().operation.writes();
    // What the cache of a disk or an array takes, or has read ahead, is fast too, for a while. What
    // falls with bytes is heat, unless the rate is one of operations.
    let by_cache = facts.rotates() == Some(true) && (writes || facts.in_order());
    let by_heat = facts.is_of_bytes() && facts.run().machine.virtualization.is_none();
    unless(by_cache || by_heat)?;
    let rate = facts.show_rate(held.after.rate);
    let claim = if facts.iops()? > OF_BURST * held.after.rate {
        format!("The figure is of a burst; after it operations are throttled to {rate}.")
    } else {
        format!("After a burst, operations are throttled to {rate}.")
    };
    // A drive of this machine takes writes at one rate when its cache is full, and a
    // device that stands still at equal distances does as much between two of them.
    let silent = Gaps::of(facts).share() >= DETAIL;
    let sure = !silent && (!writes || no_drives(facts.run()).is_some());
    Some(cause(held.lost(), likely_if(sure), claim).evidence([facts.show_step(&held)]))
}

/// Other work at the rate of a stage of bytes, where small operations are held at one rate, too: a
/// limit of both, and no heat, which small operations are not enough for.
pub(super) fn same_rate<'a>(facts: &StageFacts<'a>) -> Option<StageFacts<'a>> {
    unless(!facts.is_of_bytes() || !limited_elsewhere(facts))?;
    let mut others = facts.others();
    others.find(|other| facts.is_as_fast_as_other_work(other))
}

/// That this other work is throttled to the same rate.
fn throttled_too(other: &StageFacts<'_>) -> Option<String> {
    Some(format!(
        "{}, which is other work, is throttled to the same rate: {}.",
        other.stage.label(),
        other.show_rate(other.iops()?)
    ))
}

/// Bytes at the rate of other work, with the device idle.
fn shared(facts: &StageFacts<'_>) -> Option<Candidate> {
    let at_work = facts.in_service()?;
    unless(at_work > AT_WORK)?;
    let other = throttled_too(&same_rate(facts)?)?;
    let rate = facts.show_rate(facts.iops()?);
    let line = format!("{other} {} in service on average.", ratio(at_work));
    let claim = format!("Throttled to {rate}, as other work is.");
    Some(cause(1.0 - at_work, Likely, claim).evidence([line]))
}

/// Exactly one rate, and other operations have the same.
fn flat(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(!facts.is_flat() || facts.is_of_bytes() && !limited_elsewhere(facts))?;
    let (iops, latency_ns) = (facts.iops()?, facts.latency_ns()?);
    let shortest_ns = facts.shortest_ns()?;
    // Where other work of the same kind is faster, nothing holds all of it.
    unless(!facts.is_of_bytes() && facts.others().any(|other| other.outruns(iops)))?;
    // What a queue lets through one by one keeps the pace of the device.
    let same = facts
        .others()
        .filter(|other| facts.is_as_fast_as_other_work(other))
        .find(|other| !device_queue::LIMITER.speaks_of(other));
    // A device that always takes equally long, one after the other, is as even, and at work: more
    // are side by side. What the kernel reads ahead is found in memory, and shows no time of the
    // device.
    unless(facts.asks_direct() && facts.is_served_one_by_one(same.is_some())?)?;
    let depth = facts.outstanding();
    // Reads anywhere keep a device busy for a while that differs from place to place,
    // and several of them go side by side.
    let unnatural = facts.only_reads()
        && facts.scattered()
        && iops < SLOW_READS
        && (facts.rotates() == Some(true) || depth >= 4.0);
    unless(same.is_none() && !unnatural)?;
    let [p50, p90] = [facts.figures.latency_ns.p50?, facts.figures.latency_ns.p90?];
    let [p50, p90] = [p50, p90].map(show_duration);
    let evenly = format!(
        "One completes each {}, evenly: p50 {p50}, p90 {p90}.",
        duration(1e9 / iops)
    );
    // With several in flight the first found nothing before them, and show what an
    // operation takes without the wait. How long one would take alone is not seen.
    let waits = (depth > 1.0).then(|| 1.0 - (shortest_ns / latency_ns).min(1.0));
    let waited = waits.map(|share| {
        let [fastest, mean] = [shortest_ns, latency_ns].map(duration);
        format!(
            "The shortest latency is {fastest}, the mean {mean}: the rest, {}, is the wait at the \
             throttle.",
            percent(share)
        )
    });
    // One at a time takes as long each time behind a network too; and what differs in depth
    // alone is as fast where a device that always takes equally long does one at a time.
    let sure = same.as_ref().is_some_and(|other| {
        let (mine, theirs) = (facts.workload(), other.workload());
        let is_other_work =
            mine.operation != theirs.operation || mine.block_size != theirs.block_size;
        is_other_work && (depth > 1.0 || other.outstanding() > 1.0)
    });
    // What serves one at a time, and takes a while to answer, looks the same.
    let sure = sure && !facts.is_served_one_by_one(false)?;
    let same = same.as_ref().and_then(throttled_too);
    let claim = format!(
        "Throttled to exactly {}, whatever the operation.",
        facts.show_rate(iops)
    );
    let found = cause(waits.unwrap_or(0.5), likely_if(sure), claim);
    Some(found.evidence([Some(evenly), waited, same].into_iter().flatten()))
}

/// Whether operations that are small are held at one rate in this run, so that bytes
/// may be too: the same for each stage of bytes that asks.
fn limited_elsewhere(facts: &StageFacts<'_>) -> bool {
    let held = |small: &StageFacts<'_>| {
        !small.is_of_bytes() && small.reaches_device() && flat(small).is_some()
    };
    let known = &facts.context.operations_held;
    *known.get_or_init(|| facts.all().any(|small| held(&small)))
}

#[cfg(test)]
mod tests {
    use super::super::host_tests::said;
    use super::LIMITER;
    use crate::testing::{self, each};
    use diskfacts_record::{Confidence, Run};

    const READS: &str = "random-read-qd32";
    const WRITES: &str = "random-write-qd32";

    /// Reads and writes at these rates of which no intervals were kept, as in a document: each
    /// takes equally long but for the first, which nothing held back.
    fn even(reads: f64, writes: f64) -> Run {
        let mut run = testing::healthy();
        let kept = |stage: &str| [READS, WRITES].contains(&stage);
        run.trials.retain(|trial| kept(&trial.stage));
        run.plan.stages.retain(|stage| kept(&stage.name));
        for (stage, per_s) in [(READS, reads), (WRITES, writes)] {
            each(&mut run, stage, |trial| {
                testing::set_rate(trial, per_s / trial.iops);
                trial.evidence.intervals.operations.clear();
                let each_ns = (32e9 / per_s) as u64;
                testing::set_latencies(trial, &[(100_000, 1), (each_ns, 999)]);
                trial.latency_ns.min = Some(100_000);
            });
        }
        run
    }

    #[test]
    fn reads_and_writes_that_are_even_and_equally_fast_are_throttled_together() {
        let limit = said(&even(3000.0, 3000.0), READS, LIMITER.name).expect("one rate for both");
        assert!(
            limit.claim.contains("exactly 3000 operations/s"),
            "{limit:#?}"
        );
        assert!(limit.evidence[2].contains(WRITES), "{limit:#?}");
        assert_eq!(limit.confidence, Confidence::Likely);
        // A device that is full does no more with more in flight either.
        assert_eq!(limit.experiment.prediction, None);
        // Each at a rate of its own is what a device does.
        assert_eq!(said(&even(3000.0, 3500.0), READS, LIMITER.name), None);
    }
}
