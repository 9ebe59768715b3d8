//! Limits of this process's control group on I/O, and whether the device was used exactly at one
//! (kernel, `block/blk-throttle.c`).

use super::{DeviceWork, StageFacts};
use crate::budget::{HELD_BACK, PART, USED};
use diskfacts_record::evidence::{IoLimit, LimitOf};
use diskfacts_record::{Spent, Trial};

/// Slices of 100 ms (`DFL_THROTL_SLICE`) whose whole budget may be used at once, that which a
/// trial begins in and that which it ends in, seconds: what it can have had beyond the rate.
const SLICE_S: f64 = 0.2;
/// What the counts of both may differ by for other reasons: clocks, others who are in
/// no group.
const OFF: f64 = 1.02;

/// A limit that a stage reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReachedLimit<'a> {
    pub(crate) limit: &'a IoLimit,
    /// So many bytes or requests a second, as the device counted.
    pub(crate) counted_per_s: f64,
    /// Operations in flight on average.
    pub(crate) depth: f64,
    /// Share of the time of the operations that they were not with the device.
    pub(crate) held_back: f64,
}

impl<'a> ReachedLimit<'a> {
    /// Of several the one that leaves least.
    pub(crate) fn of(facts: &StageFacts<'a>) -> Option<Self> {
        let trials = facts.trials();
        let limits = trials.first()?.evidence.io_limits.as_ref()?;
        let holds_in = |trial: &Trial, limit: &IoLimit| {
            let limits = trial.evidence.io_limits.as_ref();
            limits.is_some_and(|limits| limits.contains(limit))
        };
        let in_all = limits
            .iter()
            .filter(|limit| trials.iter().all(|trial| holds_in(trial, limit)));
        in_all
            .filter_map(|limit| Self::at(facts, limit))
            .max_by(|a, b| a.of_limit().total_cmp(&b.of_limit()))
    }

    /// This limit, where it is reached.
    fn at(facts: &StageFacts<'a>, limit: &'a IoLimit) -> Option<Self> {
        let (seconds, depth) = (facts.seconds(), facts.depth());
        let work = facts.work_of(&limit.device)?;
        let amount = counted(&work, limit.of);
        // What is held back is not with the device yet: the kernel counts it
        // from when it lets it go.
        let held_back = 1.0 - (work.waited_s / seconds / depth).min(1.0);
        let per_s = limit.per_s as f64;
        let slices_s = facts.trials().len() as f64 * SLICE_S;
        let most = per_s * (seconds + slices_s) * OFF;
        let part = amount / (per_s * seconds);
        let waits = || facts.spent(&[Spent::Admission]) >= Some(HELD_BACK);
        let is_used = part >= USED || (part >= PART && waits());
        (is_used && amount <= most && held_back.is_finite()).then_some(Self {
            limit,
            counted_per_s: amount / seconds,
            depth,
            held_back,
        })
    }

    /// Share of what the limit allows that was used.
    pub(crate) fn of_limit(&self) -> f64 {
        self.counted_per_s / self.limit.per_s as f64
    }
}

/// Whether a limit of a control group is reached, so that what else is flat is so
/// because of it.
pub(crate) fn is_reached(facts: &StageFacts<'_>) -> bool {
    ReachedLimit::of(facts).is_some()
}

/// What the device counted of that which a limit is on.
fn counted(work: &DeviceWork, of: LimitOf) -> f64 {
    match of {
        LimitOf::ReadBytes => work.read_bytes,
        LimitOf::WriteBytes => work.bytes - work.read_bytes,
        LimitOf::Reads => work.reads,
        LimitOf::Writes => work.requests - work.reads,
    }
}
