//! How fast a disk turns, and which waits are its revolutions.

use super::prelude::*;
use crate::revolution::{SPEEDS, Turns, turn_ns, whole};

/// How near a wait must be to whole revolutions: drives keep their speed within 0.5 %, a
/// percentile is known to 0.4 %. To it comes what the time of the bytes may be off.
const NEAR: f64 = 0.01;
/// Tracks further in hold half as much as the outer ones, so the time of a write's bytes,
/// by the best rate of the run, may be off by half of it.
const BYTES_OFF: f64 = 0.5;
/// The most by which a wait may be off and still be told from others; so much is the mean of
/// writes of which one in thirty waits once more.
const NEAR_MAX: f64 = 0.03;
/// How near the mean of writes is that are made durable one by one, where the speed is known:
/// one in twelve waits once more.
const NEAR_MEAN: f64 = 0.08;
/// The speed that is taken where none was seen: the most common one by far.
const ASSUMED: u32 = 7200;
/// From so many bytes on a single write is mostly its bytes, on any disk.
const LONE: u64 = 4 << 20;
/// Where no stream was measured, small blocks take little beside a revolution; bytes/s.
const STREAM: f64 = 150e6;
/// Waits of whole revolutions are alike: their 90th percentile over the median.
pub(super) const ALIKE: f64 = 1.15;

/// The speed of a disk.
#[derive(Debug, Clone)]
pub(super) struct Spindle {
    pub(super) rpm: u32,
    /// Whether the drive states it, or several kinds of waits agree on it. One wait alone
    /// fits some speed too often by chance.
    pub(super) known: bool,
    /// Where it is from, a sentence.
    pub(super) source: String,
}

impl Spindle {
    /// That of the disks below a stage: as they state it, else as the waits of the run show it.
    pub(super) fn of(subject: &Subject<'_>) -> Self {
        let assumed = || Self {
            rpm: ASSUMED,
            known: false,
            source: format!(
                "No stage shows how fast the disk turns; {ASSUMED} rpm, the most common speed, is \
                 assumed."
            ),
        };
        let found = || {
            stated(subject)
                .or_else(|| shown(subject))
                .unwrap_or_else(assumed)
        };
        subject.shared.spindle.get_or_init(found).clone()
    }

    /// Time of a revolution, ns.
    pub(super) fn turn_ns(&self) -> f64 {
        turn_ns(self.rpm)
    }

    /// The whole revolutions of it that a mean wait is.
    pub(super) fn whole(&self, wait_ns: f64) -> Option<Turns> {
        whole(&[self.rpm], wait_ns, NEAR_MEAN).first().copied()
    }
}

/// As each of the disks below states it.
fn stated(subject: &Subject<'_>) -> Option<Spindle> {
    let mut all = subject.leaves().map(|leaf| leaf.rpm);
    let rpm = all.next()??;
    all.all(|other| other == Some(rpm)).then(|| Spindle {
        rpm,
        known: true,
        source: format!("The disk states {rpm} rpm."),
    })
}

/// The speed whose revolutions the waits of the most stages are.
fn shown(subject: &Subject<'_>) -> Option<Spindle> {
    let of = |one: Subject<'_>| {
        let turns = whole_waits(&one, &SPEEDS);
        (!turns.is_empty()).then(|| (turns, one.workload().block_size, one.stage.label()))
    };
    let all: Vec<(Vec<Turns>, u64, String)> = subject.all().filter_map(of).collect();
    // The stages that agree on a speed, and how many sizes of blocks these have.
    let agree = |rpm: u32| {
        let of_speed = |turns: &[Turns]| turns.iter().any(|turns| turns.rpm == rpm);
        let agree = all.iter().filter(|(turns, ..)| of_speed(turns));
        let (mut sizes, names): (Vec<u64>, Vec<&str>) = agree
            .map(|(_, block, stage)| (*block, stage.as_str()))
            .unzip();
        sizes.sort_unstable();
        sizes.dedup();
        (sizes.len(), names)
    };
    // Of speeds that fit as many the one that needs the fewest revolutions.
    let mut candidates = all.iter().flat_map(|(turns, ..)| turns).copied();
    let mut best = candidates.next()?;
    for turns in candidates {
        if agree(turns.rpm).0 > agree(best.rpm).0 {
            best = turns;
        }
    }
    let rpm = best.rpm;
    let (sizes, names) = agree(rpm);
    let (known, writes) = (sizes > 1, list(&names));
    Some(Spindle {
        rpm,
        known,
        source: if known {
            format!(
                "The writes of {writes}, of blocks of several sizes, take whole revolutions of a \
                 disk of {rpm} rpm beside their bytes."
            )
        } else {
            let turns = revolutions(best.revolutions);
            format!(
                "The writes of {writes} take {turns} of a disk of {rpm} rpm; a wait of another \
                 kind may be as long, and no other size of block shows it."
            )
        },
    })
}

