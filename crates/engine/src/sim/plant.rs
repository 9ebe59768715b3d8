//! Flaws that can be planted in the simulated host, so that a diagnosis can be
//! tested against the truth. Flaws of the disk are those of its profile
//! (`diskfacts_disk::faults`).

use diskfacts_disk::Extent;
use diskfacts_disk::faults::neighbour::NeighbourParameters;
use diskfacts_disk::host::{BlockLimits, JournalParameters};

/// Everything that is wrong with a simulated host. By default nothing is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Plant {
    /// How much faster than it should the clock runs, parts per million.
    pub clock_ppm: i64,
    /// What opening a file past the page cache comes to.
    pub direct: DirectOpen,
    /// Polled completions are refused.
    pub refuses_polling: bool,
    /// No more than so many operations of a stream get into flight.
    pub in_flight_max: Option<u32>,
    /// Syncs do not flush the write cache of the disk (`nobarrier`).
    pub drops_flushes: bool,
    /// Reads are done in whole multiples of this, bytes; a power of 2.
    pub reads_in: Option<u64>,
    /// A hole in the file: reading it needs no I/O.
    pub hole: Option<Extent>,
    /// Another process of this host that uses the disk during trials.
    pub neighbour: Option<NeighbourParameters>,
    /// Page cache, bytes, where it is not that of the profile.
    pub memory: Option<u64>,
    /// Members of the array that the host says are missing. The times of the disk are those
    /// of a sound one.
    pub missing_members: u32,
    /// Limits of the block layer: splitting, `nr_requests`, a control group's rates.
    pub block: BlockLimits,
    /// The streams of a trial read through one descriptor, and share its window of
    /// read-ahead.
    pub one_descriptor: bool,
    /// The target is a file of a filesystem with this journal.
    pub journal: Option<JournalParameters>,
    /// What each operation costs the processor of the thread that does it, beside copies.
    pub cost: CpuCost,
    /// Memory that the host of a virtual machine has to find first.
    pub fresh_memory: Option<FreshMemory>,
    /// What the host reports of its processors; absent where nothing is planted,
    /// because they are not simulated.
    pub processor: Option<Processor>,
    /// When a signal ends the run, virtual nanoseconds from its start.
    pub stop_at_ns: Option<u64>,
}

/// What opening a file past the page cache (`O_DIRECT`) comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DirectOpen {
    /// The page cache is passed by.
    #[default]
    Granted,
    /// The open fails.
    Refused,
    /// It succeeds, and the page cache is used all the same.
    Ignored,
}

/// Processor time of an operation. A thread does one thing at a time: these add
/// up over its operations, however many are in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuCost {
    /// Of the program, between an operation and the next, ns.
    pub user_ns: u64,
    /// Of the kernel, in the call that starts it, ns.
    pub system_ns: u64,
}

/// Memory that costs kernel time when it is used the first time: less and less of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreshMemory {
    /// Kernel time of an operation while all memory is fresh, ns.
    pub system_ns: u64,
    /// When none is left, virtual ns from the start of the run, at least 1.
    pub until_ns: u64,
}

impl FreshMemory {
    /// What an operation costs the kernel at this time of the run, ns.
    pub(super) fn cost_ns(self, now_ns: u64) -> u64 {
        let left_ns = self.until_ns.saturating_sub(now_ns);
        let share = left_ns as f64 / self.until_ns.max(1) as f64;
        (self.system_ns as f64 * share) as u64
    }
}

/// What a host reports of its processors, as shares of a trial's time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Processor {
    /// Share that the busiest measuring thread ran.
    pub busiest_thread: f64,
    /// Share during which some task waited for a processor.
    pub waited: f64,
    /// Share of all processors' time that the hypervisor gave to others, times
    /// the number of processors.
    pub stolen: f64,
}
