//! Where the time of one operation that goes anywhere on a rotating disk is spent.

use super::rate_over_time::{RateOverTime, Step};
use super::spindle::{transfer_ns, whole_on_average, whole_wait};
use crate::prelude::*;
use crate::revolution::Spindle;

/// Below this share of a revolution between two operations, the disk did not go to
/// each of them: its cache held them, or they lay in a row.
pub(crate) const MOVED: f64 = 0.12;
/// Writes among which a drive's cache chooses the nearest, at least: firmware sorts some
/// tens of them.
const CACHED: f64 = 8.0;
/// Most that rotation is of a visit among several: with two to choose from it is half of
/// arm and platter, with more less.
const CHOSEN_MAX: f64 = 0.4;
/// The arm starts, settles, and the electronics work: what a command costs before
/// anything turns, ns. Command overheads of data sheets and of the disks of the seeds
/// are 0.05 to 0.3 ms.
const COMMAND_NS: f64 = 0.15e6;

/// The parts of the time of an operation, ns.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    /// From one completion to the next on one arm.
    pub(crate) each_ns: f64,
    /// Share of the stage's time in which operations took so long: before, a cache took them.
    pub(crate) of_time: f64,
    /// Waiting for the place to come round.
    pub(crate) rotation_ns: f64,
    /// The bytes under the head.
    pub(crate) transfer_ns: f64,
    /// The arm.
    pub(crate) seek_ns: f64,
    /// Whether the drive could choose among several, so that both waits are shorter
    /// than on average, and neither is known.
    pub(crate) chosen: bool,
    pub(crate) spindle: Spindle,
}

impl Visit {
    /// `None` where operations do not go anywhere, the disk does not turn, or is not
    /// known to, or where they took so little that no arm was moved for each of them.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let strided = matches!(facts.workload().pattern, Pattern::Stride { .. });
        unless(
            facts.rotates() != Some(true)
                || !facts.reaches_device()
                || !facts.scattered() && !strided
                || facts.passing().is_some(),
        )?;
        let spindle = Spindle::of(facts);
        let turn_ns = spindle.turn_ns();
        let (arms, outstanding) = (facts.disks(), facts.outstanding());
        let workload = facts.workload();
        let writes = workload.operation.writes() && !workload.sync.each_write();
        let cached = writes && facts.has_write_cache();
        let mean_ns = facts.each_ns()?;
        // A cache that fills first makes the mean shorter than what its disk needs.
        let drained = cached.then(|| drained(facts)).flatten();
        let drained_ns = drained.map(|step| 1e9 / step.after.rate);
        // Disks work side by side as far as there is something in flight for them.
        let each_ns = drained_ns.unwrap_or(mean_ns).max(mean_ns) * arms.min(outstanding);
        let transfer_ns = transfer_ns(facts);
        let waiting_ns = each_ns - transfer_ns - COMMAND_NS;
        unless(waiting_ns < MOVED * turn_ns)?;
        let chosen = outstanding > 1.0 || cached;
        // The shortest of n waits, each as likely anywhere in a revolution, is 1/(n+1) of
        // one on average: half of it for one, little for many. What a cache held back for a
        // while makes the mean shorter than a visit is; the parts of a visit are as those of one
        // with as much to choose from.
        let (choices, most) = if chosen {
            let least = if cached { CACHED } else { 1.0 };
            ((outstanding / arms).max(least), CHOSEN_MAX)
        } else {
            (1.0, 1.0)
        };
        let on_average_ns = turn_ns / (choices + 1.0);
        // One at a time that waits less than that on average does not go anywhere.
        unless(!chosen && waiting_ns < on_average_ns)?;
        let rotation_ns = on_average_ns.min(most * waiting_ns);
        Some(Self {
            each_ns,
            of_time: drained.map_or(1.0, |step| step.behind()),
            rotation_ns,
            transfer_ns,
            seek_ns: (waiting_ns - rotation_ns).max(0.0),
            chosen,
            spindle,
        })
    }

    /// A part of the time of an operation.
    pub(crate) fn share(&self, part_ns: f64) -> f64 {
        (part_ns / self.each_ns * self.of_time).clamp(0.0, 1.0)
    }
}

impl StageFacts<'_> {
    /// Whether operations wait for the platter to come round, or for arm and platter together: in
    /// order for whole revolutions, anywhere for a part of one.
    pub(crate) fn waits_for_the_platter(&self) -> bool {
        let whole = || whole_wait(self).or_else(|| whole_on_average(self));
        let is_much = |visit: Visit| {
            !visit.chosen || visit.share(visit.rotation_ns + visit.seek_ns) >= DETAIL
        };
        let waits = || whole().is_some() || Visit::of(self).is_some_and(is_much);
        self.each_ns().is_some() && waits()
    }
}

/// When the drive's cache was full: the course steps down, and stays down.
pub(crate) fn drained(facts: &StageFacts<'_>) -> Option<Step> {
    let step = RateOverTime::of(facts).step()?;
    (step.before.rate > 1.5 * step.after.rate && step.explained > 0.5).then_some(step)
}
