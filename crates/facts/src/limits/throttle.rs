//! Rates that something outside the workload holds down: whether a stage was held at
//! one exact rate, and whether it had a faster time before.

use super::prelude::*;
use crate::stage_facts::rate_over_time::{Plateau, RateOverTime, Step};

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

/// A stage that ran faster at first and then was held at one rate.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) before: Plateau,
    pub(super) after: Plateau,
    /// Whether the lower rate was exact.
    pub(super) flat: bool,
}

impl Held {
    pub(super) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        // Large transfers are few, and what they are compared with is the first of them.
        let finely = || of_bytes(facts).then(|| RateOverTime::finely(facts).step());
        let step = RateOverTime::of(facts).step().or_else(|| finely()?)?;
        let Step { before, after, .. } = step;
        let down = before.rate >= STEP_MIN * after.rate && step.held >= PLATEAU_SHARE;
        (down && step.explained >= EXPLAINED).then(|| Self {
            before,
            after,
            flat: is_even(&after),
        })
    }

    /// What of the time would go away at the first rate.
    pub(super) fn share(&self) -> f64 {
        let slow = self.after.seconds / (self.before.seconds + self.after.seconds);
        slow * (1.0 - self.after.rate / self.before.rate)
    }

    pub(super) fn line(&self, facts: &StageFacts<'_>) -> String {
        let plateaus = [self.before, self.after];
        let [first, then] = plateaus.map(|plateau| show_rate(facts, plateau.rate));
        let [before, after] = plateaus.map(|plateau| seconds(plateau.seconds));
        format!(
            "For {before} it did {first}, then {then} for {after}; points of the second part \
             differ by {}.",
            percent(self.after.scatter)
        )
    }
}

/// Operations a second in the unit that a stage is about.
pub(super) fn show_rate(facts: &StageFacts<'_>, iops: f64) -> String {
    if of_bytes(facts) {
        show_throughput(iops * facts.workload().block_size as f64)
    } else {
        format!("{} operations/s", rate_digits(iops))
    }
}

/// Whether a stage is one of bytes rather than of operations.
pub(super) fn of_bytes(facts: &StageFacts<'_>) -> bool {
    facts.workload().block_size >= OF_BYTES
}

/// Whether all of a stage ran at one exact rate.
pub(super) fn is_flat(facts: &StageFacts<'_>) -> bool {
    let course = || RateOverTime::of(facts).whole();
    facts.is_even(EVEN) == Some(true) && course().is_none_or(|plateau| is_even(&plateau))
}

/// Whether a plateau is one exact rate, as far as counts can show it.
fn is_even(plateau: &Plateau) -> bool {
    let off = FLAT.max(COUNTED_OFF / plateau.operations);
    plateau.points >= EVEN_POINTS_MIN && plateau.operations >= COUNTED_MIN && plateau.scatter <= off
}
