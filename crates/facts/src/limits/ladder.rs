//! Throughput and latency against the number of operations in flight, as measured.
//!
//! By Little's law (Little, "A Proof for the Queuing Formula: L = lambda W",
//! Operations Research 9, 1961) a closed loop with `n` in flight does `n / latency`
//! operations per second. While the device has room the latency stays what it is for
//! fewer, and the rate grows with `n`; when it is full the rate stays and the latency
//! grows (Denning and Buzen, "The Operational Analysis of Queueing Network Models",
//! Computing Surveys 10, 1978).
//!
//! Nothing is fitted: the two bounds `min(n / L, X)` go through any two points, and where
//! they would meet between two depths is no measurement of the depths between them. On a
//! drive of which 1 in flight did 16 800 operations a second and 32 did 62 700, they meet
//! at 3.7; measured, 4 in flight did 65 % of what 32 did. So what is said of a depth comes
//! from a stage that had it.

use super::Subject;
use diskfacts_plan::Workload;

/// Share of a rate from which on another is as good: trials of one stage differ by a few
/// percent, and no depth is chosen for a tenth.
pub(super) const ENOUGH: f64 = 0.9;
/// A rate is worth having more in flight for when it is so many times as high.
pub(super) const MORE: f64 = 1.2;
/// A device has room while its latency is within this factor of what it is for fewer.
pub(super) const ROOM: f64 = 1.15;

/// One depth that was measured.
#[derive(Debug, Clone)]
pub(super) struct Rung {
    /// Operations in flight.
    pub(super) depth: f64,
    /// Operations per second.
    pub(super) iops: f64,
    /// Mean latency, ns.
    pub(super) latency_ns: f64,
    /// Operations per second of each trial.
    pub(super) rates: Vec<f64>,
    /// The stage.
    pub(super) label: String,
}

/// A stage, and those that differ from it in the number in flight only.
#[derive(Debug, Clone)]
pub(super) struct Ladder {
    /// The stage itself.
    pub(super) own: Rung,
    /// Those with fewer in flight, by their depth.
    shallower: Vec<Rung>,
    /// Those with more.
    deeper: Vec<Rung>,
}

impl Ladder {
    /// That of a stage; `None` where its rate or its latency is not known.
    pub(super) fn of(subject: &Subject<'_>) -> Option<Self> {
        let own = Rung::of(subject)?;
        let alike = subject
            .others()
            .filter(|other| is_like(subject.workload(), other.workload()));
        let mut rungs: Vec<Rung> = alike.filter_map(|other| Rung::of(&other)).collect();
        rungs.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        let (shallower, deeper) = rungs
            .into_iter()
            .filter(|rung| (rung.depth - own.depth).abs() >= 1.0)
            .partition(|rung| rung.depth < own.depth);
        Some(Self {
            own,
            shallower,
            deeper,
        })
    }

    /// Fewest in flight.
    pub(super) fn shallowest(&self) -> Option<&Rung> {
        self.shallower.first()
    }

    /// The fewest in flight that do as many operations a second as this stage.
    pub(super) fn as_fast(&self) -> Option<&Rung> {
        let enough = ENOUGH * self.own.iops;
        self.shallower.iter().find(|rung| rung.iops >= enough)
    }

    /// What does most of those with more in flight.
    pub(super) fn best_deeper(&self) -> Option<&Rung> {
        let most = self.deeper.iter();
        most.max_by(|a, b| a.iops.total_cmp(&b.iops))
    }

    /// Whether some stage with more in flight shows that there was room, or that there
    /// was none; `None` where there is no such stage.
    pub(super) fn has_room(&self) -> Option<bool> {
        let best = self.best_deeper()?;
        Some(best.iops >= MORE * self.own.iops)
    }
}

impl Rung {
    fn of(subject: &Subject<'_>) -> Option<Self> {
        Some(Self {
            depth: subject.outstanding(),
            iops: subject.iops()?,
            latency_ns: subject.latency_ns()?,
            rates: subject.trials().iter().map(|trial| trial.iops).collect(),
            label: subject.stage.label(),
        })
    }
}

/// Whether two workloads differ in their depth or streams only.
fn is_like(a: &Workload, b: &Workload) -> bool {
    a.operation == b.operation
        && a.pattern == b.pattern
        && a.block_size == b.block_size
        && a.offset == b.offset
        && a.span == b.span
        && a.cache == b.cache
        && a.sync == b.sync
        && a.rate.is_none()
        && b.rate.is_none()
}
