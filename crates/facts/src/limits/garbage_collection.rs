//! Flash moves valid data and erases while it is written to.

use super::prelude::*;
use crate::stage_facts::rate_over_time::RateOverTime;
use crate::stage_facts::slow::Erasing;

pub(super) const LIMITER: Limiter = Limiter {
    name: "garbage-collection",
    // Through the page cache a write waits for memory, and with a sync for the flush.
    needs: &[OnlyWrites, Device, Direct, Flash, Unsynced],
    find: writes_wait_for_the_drive,
    ..Limiter::OF_HARDWARE
};

/// Sustained writes of less than this share of the rate of reads, on flash that is not
/// full of old data, would be unusual: data sheets have 0.5 to 1.
const OF_READS: f64 = 0.5;
/// How uneven a stream is that waits for blocks to be emptied: the points' scatter.
const UNEVEN: f64 = 0.03;
/// Writes in service, by throughput and the shortest latency, up to which the drive
/// does something else for a third of the time and more.
const AT_WORK: f64 = 2.0 / 3.0;
/// Bytes a second of two kinds of writes are the same within a quarter: written in order and
/// anywhere, what has to be moved for a byte differs by some of it.
const SAME_BYTES: f64 = 1.25;

/// Share of the time, the lines that show it, and how sure it is.
type Found = (f64, [String; 2], Confidence);

fn writes_wait_for_the_drive(facts: &StageFacts<'_>) -> Option<Candidate> {
    let largest = |a: &Found, b: &Found| a.0.total_cmp(&b.0);
    // Where a limit holds all of them at one rate, they wait for that.
    let flat = facts.is_flat();
    let few_wait = || Erasing::of(facts).map(|found| (found.slow.share, found.evidence(), Likely));
    let uneven = [few_wait(), slow_stream(facts)].into_iter().flatten();
    let uneven = uneven.filter(|_| !flat);
    let cleans = uneven.chain(same_bytes(facts)).max_by(largest);
    // That it does something is seen by fewer at work, and not what.
    let what = if cleans.is_some() {
        "while the flash moves what is still valid and erases"
    } else {
        "for the drive's own work (its buffer is written to the flash, or blocks are emptied)"
    };
    let busy = not_at_work(facts).filter(|_| !flat);
    let (share, evidence, confidence) = cleans.into_iter().chain(busy).max_by(largest)?;
    let claim = format!("Writes wait {what}: {} of their time.", percent(share));
    let part = facts.run().target.size_bytes / 32;
    let stages = facts
        .as_it_was()
        .and("small-span", |w| w.span = Some(part.max(w.block_size)))
        .and("reads", |w| {
            w.operation = Operation::Read;
            w.sync = SyncMode::None;
        });
    let found = cause(share, confidence, claim);
    Some(found.evidence(evidence).settled_by(stages))
}

/// A stream of writes that gets no more bytes a second than small writes anywhere do, which wait
/// for blocks to be emptied: what the flash has to empty for a byte is the limit of both. A cap on
/// bytes would hold the small ones at one exact rate, too, and they would not wait so unevenly.
fn same_bytes(facts: &StageFacts<'_>) -> Option<Found> {
    let rate = facts.rate().filter(|_| facts.flows())?;
    let (alone_ns, mean_ns) = (facts.shortest_ns()?, facts.latency_ns()?);
    let share = (1.0 - alone_ns / mean_ns).max(0.0);
    unless(share < Standing::CAUSE_MIN)?;
    let small = facts.others().find(|other| {
        let unheld = other.asks_direct() && !other.syncs_each() && !other.is_flat();
        let near = |theirs: f64| theirs.max(rate) <= SAME_BYTES * theirs.min(rate);
        let same = other.scattered() && other.rate().is_some_and(near);
        unheld && same && Erasing::of(other).is_some()
    })?;
    let [theirs, own] = [small.rate()?, rate].map(show_throughput);
    let [alone, mean] = [alone_ns, mean_ns].map(duration);
    let lines = [
        format!(
            "{}, small writes that wait for blocks to be emptied, moves {theirs}, and this {own}: \
             the same work of the flash for each byte.",
            small.stage.label()
        ),
        format!(
            "The shortest took {alone}, the mean is {mean}: {} is waiting.",
            percent(share)
        ),
    ];
    Some((share, lines, Likely))
}

/// A device that is full of the stage's own writes has one or more of them at work.
/// With fewer, though some are always in flight, they wait for other work of the drive.
fn not_at_work(facts: &StageFacts<'_>) -> Option<Found> {
    let at_work = facts.in_service()?;
    let mean = duration(facts.latency_ns()?);
    unless(at_work > AT_WORK)?;
    let lines = [
        format!(
            "{}, though {} are in flight.",
            in_service(facts.iops()?, "writes", facts.shortest_ns()?),
            ratio(facts.depth())
        ),
        format!(
            "Of the mean latency of {mean} the rest is waiting for work of the drive that is none \
             of theirs."
        ),
    ];
    Some((1.0 - at_work, lines, Possible))
}

/// A stream of writes that is much slower than the reads, and uneven.
fn slow_stream(facts: &StageFacts<'_>) -> Option<Found> {
    let rate = facts.rate().filter(|_| facts.flows())?;
    let others = facts.others();
    let reads = others.filter(|other| other.only_reads() && other.flows());
    let read = reads.filter_map(|other| other.rate()).reduce(f64::max)?;
    let latency = &facts.figures.latency_ns;
    let waits = latency.p50? > 3 * latency.min?;
    let plateau = RateOverTime::of(facts).whole();
    let scatter = plateau.map_or(0.0, |plateau| plateau.scatter);
    let trials = facts.figures.throughput_bytes_per_s.spread.unwrap_or(0.0);
    let uneven = scatter > UNEVEN || trials > UNEVEN;
    unless(rate >= OF_READS * read || !waits || !uneven)?;
    let [writes, reads] = [rate, read].map(show_throughput);
    let [points, trials] = [scatter, trials].map(percent);
    let times = ratio(read / rate);
    let lines = [
        format!("Writes move {writes}, reads {reads}: {times} times as much."),
        format!("The rate is uneven: points of it differ by {points}, trials by {trials}."),
    ];
    Some((1.0 - rate / read, lines, Possible))
}
