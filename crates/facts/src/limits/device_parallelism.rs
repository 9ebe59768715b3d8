//! The device does as many at once as it can: more in flight only wait longer.

use super::cap::Cap;
use super::device_queue;
use super::experiment::at_most;
use super::ladder::{ENOUGH, Ladder, MORE, Place, ROOM, Rung};
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::units::{rate_digits, show_duration, three_digits};
use diskfacts_record::{Confidence, Quantity};

pub(super) const NAME: &str = "device-parallelism";

/// What is said of the depth, and what it rests on.
struct Told {
    claim: String,
    evidence: Vec<String>,
    confidence: Confidence,
    remedy: String,
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if !subject.reaches_device() || subject.workload().rate.is_some() || !subject.agrees() {
        return None;
    }
    // What is held at a pace while the device idles is not full, nor what its scheduler
    // keeps from it.
    if Cap::of(subject).is_some() || device_queue::waits_in_scheduler(subject) {
        return None;
    }
    let ladder = Ladder::of(subject)?;
    let place = ladder.place();
    // What is called nearly full leaves room for as much as is worth having more in flight
    // for; what is called full does all but what another is as good without.
    let most = match place {
        Place::NearlyFull => MORE,
        Place::Room | Place::Full(_) | Place::Behind | Place::Deepest => 1.0 / ENOUGH,
    };
    let told = match place {
        Place::Room => return None,
        Place::NearlyFull => a_little_more(&ladder),
        Place::Full(deeper) => more_are_no_faster(&ladder.own, deeper),
        Place::Behind => fewer_are_as_fast(&ladder),
        Place::Deepest => waiting(subject, &ladder)?,
    };
    Some(Candidate {
        standing: Standing::Load,
        claim: told.claim,
        evidence: told.evidence,
        share: Some(1.0),
        confidence: told.confidence,
        refuted_by: format!(
            "{} times as many operations a second with more in flight.",
            ratio(most)
        ),
        experiment: subject.experiment(
            "If the device is full, twice the depth takes twice the latency at the same rate; the \
             least depth that loses little is the one to use.",
            &[
                (
                    "quarter",
                    subject.with(|w| w.queue_depth = (w.queue_depth / 4).max(1)),
                ),
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
        )
        .decided_by(at_most(("twice", "as-it-was"), Quantity::Iops, most)),
        remedy: told.remedy,
    })
}

/// Stages with more in flight do more, and less than a rate is worth that for.
fn a_little_more(ladder: &Ladder) -> Told {
    let (own, best) = (&ladder.own, ladder.best());
    let how_full = if own.depth > 1.0 {
        format!("nearly saturated by these {} in flight", own.depth)
    } else {
        "nearly saturated by one at a time".into()
    };
    Told {
        claim: format!(
            "The device is {how_full}: {} do {} times as many, and each takes {} times as long.",
            best.depth,
            ratio(best.iops / own.iops),
            ratio(best.latency_ns / own.latency_ns)
        ),
        evidence: vec![compared(best, own)],
        confidence: Confidence::Likely,
        remedy: format!(
            "Measured: {}; these {} lose {} of it.",
            ladder.advice(),
            own.depth,
            percent(1.0 - own.iops / best.iops)
        ),
    }
}

/// A stage with fewer in flight does as much.
fn fewer_are_as_fast(ladder: &Ladder) -> Told {
    let (own, fewer, best) = (&ladder.own, ladder.knee(), ladder.best());
    let slower = if best.iops >= MORE * own.iops {
        "make it slower"
    } else {
        "do not make it faster"
    };
    let measured = if fewer.depth < best.depth {
        fewer.reaches(best)
    } else {
        format!(
            "{} in flight do most; these {} reach {} of that at {} times the latency",
            fewer.depth,
            own.depth,
            percent(own.iops / fewer.iops),
            ratio(own.latency_ns / fewer.latency_ns)
        )
    };
    Told {
        claim: format!(
            "The device is saturated by {} in flight: more of them wait, and {slower}.",
            fewer.depth
        ),
        evidence: vec![
            compared(own, fewer),
            format!(
                "The mean latency is {} here and {} there.",
                show_duration(own.latency_ns.round() as u64),
                show_duration(fewer.latency_ns.round() as u64)
            ),
        ],
        confidence: Confidence::Likely,
        remedy: format!(
            "Measured: {measured}. Beyond that only another device, or several of them, do more."
        ),
    }
}

/// A stage with more in flight does no more.
fn more_are_no_faster(own: &Rung, more: &Rung) -> Told {
    let at_once = if own.depth > 1.0 {
        format!("is saturated by these {} in flight", own.depth)
    } else {
        "does one at a time".into()
    };
    let measured = if own.iops < more.iops {
        own.reaches(more)
    } else {
        format!(
            "{} in flight reach {} of this rate at {} times its latency",
            more.depth,
            percent(more.iops / own.iops),
            ratio(more.latency_ns / own.latency_ns)
        )
    };
    Told {
        claim: format!("The device {at_once}: more of them wait, and do not make it faster."),
        evidence: vec![compared(more, own)],
        confidence: Confidence::Likely,
        remedy: format!("Measured: {measured}. Only another device, or several of them, do more."),
    }
}

/// Latency grew with the depth, and no other depth was measured that would tell where the
/// rate stops growing.
fn waiting(subject: &Subject<'_>, ladder: &Ladder) -> Option<Told> {
    let own = &ladder.own;
    if own.depth <= 1.0 {
        return None;
    }
    let (fewer_ns, of_what) = match ladder.shallowest() {
        Some(fewer) => (
            fewer.latency_ns,
            format!("{}, {} in flight", fewer.label, fewer.depth),
        ),
        // The shortest may be one that memory served.
        None if subject.from_memory() > 0.0 => return None,
        None => (shortest_ns(subject)?, "the shortest".to_owned()),
    };
    if own.latency_ns <= ROOM * fewer_ns {
        return None;
    }
    let times = own.latency_ns / fewer_ns;
    let mut evidence = vec![format!(
        "The mean latency is {}, {} times that of {of_what}: {}.",
        show_duration(own.latency_ns.round() as u64),
        ratio(times),
        show_duration(fewer_ns.round() as u64)
    )];
    if let Some(fewer) = ladder.shallowest() {
        evidence.push(compared(own, fewer));
    }
    evidence.push(format!(
        "{} operations/s x {} is {} at work at once, if each still takes so long.",
        rate_digits(own.iops),
        show_duration(fewer_ns.round() as u64),
        three_digits(own.iops * fewer_ns / 1e9)
    ));
    Some(Told {
        claim: format!(
            "Operations wait for each other: with {} in flight each takes {} times as long as \
             {}.",
            own.depth,
            ratio(times),
            if ladder.shallowest().is_some_and(|fewer| fewer.depth > 1.0) {
                "with fewer"
            } else {
                "alone"
            }
        ),
        evidence,
        confidence: Confidence::Possible,
        remedy: match ladder.next_shallower() {
            // With less than that the loss is larger than what a depth is chosen for.
            Some(fewer) => format!(
                "Measured: {}, which loses {}. Whether more in flight do more was not measured: \
                 `diskfacts tune`, or the plan below, does that.",
                fewer.reaches(own),
                percent(1.0 - fewer.iops / own.iops)
            ),
            None => "Which depth is enough was not measured: `diskfacts tune`, or the plan below, \
                     measures those between."
                .into(),
        },
    })
}

/// Two depths and what each does.
fn compared(deeper: &Rung, shallower: &Rung) -> String {
    format!(
        "Operations/s: {} with {} in flight ({}), {} with {} ({}).",
        rate_digits(shallower.iops),
        shallower.depth,
        shallower.label,
        rate_digits(deeper.iops),
        deeper.depth,
        deeper.label
    )
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
