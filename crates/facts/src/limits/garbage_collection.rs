//! Flash moves valid data and erases while it is written to.

use super::course::Course;
use super::throttle::is_flat;
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::units::{rate_digits, show_duration, show_throughput};
use diskfacts_plan::{CacheMode, SyncMode};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "garbage-collection";

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
/// Writes at work at once, by throughput and the shortest latency, up to which the drive
/// does something else for a third of the time and more.
const AT_WORK: f64 = 2.0 / 3.0;

/// Share of the time, the lines that show it, and how sure it is.
type Found = (f64, Vec<String>, Confidence);

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let flash = subject.rotates() == Some(false);
    if !flash || !subject.only_writes() || !subject.reaches_device() {
        return None;
    }
    // Through the page cache a write waits for memory; with a sync for the flush; and
    // where a limit holds all of them at one rate, for that.
    let plain = subject.workload().cache == CacheMode::Direct
        && !subject.workload().sync.each_write()
        && !is_flat(subject);
    if !plain {
        return None;
    }
    let largest = |a: &Found, b: &Found| a.0.total_cmp(&b.0);
    let cleans = [tail(subject), slow_stream(subject)];
    let cleans = cleans.into_iter().flatten().max_by(largest);
    // That it does something is seen by fewer at work, and not what.
    let what = if cleans.is_some() {
        "while the flash moves what is still valid and erases"
    } else {
        "for the drive's own work (its buffer is written to the flash, or blocks are emptied)"
    };
    let found = cleans.into_iter().chain(not_at_work(subject));
    let (share, evidence, confidence) = found.max_by(largest)?;
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!("Writes wait {what}: {} of their time.", percent(share)),
        evidence,
        share: Some(share),
        confidence,
        refuted_by: "The same waits on a drive that was trimmed whole and is nearly empty.".into(),
        experiment: subject.experiment(
            "If it is the flash's cleaning, small writes within a few percent of the target, of \
             which little stays valid for long, are faster and more even than anywhere; reads do not \
             wait.",
            &[
                ("as-it-was", subject.with(|_| {})),
                (
                    "small-span",
                    subject.with(|w| {
                        let size = subject.run().target.size_bytes;
                        w.span = Some((size / 32).max(w.block_size));
                    }),
                ),
                (
                    "reads",
                    subject.with(|w| {
                        w.operation = diskfacts_plan::Operation::Read;
                        w.sync = SyncMode::None;
                    }),
                ),
            ],
        ),
        remedy: "Leave flash free that the drive can work with: trim (`fstrim -av`), leave a part \
                 of it unpartitioned, write in larger pieces in order. A drive with more spare area \
                 (made for writing) cleans less."
            .into(),
    })
}

/// Most writes go to a buffer, and a few wait for long.
fn tail(subject: &Subject<'_>) -> Option<Found> {
    let histogram = subject.histogram()?;
    let fast_ns = histogram.quantile(0.25)? as f64;
    let mean_ns = histogram.mean()?;
    let limit_ns = (TAIL * fast_ns).max(ERASE_NS);
    let (mut number, mut excess_ns) = (0_u64, 0.0);
    for (low, high, count) in histogram.buckets() {
        let middle = low as f64 + (high - low) as f64 / 2.0;
        if middle > limit_ns {
            number += count;
            excess_ns += (middle - fast_ns) * count as f64;
        }
    }
    let total_ns = mean_ns * histogram.count() as f64;
    let share = (excess_ns / total_ns).min(1.0);
    let rest = share < 0.15 || mean_ns < 1.2 * fast_ns;
    (!rest).then(|| {
        let of = number as f64 / histogram.count() as f64;
        let lines = vec![
            format!(
                "A quarter of the writes take up to {}, and {} of them more than {}: up to {}.",
                show_duration(fast_ns as u64),
                percent(of),
                show_duration(limit_ns as u64),
                show_duration(histogram.max().unwrap_or(0))
            ),
            format!(
                "What these take beyond {} is {} of all time of the writes.",
                show_duration(fast_ns as u64),
                percent(share)
            ),
        ];
        (share, lines, Confidence::Likely)
    })
}

/// A device that is full of the stage's own writes has one or more of them at work.
/// With fewer, though some are always in flight, they wait for other work of the drive.
fn not_at_work(subject: &Subject<'_>) -> Option<Found> {
    let (iops, latency_ns) = (subject.iops()?, subject.latency_ns()?);
    let alone_ns = subject.figures.latency_ns.min? as f64;
    let at_work = iops * alone_ns / 1e9;
    (at_work <= AT_WORK).then(|| {
        let lines = vec![
            format!(
                "{} writes/s x {} (the shortest) is {} at work at once, though {} are in flight.",
                rate_digits(iops),
                show_duration(alone_ns as u64),
                ratio(at_work),
                ratio(subject.depth())
            ),
            format!(
                "Of the mean latency of {} the rest is waiting for work of the drive that is none \
                 of theirs.",
                show_duration(latency_ns as u64)
            ),
        ];
        (1.0 - at_work, lines, Confidence::Possible)
    })
}

/// A stream of writes that is much slower than the reads, and uneven.
fn slow_stream(subject: &Subject<'_>) -> Option<Found> {
    if !subject.flows() {
        return None;
    }
    let rate = subject.rate()?;
    let reads = subject
        .others()
        .filter(|other| other.only_reads() && other.flows());
    let read = reads.filter_map(|other| other.rate()).reduce(f64::max)?;
    let latency = &subject.figures.latency_ns;
    let waits = latency
        .min
        .zip(latency.p50)
        .is_some_and(|(min, p50)| p50 > 3 * min);
    let scatter = Course::of(subject)
        .whole()
        .map_or(0.0, |plateau| plateau.scatter);
    let trials = subject.figures.throughput_bytes_per_s.spread.unwrap_or(0.0);
    let uneven = scatter > UNEVEN || trials > UNEVEN;
    (rate < OF_READS * read && waits && uneven).then(|| {
        let share = 1.0 - rate / read;
        let lines = vec![
            format!(
                "Writes move {}, reads {}: {} times as much.",
                show_throughput(rate),
                show_throughput(read),
                ratio(read / rate)
            ),
            format!(
                "The rate is uneven: points of it differ by {}, trials by {}.",
                percent(scatter),
                percent(trials)
            ),
        ];
        (share, lines, Confidence::Possible)
    })
}
