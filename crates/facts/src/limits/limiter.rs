//! A limiter: what is the same whatever stage it is said of. Its words are in
//! [`explanations`](crate::explanations).

use super::candidate::{Candidate, Standing};
use crate::device_physics::no_drives;
use crate::explanations::{ABOUT, EXPERIMENT, REFUTED_BY, REMEDY, Words};
use crate::stage_facts::{Need, StageFacts};
use diskfacts_record::{Gain, Limit, Spent};

/// One limiter.
#[derive(Debug, Clone, Copy)]
pub struct Limiter {
    /// Its name, as in [`Limit::limiter`](diskfacts_record::Limit::limiter): `rotation`.
    pub name: &'static str,
    /// What it speaks of.
    pub(crate) claims: Claims,
    /// Parts of an operation's time in which it cannot lie, so that it accounts for no more
    /// than the others have together, whatever its own arithmetic says. Two limiters may both
    /// be consistent with a rate; where the time went decides between them. What waits in a
    /// scheduler is not the journal's, though more journal makes it wait longer; and while a
    /// group's limit holds operations back, no device is silent.
    pub(crate) not_in: &'static [Spent],
    /// What has to be so of a stage before it is looked at.
    pub(crate) needs: &'static [Need],
    /// What it says of a stage; `None` when it does not hold, or when the evidence
    /// for it is missing.
    pub(crate) find: fn(&StageFacts<'_>) -> Option<Candidate>,
}

/// What a limiter speaks of; of which devices and when it may is decided in
/// [`device_physics`](crate::device_physics).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claims {
    /// What a drive is made of: platters, arms, flash, its own links.
    Hardware,
    /// A device of any kind that is busy.
    BusyDevice,
    /// Anything else.
    Anything,
}

impl Limiter {
    /// What the threads did themselves, and waited for with the devices done. Waiting in front
    /// of a device that is full is the device's. What nothing explains may be anybody's.
    const OF_THREADS: &[Spent] = &[
        Spent::User,
        Spent::Kernel,
        Spent::Processor,
        Spent::Blocked,
        Spent::Completion,
    ];

    /// A limiter of anything, of which nothing is said yet.
    pub(crate) const ANY: Self = Self {
        name: "",
        claims: Claims::Anything,
        not_in: &[],
        needs: &[],
        find: |_| None,
    };

    /// One that lies behind all that the threads do.
    pub(super) const BEHIND_THREADS: Self = Self {
        not_in: Self::OF_THREADS,
        ..Self::ANY
    };

    /// One of a device that is busy.
    pub(super) const OF_BUSY_DEVICE: Self = Self {
        claims: Claims::BusyDevice,
        ..Self::BEHIND_THREADS
    };

    /// One of what a drive is made of.
    pub(crate) const OF_HARDWARE: Self = Self {
        claims: Claims::Hardware,
        ..Self::BEHIND_THREADS
    };

    /// What it is, in a few words.
    pub fn about(&self) -> &'static str {
        Words::of(self.name).say(ABOUT, "")
    }

    /// Whether it may speak of a stage: of drives only where there are some, and of devices only
    /// where they can be what limits it ([`device_physics`](crate::device_physics)).
    pub(super) fn may_speak_of(&self, facts: &StageFacts<'_>) -> bool {
        if self.claims == Claims::Anything {
            return true;
        }
        let known = self.claims == Claims::BusyDevice || no_drives(facts.run()).is_none();
        let busy = facts.busy_with_flushes();
        known
            && busy.is_none_or(|share| share >= 1.0 - Standing::CAUSE_MIN)
            && self.share_at_most(facts) >= Standing::CAUSE_MIN
    }

    /// What it says of a stage.
    pub(crate) fn candidate(&self, facts: &StageFacts<'_>) -> Option<Candidate> {
        Need::are_met(self.needs, facts)
            .then(|| (self.find)(facts))
            .flatten()
    }

    /// Whether it says something of a stage.
    pub(crate) fn speaks_of(&self, facts: &StageFacts<'_>) -> bool {
        self.candidate(facts).is_some()
    }

    /// Share of a stage's time that it can account for at most, by the parts of the time.
    pub(crate) fn share_at_most(&self, facts: &StageFacts<'_>) -> f64 {
        let elsewhere = facts.spent(self.not_in).unwrap_or(0.0);
        (1.0 - elsewhere).clamp(0.0, 1.0)
    }

    /// What it says of a stage as it stands in the record.
    pub(super) fn limit(
        &self,
        facts: &StageFacts<'_>,
        found: Candidate,
        gain: Option<Gain>,
    ) -> Limit {
        let said = |label| Words::of(self.name).say(label, found.case).to_owned();
        let share = found.kind.share.filter(|share| share.is_finite());
        let question = found.kind.question.unwrap_or_else(|| said(EXPERIMENT));
        Limit {
            limiter: self.name.to_owned(),
            claim: found.said,
            evidence: found.evidence,
            share: share.map(|share| share.clamp(0.0, 1.0)),
            gain,
            confidence: found.confidence,
            refuted_by: found.refuted_by.unwrap_or_else(|| said(REFUTED_BY)),
            experiment: found.kind.settling.experiment(facts, question),
            remedy: found.remedy.unwrap_or_else(|| said(REMEDY)),
        }
    }
}
