//! A token bucket: a burst first, then exactly a base rate.

use super::cap::{AT_WORK, Cap, OF_BURST};
use super::prelude::*;
use super::throttle::{Held, is_flat, of_bytes, show_rate};
use super::{cgroup_throttle, device_queue};
use crate::device_physics::no_drives;
use crate::stage_facts::gaps::Gaps;
use diskfacts_plan::check::QUEUE_DEPTH_MAX;

pub(super) const LIMITER: Limiter = Limiter {
    name: "credit-throttle",
    needs: &[Device, Closed],
    find: held_at_a_base_rate,
    ..Limiter::ANY
};

/// Rates this near to each other are one.
const SAME: f64 = 0.02;
/// No local flash is so slow with reads of a few KiB, operations per second: data
/// sheets of the slowest (eMMC, SD cards A2) say 4000 and more.
const SLOW_READS: f64 = 4000.0;

/// Operations in service, by throughput and the shortest latency, up to which they are one after
/// the other: the next is asked for while the one before is on its way back.
const ONE_BY_ONE: f64 = 1.15;

/// What a limit lets pass more with more in flight: the operations in flight when a trial
/// ends count in it, and a burst comes on top.
const NO_MORE: f64 = 1.1;

fn held_at_a_base_rate(facts: &StageFacts<'_>) -> Option<Candidate> {
    // A limit of the own control group is named as that.
    unless(cgroup_throttle::is_reached(facts))?;
    let deeper = four_times_as_deep(facts);
    let decided = deeper
        .clone()
        .at_most(("four-times-the-depth", "as-it-was"), Iops, NO_MORE);
    // At an exact pace in all its trials, after a burst or not, with the device idle.
    let capped = || Some(Cap::of(facts)?.candidate(facts));
    let found = match stepped(facts).or_else(capped).or_else(|| shared(facts)) {
        Some(found) => found.settled_by(decided),
        // A device that is full does no more with more in flight either.
        None => flat(facts)?.settled_by(deeper),
    };
    Some(found.planted(facts.run(), "[faults.credit]"))
}

fn four_times_as_deep(facts: &StageFacts<'_>) -> Stages {
    facts.as_it_was().and("four-times-the-depth", |w| {
        w.queue_depth = (w.queue_depth.max(1) * 4).min(QUEUE_DEPTH_MAX);
    })
}

/// Whether another stage of the run is held at a pace of which this is the turn of one
/// operation, nanoseconds: one at a time wait for it each time, and show nothing else.
pub(super) fn paced_elsewhere(facts: &StageFacts<'_>, turn_ns: f64) -> bool {
    /// A part of the turn goes by before the next is asked for.
    const ABOUT: f64 = 0.1;
    facts.others().any(|other| {
        let held = || Some(Held::of(&other).filter(|held| held.flat)?.after.rate);
        let pace = Cap::of(&other).map(|cap| cap.per_s()).or_else(held);
        pace.is_some_and(|per_s| (turn_ns * per_s / 1e9 - 1.0).abs() <= ABOUT)
    })
}

/// Faster at first, then exactly one rate.
fn stepped(facts: &StageFacts<'_>) -> Option<Candidate> {
    let held = Held::of(facts).filter(|held| held.flat)?;
    let writes = facts.workload().operation.writes();
    // What a disk's own cache takes is fast too, until it is full. What falls with bytes is
    // heat, unless the rate is one of operations.
    let by_cache = facts.rotates() == Some(true) && writes;
    let by_heat = of_bytes(facts) && facts.run().machine.virtualization.is_none();
    unless(by_cache || by_heat)?;
    let rate = show_rate(facts, held.after.rate);
    let claim = if facts.iops()? > OF_BURST * held.after.rate {
        format!("The figure is of a burst; after it operations are throttled to {rate}.")
    } else {
        format!("After a burst, operations are throttled to {rate}.")
    };
    // A drive of this machine takes writes at one rate when its cache is full, and a
    // device that stands still at equal distances does as much between two of them.
    let silent = Gaps::of(facts).share() >= DETAIL;
    let sure = !silent && (!writes || no_drives(facts.run()).is_some());
    Some(cause(held.share(), likely_if(sure), claim).evidence([held.line(facts)]))
}

/// Other work at the rate of a stage of bytes, where small operations are held at one rate, too: a
/// limit of both, and no heat, which small operations are not enough for.
pub(super) fn same_rate<'a>(facts: &StageFacts<'a>) -> Option<StageFacts<'a>> {
    let iops = facts.iops()?;
    unless(!of_bytes(facts) || !limited_elsewhere(facts))?;
    let mut others = facts.others();
    others.find(|other| is_same(facts, other, iops))
}

/// Bytes at the rate of other work, with the device idle.
fn shared(facts: &StageFacts<'_>) -> Option<Candidate> {
    let at_work = facts.iops()? * facts.shortest_ns()? / 1e9;
    unless(at_work > AT_WORK)?;
    let other = same_rate(facts)?;
    let rate = show_rate(facts, facts.iops()?);
    let line = format!(
        "{}, which is other work, is throttled to the same rate: {}. {} in service on average.",
        other.stage.label(),
        show_rate(&other, other.iops()?),
        ratio(at_work)
    );
    let claim = format!("Throttled to {rate}, as other work is.");
    Some(cause(1.0 - at_work, Likely, claim).evidence([line]))
}

