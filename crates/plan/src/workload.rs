//! The vocabulary of I/O: what a stage asks for, as data.
//!
//! Sizes are bytes, times are nanoseconds, both integers. The serde form is the
//! one of the JSON document (`docs/reference/json.md`); the form people write
//! is TOML with units and lives in [`crate::file`].

use crate::dd::Copying;
use crate::files::Files;
use crate::observe::Observe;
use crate::share::Share;
use crate::unsaid;
use serde::{Deserialize, Serialize};

/// What is done to each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Every operation reads.
    Read,
    /// Every operation writes.
    Write,
    /// Each operation is a read with this chance, else a write.
    Mixed {
        /// Share of reads in percent, in `1..=99`.
        read_percent: u8,
    },
    /// Makes a file of a folder; see [`crate::files`].
    Create,
    /// Asks for the attributes of a file, and reads it if it is not empty.
    Stat,
    /// Takes a file away.
    Delete,
    /// Each operation reads its block and, with this chance, changes it and
    /// writes it back: one operation, whose latency covers both. Bytes count
    /// what was read and what was written.
    Modify {
        /// Share of operations that write the block back, in percent, in
        /// `1..=100`.
        percent: u8,
    },
}

impl Operation {
    /// Whether any operation of this kind writes to the target.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::Stat)
    }

    /// Whether any operation of this kind reads from the target.
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::Create | Self::Delete)
    }

    /// Whether every operation reads its block, and those that write change
    /// what they read.
    pub fn modifies(self) -> bool {
        matches!(self, Self::Modify { .. })
    }

    /// Whether some operations write and others do not, so that each have
    /// latencies of their own.
    pub fn has_two_kinds(self) -> bool {
        match self {
            Self::Read | Self::Write | Self::Create | Self::Stat | Self::Delete => false,
            Self::Mixed { .. } => true,
            Self::Modify { percent } => percent < 100,
        }
    }
}

/// The order in which the blocks of the span are visited.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// One after the other, starting again at the first when the span ends.
    Sequential,
    /// Uniformly at random, with replacement: no map of visited blocks is kept.
    Random,
    /// At random, a few blocks much more often than the rest: the block of
    /// popularity rank *k* is drawn in proportion to *k*^-theta. The popular
    /// blocks are scattered over the span.
    Zipf {
        /// The exponent, in `0.01..=5.0`; 0.99 is the default of YCSB.
        theta: f64,
    },
    /// One block of every `skip_blocks`, pass after pass; defined exactly in
    /// `docs/reference/plan-file.md`.
    Stride {
        /// Blocks from one visited to the next, at least 1: exactly, or on
        /// average.
        skip_blocks: u64,
        /// Every step is as long; else each is drawn, uniformly of 1 to
        /// `2 * skip_blocks - 1`, whose mean is exactly `skip_blocks`.
        #[serde(deserialize_with = "unsaid::flag")]
        fixed: bool,
        /// Every pass begins at the first block; else one block later than the
        /// pass before.
        #[serde(deserialize_with = "unsaid::flag")]
        from_start: bool,
    },
}

/// What the page cache is allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMode {
    /// Through the page cache, as it happens to be.
    Buffered,
    /// Through the page cache, after reading the whole span into it.
    Warm,
    /// Through the page cache, after dropping the span from it.
    Cold,
    /// Past the page cache (`O_DIRECT`).
    Direct,
}

/// When written data is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncMode {
    /// Never: the device or the page cache may still hold it in memory.
    None,
    /// `fdatasync(2)` after each write; the latency covers both.
    Fdatasync,
    /// `fsync(2)` after each write; the latency covers both.
    Fsync,
    /// One `fsync(2)` after the last write; the trial's time covers it.
    AtEnd,
    /// One `fdatasync(2)` after the last write; the trial's time covers it.
    FdatasyncAtEnd,
    /// The file is opened with `O_DSYNC`.
    ODsync,
    /// The file is opened with `O_SYNC`.
    OSync,
}

impl SyncMode {
    /// Whether each write is durable before the next begins.
    pub fn each_write(self) -> bool {
        matches!(
            self,
            Self::Fdatasync | Self::Fsync | Self::ODsync | Self::OSync
        )
    }

    /// Whether all writes are made durable by one call after the last.
    pub fn at_end(self) -> bool {
        matches!(self, Self::AtEnd | Self::FdatasyncAtEnd)
    }
}

/// Where the memory lies that is read into or written from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BufferAlignment {
    /// At whole pages, or what direct I/O needs if that is more.
    #[default]
    Aligned,
    /// One byte behind that: through the page cache the kernel copies from
    /// anywhere, at a price that this shows. Direct I/O cannot do it.
    Unaligned,
}

