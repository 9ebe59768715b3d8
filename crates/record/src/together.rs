//! Runs of several hosts that start at one moment: what a host's run knows of its group.
//!
//! Each host makes a run of its own. What makes several of them one measurement is said here:
//! that they agreed on the same trials, when each was to begin on a clock that they have in
//! common, and when it did. All times are nanoseconds from the start of the group on that clock,
//! so a host's own clock is in none of them but for the error that is stated.

mod merged;

pub use merged::{
    DeviceBytes, HostFigures, HostSpread, Merged, MergedHost, MergedStage, MergedTrial, VoidTrial,
};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run knows of the group that it was made in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// Name of the group.
    pub group: String,
    /// How the hosts agreed on their starts.
    pub agreed_by: AgreedBy,
    /// When the first trial was to begin, RFC 3339, UTC; the same on all hosts.
    pub start: String,
    /// Digest of all that the hosts have to have in common (the plan as it was done, the
    /// seed, the times of the trials, the version of diskfacts): 16 hexadecimal digits.
    pub agreement: String,
    /// Who says how far the clock may be off.
    pub clock_error_source: ClockErrorSource,
    /// Place of this host in the group; absent where nobody counts them.
    pub rank: Option<Rank>,
    /// Which bytes each host uses.
    #[serde(default)]
    pub layout: Layout,
    /// It uses the bytes that the host so many ranks on has written; 0: what it wrote itself.
    #[serde(default)]
    pub shift: u32,
    /// Hosts that this one knows to have been lost, in the order in which that was seen.
    pub lost: Vec<LostHost>,
    /// Trials that were agreed on, in the order of execution.
    pub trials: Vec<AgreedTrial>,
}

/// How hosts agree on when a trial starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgreedBy {
    /// Each computes it from the plan and the start, and goes by the kernel's clock.
    Clock,
    /// One of them says it, in messages of MPI, and each knows the offset of its clock.
    Mpi,
}

/// Who says how far a clock may be off from the one in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockErrorSource {
    /// The kernel, by what its time daemon tells it (`maxerror` of `adjtimex(2)`).
    Kernel,
    /// Whoever started the run.
    Stated,
    /// It was measured by messages there and back: half of the round trip.
    RoundTrip,
}

/// Which bytes each host of a group uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// A file or a device of its own.
    #[default]
    Own,
    /// A slice of its own of one file: that of rank *r* is the *r*-th.
    Slice,
    /// All the same file, whole.
    Same,
}

/// Place of a host in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// From 0.
    pub rank: u32,
    /// How many hosts there were at the start.
    pub of: u32,
}

/// A host that was lost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LostHost {
    /// Its name, or where that is not known, its rank.
    pub host: String,
    /// The first trial that it is missing in, by its order; absent where it is missing in all.
    pub from_order: Option<u32>,
    /// How that was seen, a sentence.
    pub why: String,
    /// Its rank, which tells it from others of its name; absent where it is not known.
    #[serde(default)]
    pub rank: Option<u32>,
}

/// A trial as the hosts agreed on it, and what became of it here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedTrial {
    /// Which trial of the run, in the order of execution, from 1; that of `trials` has the same.
    pub order: u32,
    /// Name of the stage.
    pub stage: String,
    /// What was varied, by name.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Which execution of its stage, from 1.
    pub number: u32,
    /// When it was to begin, nanoseconds from the start of the group.
    pub at_ns: u64,
    /// How long it lasts, at most, nanoseconds.
    pub length_ns: u64,
    /// When its first operation was submitted, on the common clock; absent where it was not
    /// done.
    pub started_ns: Option<i64>,
    /// When its last operation, or its final sync, had completed.
    pub ended_ns: Option<i64>,
    /// How far `started_ns` and `ended_ns` may be off from the common clock.
    pub clock_error_ns: u64,
    /// By how much it began, or would have begun, behind `at_ns`.
    pub late_ns: Option<u64>,
    /// Why it is no trial of the group, a sentence; absent where it is one.
    pub void: Option<String>,
    /// What kind of reason that is; absent also where an older version did not say it.
    #[serde(default)]
    pub void_kind: Option<VoidKind>,
}

/// What made a trial void on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VoidKind {
    /// A host began, or would have begun, later than it may.
    Late,
    /// It could not be prepared in the time that there was.
    Unprepared,
    /// The clock was set during it, or nobody kept it.
    Clock,
    /// It was stopped and continued on this host (Ctrl-Z).
    Stopped,
    /// The other hosts did without it, because one of them was lost or stopped.
    CalledOff,
}

/// A host may begin this share of a trial's length late; then the trial is void.
pub const LATE_SHARE: f64 = 0.01;

impl AgreedTrial {
    /// It is no trial of the group, for this reason.
    pub fn make_void(&mut self, kind: VoidKind, why: String) {
        self.void = Some(why);
        self.void_kind = Some(kind);
    }

    /// Nanoseconds that a host may begin late: a hundredth of the trial.
    pub fn late_ns_max(&self) -> u64 {
        late_ns_max(self.length_ns)
    }
}

/// Nanoseconds that a host may begin a trial of this length late.
pub fn late_ns_max(length_ns: u64) -> u64 {
    (length_ns as f64 * LATE_SHARE) as u64
}
