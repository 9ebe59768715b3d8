//! What was observed while a trial ran.
//!
//! Counters are differences over exactly the trial's window. A field that could
//! not be observed is `None`, and [`Unseen`] says which and why.

mod block_layer;
mod nfs;
mod read_ahead;
mod setting;
mod system;

pub use block_layer::{
    BlockLayer, Bucket, DeviceRequests, OperationRequests, Outliers, QueuedFrom, RequestKind,
    Seeks, SlowestRequests, SlowestSyncs,
};
pub use nfs::{NfsCalls, NfsMount};
pub use read_ahead::{
    ReadAhead, ReadAheadCost, ReadAheadCounts, ReadAheadFile, ReadAheadPages, ReadAheadPattern,
    ReadAheadRow, ReadAheadThread, WindowSize,
};
pub use setting::SettingInForce;
pub use system::{
    ControlGroup, CpuQuota, GroupMemory, IoLimit, Journal, LimitOf, Neighbour, Processors,
    WriteBack,
};

use crate::bursts::PackedBursts;
use diskfacts_plan::IoPriority;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something that could not be observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// What: `residency`, `pressure`, `sda write_cache`.
    pub what: String,
    /// Why not, and what would make it visible if anything would.
    pub why: String,
}

/// Everything that was observed during one trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// What did the operations.
    pub engine: EngineEvidence,
    /// What the engine was told to do, and did.
    pub issued: Issued,
    /// What the kernel charged to this process.
    pub process_io: Option<ProcessIo>,
    /// What each device of the stack counted, in the order of the stack.
    pub devices: Vec<DeviceCounters>,
    /// Page cache of the span before the trial.
    pub residency_before: Option<Residency>,
    /// Page cache of the span after the trial.
    pub residency_after: Option<Residency>,
    /// Who really served the bytes and where the time went, when the target
    /// itself knows (a simulated disk). The layers are worked out without it.
    #[serde(default)]
    pub truth: Option<Truth>,
    /// Processor time that the hypervisor gave to others while this machine
    /// wanted it, nanoseconds over all processors (`steal` of `/proc/stat`).
    #[serde(default)]
    pub cpu_steal_ns: Option<u64>,
    /// Stalls of tasks waiting for I/O, memory and CPU during the trial.
    pub pressure: Option<Pressure>,
    /// What the processors of the machine did, for whomever.
    #[serde(default)]
    pub processors: Option<Processors>,
    /// Dirty pages of the machine, and the limits on them.
    #[serde(default)]
    pub write_back: Option<WriteBack>,
    /// Limits of control groups on what this process does to the devices of the
    /// stack, as they were when the window opened; empty when there are none.
    #[serde(default)]
    pub io_limits: Option<Vec<IoLimit>>,
    /// The control group of this process, where it is in one that counts or limits
    /// something; absent in the root of the groups, which is the machine itself.
    #[serde(default)]
    pub control_group: Option<ControlGroup>,
    /// Other processes that had most of storage or of processors; empty where none had much
    /// of either.
    #[serde(default)]
    pub neighbours: Option<Vec<Neighbour>>,
    /// The quota of processor time that this process was held to; absent where there is none.
    #[serde(default)]
    pub cpu_quota: Option<CpuQuota>,
    /// What the journal of the filesystem did.
    #[serde(default)]
    pub journal: Option<Journal>,
    /// What the NFS client counted of the target's mount; absent of other filesystems.
    #[serde(default)]
    pub nfs: Option<NfsMount>,
    /// What the block layer did with requests, where its trace events were followed.
    #[serde(default)]
    pub block_layer: Option<BlockLayer>,
    /// The single requests of a few moments, where they were followed: of the first trial of a
    /// stage, and of runs that an older diskfacts stored never. The store keeps them beside the
    /// document.
    #[serde(default)]
    pub bursts: Option<PackedBursts>,
    /// What the kernel's read-ahead decided, for whomever reads the target; absent
    /// unless it was asked for, and then where the kernel does not tell.
    #[serde(default)]
    pub read_ahead: Option<ReadAhead>,
    /// How far the clock can be trusted.
    pub clock: ClockEvidence,
    /// Errors by kind.
    pub errors: Vec<ErrorCount>,
    /// Operations completed per interval of equal length, from the start.
    pub intervals: Intervals,
    /// What each stream did, in their order; of trials with several streams.
    #[serde(default)]
    pub streams: Vec<StreamShare>,
    /// What ran beside the trial, when something was to. What it moved is in
    /// `devices`, and in none of the other figures.
    #[serde(default)]
    pub beside: Option<Beside>,
    /// Settings of the kernel that the stage asked for, as they were in force in the
    /// trial.
    #[serde(default)]
    pub settings: Vec<SettingInForce>,
    /// What could not be observed, and why.
    pub unseen: Vec<Unseen>,
    /// What a copy did at its two ends; of `diskfacts dd` only.
    #[serde(default)]
    pub copy: Option<Copied>,
}

