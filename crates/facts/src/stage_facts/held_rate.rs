//! Rates that something outside the workload holds down: whether a stage was held at one exact
//! rate, whether it had a faster time before, and whether other work is as fast.

use super::rate_over_time::{Plateau, RateOverTime, Step};
use crate::device_physics::no_drives;
use crate::prelude::*;

/// A limiter lets operations pass at equal distances: the counts of a point differ by
/// one or two. What a device does by itself differs by more: the places, the dies.
const FLAT: f64 = 0.015;
/// A count of so many differs by one or two for no other reason than where the points
/// begin, so fewer do not show it. Operations that come by themselves scatter by the
/// root of their number: four and more where this allows one.
const COUNTED_MIN: f64 = 20.0;
const COUNTED_OFF: f64 = 1.0;
/// And points, without the outermost: that of the three which the shortest plateau has one is
/// left says nothing of how they differ. Were each within a twentieth of the rate at random, six
/// would lie so near it together once in some thousands.
const EVEN_POINTS_MIN: usize = 6;
/// And latencies, which are the wait for one's turn: 90th percentile over the median.
const EVEN: f64 = 1.03;
/// A step explains this share of all scatter, and is this large.
const EXPLAINED: f64 = 0.7;
const STEP_MIN: f64 = 1.2;
/// And both rates are held by so many of the points. Of a rate that rises and falls evenly a step
/// explains 8/pi^2 too, and a sixth of its points are near neither.
const PLATEAU_SHARE: f64 = 0.9;
/// From this block size on a stage is one of bytes rather than of operations: clouds
/// count operations of up to 256 KiB as one, and limit bytes besides.
const OF_BYTES: u64 = 64 << 10;

/// Rates this near to each other are one.
const SAME: f64 = 0.02;
/// No local flash is so slow with reads of a few KiB, operations per second: data
/// sheets of the slowest (eMMC, SD cards A2) say 4000 and more.
pub(crate) const SLOW_READS: f64 = 4000.0;

impl Plateau {
    /// Whether it is one exact rate, as far as counts can show it.
    pub(crate) fn is_exact(&self) -> bool {
        let off = FLAT.max(COUNTED_OFF / self.operations);
        let enough = self.points >= EVEN_POINTS_MIN && self.operations >= COUNTED_MIN;
        enough && self.scatter <= off
    }
}

impl StageFacts<'_> {
    /// The step down to a rate at which a stage was held, after a faster time.
    pub(crate) fn held_down(&self) -> Option<Step> {
        let course = RateOverTime::of(self).step();
        // Large transfers are few, and what they are compared with is the first of them.
        let step = match course {
            None if self.is_of_bytes() => RateOverTime::finely(self).step()?,
            course => course?,
        };
        let down = step.before.rate >= STEP_MIN * step.after.rate && step.held >= PLATEAU_SHARE;
        (down && step.explained >= EXPLAINED).then_some(step)
    }

    /// What shows it.
    pub(crate) fn show_step(&self, step: &Step) -> String {
        let plateaus = [step.before, step.after];
        let [first, then] = plateaus.map(|plateau| self.show_rate(plateau.rate));
        let [before, after] = plateaus.map(|plateau| seconds(plateau.seconds));
        format!(
            "For {before} it did {first}, then {then} for {after}; points of the second part \
             differ by {}.",
            percent(step.after.scatter)
        )
    }

    /// Operations a second in the unit that a stage is about.
    pub(crate) fn show_rate(&self, iops: f64) -> String {
        if self.is_of_bytes() {
            show_throughput(iops * self.workload().block_size as f64)
        } else {
            format!("{} operations/s", rate_digits(iops))
        }
    }

    /// Whether a stage is one of bytes rather than of operations.
    pub(crate) fn is_of_bytes(&self) -> bool {
        self.workload().block_size >= OF_BYTES
    }

    /// Whether all of a stage ran at one exact rate.
    pub(crate) fn is_flat(&self) -> bool {
        let course = || RateOverTime::of(self).whole();
        self.is_even(EVEN) == Some(true) && course().is_none_or(|plateau| plateau.is_exact())
    }

    /// Whether another stage is as fast, at one rate, with work that a device would do at another.
    pub(crate) fn is_as_fast_as_other_work(&self, other: &StageFacts<'_>) -> bool {
        let (mine, theirs) = (self.workload(), other.workload());
        let four_times = |a: u64, b: u64| a.max(b) >= 4 * a.min(b);
        // What an array's memory takes is as fast from one writer as from many.
        let reads = mine.operation.reads() || theirs.operation.reads();
        // A drive of this machine that is full is as fast with more in flight.
        let deeper =
            four_times(mine.outstanding(), theirs.outstanding()) && no_drives(self.run()).is_some();
        let unlike = mine.operation != theirs.operation
            || deeper
            || four_times(mine.block_size, theirs.block_size);
        let both = if self.is_of_bytes() {
            other.rate().zip(self.rate())
        } else {
            self.iops().zip(other.iops())
        };
        let near = |(a, b): (f64, f64)| (b / a - 1.0).abs() < SAME;
        let equal = self.is_of_bytes() == other.is_of_bytes() && both.is_some_and(near);
        // A device at its best differs between reads and writes, and it is fast.
        let slow = self.iops().is_some_and(|iops| iops < 10.0 * SLOW_READS);
        reads && unlike && equal && slow && other.reaches_device() && other.is_flat()
    }

    /// Whether small operations of the device pass at more than so many a second. No limit of
    /// operations lets a device's own memory answer.
    pub(crate) fn outruns(&self, iops: f64) -> bool {
        let more = |own: f64| own > (1.0 + 2.0 * SAME) * iops;
        // What costs least to ask comes first: a matrix has hundreds of others.
        self.iops().is_some_and(more)
            && self.figures.layers.drive_cache <= 0.5
            && !self.is_of_bytes()
            && self.reaches_device()
            && self.let_pass().is_some_and(more)
    }

    /// Operations a second that a limit has let pass: of writes that share a request, as those of
    /// several that sync at a time do, no more than the requests.
    fn let_pass(&self) -> Option<f64> {
        let work = self.device_work();
        let requests = work.map(|work| work.requests / self.seconds());
        let requests = requests.filter(|per_s| *per_s > 0.0);
        Some(self.iops()?.min(requests.unwrap_or(f64::INFINITY)))
    }
}
