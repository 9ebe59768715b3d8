//! Too few operations are in flight to fill the device: each waits for the one before.

use super::knee::Knee;
use super::{Candidate, Standing, Subject};
use crate::words::ratio;
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::{rate_digits, show_duration, three_digits};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "one-at-a-time";

/// A device does more with more in flight when it does so many times more.
const MORE: f64 = 1.2;
/// A device has room while its latency is within this factor of what it is for one.
pub(super) const ROOM: f64 = 1.15;

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
    let knee = Knee::of(subject);
    let depth = subject.outstanding();
    let iops = subject.iops()?;
    let latency_ns = subject.latency_ns()?;
    let full = match &knee {
        Some(knee) => depth > ROOM * knee.depth(),
        None => subject
            .figures
            .latency_ns
            .min
            .is_none_or(|min| latency_ns > ROOM * min as f64),
    };
    if depth > 1.0 && full {
        return None;
    }
    let mean_iops = subject.mean_iops()?;
    let in_flight = mean_iops * latency_ns / 1e9;
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
    let deeper = knee.and_then(|knee| {
        let most = knee.points.iter().filter(|(at, ..)| *at > depth);
        most.max_by(|a, b| a.1.total_cmp(&b.1)).cloned()
    });
    let mut confidence = Confidence::Likely;
    if let Some((at, more, label)) = deeper {
        evidence.push(format!(
            "With {at} in flight ({label}) it is {} operations/s, {} times as many.",
            rate_digits(more),
            ratio(more / iops)
        ));
        if more >= MORE * iops {
            confidence = Confidence::Certain;
        } else {
            confidence = Confidence::Possible;
        }
    }
    Some(Candidate {
        standing: Standing::Load,
        claim: format!(
            "Operations go {each}, so the rate is what their latency of {} lets it be.",
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
                ("qd1", subject.with(|w| w.queue_depth = 1)),
                ("qd4", subject.with(|w| w.queue_depth = 4)),
                ("qd16", subject.with(|w| w.queue_depth = 16)),
                ("qd64", subject.with(|w| w.queue_depth = 64)),
            ],
        ),
        remedy: "Have more in flight: asynchronous I/O, more threads, read-ahead. Where the next \
                 operation depends on this one, only a device of shorter latency helps."
            .into(),
    })
}
