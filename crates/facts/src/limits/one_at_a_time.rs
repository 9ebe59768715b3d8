//! Too few operations are in flight to fill the device: each waits for the one before.

use super::experiment::at_least;
use super::ladder::{Ladder, MORE, ROOM};
use super::{Candidate, Standing, Subject};
use crate::words::ratio;
use diskfacts_plan::CacheMode;
use diskfacts_plan::check::QUEUE_DEPTH_MAX;
use diskfacts_plan::units::{rate_digits, show_duration, three_digits};
use diskfacts_record::{Confidence, Quantity};

pub(super) const NAME: &str = "one-at-a-time";

/// Share of the time of all that may be in flight, from which on the latencies are what the
/// rate comes of.
const MOST: f64 = 0.5;

/// Whether the document does not say how many were in flight: it does not name the
/// streams or the blocks, or the kernel may have read ahead or written behind. And
/// whether its blocks are so large that their time is that of the bytes: what more in
/// flight would do then, one figure does not show.
fn unknown(subject: &Subject<'_>) -> bool {
    let workload = subject.workload();
    let by_kernel =
        subject.in_order() && workload.cache != CacheMode::Direct && !workload.sync.each_write();
    let said = ["block_size", "queue_depth", "streams", "pattern"];
    let said = said.iter().all(|key| subject.says(key));
    subject.imported() && (by_kernel || subject.flows() || !said || workload.block_size == 0)
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if !subject.reaches_device() || subject.workload().rate.is_some() || unknown(subject) {
        return None;
    }
    let ladder = Ladder::of(subject)?;
    let depth = ladder.own.depth;
    let latency_ns = ladder.own.latency_ns;
    // No more were in flight anywhere: there is room while they do not wait for each other.
    let longest_ns = match ladder.shallowest() {
        Some(fewer) => ROOM * fewer.latency_ns,
        None => ROOM * subject.figures.latency_ns.min.unwrap_or(0) as f64,
    };
    if !ladder.has_room(longest_ns) {
        return None;
    }
    let mean_iops = subject.mean_iops()?;
    let in_flight = mean_iops * latency_ns / 1e9;
    // Most of the time went by elsewhere: in a sync after the last write.
    if in_flight < MOST * depth {
        return None;
    }
    let each = if depth > 1.0 {
        format!("{depth} at a time")
    } else {
        "one at a time".into()
    };
    let mut evidence = vec![format!(
        "{} operations/s x {} is {}: so many are in flight on average (Little's law).",
        rate_digits(mean_iops),
        show_duration(latency_ns.round() as u64),
        three_digits(in_flight)
    )];
    let mut confidence = Confidence::Likely;
    if let Some(deeper) = ladder.best_deeper() {
        evidence.push(format!(
            "With {} in flight ({}) it is {} operations/s, {} times as many.",
            deeper.depth,
            deeper.label,
            rate_digits(deeper.iops),
            ratio(deeper.iops / ladder.own.iops)
        ));
        confidence = Confidence::Certain;
    }
    let measured = ladder
        .best_deeper()
        .map_or_else(String::new, |_| format!(" Measured: {}.", ladder.advice()));
    let deeper = |times: u32| {
        subject.with(|w| w.queue_depth = (w.queue_depth.max(1) * times).min(QUEUE_DEPTH_MAX))
    };
    Some(Candidate {
        standing: Standing::Load,
        claim: format!(
            "Operations go {each}: {} / {} is the rate.",
            three_digits(depth),
            show_duration(latency_ns.round() as u64)
        ),
        evidence,
        share: Some(1.0),
        confidence,
        refuted_by: "No more operations a second with more of them in flight.".into(),
        experiment: subject.experiment(
            "If it is the depth, the rate grows with it until the device is full: that depth is the \
             one to use.",
            &[
                ("as-it-was", subject.with(|_| {})),
                ("four-times-the-depth", deeper(4)),
                ("sixteen-times-the-depth", deeper(16)),
                ("64-times-the-depth", deeper(64)),
            ],
        )
        .decided_by(at_least(
            ("four-times-the-depth", "as-it-was"),
            Quantity::Iops,
            MORE,
        )),
        remedy: format!(
            "Have more in flight: asynchronous I/O, more threads, read-ahead.{measured} Where the \
             next operation depends on this one, only a device of shorter latency helps."
        ),
    })
}
