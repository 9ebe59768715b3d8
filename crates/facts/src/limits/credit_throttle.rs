//! A token bucket: a burst first, then exactly a base rate.

use super::cap::{Cap, OF_BURST};
use super::experiment::at_most;
use super::gaps::Gaps;
use super::throttle::{Held, is_flat, of_bytes, show_rate};
use super::{Candidate, Standing, Subject};
use crate::device_physics::no_drives;
use crate::simulated::planted;
use crate::words::percent;
use diskfacts_plan::check::QUEUE_DEPTH_MAX;
use diskfacts_plan::units::show_duration;
use diskfacts_record::{Confidence, Experiment, Quantity};

pub(super) const NAME: &str = "credit-throttle";

/// Rates this near to each other are one.
const SAME: f64 = 0.02;
/// No local flash is so slow with reads of a few KiB, operations per second: data
/// sheets of the slowest (eMMC, SD cards A2) say 4000 and more.
const SLOW_READS: f64 = 4000.0;

/// Share of the time in silences from which on they may be what the rate comes of: as much
/// as the limiter `stall` has to have.
const SILENT: f64 = 0.05;

/// What a limit lets pass more with more in flight: the operations in flight when a trial
/// ends count in it, and a burst comes on top.
const NO_MORE: f64 = 1.1;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if !subject.reaches_device() || subject.workload().rate.is_some() {
        return None;
    }
    // A limit of the own control group is named as that.
    if super::cgroup_throttle::is_reached(subject) {
        return None;
    }
    stepped(subject)
        .or_else(|| capped(subject))
        .or_else(|| flat(subject))
}

/// At an exact pace in all its trials, after a burst or not, with the device idle.
fn capped(subject: &Subject<'_>) -> Option<Candidate> {
    let cap = Cap::of(subject)?;
    Some(candidate(
        subject,
        cap.claim(subject),
        cap.evidence(subject),
        cap.share(subject),
        cap.confidence,
    ))
}

/// Whether another stage of the run is held at a pace of which this is the turn of one
/// operation, nanoseconds: one at a time wait for it each time, and show nothing else.
pub(super) fn paced_elsewhere(subject: &Subject<'_>, turn_ns: f64) -> bool {
    /// A part of the turn goes by before the next is asked for.
    const ABOUT: f64 = 0.1;
    subject.others().any(|other| {
        let held = || Some(Held::of(&other).filter(|held| held.flat)?.step.after.rate);
        let pace = Cap::of(&other).map(|cap| cap.per_s()).or_else(held);
        pace.is_some_and(|per_s| (turn_ns * per_s / 1e9 - 1.0).abs() <= ABOUT)
    })
}

/// Faster at first, then exactly one rate.
fn stepped(subject: &Subject<'_>) -> Option<Candidate> {
    let held = Held::of(subject).filter(|held| held.flat)?;
    // What a disk's own cache takes is fast too, until it is full.
    if subject.rotates() == Some(true) && subject.workload().operation.writes() {
        return None;
    }
    // What falls with bytes is heat, unless the rate is one of operations.
    if of_bytes(subject) && subject.run().machine.virtualization.is_none() {
        return None;
    }
    let rate = show_rate(subject, held.step.after.rate);
    let of_burst = subject.iops()? > OF_BURST * held.step.after.rate;
    let claim = if of_burst {
        format!("The figure is of a burst; after it operations are throttled to {rate}.")
    } else {
        format!("After a burst, operations are throttled to {rate}.")
    };
    Some(candidate(
        subject,
        claim,
        vec![held.line(subject)],
        held.share(),
        // A drive of this machine takes writes at one rate when its cache is full, and a
        // device that stands still at equal distances does as much between two of them.
        if Gaps::of(subject).share() >= SILENT
            || subject.workload().operation.writes() && no_drives(subject.run()).is_none()
        {
            Confidence::Possible
        } else {
            Confidence::Likely
        },
    ))
}

