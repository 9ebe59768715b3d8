//! What a limiter says of a stage, and which of several is the first to be named.
//!
//! Several statements about the same time can all be true: a synced write of a
//! rotating disk waits for the flush, the flush for the platter, and all of it
//! happens with one operation in flight. They are not rivals but layers of one
//! explanation, and shares alone cannot order them: that one operation was in
//! flight accounts for all of the time, always. So each limiter says what kind of
//! statement it makes, and the most specific kind comes first: what should not be
//! there before what has to be, and that before the mere shape of the load.

use diskfacts_record::{Confidence, Experiment, Gain, Limit};
use std::cmp::Ordering;

/// What kind of statement a limiter makes; those named first come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
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
    pub const CAUSE_MIN: f64 = 1.0 / 3.0;

    /// A cause that accounts for this share of the time, or [`Self::Beside`] when
    /// that is too little.
    pub fn cause(share: f64) -> Self {
        if share >= Self::CAUSE_MIN {
            Self::Cause
        } else {
            Self::Beside
        }
    }
}

/// What a limiter says of a stage: a [`Limit`] without its name, and its standing.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What kind of statement it is.
    pub standing: Standing,
    /// What is so, in one sentence.
    pub claim: String,
    /// The figures it rests on and the arithmetic over them, each a sentence.
    pub evidence: Vec<String>,
    /// Share, from 0 to 1, of the operations' time that it accounts for.
    pub share: Option<f64>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What would show it to be wrong, a sentence.
    pub refuted_by: String,
    /// What would settle it.
    pub experiment: Experiment,
    /// What to do about it, a sentence or more.
    pub remedy: String,
}

impl Candidate {
    /// By standing, then by the share that is accounted for, each share counting
    /// for as much as it is sure.
    pub(super) fn best_first(&self, other: &Self) -> Ordering {
        self.standing
            .cmp(&other.standing)
            .then_with(|| other.weight().total_cmp(&self.weight()))
    }

    /// With no more than this share of the time: what is said to have more has less, and a
    /// share that is not known stays so.
    pub(super) fn within(mut self, most: f64) -> Self {
        if self.share.unwrap_or(1.0) > most {
            self.share = self.share.map(|_| most);
            // Also what serves the bytes is not the answer where they mostly wait for others.
            if most < Standing::CAUSE_MIN && self.standing <= Standing::Cause {
                self.standing = Standing::Beside;
            }
        }
        self
    }

    /// Whether it is worth a line: what accounts for less than a twentieth and leads to
    /// nothing is not.
    pub(super) fn matters(&self) -> bool {
        self.standing != Standing::Beside || self.share.is_none_or(|share| share >= 0.05)
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
        let share = self.share.filter(|share| share.is_finite()).unwrap_or(0.5);
        sure * share.clamp(0.0, 1.0)
    }

    /// As it stands in the record.
    pub(super) fn into_limit(self, limiter: &str, gain: Option<Gain>) -> Limit {
        Limit {
            limiter: limiter.to_owned(),
            claim: self.claim,
            evidence: self.evidence,
            share: self
                .share
                .filter(|share| share.is_finite())
                .map(|share| share.clamp(0.0, 1.0)),
            gain,
            confidence: self.confidence,
            refuted_by: self.refuted_by,
            experiment: self.experiment,
            remedy: self.remedy,
        }
    }
}