impl Evidence {
    /// Nothing but that this could not be observed.
    pub fn of_unseen(unseen: Vec<Unseen>) -> Self {
        Self {
            unseen,
            ..Self::default()
        }
    }

    /// What the device of this kernel name counted.
    pub fn device(&self, name: &str) -> Option<&DeviceCounters> {
        self.devices.iter().find(|device| device.name == name)
    }
}

/// What a copy did, in the terms of dd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    /// Reads that brought a whole block, and reads that brought less.
    pub records_in: Records,
    /// Writes of a whole block, and writes of less.
    pub records_out: Records,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Why it ended.
    pub ended: CopyEnd,
    /// Bytes of `skip=` that the input did not have.
    pub skip_missing_bytes: u64,
    /// Bytes of the output that were in the page cache only, not yet on the
    /// device, when dd's clock stopped; absent when the kernel does not tell.
    pub dirty_bytes: Option<u64>,
    /// Nanoseconds that an `fdatasync(2)` took after dd's clock had stopped;
    /// absent when the output is no file and no device, or when it failed.
    pub flush_ns: Option<u64>,
}

/// Blocks that were whole, and blocks that were not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Records {
    /// As long as the block size.
    pub full: u64,
    /// Shorter.
    pub partial: u64,
}

/// Why a copy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyEnd {
    /// All of `count=` was copied.
    Count,
    /// The input ended.
    Input,
    /// A read, a write or the final sync failed.
    Error,
    /// A signal.
    Stopped,
}

/// What one of several streams did.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamShare {
    /// Operations that succeeded.
    pub ops: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// From its first submission to its last completion, or final sync.
    pub seconds: f64,
    /// `bytes / seconds`.
    pub throughput_bytes_per_s: f64,
}

/// What ran beside a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Beside {
    /// What did it: `sync`, `io_uring`, `sim`.
    pub engine: String,
    /// Operations that succeeded.
    pub ops: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// How long it ran: from a little before the trial to its end, unless it
    /// ended early.
    pub seconds: f64,
    /// `(read_bytes + write_bytes) / seconds`.
    pub throughput_bytes_per_s: f64,
    /// Operations that failed.
    pub errors: u64,
    /// Why it ended before the trial, a sentence; absent when it did not.
    pub ended_early: Option<String>,
    /// As [`EngineEvidence::io_priority`], of its threads.
    #[serde(default)]
    pub io_priority: Option<IoPriority>,
    /// What the kernel charged to its threads during the trial. It is not in
    /// the evidence's own `process_io`.
    pub process_io: Option<ProcessIo>,
}

/// What a simulated disk knows of a trial, and no real one can tell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Who served the bytes.
    #[serde(flatten)]
    pub layers: crate::trial::Layers,
    /// Where the time of the operations went; absent in runs of versions that
    /// did not keep it.
    #[serde(default)]
    pub time: Option<TimeParts>,
}