/// What the program does with the bytes of a block, as part of the operation:
/// after a read, and before a write.
///
/// The kernel moves a block whether or not anybody looks at it. A program that
/// uses its data also pays for bringing it into the processor's caches, and
/// through a memory mapping nothing is read at all before a byte is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Touch {
    /// Nothing.
    #[default]
    None,
    /// The first byte is looked at.
    First,
    /// Every byte is looked at.
    Every,
    /// Each byte passes through a buffer as that of C's `stdio`, by a call of its
    /// own that locks the buffer, as `putc` and `getc` do.
    Character,
    /// The same without a lock, as `putc_unlocked` and `getc_unlocked`.
    CharacterUnlocked,
}

impl Touch {
    /// Whether each byte passes through a buffer by itself.
    pub fn by_character(self) -> bool {
        matches!(self, Self::Character | Self::CharacterUnlocked)
    }
}

/// Content that can be checked: it follows from the position, from a seed, and
/// from how often it was modified. Reads check it, writes and modifications keep
/// it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Values {
    /// The span is filled before the first trial; else it was filled before.
    pub fill: bool,
    /// Of the content; when absent, that of the run.
    pub seed: Option<u64>,
}

/// How the moments are spread at which operations are meant to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// At equal distances.
    Fixed,
    /// At exponentially distributed distances (a Poisson process).
    Poisson,
}

/// An open loop: operations start at intended moments, not when earlier ones
/// end, and latency counts from the intended moment. Without one, the loop is
/// closed: each completion starts the next operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Operations per second over all streams, in `1..=100_000_000`.
    pub operations_per_s: u64,
    /// How the intended moments are spread.
    pub arrivals: Arrivals,
}

/// What ends a trial: the first of these to be reached. With none given the
/// trial gets its share of the run's time budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stop {
    /// Nanoseconds of measuring.
    pub time_ns: Option<u64>,
    /// Bytes read and written, over all streams.
    pub bytes: Option<u64>,
    /// Operations, over all streams.
    pub operations: Option<u64>,
    /// As many operations as the blocks of the span divided by this, rounded
    /// down, over all streams; at least 1. With 64 a trial does 1/64 of the span.
    #[serde(default)]
    pub fraction: Option<u64>,
}

/// Which engine does the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// The best one that works here for this workload; which one it became,
    /// and why not another, is recorded with the trial.
    #[default]
    Auto,
    /// System calls that return when the operation is done; queue depth 1.
    Sync,
    /// Linux `io_uring`.
    IoUring,
    /// The file mapped into memory, and loads and stores; through the page
    /// cache, queue depth 1.
    Mmap,
    /// No I/O at all: what the measuring itself costs.
    Null,
}

/// Whose name the threads of a [`Pool`] do I/O in. A fair I/O scheduler gives
/// turns to I/O contexts (kernel `block/blk-ioc.c`), so it sees one reader or
/// many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoContext {
    /// Each thread has an I/O context of its own, as the threads of a process
    /// have unless it asks otherwise (`CLONE_IO` of `clone(2)`).
    #[default]
    Separate,
    /// All threads share one.
    Shared,
}

/// Threads that serve each stream in turn, as those of a storage server do:
/// each takes the next piece of the same open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// How many serve one stream, at least 1.
    pub threads: u32,
    /// Whose name they do I/O in.
    pub io_context: IoContext,
}

impl Pool {
    /// Whether several threads do I/O in one name.
    pub fn is_shared(self) -> bool {
        self.io_context == IoContext::Shared
    }
}

/// On which file or device of a target the I/O is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// The target itself.
    #[default]
    Target,
    /// A file that is made for it on the filesystem that the target stands on:
    /// the folder of a loop device. Other targets have none.
    File,
}

