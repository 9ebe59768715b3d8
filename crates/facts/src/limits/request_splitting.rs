//! Requests larger than the kernel sends are split, and the pieces cost.

use super::queue::{set, top};
use super::reference::{Reference, best};
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::units::{show_duration, show_size, show_throughput};
use diskfacts_plan::{CacheMode, Workload};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "request-splitting";

/// Requests of the device per operation from which on operations are split.
const PIECES: f64 = 1.5;
/// What a request costs besides its bytes where the run does not show it, ns: less
/// than any command to a SATA disk (some 50 us) or a solid-state one (some 10 us)
/// takes.
const OVERHEAD_NS: f64 = 10_000.0;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    let device = top(subject)?;
    let largest = device.max_request_bytes.filter(|bytes| *bytes > 0)?;
    if subject.imported() || !subject.moves_blocks() || workload.block_size <= largest {
        return None;
    }
    // Through the page cache the window of read-ahead decides, and write-back joins
    // and splits as it likes.
    if workload.cache != CacheMode::Direct {
        return None;
    }
    let work = subject.device_work()?;
    let ops = subject.stage.sum(|trial| trial.ops) as f64;
    let pieces = work.requests / ops;
    if !pieces.is_finite() || pieces < PIECES {
        return None;
    }
    let each_request_ns = subject.seconds() * 1e9 / work.requests;
    let mean = work.bytes / work.requests;
    let whole = 1.0 - 1.0 / pieces;
    let reference = best(subject, |other| {
        other.workload().operation == workload.operation
            && other.workload().cache == CacheMode::Direct
            && other.in_order() == subject.in_order()
            && other.workload().sync == workload.sync
    });
    let (share, confidence, by) = share(subject, reference, each_request_ns, whole);
    let mut evidence = vec![
        format!(
            "A block is {}, and the largest request that the kernel sends to {} is {}: {} \
             requests were counted for each operation, of {} on average.",
            show_size(workload.block_size),
            device.name,
            show_size(largest),
            ratio(pieces),
            show_size(mean as u64)
        ),
        format!(
            "A request was completed every {}, that is {}.",
            show_duration(each_request_ns as u64),
            subject.rate().map_or_else(String::new, show_throughput)
        ),
    ];
    evidence.push(by);
    let kib = (workload.block_size / 1024).max(1).to_string();
    let smaller = Workload {
        block_size: largest,
        ..workload.clone()
    };
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "Each operation of {} is split into {} requests of at most {}, and what each request \
             costs adds up.",
            show_size(workload.block_size),
            ratio(pieces),
            show_size(largest)
        ),
        evidence,
        share: Some(share),
        confidence,
        refuted_by: "The same rate with a larger limit.".into(),
        experiment: subject.experiment(
            "Blocks of just one request: as many bytes a second as with the large blocks say \
             that large blocks gain nothing here; then the same with a larger limit.",
            &[("one-request", smaller), ("split", workload.clone())],
        ),
        remedy: format!(
            "{} `max_hw_sectors_kb` beside it is the most that the device takes.",
            set(
                subject,
                device,
                ("queue/max_sectors_kb", &kib),
                (
                    "host",
                    &format!(
                        "max_request = \"{}\"",
                        show_size(workload.block_size).replace(' ', "")
                    )
                )
            )
        ),
    })
}

/// What would go away without splitting, how sure that is, and by which figure.
fn share(
    subject: &Subject<'_>,
    reference: Option<Reference>,
    each_request_ns: f64,
    whole: f64,
) -> (f64, Confidence, String) {
    let own = subject.rate().unwrap_or(f64::INFINITY);
    if let Some(better) = reference.filter(|better| better.rate > own * 1.05) {
        let share = 1.0 - own / better.rate;
        let by = format!(
            "{} reached {}: {} of the time would be saved at that rate.",
            better.label,
            show_throughput(better.rate),
            percent(share)
        );
        return (share, Confidence::Likely, by);
    }
    let (overhead_ns, confidence, by) = match request_cost(subject) {
        Some((label, ns)) => (
            ns,
            Confidence::Likely,
            format!(
                "{label} completed a request every {}: what a request costs besides its bytes is \
                 no more.",
                show_duration(ns as u64)
            ),
        ),
        None => (
            OVERHEAD_NS,
            Confidence::Possible,
            format!(
                "A request costs at least {} besides its bytes.",
                show_duration(OVERHEAD_NS as u64)
            ),
        ),
    };
    let share = (overhead_ns / each_request_ns).min(1.0) * whole;
    (share, confidence, by)
}

/// How fast the device completes requests that are not split, where as many are
/// under way as there are pieces: a stage, and nanoseconds from one to the next. Of
/// rotating disks only what is read in order tells, because the rest is the arm.
fn request_cost(subject: &Subject<'_>) -> Option<(String, f64)> {
    const DEPTH: u64 = 8;
    let largest = top(subject)?.max_request_bytes?;
    let rotates = subject.rotates() != Some(false);
    subject
        .others()
        .filter(|other| {
            let workload = other.workload();
            workload.cache == CacheMode::Direct
                && workload.operation == subject.workload().operation
                && workload.block_size <= largest
                && workload.rate.is_none()
                && !workload.sync.each_write()
                && if rotates {
                    other.in_order()
                } else {
                    workload.outstanding() >= DEPTH
                }
        })
        .filter_map(|other| Some((other.stage.label(), other.each_ns()?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}