/// Where the time of a trial's operations went, syncs behind them included: sums
/// over the operations, nanoseconds. The parts do not overlap; together they are
/// the time from submission to completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TimeParts {
    /// Operations that they are of.
    pub operations: u64,
    /// Waiting for other requests.
    pub queue_ns: u64,
    /// The drive's processor at work on the commands.
    pub overhead_ns: u64,
    /// The arm moving, head switches included.
    pub seek_ns: u64,
    /// Waiting for the sector to come round.
    pub rotation_ns: u64,
    /// The medium at work: bytes under the head, flash read or programmed.
    pub transfer_ns: u64,
    /// Bytes on the drive's interface that did not overlap with the medium.
    pub bus_ns: u64,
    /// Waiting for the write cache: for room, or for a flush to empty it.
    pub cache_wait_ns: u64,
    /// Waiting while flash moves valid data or erases.
    pub collection_ns: u64,
    /// Waiting for a program or an erase that keeps a die busy.
    pub program_ns: u64,
    /// Reading or writing the same place again after a failure.
    pub retry_ns: u64,
    /// The device did nothing: a stall or a stuck queue.
    pub stall_ns: u64,
    /// Held back by a limit: heat, or a bucket of credits.
    pub throttle_ns: u64,
    /// The network between host and server.
    pub network_ns: u64,
    /// The host at work: system calls, copies. In runs of older versions `scheduler_ns` is
    /// in it.
    pub host_ns: u64,
    /// The host's scheduler keeps the device idle for another stream.
    #[serde(default)]
    pub scheduler_ns: u64,
    /// Whole revolutions missed.
    pub lost_revolutions: u64,
    /// Times that a sector had to be tried again.
    pub retries: u64,
}

impl TimeParts {
    /// The parts, each with its name, as the documentation has them.
    pub fn named(&self) -> [(&'static str, u64); 15] {
        [
            ("queue", self.queue_ns),
            ("command overhead", self.overhead_ns),
            ("seek", self.seek_ns),
            ("rotation", self.rotation_ns),
            ("transfer", self.transfer_ns),
            ("interface", self.bus_ns),
            ("cache wait", self.cache_wait_ns),
            ("garbage collection", self.collection_ns),
            ("busy die", self.program_ns),
            ("retries", self.retry_ns),
            ("stalls", self.stall_ns),
            ("throttling", self.throttle_ns),
            ("network", self.network_ns),
            ("host", self.host_ns),
            ("scheduler idling", self.scheduler_ns),
        ]
    }

    /// The sum of the parts, ns.
    pub fn total_ns(&self) -> u64 {
        self.named().iter().map(|(_, ns)| ns).sum()
    }

    /// These and those of another trial.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            operations: self.operations + other.operations,
            queue_ns: self.queue_ns + other.queue_ns,
            overhead_ns: self.overhead_ns + other.overhead_ns,
            seek_ns: self.seek_ns + other.seek_ns,
            rotation_ns: self.rotation_ns + other.rotation_ns,
            transfer_ns: self.transfer_ns + other.transfer_ns,
            bus_ns: self.bus_ns + other.bus_ns,
            cache_wait_ns: self.cache_wait_ns + other.cache_wait_ns,
            collection_ns: self.collection_ns + other.collection_ns,
            program_ns: self.program_ns + other.program_ns,
            retry_ns: self.retry_ns + other.retry_ns,
            stall_ns: self.stall_ns + other.stall_ns,
            throttle_ns: self.throttle_ns + other.throttle_ns,
            network_ns: self.network_ns + other.network_ns,
            host_ns: self.host_ns + other.host_ns,
            scheduler_ns: self.scheduler_ns + other.scheduler_ns,
            lost_revolutions: self.lost_revolutions + other.lost_revolutions,
            retries: self.retries + other.retries,
        }
    }
}

