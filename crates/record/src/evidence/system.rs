//! What the machine around a trial did and allowed: its dirty pages, its
//! processors, the limits of its control groups, the journal of its filesystem.

use super::Pressure;
use serde::{Deserialize, Serialize};

/// Dirty pages of the whole machine (`/proc/vmstat`; kernel:
/// `mm/page-writeback.c`). Writers through the page cache are held back from half
/// way between the two limits on, and at the upper one they wait for the devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WriteBack {
    /// Bytes of dirty pages at which writers wait (`nr_dirty_threshold`).
    pub dirty_limit_bytes: u64,
    /// Bytes of dirty pages at which write-back begins by itself
    /// (`nr_dirty_background_threshold`).
    pub dirty_background_bytes: u64,
    /// Bytes dirty or being written when the window opened (`nr_dirty` and
    /// `nr_writeback`).
    pub dirty_before_bytes: u64,
    /// The same when it was closed.
    pub dirty_after_bytes: u64,
    /// Bytes that became dirty in between, by whomever (`nr_dirtied`).
    pub dirtied_bytes: u64,
    /// Bytes that were written back in between (`nr_written`).
    pub written_bytes: u64,
}

/// What a limit of a control group is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitOf {
    /// Bytes read.
    ReadBytes,
    /// Bytes written.
    WriteBytes,
    /// Reads that the device is sent, after splitting and joining.
    Reads,
    /// Writes that the device is sent, after splitting and joining.
    Writes,
}

/// A limit that holds for the I/O of this process on one device: of its control
/// group, or of one above (kernel: `block/blk-throttle.c`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimit {
    /// Name of the device in the kernel.
    pub device: String,
    /// What it is on.
    pub of: LimitOf,
    /// So many per second.
    pub per_s: u64,
    /// The file that says so: `.../io.max`, `.../blkio.throttle.read_bps_device`.
    pub file: String,
}

/// Time of all processors of the machine together, whoever used them, nanoseconds
/// in ticks of 10 ms (`/proc/stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Processors {
    /// In programs.
    pub user_ns: u64,
    /// In the kernel, its own threads among it, without interrupts.
    pub system_ns: u64,
    /// In interrupts, soft ones too.
    pub interrupt_ns: u64,
    /// Doing nothing, waiting for I/O or not.
    pub idle_ns: u64,
    /// Of `interrupt_ns`, in soft interrupts: completions of block devices among
    /// them, and timers and the network.
    #[serde(default)]
    pub soft_interrupt_ns: Option<u64>,
    /// How often the soft interrupt for block devices ran, on any processor: a
    /// completion that the interrupt itself did not finish. Not each device needs
    /// it.
    #[serde(default)]
    pub block_soft_interrupts: Option<u64>,
}

/// The control group of this process: the lowest of those that it is in that has
/// accounts of memory (kernel: `Documentation/admin-guide/cgroup-v2.rst`,
/// `cgroup-v1/memory.rst`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ControlGroup {
    /// Its folder.
    pub folder: String,
    /// Memory of the group, its part of the page cache among it; absent where it
    /// could not be read.
    pub memory: Option<GroupMemory>,
    /// Stalls of the group's own tasks; only version 2 of the control groups tells.
    pub pressure: Option<Pressure>,
}

/// Memory of a control group.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupMemory {
    /// The most that it may have, bytes: the lowest limit of the group and of those
    /// above it (`memory.max`, `memory.limit_in_bytes`); absent when there is none.
    pub limit_bytes: Option<u64>,
    /// Where its memory is taken back and its tasks are slowed down, bytes: the
    /// lowest of `memory.high`; absent when there is none.
    pub high_bytes: Option<u64>,
    /// Folder of the group that has the lower one of these; the group itself when
    /// there is none. What is used is counted there.
    pub limited_by: String,
    /// Bytes in use when the window opened.
    pub used_before_bytes: u64,
    /// Bytes in use when it was closed.
    pub used_after_bytes: u64,
}

/// Another process, and what it had during a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Neighbour {
    /// Its number.
    pub process: u32,
    /// Name of its program, at most 15 bytes (`/proc/PID/stat`).
    pub name: String,
    /// Bytes that it caused to be read from storage, whichever; `None` where this user may
    /// not know.
    pub read_bytes: Option<u64>,
    /// Bytes that it wrote, or left dirty for storage.
    pub write_bytes: Option<u64>,
    /// Processor time of it, and of children that it waited for meanwhile, nanoseconds in
    /// ticks of 10 ms.
    pub processor_ns: u64,
}

impl Neighbour {
    /// Bytes that it moved in both directions, as far as known.
    pub fn moved_bytes(&self) -> u64 {
        let read = self.read_bytes.unwrap_or(0);
        read.saturating_add(self.write_bytes.unwrap_or(0))
    }
}

/// A control group's quota of processor time (kernel:
/// `Documentation/scheduler/sched-bwc.rst`), and what it held back: of the own group and
/// those above it the one that did so for longest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuQuota {
    /// Folder of the group.
    pub folder: String,
    /// Processor time that it may have in each period, over all processors, ns.
    pub quota_ns: u64,
    /// Length of a period, ns.
    pub period_ns: u64,
    /// Periods in which something of the group ran.
    pub periods: u64,
    /// Of these, in which the quota was used up.
    pub throttled_periods: u64,
    /// Time for which the group was not let run, added up over the processors, ns.
    pub throttled_ns: u64,
}

/// What the journal of the filesystem did, for whomever.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Journal {
    /// Which one: `jbd2` (ext4), `xfs`, `btrfs`, `simulated`.
    pub kind: String,
    /// Times that it was written: transactions of jbd2 and of btrfs (a sync of btrfs goes to its
    /// log tree, and mostly asks for none), log writes of XFS.
    pub commits: u64,
    /// Bytes that it wrote; jbd2 and btrfs do not tell.
    pub bytes: Option<u64>,
    /// How long these took together, milliseconds; btrfs alone tells. Absent in runs that were
    /// stored before this key came.
    #[serde(default)]
    pub commit_ms: Option<u64>,
}