/// Exactly one rate, and other operations have the same.
fn flat(subject: &Subject<'_>) -> Option<Candidate> {
    if !is_flat(subject) {
        return None;
    }
    let iops = subject.iops()?;
    let latency_ns = subject.latency_ns()?;
    let min_ns = subject.figures.latency_ns.min? as f64;
    if of_bytes(subject) && !limited_elsewhere(subject) {
        return None;
    }
    // Where other work of the same kind is faster, nothing holds all of it.
    let faster = subject.others().any(|other| {
        let more = other
            .iops()
            .is_some_and(|theirs| theirs > (1.0 + 2.0 * SAME) * iops);
        !of_bytes(&other) && other.reaches_device() && more && !in_memory(&other)
    });
    if faster && !of_bytes(subject) {
        return None;
    }
    // What a queue lets through one by one keeps the pace of the device.
    let same = subject
        .others()
        .filter(|other| super::device_queue::check(other).is_none())
        .find(|other| is_same(subject, other, iops));
    let depth = subject.outstanding();
    // Reads anywhere keep a device busy for a while that differs from place to place,
    // and several of them go side by side.
    let unnatural = subject.only_reads()
        && subject.scattered()
        && iops < SLOW_READS
        && (subject.rotates() == Some(true) || depth >= 4.0);
    if same.is_none() && !unnatural {
        return None;
    }
    let each_ns = 1e9 / iops;
    // With several in flight the first found nothing before them, and show what an
    // operation takes without the wait.
    let free_ns = if depth > 1.0 {
        min_ns
    } else {
        each_ns.min(min_ns)
    };
    let share = if depth > 1.0 {
        1.0 - (free_ns / latency_ns).min(1.0)
    } else {
        // How long it would take alone is not seen.
        0.5
    };
    let mut evidence = vec![format!(
        "One passes each {}, and they are even: half take up to {}, 90 % up to {}.",
        show_duration(each_ns.round() as u64),
        show_duration(subject.figures.latency_ns.p50?),
        show_duration(subject.figures.latency_ns.p90?)
    )];
    if depth > 1.0 {
        evidence.push(format!(
            "The fastest took {} of the mean {}: the rest, {}, was the wait for its turn.",
            show_duration(free_ns as u64),
            show_duration(latency_ns as u64),
            percent(share)
        ));
    }
    // One at a time takes as long each time behind a network too; and what differs in depth
    // alone is as fast where a device that always takes equally long does one at a time.
    let sure = same.as_ref().is_some_and(|other| {
        let (mine, theirs) = (subject.workload(), other.workload());
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
    let claim = format!(
        "Something lets operations pass at exactly {}, whatever they are.",
        show_rate(subject, iops)
    );
    let confidence = if sure {
        Confidence::Likely
    } else {
        Confidence::Possible
    };
    let mut flat = candidate(subject, claim, evidence, share, confidence);
    // A device that is full does no more with more in flight either.
    flat.experiment.prediction = None;
    Some(flat)
}

/// Whether operations that are small are held at one rate in this run, so that bytes
/// may be too.
fn limited_elsewhere(subject: &Subject<'_>) -> bool {
    subject
        .others()
        .any(|other| !of_bytes(&other) && other.reaches_device() && flat(&other).is_some())
}

/// Whether a device's own memory answers: what no limit of operations lets be.
fn in_memory(other: &Subject<'_>) -> bool {
    other.figures.layers.drive_cache > 0.5
}

/// Whether other work, which a device would do at another rate, is as fast.
fn is_same(subject: &Subject<'_>, other: &Subject<'_>, iops: f64) -> bool {
    let (mine, theirs) = (subject.workload(), other.workload());
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < SAME;
    // What an array's memory takes is as fast from one writer as from many.
    let reads = mine.operation.reads() || theirs.operation.reads();
    let depths = [mine.outstanding(), theirs.outstanding()];
    // A drive of this machine that is full is as fast with more in flight.
    let deeper = depths[0].max(depths[1]) >= 4 * depths[0].min(depths[1])
        && no_drives(subject.run()).is_some();
    let unlike = mine.operation != theirs.operation
        || deeper
        || mine.block_size.max(theirs.block_size) >= 4 * mine.block_size.min(theirs.block_size);
    let equal = if !of_bytes(subject) && !of_bytes(other) {
        other.iops().is_some_and(|theirs| near(theirs, iops))
    } else if of_bytes(subject) && of_bytes(other) {
        let both = subject.rate().zip(other.rate());
        both.is_some_and(|(mine, theirs)| near(mine, theirs))
    } else {
        false
    };
    // A device at its best differs between reads and writes, and it is fast.
    let slow = iops < 10.0 * SLOW_READS;
    reads && unlike && equal && slow && other.reaches_device() && is_flat(other)
}

fn candidate(
    subject: &Subject<'_>,
    claim: String,
    evidence: Vec<String>,
    share: f64,
    confidence: Confidence,
) -> Candidate {
    Candidate {
        standing: Standing::cause(share),
        claim,
        evidence,
        share: Some(share),
        confidence,
        refuted_by: "More operations a second with more of them in flight.".into(),
        experiment: settle(subject),
        remedy: planted(subject.run(), "[faults.credit]").map_or_else(
            || {
                "The limit is the provider's or the hypervisor's: a larger volume or another class \
                 of it, or larger operations where operations are counted and not bytes. A volume \
                 that was idle has its burst again, so measure for longer than the burst lasts."
                    .into()
            },
            |sentence| format!("{sentence}."),
        ),
    }
}

fn settle(subject: &Subject<'_>) -> Experiment {
    subject
        .experiment(
            "A limit lets as many operations pass with four times as many in flight; a device does \
         more of them then.",
            &[
                ("as-it-was", subject.with(|_| {})),
                (
                    "four-times-the-depth",
                    subject
                        .with(|w| w.queue_depth = (w.queue_depth.max(1) * 4).min(QUEUE_DEPTH_MAX)),
                ),
            ],
        )
        .decided_by(at_most(
            ("four-times-the-depth", "as-it-was"),
            Quantity::Iops,
            NO_MORE,
        ))
}