/// What did the operations, and how.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EngineEvidence {
    /// `sync`, `io_uring`, `null`, `sim`.
    pub name: String,
    /// Abilities in use: `registered-files`, `registered-buffers`, `iopoll`, ...
    pub features: Vec<String>,
    /// Why it is not another engine, or lacks an ability that was asked for.
    pub fallbacks: Vec<String>,
    /// Threads that did operations.
    pub threads: u32,
    /// Operations in flight, averaged over the trial's time; by Little's law the
    /// sum of all latencies over the time.
    pub mean_depth: f64,
    /// Whether the files were really opened past the page cache.
    pub direct: bool,
    /// Why the file could not be opened or read past the page cache though the
    /// workload asked for it: what was tried and what came back, a sentence.
    #[serde(default)]
    pub direct_refused: Option<String>,
    /// The I/O priority that the threads had, asked of the kernel at the end; absent
    /// where none was set, so that they had that of their nice value.
    #[serde(default)]
    pub io_priority: Option<IoPriority>,
    /// How often an operation was handed to the kernel again because it answered `EAGAIN`.
    /// The latency of such an operation counts from its first submission.
    #[serde(default)]
    pub resubmitted: u64,
    /// How far behind the intended starts of its open loop the trial was when it ended, ns,
    /// averaged over its threads. Absent in a closed loop, and in runs of versions that did
    /// not note it.
    #[serde(default)]
    pub behind_ns: Option<u64>,
    /// Times in which no thread of this process ran, though none lacked a processor, of 20 ms
    /// and more: it was stopped, or the machine was. Absent where that cannot be told: of
    /// kernels that keep no account of a thread's waiting, of copies, and where time is
    /// virtual.
    #[serde(default)]
    pub pauses: Option<Vec<Pause>>,
    /// What its threads were asleep in. Absent in runs of versions that did not look, where
    /// the kernel does not tell, and where time is virtual.
    #[serde(default)]
    pub asleep: Option<Asleep>,
}

/// What the threads that do the operations of a trial were asleep in, by looks at one of them
/// each hundredth of a second: a sample of their time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Asleep {
    /// Looks, at threads that ran too.
    pub looks: u64,
    /// Those in which a thread slept, by the function of the kernel in which it did
    /// (`/proc/PID/wchan`).
    pub functions: BTreeMap<String, u64>,
}

/// A time in which this process did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pause {
    /// When it began, nanoseconds from the start of the trial.
    pub begins_ns: u64,
    /// How long it lasted, nanoseconds.
    pub ns: u64,
}

/// Totals of what was asked of the kernel and done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Issued {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// `fsync`, `fdatasync` and the like.
    pub syncs: u64,
    /// Nanoseconds of the sync at the end, if there was one.
    pub final_sync_ns: Option<u64>,
}

/// Differences of `/proc/self/io` (kernel: `Documentation/filesystems/proc.rst`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessIo {
    /// Bytes that reads asked for, cached or not.
    pub rchar: u64,
    /// Bytes that writes handed over, cached or not.
    pub wchar: u64,
    /// Bytes this process caused to be fetched from block devices.
    pub read_bytes: u64,
    /// Bytes this process caused to be sent to block devices, by direct writes
    /// or by dirtying pages.
    pub write_bytes: u64,
    /// Bytes of dirtied pages that were dropped before being written.
    pub cancelled_write_bytes: u64,
}

/// Differences of one line of `/proc/diskstats` (kernel:
/// `Documentation/admin-guide/iostats.rst`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceCounters {
    /// Name in the kernel.
    pub name: String,
    /// Whether it stands on no other device.
    pub leaf: bool,
    /// Reads completed.
    pub reads: u64,
    /// Reads merged into others.
    pub read_merges: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Milliseconds spent by all reads, added up.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Writes merged into others.
    pub write_merges: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Milliseconds spent by all writes, added up.
    pub write_ms: u64,
    /// Milliseconds during which anything was in flight.
    pub busy_ms: u64,
    /// Milliseconds weighted by the number in flight.
    pub weighted_ms: u64,
    /// Discards completed; since Linux 4.18.
    pub discards: Option<u64>,
    /// Discards merged into others; since Linux 4.18.
    #[serde(default)]
    pub discard_merges: Option<u64>,
    /// Bytes discarded; since Linux 4.18.
    #[serde(default)]
    pub discard_bytes: Option<u64>,
    /// Milliseconds spent by discards; since Linux 4.18.
    #[serde(default)]
    pub discard_ms: Option<u64>,
    /// Flushes completed; since Linux 5.5.
    pub flushes: Option<u64>,
    /// Milliseconds spent by flushes; since Linux 5.5.
    pub flush_ms: Option<u64>,
    /// Operations in flight when the window opened.
    pub in_flight_before: u64,
}

