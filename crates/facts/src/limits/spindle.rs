//! How fast a disk turns, and how the time of one of its operations divides.

use super::Subject;
use super::course::Course;
use crate::revolution::{SPEEDS, Turns, turn_ns, whole};
use crate::words::{list, ratio};
use diskfacts_plan::units::show_duration;

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
/// Fastest stream of one rotating disk, bytes per second: drives with two actuators
/// reach 524 MB/s (Seagate, Exos 2X18, data sheet of 2022).
pub(super) const RATE_MAX: f64 = 600e6;
/// From so many bytes on a single write is mostly its bytes, on any disk.
const LONE: u64 = 4 << 20;
/// Waits of whole revolutions are alike: their 90th percentile over the median.
pub(super) const ALIKE: f64 = 1.15;
/// The arm starts, settles, and the electronics work: what a command costs before
/// anything turns, ns. Command overheads of data sheets and of the disks of the seeds
/// are 0.05 to 0.3 ms.
pub(super) const COMMAND_NS: f64 = 0.15e6;

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
        let shown = subject.shared.spindle.get_or_init(|| {
            stated(subject)
                .or_else(|| shown(subject))
                .unwrap_or_else(|| Self {
                    rpm: ASSUMED,
                    known: false,
                    source: format!(
                        "No stage shows how fast the disk turns; {ASSUMED} rpm, the most common \
                         speed, is assumed."
                    ),
                })
        });
        shown.clone()
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
    struct Shown {
        turns: Vec<Turns>,
        block: u64,
        stage: String,
    }
    let of = |one: Subject<'_>| {
        let turns = whole_waits(&one, &SPEEDS);
        (!turns.is_empty()).then(|| Shown {
            turns,
            block: one.workload().block_size,
            stage: one.stage.label(),
        })
    };
    let all: Vec<Shown> = subject.all().filter_map(of).collect();
    let agree = |rpm: u32| {
        let agree = all
            .iter()
            .filter(move |one| one.turns.iter().any(|turns| turns.rpm == rpm));
        agree.collect::<Vec<_>>()
    };
    let sizes = |agree: &[&Shown]| {
        let mut sizes: Vec<u64> = agree.iter().map(|one| one.block).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.len()
    };
    // Of speeds that fit as many the one that needs the fewest revolutions.
    let mut candidates = all.first()?.turns.clone();
    candidates.extend(all.iter().flat_map(|one| one.turns.iter().copied()));
    let mut best = *candidates.first()?;
    for turns in candidates {
        if sizes(&agree(turns.rpm)) > sizes(&agree(best.rpm)) {
            best = turns;
        }
    }
    let agree = agree(best.rpm);
    let known = sizes(&agree) > 1;
    let names: Vec<&str> = agree.iter().map(|one| one.stage.as_str()).collect();
    let (writes, rpm) = (list(&names), best.rpm);
    Some(Spindle {
        rpm,
        known,
        source: if known {
            format!(
                "The writes of {writes}, of blocks of several sizes, take whole revolutions of a \
                 disk of {rpm} rpm beside their bytes."
            )
        } else {
            format!(
                "The writes of {writes} take {} of a disk of {rpm} rpm; a wait of another kind may \
                 be as long, and no other size of block shows it.",
                revolutions(best.revolutions)
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
    let turn = turn_ns(rpm);
    format!(
        "{rpm} rpm is {} per revolution; {} is {} of them",
        show_duration(turn.round() as u64),
        show_duration(ns.round() as u64),
        ratio(ns / turn)
    )
}

/// The best rate of a stage in order that is not served from memory, bytes/s: what
/// the bytes of an operation take at least.
pub(super) fn stream_rate(subject: &Subject<'_>) -> Option<f64> {
    let of = |one: &Subject<'_>| {
        // One write at a time may wait for the platter between two of them.
        let alone =
            one.only_writes() && one.outstanding() <= 1.0 && one.workload().block_size < LONE;
        (one.in_order() && !alone).then(|| one.flow()).flatten()
    };
    let all = || subject.all().filter_map(|one| of(&one)).reduce(f64::max);
    *subject.shared.stream_rate.get_or_init(all)
}

/// The wait of an ordered small write for the platter to come round; `None` where
/// writes are no such, or their waits are no whole revolutions of this disk.
pub(super) fn whole_wait(subject: &Subject<'_>) -> Option<Turns> {
    let spindle = Spindle::of(subject);
    whole_waits(subject, &[spindle.rpm]).first().copied()
}

/// The whole revolutions of these speeds that the ordered small writes of a stage wait.
fn whole_waits(subject: &Subject<'_>, speeds: &[u32]) -> Vec<Turns> {
    let workload = subject.workload();
    let small = workload.block_size > 0 && workload.block_size <= 1 << 20;
    let waits = subject.only_writes() && subject.in_order() && subject.outstanding() <= 1.0;
    if subject.rotates() == Some(false) || !small || !waits || !subject.reaches_device() {
        return Vec::new();
    }
    let latency = &subject.figures.latency_ns;
    let wide = latency
        .p50
        .zip(latency.p90)
        .is_some_and(|(p50, p90)| p90 as f64 > ALIKE * p50 as f64);
    let p50_ns = latency.p50.map(|p50| p50 as f64);
    let Some(typical_ns) = p50_ns.or_else(|| subject.each_ns()).filter(|_| !wide) else {
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

/// What is left of an operation that takes so long without the time of its bytes, ns.
pub(super) fn wait_ns(subject: &Subject<'_>, ns: f64) -> f64 {
    let bytes = subject.workload().block_size as f64;
    // Where no stream was measured, small blocks take little beside a revolution.
    let rate = stream_rate(subject).unwrap_or(150e6);
    ns - bytes / rate * 1e9
}

/// Where the time of one operation that goes anywhere on a rotating disk is spent, ns.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    /// From one completion to the next on one arm.
    pub(super) each_ns: f64,
    /// Waiting for the place to come round.
    pub(super) rotation_ns: f64,
    /// The bytes under the head.
    pub(super) transfer_ns: f64,
    /// The arm.
    pub(super) seek_ns: f64,
    /// Whether the drive could choose among several, so that both waits are shorter
    /// than on average.
    pub(super) chosen: bool,
    pub(super) spindle: Spindle,
}

impl Visit {
    /// `None` where operations do not go anywhere, the disk does not turn, or is not
    /// known to, or where they took so little that no arm was moved for each of them.
    pub(super) fn of(subject: &Subject<'_>) -> Option<Self> {
        let strided = matches!(
            subject.workload().pattern,
            diskfacts_plan::Pattern::Stride { .. }
        );
        if subject.rotates() != Some(true) || !subject.reaches_device() {
            return None;
        }
        if !subject.scattered() && !strided {
            return None;
        }
        let spindle = Spindle::of(subject);
        let turn_ns = spindle.turn_ns();
        let arms = subject.leaves().count().max(1) as f64;
        // Disks work side by side as far as there is something in flight for them.
        let cached = subject.workload().operation.writes()
            && !subject.workload().sync.each_write()
            && subject
                .leaves()
                .any(|leaf| leaf.write_cache.as_deref() == Some("write back"));
        let mean_ns = subject.each_ns()?;
        // A cache that fills first makes the mean shorter than what its disk needs.
        let drained_ns = if cached { drained_ns(subject) } else { None };
        let each_ns = drained_ns.unwrap_or(mean_ns).max(mean_ns) * arms.min(subject.outstanding());
        let transfer_ns =
            subject.workload().block_size as f64 / stream_rate(subject).unwrap_or(150e6) * 1e9;
        let waiting_ns = each_ns - transfer_ns - COMMAND_NS;
        if waiting_ns < MOVED * turn_ns {
            return None;
        }
        let chosen = subject.outstanding() > 1.0 || cached;
        // The shortest of n waits, each as likely anywhere in a revolution, is 1/(n+1) of
        // one on average: half of it for one, little for many.
        let choices = if chosen {
            (subject.outstanding() / arms).max(if cached { CACHED } else { 1.0 })
        } else {
            1.0
        };
        // What a cache held back for a while makes the mean shorter than a visit is;
        // the parts of a visit are as those of one with as much to choose from.
        let rotation_ns = (turn_ns / (choices + 1.0)).min(if chosen {
            CHOSEN_MAX * waiting_ns
        } else {
            waiting_ns
        });
        Some(Self {
            each_ns,
            rotation_ns,
            transfer_ns,
            seek_ns: (waiting_ns - rotation_ns).max(0.0),
            chosen,
            spindle,
        })
    }

    /// A part of the time of an operation.
    pub(super) fn share(&self, part_ns: f64) -> f64 {
        (part_ns / self.each_ns).clamp(0.0, 1.0)
    }
}

/// What an operation takes once the drive's cache is full: of the course that steps down
/// and stays down, ns. `None` where most of the time went by before: then the figure is that
/// of the cache.
fn drained_ns(subject: &Subject<'_>) -> Option<f64> {
    let step = Course::of(subject).step()?;
    let down = step.before.rate > 1.5 * step.after.rate && step.explained > 0.5;
    let most = step.after.seconds >= step.before.seconds;
    (down && most).then(|| 1e9 / step.after.rate)
}

/// Below this share of a revolution between two operations, the disk did not go to
/// each of them: its cache held them, or they lay in a row.
const MOVED: f64 = 0.12;
/// Writes among which a drive's cache chooses the nearest, at least: firmware sorts some
/// tens of them.
const CACHED: f64 = 8.0;
/// Most that rotation is of a visit among several: with two to choose from it is half of
/// arm and platter, with more less.
const CHOSEN_MAX: f64 = 0.4;
