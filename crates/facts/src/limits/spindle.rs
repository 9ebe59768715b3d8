//! How fast a disk turns, and how the time of one of its operations divides.

use super::Subject;
use super::course::Course;
use crate::words::ratio;
use diskfacts_plan::units::show_duration;

/// Speeds of disks, revolutions per minute: those of data sheets of the last thirty
/// years (Seagate Barracuda and Exos 7200, WD Red and Green 5400, Seagate Desktop HDD
/// 5900, WD Raptor and server disks 10 000, Savvio and Cheetah 15 000).
pub(super) const SPEEDS: [u32; 5] = [5400, 5900, 7200, 10_000, 15_000];
/// How near a wait must be to whole revolutions: drives keep their speed within
/// 0.5 %; the rest is what the host does between two writes.
const NEAR: f64 = 0.03;
/// Most revolutions that one operation is taken to wait.
const REVOLUTIONS_MAX: u32 = 4;
/// The speed that is taken where none was seen: the most common one by far.
const ASSUMED: u32 = 7200;
/// Fastest stream of one rotating disk, bytes per second: drives with two actuators
/// reach 524 MB/s (Seagate, Exos 2X18, data sheet of 2022).
pub(super) const RATE_MAX: f64 = 600e6;
/// From so many bytes on a single write is mostly its bytes, on any disk.
const LONE: u64 = 4 << 20;
/// How near a wait must be to whole revolutions of a speed that other stages show.
const NEAR_KNOWN: f64 = 0.08;
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
    /// Whether waits of this run show it.
    pub(super) seen: bool,
    /// Where it is from, a sentence.
    pub(super) source: String,
}

/// A wait of whole revolutions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Turns {
    pub(super) rpm: u32,
    pub(super) revolutions: u32,
}

impl Spindle {
    /// That of the disks below a stage, from whatever stage of the run shows it.
    pub(super) fn of(subject: &Subject<'_>) -> Self {
        let shown = subject.shared.whole_wait.get_or_init(|| {
            subject
                .all()
                .find_map(|one| Some((whole_wait(&one)?, one.stage.label())))
        });
        match shown {
            Some((turns, stage)) => Self {
                rpm: turns.rpm,
                seen: true,
                source: format!(
                    "The writes of {stage} take {} of a disk of {} rpm.",
                    revolutions(turns.revolutions),
                    turns.rpm
                ),
            },
            None => Self {
                rpm: ASSUMED,
                seen: false,
                source: format!(
                    "No stage shows how fast the disk turns; {ASSUMED} rpm, the most common \
                     speed, is assumed."
                ),
            },
        }
    }

    /// Time of a revolution, ns.
    pub(super) fn turn_ns(&self) -> f64 {
        60e9 / f64::from(self.rpm)
    }
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
    let turn = 60e9 / f64::from(rpm);
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
/// writes are no such, or their waits are no whole revolutions of a usual speed.
pub(super) fn whole_wait(subject: &Subject<'_>) -> Option<Turns> {
    let workload = subject.workload();
    let small = workload.block_size > 0 && workload.block_size <= 1 << 20;
    let waits = subject.only_writes() && subject.in_order() && subject.outstanding() <= 1.0;
    if subject.rotates() == Some(false) || !small || !waits || !subject.reaches_device() {
        return None;
    }
    let latency = &subject.figures.latency_ns;
    let wide = latency
        .p50
        .zip(latency.p90)
        .is_some_and(|(p50, p90)| p90 as f64 > ALIKE * p50 as f64);
    let typical_ns = latency
        .p50
        .map_or_else(|| subject.each_ns(), |p50| Some(p50 as f64))?;
    (!wide).then(|| turns(wait_ns(subject, typical_ns)))?
}

/// What is left of an operation that takes so long without the time of its bytes, ns.
pub(super) fn wait_ns(subject: &Subject<'_>, ns: f64) -> f64 {
    let bytes = subject.workload().block_size as f64;
    // Where no stream was measured, small blocks take little beside a revolution.
    let rate = stream_rate(subject).unwrap_or(150e6);
    ns - bytes / rate * 1e9
}

/// The fewest revolutions of a usual speed that a wait is.
pub(super) fn turns(wait_ns: f64) -> Option<Turns> {
    let off = |rpm: u32, revolutions: u32| {
        (wait_ns * f64::from(rpm) / 60e9 / f64::from(revolutions) - 1.0).abs()
    };
    (1..=REVOLUTIONS_MAX).find_map(|revolutions| {
        let nearest = SPEEDS
            .into_iter()
            .min_by(|a, b| off(*a, revolutions).total_cmp(&off(*b, revolutions)))?;
        (off(nearest, revolutions) <= NEAR).then_some(Turns {
            rpm: nearest,
            revolutions,
        })
    })
}

/// The whole revolutions of this speed that a wait is.
pub(super) fn turns_at(rpm: u32, wait_ns: f64) -> Option<Turns> {
    let turns = wait_ns * f64::from(rpm) / 60e9;
    let whole = turns.round();
    let fits = (1.0..=f64::from(REVOLUTIONS_MAX)).contains(&whole)
        && (turns / whole - 1.0).abs() <= NEAR_KNOWN;
    fits.then_some(Turns {
        rpm,
        revolutions: whole as u32,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_the_fewest_revolutions_that_fit() {
        let of = |ns| turns(ns).map(|found| (found.rpm, found.revolutions));
        assert_eq!(of(8.31e6), Some((7200, 1)));
        assert_eq!(of(16.7e6), Some((7200, 2)));
        assert_eq!(of(10.17e6), Some((5900, 1)));
        assert_eq!(of(12.0e6), Some((10_000, 2)));
        assert_eq!(of(9.3e6), None);
        assert_eq!(of(0.1e6), None);
        assert_eq!(of(f64::NAN), None);
    }
}