/// How much of the span lay in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// Bytes of the span that were asked about.
    pub span_bytes: u64,
    /// Of these, bytes in the page cache.
    pub cached_bytes: u64,
    /// Of the cached, bytes not yet written back; only `cachestat` tells.
    pub dirty_bytes: Option<u64>,
    /// Of these dirty ones, bytes on their way to the device at that moment; only
    /// `cachestat` tells.
    #[serde(default)]
    pub writing_bytes: Option<u64>,
    /// Bytes of the span that were in the page cache before, were taken out of it
    /// because memory was short, and have not been read in again; only `cachestat`
    /// tells. What was dropped on demand (`posix_fadvise`, `drop_caches`) is not
    /// counted, and the kernel forgets old ones.
    #[serde(default)]
    pub evicted_bytes: Option<u64>,
    /// Of the evicted, bytes that were taken out so recently that they would still
    /// be there if the memory in use were of that size; only `cachestat` tells.
    #[serde(default)]
    pub recently_evicted_bytes: Option<u64>,
    /// How it was found out.
    pub method: ResidencyMethod,
}

/// How the page cache was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResidencyMethod {
    /// `cachestat(2)`, since Linux 6.5.
    Cachestat,
    /// `mincore(2)`.
    Mincore,
}

/// Differences of the totals of `/proc/pressure` (kernel:
/// `Documentation/accounting/psi.rst`), nanoseconds during which tasks waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pressure {
    /// Some task waited for I/O.
    pub io_some_ns: u64,
    /// All tasks that were not idle waited for I/O.
    pub io_full_ns: u64,
    /// Some task waited for memory.
    pub memory_some_ns: u64,
    /// Some task waited for a processor.
    pub cpu_some_ns: u64,
}

/// The clock that latencies were measured with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClockEvidence {
    /// `tsc`, `monotonic` or `virtual`.
    pub source: String,
    /// How far it was from `CLOCK_MONOTONIC`, or from virtual time, over the
    /// trial, parts per million.
    pub drift_ppm: Option<f64>,
    /// Completions that seemed to end before they began; their latency was
    /// recorded as 0.
    pub backwards: u64,
}

/// How often one error came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// `read`, `write` or `sync`; of files `create`, `stat` or `delete`; `write-back` of what
    /// the trial had left in the page cache, which has no place.
    pub operation: String,
    /// Number of the error, or 0 for an operation that ended short.
    pub errno: i32,
    /// What the system calls it.
    pub message: String,
    /// How often.
    pub count: u64,
    /// Offset of the first one, bytes; of files, which of them it was, from 0 in
    /// the order of visits.
    pub first_offset: u64,
    /// The lowest offset of an operation that failed so; absent in records of older versions.
    #[serde(default)]
    pub lowest_offset: Option<u64>,
    /// The highest.
    #[serde(default)]
    pub highest_offset: Option<u64>,
}

impl ErrorCount {
    /// The `operation` of what could not be written back.
    pub const WRITE_BACK: &str = "write-back";

    /// Whether it was done to a file of a folder, and `first_offset` counts
    /// files.
    pub fn of_files(&self) -> bool {
        matches!(self.operation.as_str(), "create" | "stat" | "delete")
    }
}

/// Operations over time on a fixed grid.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Intervals {
    /// Length of each interval, nanoseconds.
    pub length_ns: u64,
    /// Operations completed in each, from the start of the trial.
    pub operations: Vec<u64>,
}
