//! What the protocol asks of those that measure, and of the one that schedules.

use crate::wire::Window;
use std::task::Poll;

/// The measuring session of one host. No method waits: the thread that calls them talks to the
/// other hosts. Moments are nanoseconds of this host's clock, the one that the group is driven by.
///
/// A text in an `Err` is a sentence for people, since other hosts print it too.
pub trait Work {
    /// Begins to prepare a trial: fill files, prepare caches, start threads.
    fn prepare(&mut self, trial: &Trial);

    /// Whether it is prepared. An error makes this host leave the group.
    fn prepared(&mut self) -> Poll<Result<(), String>>;

    /// Whether all that is done once is done here: files are filled, the target is preconditioned.
    /// Until then preparing may take hours, and goes on when the trial is void, as what was
    /// filled stays filled.
    fn is_set_up(&self) -> bool {
        true
    }

    /// Measure from then on. Whoever starts sleeps until [`SPIN_NS`](crate::SPIN_NS) before, and
    /// spins.
    fn run(&mut self, go: &Go);

    /// Whether it has measured. An error makes this host leave the group.
    fn finished(&mut self) -> Poll<Result<Outcome, String>>;

    /// The trial is void: stop as soon as possible, and forget it.
    fn cancel(&mut self);

    /// There is no group for this host any more: stop all that is done for it.
    fn ended(&mut self) {}

    /// Whether nothing of a cancelled trial runs any more.
    fn idle(&mut self) -> bool;

    /// Whether the trial counts; `None` where it does. `clock` says where this host's times lie
    /// on the root's clock.
    fn judged(&mut self, trial: &Trial, void: Option<&str>, clock: &crate::ClockModel);

    /// Adds the summary of another host, or of several. The order in which hosts are added is not
    /// fixed, so this has to be associative and commutative.
    ///
    /// # Errors
    /// When `other` is no summary.
    fn merge(&self, into: Vec<u8>, other: &[u8]) -> Result<Vec<u8>, String>;

    /// Why this host leaves the group now, and the others may go on.
    fn leaves(&mut self) -> Option<String>;

    /// Why the whole group is to end now, because somebody on this host wants it to; said once.
    fn stops(&mut self) -> Option<String> {
        None
    }
}

/// What the root decides; other ranks never ask.
pub trait Schedule {
    /// The next trial, by what was measured so far; `None` ends the group.
    fn next(&mut self, judged: &[Judged]) -> Option<Planned>;
}

/// Nothing is scheduled: for all ranks but the root.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSchedule;

impl Schedule for NoSchedule {
    fn next(&mut self, _: &[Judged]) -> Option<Planned> {
        None
    }
}

/// A trial that the schedule asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// What to measure, for [`Trial::order`] of all hosts.
    pub order: Vec<u8>,
    /// When it ends; `None` for work that is bound by bytes.
    pub lasts_ns: Option<u64>,
    /// What chance starts from.
    pub seed: u64,
}

/// A trial that is to be prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Its number, from 0.
    pub number: u32,
    /// 0, and more where it is repeated because it was void: once where a host was late, and each
    /// time where one was lost.
    pub attempt: u8,
    /// What the schedule wrote.
    pub order: Vec<u8>,
}

/// The agreed moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Go {
    /// When to start, on this host's clock.
    pub at_ns: i64,
    /// When timed trials end, on this host's clock.
    pub stop_ns: Option<i64>,
    /// When to start, on the root's clock: the same number on all hosts.
    pub agreed_ns: i64,
    /// What chance starts from.
    pub seed: u64,
}

/// What one host measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// When its first operation could start, on this host's clock.
    pub start_ns: i64,
    /// When it ended, on this host's clock.
    pub end_ns: i64,
    /// For [`Work::merge`].
    pub summary: Vec<u8>,
}

/// A trial that is over, at the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Which.
    pub trial: Trial,
    /// Why it does not count; `None` where it does.
    pub void: Option<String>,
    /// The agreed start on the root's clock; `None` where a host was lost before one was agreed.
    pub at_ns: Option<i64>,
    /// All hosts' summaries, merged; empty where a host was lost in it.
    pub summary: Vec<u8>,
    /// When each host really measured, by rank.
    pub windows: Vec<Window>,
}
