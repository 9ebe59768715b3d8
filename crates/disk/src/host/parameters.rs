//! What makes one host different from another.

/// In which order the block layer sends requests to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// As they come.
    Noop,
    /// By offset in batches, nobody waiting longer than an expiry (Linux,
    /// block/mq-deadline.c).
    Deadline {
        /// Requests in a row by offset.
        batch: u32,
        /// A read older than this goes first, ns.
        read_expire_ns: u64,
        /// A write older than this goes first, ns.
        write_expire_ns: u64,
        /// Batches of reads before a batch of writes.
        writes_starved: u32,
    },
    /// By stream in turns, waiting a little for the stream whose turn it is
    /// (Linux before 5.0, block/cfq-iosched.c).
    Fair {
        /// A stream's turn, ns.
        slice_ns: u64,
        /// How long the device is kept idle for the stream whose turn it is, ns.
        idle_ns: u64,
    },
}

/// The queue in front of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockParameters {
    /// In which order.
    pub scheduler: Scheduler,
    /// Largest request after joining, bytes.
    pub max_request: u64,
    /// Requests that the device is given at a time.
    pub depth: usize,
}

/// A host: page cache, read-ahead, write-back, and the queue below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostParameters {
    /// A system call, ns.
    pub call_ns: u64,
    /// Copying between a program and the page cache, bytes/s.
    pub copy_bytes_per_s: u64,
    /// Copies larger than the processor's cache, bytes/s.
    pub far_copy_bytes_per_s: u64,
    /// What fits in the processor's cache, bytes.
    pub near_bytes: u64,
    /// A filesystem's own limit for buffered writes, bytes/s: one thread that
    /// allocates and journals.
    pub filesystem_write_bytes_per_s: u64,
    /// The same for buffered reads, bytes/s.
    pub filesystem_read_bytes_per_s: u64,
    /// Page cache, bytes.
    pub memory: u64,
    /// Largest read-ahead window, bytes; 0 reads only what is asked.
    pub read_ahead: u64,
    /// Dirty data at which write-back begins, bytes.
    pub dirty_background: u64,
    /// Dirty data at which writers wait, bytes.
    pub dirty_limit: u64,
    /// Dirty data is written when it is so old, ns.
    pub dirty_expire_ns: u64,
    /// Write-back requests in flight.
    pub write_back_depth: usize,
    /// What an fsync writes besides the data: a filesystem's journal, bytes; 0
    /// for a block device.
    pub journal_bytes: u64,
    /// The queue below.
    pub block: BlockParameters,
}

impl Scheduler {
    /// Linux's defaults of mq-deadline (Documentation/block/deadline-iosched.rst).
    pub fn deadline() -> Self {
        Self::Deadline {
            batch: 16,
            read_expire_ns: 500_000_000,
            write_expire_ns: 5_000_000_000,
            writes_starved: 2,
        }
    }

    /// Linux's defaults of cfq: `slice_sync` 100 ms, `slice_idle` 8 ms
    /// (Documentation/block/cfq-iosched.txt of Linux 4.20).
    pub fn cfq() -> Self {
        Self::Fair {
            slice_ns: 100_000_000,
            idle_ns: 8_000_000,
        }
    }
}

impl HostParameters {
    /// A Linux host with 4 GiB of page cache and the kernel's defaults:
    /// read-ahead 128 KiB, dirty data 10 % and 20 % of memory, expired after
    /// 30 s (Documentation/admin-guide/sysctl/vm.rst). The costs of calls and
    /// copies are those that fit the buffered writes of seed 003 up to 128 KiB.
    pub fn linux() -> Self {
        Self {
            call_ns: 600,
            copy_bytes_per_s: 4_400_000_000,
            far_copy_bytes_per_s: 2_800_000_000,
            near_bytes: 4 << 20,
            filesystem_write_bytes_per_s: 1 << 40,
            filesystem_read_bytes_per_s: 1 << 40,
            memory: 4 << 30,
            read_ahead: 128 << 10,
            dirty_background: 400 << 20,
            dirty_limit: 800 << 20,
            dirty_expire_ns: 30_000_000_000,
            write_back_depth: 128,
            journal_bytes: 0,
            block: BlockParameters {
                scheduler: Scheduler::deadline(),
                max_request: 512 << 10,
                depth: 32,
            },
        }
    }
}
