//! When a stage has its trials, what ends them, and what they cost beside.

use diskfacts_plan::{CacheMode, Operation, Pattern, Plan, Stage, Stop, SyncMode};

/// Operations that a trial is to do: some more than what `too-short` of diskfacts-facts asks for in
/// the median, as rates differ.
const OPERATIONS: f64 = 36.0;

/// How many times that what a share has above the least time a trial may have on top, to do so
/// many: the other stages give it, and none of their rounds.
const ON_TOP: f64 = 2.0;

/// When a stage has its rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// With all the others.
    Early,
    /// After them, because the disk is busy for long with what it leaves.
    Late {
        /// It reads as well: it leaves less, and goes first.
        only_writes: bool,
    },
}

impl Turn {
    fn of(stage: &Stage, disk_turns: bool) -> Self {
        let workload = &stage.workload;
        let leaves_much = leaves(stage) && workload.pattern != Pattern::Sequential;
        if disk_turns && leaves_much {
            Self::Late {
                only_writes: workload.operation == Operation::Write,
            }
        } else {
            Self::Early
        }
    }

    pub(super) fn is_late(self) -> bool {
        self != Self::Early
    }
}

/// Whether the disk is busy for long with what a stage leaves; `disk_turns` says what the
/// disk is.
pub(in super::super) fn is_late(stage: &Stage, disk_turns: bool) -> bool {
    Turn::of(stage, disk_turns).is_late()
}

/// Whether a stage leaves something to be written back.
fn leaves(stage: &Stage) -> bool {
    stage.workload.operation.writes() && stage.workload.sync == SyncMode::None
}

/// Bytes that a trial of a stage may make dirty, at most; each once, because what is written
/// again in memory is written back once.
fn dirties(stage: &Stage) -> u64 {
    let workload = &stage.workload;
    let through_memory = workload.cache != CacheMode::Direct && !workload.sync.each_write();
    let dirties = through_memory && workload.operation.writes() && !workload.operation.on_files();
    workload.span.filter(|_| dirties).unwrap_or(0)
}

/// What ends the trials of a stage, and what is known of them.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) stop: Stop,
    /// Whether they also end at their share of the time.
    pub(super) shares: bool,
    pub(super) turn: Turn,
    /// Whether it leaves something to be written back.
    pub(super) leaves: bool,
    /// Bytes that a trial may make dirty in the page cache: it, or what comes behind it,
    /// waits until they are written.
    pub(super) dirties_bytes: u64,
    /// Trials that were begun.
    pub(super) begun: u32,
    /// Nanoseconds that were spent around its last trial: before it, and after
    /// it where it left something.
    pub(super) around_ns: u64,
    /// Operations per second of each trial.
    pub(super) rates: Vec<f64>,
    /// Nanoseconds that its last trial measured.
    pub(super) last_ns: u64,
    /// Nanoseconds that its last trial was given as its share.
    pub(super) share_ns: u64,
}

impl Rule {
    /// Whether its trials are left out when the time of the run is over. What says itself
    /// how long it takes is asked for; what comes late has one trial at least.
    pub(super) fn is_cut(&self) -> bool {
        self.shares && !self.turn.is_late()
    }

    /// Nanoseconds of a trial that has this share of the time: where its operations take long, as
    /// those before it did, it has more of it.
    pub(super) fn trial_ns(&self, share_ns: u64) -> u64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        let rate = rates.get(rates.len() / 2).copied().unwrap_or(f64::INFINITY);
        let needs_ns = (OPERATIONS / rate * 1e9) as u64;
        let above_ns = share_ns.saturating_sub(super::LEAST_NS);
        let most_ns = share_ns.saturating_add((above_ns as f64 * ON_TOP) as u64);
        share_ns.max(needs_ns.min(most_ns))
    }

    /// Nanoseconds that its trials have whatever the others do.
    pub(super) fn given_ns(&self) -> Option<u64> {
        self.stop.time_ns.filter(|_| !self.shares)
    }
}

/// The share of the time at which trials of these together take so long (bisection: they take
/// the longer, the larger it is).
pub(super) fn share_ns(sharing: &[&Rule], together_ns: u64) -> u64 {
    let takes_ns = |share_ns: u64| {
        let trials = sharing.iter().map(|rule| match rule.turn {
            Turn::Early => rule.trial_ns(share_ns),
            Turn::Late { .. } => share_ns,
        });
        trials.fold(0, u64::saturating_add)
    };
    let (mut fits_ns, mut most_ns) = (0, together_ns / sharing.len().max(1) as u64);
    if takes_ns(most_ns) <= together_ns {
        return most_ns;
    }
    while most_ns - fits_ns > 1_000 {
        let half_ns = fits_ns.midpoint(most_ns);
        if takes_ns(half_ns) <= together_ns {
            fits_ns = half_ns;
        } else {
            most_ns = half_ns;
        }
    }
    fits_ns
}

/// The rules of a plan's stages; `disk_turns` says what the disk is.
pub(super) fn rules_of(plan: &Plan, disk_turns: bool) -> Vec<Rule> {
    let rule = |stage: &Stage| Rule {
        name: stage.name.clone(),
        stop: stage.workload.stop,
        shares: stage.shares_time(),
        turn: Turn::of(stage, disk_turns),
        leaves: leaves(stage),
        dirties_bytes: dirties(stage),
        begun: 0,
        around_ns: 0,
        rates: Vec::new(),
        last_ns: 0,
        share_ns: 0,
    };
    plan.stages.iter().map(rule).collect()
}