/// Operations a second of a stage that a limit has let pass: of writes that share a request, as
/// those of several that sync at a time do, no more than the requests.
fn let_pass(facts: &StageFacts<'_>) -> Option<f64> {
    let work = facts.device_work();
    let requests = work.map(|work| work.requests / facts.seconds());
    let requests = requests.filter(|per_s| *per_s > 0.0);
    Some(facts.iops()?.min(requests.unwrap_or(f64::INFINITY)))
}

/// Whether so many in service are one after the other: more are side by side. What the kernel
/// reads ahead is found in memory, and shows no time of the device.
fn serves_one_by_one(facts: &StageFacts<'_>, in_service: f64) -> bool {
    let is_direct = facts.workload().cache == CacheMode::Direct;
    is_direct && in_service > AT_WORK && in_service <= ONE_BY_ONE
}

/// Exactly one rate, and other operations have the same.
fn flat(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(!is_flat(facts) || of_bytes(facts) && !limited_elsewhere(facts))?;
    let iops = facts.iops()?;
    let latency_ns = facts.latency_ns()?;
    let shortest_ns = facts.shortest_ns()?;
    // A device that always takes equally long, one after the other, is as even, and at work.
    unless(serves_one_by_one(facts, iops * shortest_ns / 1e9))?;
    // Where other work of the same kind is faster, nothing holds all of it.
    let more = |theirs: f64| theirs > (1.0 + 2.0 * SAME) * iops;
    // What costs least to ask comes first: a matrix has hundreds of others.
    let faster = |other: &StageFacts<'_>| {
        // No limit of operations lets a device's own memory answer.
        let in_memory = other.figures.layers.drive_cache > 0.5;
        other.iops().is_some_and(more)
            && !in_memory
            && !of_bytes(other)
            && other.reaches_device()
            && let_pass(other).is_some_and(more)
    };
    unless(!of_bytes(facts) && facts.others().any(|other| faster(&other)))?;
    // What a queue lets through one by one keeps the pace of the device.
    let same = facts
        .others()
        .filter(|other| is_same(facts, other, iops))
        .find(|other| !device_queue::LIMITER.speaks_of(other));
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
    let mut evidence = vec![format!(
        "One completes each {}, evenly: p50 {p50}, p90 {p90}.",
        duration(1e9 / iops)
    )];
    // With several in flight the first found nothing before them, and show what an
    // operation takes without the wait. How long one would take alone is not seen.
    let mut share = 0.5;
    if depth > 1.0 {
        share = 1.0 - (shortest_ns / latency_ns).min(1.0);
        let [fastest, mean] = [shortest_ns, latency_ns].map(duration);
        evidence.push(format!(
            "The shortest latency is {fastest}, the mean {mean}: the rest, {}, is the wait at the throttle.",
            percent(share)
        ));
    }
    // One at a time takes as long each time behind a network too; and what differs in depth
    // alone is as fast where a device that always takes equally long does one at a time.
    let sure = same.as_ref().is_some_and(|other| {
        let (mine, theirs) = (facts.workload(), other.workload());
        let is_other_work =
            mine.operation != theirs.operation || mine.block_size != theirs.block_size;
        is_other_work && (depth > 1.0 || other.outstanding() > 1.0)
    });
    if let Some(other) = same {
        evidence.push(format!(
            "{}, which is other work, is throttled to the same rate: {}.",
            other.stage.label(),
            show_rate(&other, other.iops()?)
        ));
    }
    let rate = show_rate(facts, iops);
    let claim = format!("Throttled to exactly {rate}, whatever the operation.");
    Some(cause(share, likely_if(sure), claim).evidence(evidence))
}

/// Whether operations that are small are held at one rate in this run, so that bytes
/// may be too: the same for each stage of bytes that asks.
fn limited_elsewhere(facts: &StageFacts<'_>) -> bool {
    let held = |small: &StageFacts<'_>| {
        !of_bytes(small) && small.reaches_device() && flat(small).is_some()
    };
    let known = &facts.context.operations_held;
    *known.get_or_init(|| facts.all().any(|small| held(&small)))
}

/// Whether other work, which a device would do at another rate, is as fast.
fn is_same(facts: &StageFacts<'_>, other: &StageFacts<'_>, iops: f64) -> bool {
    let (mine, theirs) = (facts.workload(), other.workload());
    let four_times = |a: u64, b: u64| a.max(b) >= 4 * a.min(b);
    // What an array's memory takes is as fast from one writer as from many.
    let reads = mine.operation.reads() || theirs.operation.reads();
    // A drive of this machine that is full is as fast with more in flight.
    let deeper =
        four_times(mine.outstanding(), theirs.outstanding()) && no_drives(facts.run()).is_some();
    let unlike = mine.operation != theirs.operation
        || deeper
        || four_times(mine.block_size, theirs.block_size);
    let both = if of_bytes(facts) {
        other.rate().zip(facts.rate())
    } else {
        Some(iops).zip(other.iops())
    };
    let near = |(a, b): (f64, f64)| (b / a - 1.0).abs() < SAME;
    let equal = of_bytes(facts) == of_bytes(other) && both.is_some_and(near);
    // A device at its best differs between reads and writes, and it is fast.
    let slow = iops < 10.0 * SLOW_READS;
    reads && unlike && equal && slow && other.reaches_device() && is_flat(other)
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
