//! The rate steps down after a while under load, and stays down.

use super::cap::Cap;
use super::throttle::{Held, of_bytes, show_rate};
use super::{Candidate, Standing, Subject};
use crate::simulated::planted;
use crate::words::ratio;
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::{rate_digits, show_duration};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "thermal-throttle";

/// Reads at work at once, by throughput and the shortest latency, up to which something
/// holds the drive back: one that is full of them has one or more.
const AT_WORK: f64 = 0.5;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if !subject.reaches_device() || subject.workload().rate.is_some() {
        return None;
    }
    // A disk that turns slows down with its place and its cache, hardly with heat.
    if subject.rotates() == Some(true) {
        return None;
    }
    if Cap::of(subject).is_some() {
        return None;
    }
    stepped(subject).or_else(|| held_down(subject))
}

/// The step is seen.
fn stepped(subject: &Subject<'_>) -> Option<Candidate> {
    let held = Held::of(subject)?;
    // A cache that is full makes writes step down too, to what is behind it.
    let reads = subject.only_reads();
    if !(reads || held.flat) || (!of_bytes(subject) && held.flat) {
        return None;
    }
    let share = held.share();
    let moved =
        held.step.before.rate * held.step.before.seconds * subject.workload().block_size as f64;
    let claim = format!(
        "Under load the rate steps down from {} to {} and stays there, as a drive does that has \
         become too warm.",
        show_rate(subject, held.step.before.rate),
        show_rate(subject, held.step.after.rate)
    );
    let evidence = vec![
        held.line(subject),
        format!(
            "The step, {} times, came after {} of load.",
            ratio(held.step.before.rate / held.step.after.rate),
            diskfacts_plan::units::show_size(moved as u64)
        ),
    ];
    let confidence = if reads {
        Confidence::Likely
    } else {
        Confidence::Possible
    };
    Some(candidate(subject, (claim, evidence), (share, confidence)))
}

/// The drive was too warm from nearly the beginning on: reads wait, though hardly any is
/// at work. Only the first were as fast as the drive can be.
fn held_down(subject: &Subject<'_>) -> Option<Candidate> {
    if !subject.only_reads() || !of_bytes(subject) || subject.outstanding() <= 1.0 {
        return None;
    }
    // The shortest is of all trials, the rate of the one in the middle.
    if !subject.agrees() {
        return None;
    }
    // The shortest read through the page cache is of what was read ahead.
    if subject.workload().cache != CacheMode::Direct {
        return None;
    }
    let iops = subject.iops()?;
    let alone_ns = subject.figures.latency_ns.min? as f64;
    let at_work = iops * alone_ns / 1e9;
    if at_work > AT_WORK {
        return None;
    }
    let claim = format!(
        "Reads are held down to {}, as by a drive that has become too warm.",
        show_rate(subject, iops)
    );
    let evidence = vec![format!(
        "{} reads/s x {} (the shortest) is {} at work at once, though {} are in flight: the first \
         were {} times faster.",
        rate_digits(iops),
        show_duration(alone_ns as u64),
        ratio(at_work),
        ratio(subject.depth()),
        ratio(1.0 / at_work)
    )];
    let share = (1.0 - at_work, Confidence::Possible);
    Some(candidate(subject, (claim, evidence), share))
}

fn candidate(
    subject: &Subject<'_>,
    (claim, evidence): (String, Vec<String>),
    (share, confidence): (f64, Confidence),
) -> Candidate {
    Candidate {
        standing: Standing::cause(share),
        claim,
        evidence,
        share: Some(share),
        confidence,
        refuted_by: "A temperature below the drive's limit when the rate fell.".into(),
        experiment: subject.again(
            "After a pause of ten minutes the first seconds are fast again if it was heat, and the \
             temperature that `smartctl -A` or `nvme smart-log` shows rises until the rate falls.",
        ),
        remedy: planted(subject.run(), "[faults.heat]").map_or_else(
            || {
                "Look at the temperature and at how often it was too high: `nvme smart-log \
                 /dev/nvme0` (thermal management), `smartctl -x /dev/sdX`. Air over the drive, or a \
                 heat sink on it, moves the limit."
                    .into()
            },
            |sentence| format!("{sentence}."),
        ),
    }
}
