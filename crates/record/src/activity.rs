//! What a machine's devices and processors did between two readings of their
//! counters: what `iostat` prints a report of.

use crate::evidence::DeviceCounters;

/// Differences of two readings; of the first one, everything since the system
/// started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Activity {
    /// Hundredths of a second between the readings, by the system's uptime, which
    /// is kept in them; at least 1.
    pub centiseconds: u64,
    /// Whether these are the sums since the system started.
    pub since_start: bool,
    /// What the processors did.
    pub cpu: CpuActivity,
    /// What each device did, by the names of their folders in sysfs, or in the
    /// order of `/proc/diskstats`.
    pub devices: Vec<DeviceActivity>,
    /// Devices that came, went or were replaced between the readings.
    pub changes: Vec<Change>,
}

/// Ticks of all processors together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuActivity {
    /// In programs, without niced ones.
    pub user: u64,
    /// In niced programs.
    pub nice: u64,
    /// In the kernel, interrupts included.
    pub system: u64,
    /// Idle while some task waited for I/O.
    pub iowait: u64,
    /// Given to others by the hypervisor; 0 before Linux 2.6.11.
    pub steal: u64,
    /// Idle.
    pub idle: u64,
    /// All of them; at least 1. The parts may add up to less, for the kernel lets
    /// `iowait` and `idle` go backwards now and then.
    pub total: u64,
}

/// What one device did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceActivity {
    /// What it counted.
    pub counted: DeviceCounters,
    /// Whether it counted only reads, writes and their sectors: partitions before
    /// Linux 2.6.25. Everything else is 0 then, and means nothing.
    pub requests_only: bool,
}

/// What became of a device between two readings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Name in the kernel.
    pub device: String,
    /// What happened.
    pub what: ChangeKind,
}

/// See [`Change`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there before: its sums are those since it came.
    Appeared,
    /// It was there before.
    Vanished,
    /// Its counters fell: it was removed, and it or another one came under its
    /// name. Its sums are those since then.
    Replaced {
        /// Which counter, `reads`.
        counter: &'static str,
        /// Its first value.
        before: u64,
        /// Its second value.
        after: u64,
    },
}
