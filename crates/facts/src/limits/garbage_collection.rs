//! Flash moves valid data and erases while it is written to.

use super::course::Course;
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::SyncMode;
use diskfacts_plan::units::{show_duration, show_throughput};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "garbage-collection";

/// A write that waits takes this many times what most take: they go to the drive's
/// buffer, this one waits for a block to be emptied.
const TAIL: f64 = 4.0;
/// Sustained writes of less than this share of the rate of reads, on flash that is not
/// full of old data, would be unusual: data sheets have 0.5 to 1.
const OF_READS: f64 = 0.5;
/// How uneven a stream is that waits for blocks to be emptied: the points' scatter.
const UNEVEN: f64 = 0.03;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let flash = subject.rotates() == Some(false);
    if !flash || !subject.only_writes() || !subject.reaches_device() {
        return None;
    }
    if subject.workload().sync.each_write() {
        return None;
    }
    let (share, evidence, confidence) = tail(subject).or_else(|| slow_stream(subject))?;
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "Writes wait while the flash moves what is still valid and erases: {} of their time.",
            percent(share)
        ),
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
fn tail(subject: &Subject<'_>) -> Option<(f64, Vec<String>, Confidence)> {
    let histogram = subject.histogram()?;
    let fast_ns = histogram.quantile(0.25)? as f64;
    let mean_ns = histogram.mean()?;
    let limit_ns = TAIL * fast_ns;
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

/// A stream of writes that is much slower than the reads, and uneven.
fn slow_stream(subject: &Subject<'_>) -> Option<(f64, Vec<String>, Confidence)> {
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