/// Which I/O to do, and how much of it at once. Pure data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// What is done to each block.
    #[serde(deserialize_with = "unsaid::operation")]
    pub operation: Operation,
    /// In which order blocks are visited.
    #[serde(deserialize_with = "unsaid::pattern")]
    pub pattern: Pattern,
    /// Bytes per operation.
    #[serde(deserialize_with = "unsaid::bytes")]
    pub block_size: u64,
    /// First byte of the span within the target.
    pub offset: u64,
    /// Length in bytes of the part of the target that is used; all the rest of
    /// the target when absent.
    pub span: Option<u64>,
    /// Where the span begins, as a share of the target. When the plan meets its
    /// target, `offset` becomes it, rounded down to whole blocks.
    #[serde(default)]
    pub offset_share: Option<Share>,
    /// The length of the span as a share of the target. When the plan meets its
    /// target, `span` becomes it, rounded down to whole blocks.
    #[serde(default)]
    pub span_share: Option<Share>,
    /// Operations each stream keeps in flight.
    #[serde(deserialize_with = "unsaid::one")]
    pub queue_depth: u32,
    /// Threads, each with its own queue and its own offsets.
    #[serde(deserialize_with = "unsaid::one")]
    pub streams: u32,
    /// What the page cache is allowed to do.
    #[serde(deserialize_with = "unsaid::cache")]
    pub cache: CacheMode,
    /// When written data is made durable.
    #[serde(deserialize_with = "unsaid::sync")]
    pub sync: SyncMode,
    /// Where the memory of the operations lies.
    #[serde(default)]
    pub buffer: BufferAlignment,
    /// The files of a folder, when the operation works on those.
    #[serde(default)]
    pub files: Option<Files>,
    /// What is done with the bytes of a block, within its latency.
    #[serde(default)]
    pub touch: Touch,
    /// Content that is checked; none when absent.
    #[serde(default)]
    pub values: Option<Values>,
    /// An open loop with this rate; a closed loop when absent.
    pub rate: Option<Rate>,
    /// What ends a trial.
    pub stop: Stop,
    /// Which engine does the operations.
    pub engine: EngineChoice,
    /// Wait for completions by polling the device (`IORING_SETUP_IOPOLL`).
    pub iopoll: bool,
    /// Let a kernel thread take the submissions (`IORING_SETUP_SQPOLL`).
    pub sqpoll: bool,
    /// Threads that serve each stream in turn; without them each stream is
    /// served by the thread that measures it.
    #[serde(default)]
    pub pool: Option<Pool>,
    /// What runs beside, from before the trial until its end, again and again,
    /// and is not part of the trial's figures: without a stop rule, and with
    /// nothing beside itself.
    #[serde(default)]
    pub beside: Option<Box<Workload>>,
    /// On what it is done.
    #[serde(default)]
    pub on: On,
    /// Which observers look at the trials.
    #[serde(default)]
    pub observe: Observe,
    /// A copy between two files, of which one is measured; only `diskfacts dd`
    /// makes such a workload.
    #[serde(default)]
    pub copy: Option<Copying>,
}

impl Default for Workload {
    /// 4 KiB uniformly random direct reads, one at a time, over all the target.
    fn default() -> Self {
        Self {
            operation: Operation::Read,
            pattern: Pattern::Random,
            block_size: 4096,
            offset: 0,
            span: None,
            offset_share: None,
            span_share: None,
            queue_depth: 1,
            streams: 1,
            cache: CacheMode::Direct,
            sync: SyncMode::None,
            buffer: BufferAlignment::Aligned,
            files: None,
            touch: Touch::None,
            values: None,
            rate: None,
            stop: Stop::default(),
            engine: EngineChoice::Auto,
            iopoll: false,
            sqpoll: false,
            pool: None,
            beside: None,
            on: On::Target,
            observe: Observe::Auto,
            copy: None,
        }
    }
}

impl Workload {
    /// Whether anything is written to the target, in trials or before them.
    pub fn writes(&self) -> bool {
        self.operation.writes() || self.values.is_some_and(|values| values.fill)
    }

    /// Makes positions that are shares definite, on a target of so many bytes.
    pub fn resolve(&mut self, size: u64) {
        let block = self.block_size.max(1);
        let whole_blocks = |share: Share| share.of(size) / block * block;
        if let Some(share) = self.offset_share {
            self.offset = whole_blocks(share);
        }
        if let Some(share) = self.span_share {
            self.span = Some(whole_blocks(share));
        }
        if let Some(beside) = &mut self.beside {
            beside.resolve(size);
        }
    }

    /// Blocks of the span on a target of so many bytes.
    pub fn blocks_on(&self, size: u64) -> u64 {
        let left = size.saturating_sub(self.offset);
        let span = self.span.map_or(left, |span| span.min(left));
        span.checked_div(self.block_size).unwrap_or(0)
    }

    /// Operations in flight over all streams, when all goes as asked.
    pub fn outstanding(&self) -> u64 {
        u64::from(self.queue_depth) * u64::from(self.streams)
    }

    /// Whether anything is written: by the workload, or by what runs beside it.
    pub fn writes_anything(&self) -> bool {
        let beside = self.beside.as_ref();
        self.writes() || beside.is_some_and(|beside| beside.writes())
    }
}
