//! Flash moves valid data and erases while it is written to.

use super::prelude::*;
use super::throttle::is_flat;
use crate::stage_facts::rate_over_time::RateOverTime;

pub(super) const LIMITER: Limiter = Limiter {
    name: "garbage-collection",
    // Through the page cache a write waits for memory.
    needs: &[OnlyWrites, Device, Direct],
    find: writes_wait_for_the_drive,
    ..Limiter::OF_HARDWARE
};

/// A write that waits takes this many times what most take: they go to the drive's
/// buffer, this one waits for a block to be emptied.
const TAIL: f64 = 4.0;
/// The shortest time in which a block of flash is erased, nanoseconds (data sheets of NAND:
/// 0.7 to 10 ms). Shorter waits are those for a buffer that is programmed to the flash, as
/// on a drive that has nothing to clean.
const ERASE_NS: f64 = 700e3;
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
    // With a sync a write waits for the flush; and where a limit holds all of them at one rate,
    // for that.
    let synced = facts.workload().sync.each_write();
    unless(facts.rotates() != Some(false) || synced)?;
    let largest = |a: &Found, b: &Found| a.0.total_cmp(&b.0);
    let flat = is_flat(facts);
    let uneven = [tail, slow_stream].into_iter().filter(|_| !flat);
    let uneven = uneven.filter_map(|found| found(facts));
    let cleans = uneven.chain(same_bytes(facts)).max_by(largest);
    // That it does something is seen by fewer at work, and not what.
    let what = if cleans.is_some() {
        "while the flash moves what is still valid and erases"
    } else {
        "for the drive's own work (its buffer is written to the flash, or blocks are emptied)"
    };
    let busy = not_at_work(facts).filter(|_| !flat);
    let found = cleans.into_iter().chain(busy);
    let (share, evidence, confidence) = found.max_by(largest)?;
    let claim = format!("Writes wait {what}: {} of their time.", percent(share));
    let part = facts.run().target.size_bytes / 32;
    let stages = facts
        .as_it_was()
        .and("small-span", |w| w.span = Some(part.max(w.block_size)))
        .and("reads", |w| {
            w.operation = Operation::Read;
            w.sync = SyncMode::None;
        });
    Some(
        cause(share, confidence, claim)
            .evidence(evidence)
            .settled_by(stages),
    )
}

/// Whether a stage waits for blocks to be emptied.
pub(super) fn is_cleaning(facts: &StageFacts<'_>) -> bool {
    let asked = facts.only_writes() && facts.rotates() == Some(false);
    asked && tail(facts).is_some()
}

/// Most writes go to a buffer, and a few wait for long.
fn tail(facts: &StageFacts<'_>) -> Option<Found> {
    let histogram = facts.histogram()?;
    let (all, mean_ns) = (histogram.count() as f64, histogram.mean()?);
    let fast_ns = histogram.quantile(0.25)? as f64;
    let limit_ns = (TAIL * fast_ns).max(ERASE_NS);
    let (number, excess_ns) = facts.beyond(limit_ns, fast_ns)?;
    let share = (excess_ns / (mean_ns * all)).min(1.0);
    (share >= 0.15 && mean_ns >= 1.2 * fast_ns).then(|| {
        let [fast, limit] = [fast_ns, limit_ns].map(duration);
        let lines = [
            format!(
                "A quarter of the writes take up to {fast}, and {} of them more than {limit}: up to \
                 {}.",
                percent(number as f64 / all),
                show_duration(histogram.max().unwrap_or(0))
            ),
            format!(
                "Time beyond {fast} is {} of the write time.",
                percent(share)
            ),
        ];
        (share, lines, Likely)
    })
}

/// A stream of writes that gets no more bytes a second than small writes anywhere do, which wait
/// for blocks to be emptied: what the flash has to empty for a byte is the limit of both. A cap on
/// bytes would hold the small ones at one exact rate, too, and they would not wait so unevenly.
fn same_bytes(facts: &StageFacts<'_>) -> Option<Found> {
    let rate = facts.rate().filter(|_| facts.flows())?;
    let alone_ns = facts.shortest_ns()?;
    let share = (1.0 - alone_ns / facts.latency_ns()?).max(0.0);
    let small = facts.others().find(|other| {
        let writes =
            other.only_writes() && other.scattered() && !other.workload().sync.each_write();
        let near = |theirs: f64| theirs.max(rate) <= SAME_BYTES * theirs.min(rate);
        let unheld = !is_flat(other) && other.workload().cache == CacheMode::Direct;
        writes && unheld && other.rate().is_some_and(near) && tail(other).is_some()
    })?;
    let [theirs, own] = [small.rate()?, rate].map(show_throughput);
    let [alone, mean] = [alone_ns, facts.latency_ns()?].map(duration);
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
    (share >= Standing::CAUSE_MIN).then_some((share, lines, Likely))
}

/// A device that is full of the stage's own writes has one or more of them at work.
/// With fewer, though some are always in flight, they wait for other work of the drive.
fn not_at_work(facts: &StageFacts<'_>) -> Option<Found> {
    let (iops, alone_ns) = (facts.iops()?, facts.shortest_ns()?);
    let mean = duration(facts.latency_ns()?);
    let at_work = iops * alone_ns / 1e9;
    (at_work <= AT_WORK).then(|| {
        let lines = [
            format!(
                "{}, though {} are in flight.",
                in_service(iops, "writes", alone_ns),
                ratio(facts.depth())
            ),
            format!(
                "Of the mean latency of {mean} the rest is waiting for work of the drive that is \
                 none of theirs."
            ),
        ];
        (1.0 - at_work, lines, Possible)
    })
}

/// A stream of writes that is much slower than the reads, and uneven.
fn slow_stream(facts: &StageFacts<'_>) -> Option<Found> {
    let rate = facts.rate().filter(|_| facts.flows())?;
    let reads = facts
        .others()
        .filter(|other| other.only_reads() && other.flows());
    let read = reads.filter_map(|other| other.rate()).reduce(f64::max)?;
    let latency = &facts.figures.latency_ns;
    let both = latency.min.zip(latency.p50);
    let waits = both.is_some_and(|(min, p50)| p50 > 3 * min);
    let plateau = RateOverTime::of(facts).whole();
    let scatter = plateau.map_or(0.0, |plateau| plateau.scatter);
    let trials = facts.figures.throughput_bytes_per_s.spread.unwrap_or(0.0);
    let uneven = scatter > UNEVEN || trials > UNEVEN;
    (rate < OF_READS * read && waits && uneven).then(|| {
        let [writes, reads] = [rate, read].map(show_throughput);
        let [points, trials] = [scatter, trials].map(percent);
        let times = ratio(read / rate);
        let lines = [
            format!("Writes move {writes}, reads {reads}: {times} times as much."),
            format!("The rate is uneven: points of it differ by {points}, trials by {trials}."),
        ];
        (1.0 - rate / read, lines, Possible)
    })
}
