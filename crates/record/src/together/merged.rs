//! What runs of one group come to together; `docs/reference/together.md` has the rules.

use super::{AgreedBy, Layout, LostHost, VoidKind};
use crate::finding::Finding;
use crate::run::{Figure, Status};
use crate::trial::{Latency, Layers};
use serde::Serialize;
use std::collections::BTreeMap;

/// The runs of a group, added up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Merged {
    /// Version of the document, [`SCHEMA`](crate::SCHEMA).
    pub schema: u32,
    /// Name of the group.
    pub group: String,
    /// How the hosts agreed on their starts.
    pub agreed_by: AgreedBy,
    /// When the first trial was to begin, RFC 3339, UTC.
    pub start: String,
    /// Digest of what all of them have in common.
    pub agreement: String,
    /// Which bytes each host used.
    pub layout: Layout,
    /// Each used what the host so many ranks on had written; 0: what it wrote itself.
    pub shift: u32,
    /// Name of the plan.
    pub plan: String,
    /// Version of diskfacts that measured.
    pub tool_version: String,
    /// How many hosts there were to be: those that are known, and those that are lost.
    pub hosts_expected: u32,
    /// How many of them did all that was agreed on.
    pub hosts_complete: u32,
    /// Hosts that are missing, and of which nobody knows the name.
    pub hosts_unnamed: u32,
    /// Hosts that are missing, or did not come to the end.
    pub lost: Vec<LostHost>,
    /// The hosts, by name.
    pub hosts: Vec<MergedHost>,
    /// The stages, in the order of the plan.
    pub stages: Vec<MergedStage>,
    /// What follows, most important first.
    pub findings: Vec<Finding>,
}

/// A host of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MergedHost {
    /// Its name; with its run's id behind it where several have that name.
    pub host: String,
    /// Id of its run.
    pub run: String,
    /// How that ended.
    pub status: Status,
    /// What it measured.
    pub target: String,
    /// What that lies on: a device or filesystem that other hosts name alike; absent where it
    /// has no name that is known to others.
    pub storage: Option<String>,
    /// Whether what has another name is another storage; `false` also where there is none.
    pub storage_is_unique: bool,
    /// Boot of its machine.
    pub boot_id: Option<String>,
    /// Its rank among the hosts; absent where nobody counts them.
    pub rank: Option<u32>,
    /// Kernel and version.
    pub kernel: Option<String>,
    /// How far its clock may have been off, at most, nanoseconds.
    pub clock_error_ns: u64,
    /// Trials that it did, of those that were agreed on.
    pub trials: u32,
    /// Trials that are void because of it, with the reason.
    pub void: Vec<VoidTrial>,
}

/// A trial that is in no figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VoidTrial {
    /// Name of the stage, with its settings.
    pub stage: String,
    /// Which execution of it, from 1.
    pub number: u32,
    /// Why.
    pub why: String,
    /// What kind of reason that is; absent where an older version did not say it.
    pub kind: Option<VoidKind>,
}

/// A stage over all hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MergedStage {
    /// Its name.
    pub stage: String,
    /// What was varied, by name.
    pub settings: BTreeMap<String, String>,
    /// How many hosts are in its figures.
    pub hosts_counted: u32,
    /// Bytes per second of all hosts together, over its trials.
    pub throughput_bytes_per_s: Figure,
    /// Operations per second of all hosts together, over its trials.
    pub iops: Figure,
    /// Latency of all operations of all hosts, from added histograms.
    pub latency_ns: Latency,
    /// Who served the bytes, weighted by them.
    pub layers: Layers,
    /// Processor time in user mode, of all hosts over all operations, nanoseconds.
    pub cpu_user_ns_per_io: Option<f64>,
    /// The same in the kernel.
    pub cpu_system_ns_per_io: Option<f64>,
    /// Operations that failed, on all hosts, in all of its trials.
    pub errors: u64,
    /// How the hosts differ; absent of one host.
    pub spread: Option<HostSpread>,
    /// The hosts, the slowest first.
    pub hosts: Vec<HostFigures>,
    /// Its trials, in order.
    pub trials: Vec<MergedTrial>,
    /// Bytes that the block devices under it counted, each device of a machine once.
    pub devices: Vec<DeviceBytes>,
}

/// How the rates of hosts differ, each the median of its trials, operations per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HostSpread {
    /// Slowest host.
    pub min: f64,
    /// Median host.
    pub median: f64,
    /// Fastest host.
    pub max: f64,
    /// Standard deviation over the mean; absent of a mean of 0.
    pub cv: Option<f64>,
    /// `min / median`; absent of a median of 0.
    pub slowest_over_median: Option<f64>,
}

/// A stage on one host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostFigures {
    /// Its name.
    pub host: String,
    /// Operations per second within the common windows, median of the trials. Of a stage with a
    /// final sync it is over the host's own time, sync included.
    pub iops: f64,
    /// Bytes per second over the same times, median of the trials.
    pub throughput_bytes_per_s: f64,
    /// `iops` over that of the median host; absent where that is 0.
    pub of_median: Option<f64>,
    /// Latency of its operations.
    pub latency_ns: Latency,
    /// Operations that failed.
    pub errors: u64,
}

/// A trial over all hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MergedTrial {
    /// Which execution of its stage, from 1.
    pub number: u32,
    /// Which trial, in the order of execution, from 1.
    pub order: u32,
    /// How long it was to last, at most, nanoseconds.
    pub length_ns: u64,
    /// How many hosts did it.
    pub hosts: u32,
    /// Why it is in no figure; absent where it is.
    pub void: Option<String>,
    /// From the latest start to the earliest end, nanoseconds from the start of the group; of a
    /// stage with a final sync from the first start to the last end. Absent where there was no
    /// time in which all hosts measured.
    pub window_ns: Option<[i64; 2]>,
    /// Between the earliest start of a host and the latest, nanoseconds.
    pub start_spread_ns: u64,
    /// How far apart two of its clocks may have been besides, at most, nanoseconds.
    pub clock_error_ns: u64,
    /// Operations within the window.
    pub ops: f64,
    /// By how many operations that may be wrong, because it is not known when in an interval
    /// at the edge of the window they completed.
    pub ops_uncertainty: f64,
    /// Operations per second within the window.
    pub iops: f64,
    /// Bytes per second within the window.
    pub throughput_bytes_per_s: f64,
    /// Of a stage that ends after an amount: bytes until the first host had ended, per second
    /// from the first start on (stonewall). Absent with a final sync: nobody knows how much was
    /// durable by then.
    pub stonewall_bytes_per_s: Option<f64>,
    /// Of such a stage: all bytes, per second from the first start to the last end.
    pub last_done_bytes_per_s: Option<f64>,
}

/// What a block device counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceBytes {
    /// A host of its machine.
    pub host: String,
    /// Its kernel name.
    pub device: String,
    /// How many hosts of the group are on that machine.
    pub hosts: u32,
    /// Bytes read, over all counted trials.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
}
