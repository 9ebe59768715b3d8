//! What a limiter says of a stage, and which of several is the first to be named.
//!
//! Several statements about the same time can all be true: a synced write of a
//! rotating disk waits for the flush, the flush for the platter, and all of it
//! happens with one operation in flight. They are not rivals but layers of one
//! explanation, and shares alone cannot order them: that one operation was in
//! flight accounts for all of the time, always. So each limiter says what kind of
//! statement it makes, and the most specific kind comes first: what should not be
//! there before what has to be, and that before the mere shape of the load.

use super::prelude::DETAIL;
use crate::claim::Claim;
use crate::experiment::Settling;
use diskfacts_record::Confidence;
use std::cmp::Ordering;

/// What kind of statement a limiter makes; those named first come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// The figure is not of what its label says, so nothing else about the device
    /// follows from it: another factor, memory instead of the disk.
    NotTheDevice,
    /// Something that could be taken away without another device, and that makes
    /// up a good part of the time (from [`Self::CAUSE_MIN`] on): a throttle, a
    /// neighbour, a fault, a setting, the way in which the work is done.
    Cause,
    /// What a healthy device of this kind does for such operations: seek, turn,
    /// stream at the rate of its medium or its link.
    Nature,
    /// What remains to be said when nothing about the device is known to fill the
    /// time: so much was in flight, and each of it took so long.
    Load,
    /// It is there, and too little of it to be the answer, or what is named before
    /// it works by it.
    Beside,
}

impl Standing {
    /// Share of the operations' time from which on a cause comes before the nature
    /// of the device. A healthy operation divides its time between two or three
    /// parts (seek, rotation, transfer), so what takes a third is as large as the
    /// largest of them often is.
    pub(crate) const CAUSE_MIN: f64 = 1.0 / 3.0;

    /// A cause that accounts for this share of the time, or [`Self::Beside`] when
    /// that is too little.
    pub(super) fn cause(share: f64) -> Self {
        Self::Cause.only_if(share >= Self::CAUSE_MIN)
    }

    /// This, or [`Self::Beside`] where it does not hold.
    pub(super) fn only_if(self, holds: bool) -> Self {
        if holds { self } else { Self::Beside }
    }
}

/// What a limiter says of a stage beyond what is in its row.
pub(crate) type Candidate = Claim<LimitPart>;

/// What a limit has beside its claim.
#[derive(Debug, Clone)]
pub(crate) struct LimitPart {
    /// What kind of statement it is.
    pub(super) standing: Standing,
    /// Share, from 0 to 1, of the operations' time that it accounts for.
    pub(super) share: Option<f64>,
    /// What would settle it.
    pub(super) settling: Settling,
    /// What that asks, in place of what the row says.
    pub(super) question: Option<String>,
}

/// A cause that accounts for this share of the time; where that is not known it may be too little
/// to be the answer.
pub(super) fn cause(
    share: impl Into<Option<f64>>,
    confidence: Confidence,
    claim: String,
) -> Candidate {
    let share = share.into();
    let standing = share.map_or(Standing::Beside, Standing::cause);
    Candidate::new(standing, share, confidence, claim)
}

impl Candidate {
    /// With the words of its row, and the same measurement again as its experiment.
    pub(crate) fn new(
        standing: Standing,
        share: impl Into<Option<f64>>,
        confidence: Confidence,
        claim: impl Into<String>,
    ) -> Self {
        let part = LimitPart {
            standing,
            share: share.into(),
            settling: Settling::Again,
            question: None,
        };
        Self::of(part, confidence, claim)
    }

    /// With this experiment.
    pub(crate) fn settled_by(mut self, settling: impl Into<Settling>) -> Self {
        self.kind.settling = settling.into();
        self
    }

    /// With another question than its row has.
    pub(super) fn question(mut self, said: impl Into<String>) -> Self {
        self.kind.question = Some(said.into());
        self
    }

    /// By standing, then by the share that is accounted for, each share counting
    /// for as much as it is sure.
    pub(super) fn best_first(&self, other: &Self) -> Ordering {
        self.kind
            .standing
            .cmp(&other.kind.standing)
            .then_with(|| other.weight().total_cmp(&self.weight()))
    }

    /// With no more than this share of the time: what is said to have more has less, and a
    /// share that is not known stays so.
    pub(super) fn within(mut self, most: f64) -> Self {
        if self.kind.share.unwrap_or(1.0) > most {
            self.kind.share = self.kind.share.map(|_| most);
            // Also what serves the bytes is not the answer where they mostly wait for others.
            if most < Standing::CAUSE_MIN && self.kind.standing <= Standing::Cause {
                self.kind.standing = Standing::Beside;
            }
        }
        self
    }

    /// Whether it is worth a line: what accounts for less than a twentieth and leads to
    /// nothing is not.
    pub(super) fn matters(&self) -> bool {
        self.kind.standing != Standing::Beside
            || self.kind.share.is_none_or(|share| share >= DETAIL)
    }

    /// What it accounts for, less when that is not sure. A possible explanation has
    /// to account for twice as much as a counted one to be named before it.
    fn weight(&self) -> f64 {
        let sure = match self.confidence {
            Confidence::Certain => 1.0,
            Confidence::Likely => 0.9,
            Confidence::Possible => 0.5,
        };
        // What cannot say its share is taken for half.
        let share = self
            .kind
            .share
            .filter(|share| share.is_finite())
            .unwrap_or(0.5);
        sure * share.clamp(0.0, 1.0)
    }
}