/// `a whole revolution`, `2 revolutions`.
pub(super) fn revolutions(number: u32) -> String {
    match number {
        1 => "a whole revolution".to_owned(),
        several => format!("{several} whole revolutions"),
    }
}

/// `7200 rpm is 8.33 ms per revolution`, and how many of these a time is.
pub(super) fn arithmetic(rpm: u32, ns: f64) -> String {
    let turn_ns = turn_ns(rpm);
    let ([turn, wait], turns) = ([turn_ns, ns].map(duration), ratio(ns / turn_ns));
    format!("{rpm} rpm is {turn} per revolution; {wait} is {turns} of them")
}

/// The best rate of a stage in order that is not served from memory, bytes/s: what
/// the bytes of an operation take at least.
pub(super) fn stream_rate(subject: &Subject<'_>) -> Option<f64> {
    let of = |one: Subject<'_>| {
        // One write at a time may wait for the platter between two of them.
        let alone =
            one.only_writes() && one.outstanding() <= 1.0 && one.workload().block_size < LONE;
        (one.in_order() && !alone).then(|| one.flow()).flatten()
    };
    let all = || subject.all().filter_map(of).reduce(f64::max);
    *subject.shared.stream_rate.get_or_init(all)
}

/// What the bytes of an operation take at that rate, ns.
pub(super) fn transfer_ns(subject: &Subject<'_>) -> f64 {
    subject.workload().block_size as f64 / stream_rate(subject).unwrap_or(STREAM) * 1e9
}

/// What is left of an operation that takes so long without the time of its bytes, ns.
pub(super) fn wait_ns(subject: &Subject<'_>, ns: f64) -> f64 {
    ns - transfer_ns(subject)
}

/// The wait of an ordered small write for the platter to come round; `None` where
/// writes are no such, or their waits are no whole revolutions of this disk.
pub(super) fn whole_wait(subject: &Subject<'_>) -> Option<Turns> {
    let spindle = Spindle::of(subject);
    whole_waits(subject, &[spindle.rpm]).first().copied()
}

/// The whole revolutions of these speeds that the ordered small writes of a stage wait.
fn whole_waits(subject: &Subject<'_>, speeds: &[u32]) -> Vec<Turns> {
    let small = (1..=1 << 20).contains(&subject.workload().block_size);
    let waits = subject.only_writes() && subject.in_order() && subject.outstanding() <= 1.0;
    if subject.rotates() == Some(false) || !small || !waits || !subject.reaches_device() {
        return Vec::new();
    }
    let p50_ns = subject.figures.latency_ns.p50.map(|p50| p50 as f64);
    let alike = subject.is_even(ALIKE).unwrap_or(true);
    let Some(typical_ns) = p50_ns.or_else(|| subject.each_ns()).filter(|_| alike) else {
        return Vec::new();
    };
    let wait_ns = wait_ns(subject, typical_ns);
    let bytes_off = BYTES_OFF * (typical_ns - wait_ns) / wait_ns;
    let near = if p50_ns.is_some() {
        (NEAR + bytes_off.max(0.0)).min(NEAR_MAX)
    } else {
        NEAR_MAX
    };
    whole(speeds, wait_ns, near)
}
