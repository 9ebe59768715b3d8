//! The device does as many at once as it can: more in flight only waits longer.

use super::cap::Cap;
use super::knee::Knee;
use super::one_at_a_time::ROOM;
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::units::{rate_digits, show_duration, three_digits};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "device-parallelism";

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let depth = subject.outstanding();
    if depth <= 1.0 || !subject.reaches_device() || subject.workload().rate.is_some() {
        return None;
    }
    // What is held at a pace while the device idles is not full.
    if Cap::of(subject).is_some() {
        return None;
    }
    let latency_ns = subject.latency_ns()?;
    let iops = subject.iops()?;
    let mut evidence = Vec::new();
    let (knee_depth, alone_ns, confidence) = if let Some(knee) = Knee::of(subject) {
        let said: Vec<String> = knee
            .points
            .iter()
            .map(|(at, rate, _)| format!("{} with {at}", rate_digits(*rate)))
            .collect();
        evidence.push(format!("Operations/s: {} in flight.", said.join(", ")));
        evidence.push(format!(
            "The best fit of min(n / {}, {}/s) bends at n = {}; the points are {} off it.",
            show_duration(knee.alone_ns.round() as u64),
            rate_digits(knee.most),
            three_digits(knee.depth()),
            percent(knee.off)
        ));
        if depth <= ROOM * knee.depth() {
            return None;
        }
        (knee.depth(), knee.alone_ns, Confidence::Likely)
    } else {
        let alone_ns = shortest_ns(subject)?;
        if latency_ns <= ROOM * alone_ns {
            return None;
        }
        (iops * alone_ns / 1e9, alone_ns, Confidence::Possible)
    };
    evidence.push(format!(
        "{} operations/s x {} (alone) is {} at work at once; of the mean latency of {} the rest \
         is waiting.",
        rate_digits(iops),
        show_duration(alone_ns.round() as u64),
        three_digits(iops * alone_ns / 1e9),
        show_duration(latency_ns.round() as u64)
    ));
    Some(Candidate {
        standing: Standing::Load,
        claim: format!(
            "The device is full with about {} of the {depth} in flight: more of them wait, and do \
             not make it faster.",
            three_digits(knee_depth.max(1.0))
        ),
        evidence,
        share: Some(1.0),
        confidence,
        refuted_by: "More operations a second with twice as many in flight.".into(),
        experiment: subject.experiment(
            "If the device is full, twice the depth takes twice the latency at the same rate, and \
             half of it loses little.",
            &[
                (
                    "half",
                    subject.with(|w| w.queue_depth = (w.queue_depth / 2).max(1)),
                ),
                ("as-it-was", subject.with(|_| {})),
                (
                    "twice",
                    subject.with(|w| w.queue_depth = (w.queue_depth * 2).min(4096)),
                ),
            ],
        ),
        remedy: format!(
            "A depth of about {} is as fast, and {} times quicker to answer. Beyond that only \
             another device, or several of them, do more.",
            three_digits(knee_depth.ceil().max(1.0)),
            ratio((depth / knee_depth.max(1.0)).max(1.0))
        ),
    })
}

/// The shortest latency; of reads and writes mixed, that of each by its share: a write
/// into a buffer says nothing of a read.
fn shortest_ns(subject: &Subject<'_>) -> Option<f64> {
    let figures = subject.figures;
    let kinds = figures.latency_read_ns.zip(figures.latency_write_ns);
    let Some((reads, writes)) = kinds.filter(|(r, w)| r.samples > 0 && w.samples > 0) else {
        return Some(figures.latency_ns.min? as f64);
    };
    let share = reads.samples as f64 / (reads.samples + writes.samples) as f64;
    Some(share * reads.min? as f64 + (1.0 - share) * writes.min? as f64)
}
