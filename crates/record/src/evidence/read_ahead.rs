//! What the kernel's read-ahead decided during a trial, and what became of it.
//!
//! The table is that of Wu Fengguang's read-ahead statistics of 2009 (a patch to
//! Linux 2.6.29, `/sys/kernel/debug/readahead/stats`), with sums where it printed
//! means. Everything is counted in pages of [`ReadAhead::page_bytes`].

use super::Unseen;
use serde::{Deserialize, Serialize};

/// Which rule of the kernel made a decision; in the order of the table of 2009.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadAheadPattern {
    /// Read-ahead is off (`read_ahead_kb` 0): a page at a time.
    None,
    /// The first page of the file is missing: a window is opened.
    Initial0,
    /// A page behind the previous read is missing: a window is opened.
    Initial,
    /// The window of the file is pushed forward.
    Subsequent,
    /// A marked page was reached that is not of the file's window: as large a
    /// window as lies before it is continued.
    Marker,
    /// A page is missing, no window is known, and enough pages before it are in
    /// the page cache: reading in order is taken up again.
    Trail,
    /// A read of more than the limit.
    Oversize,
    /// Backwards.
    Reverse,
    /// In equal steps.
    Stride,
    /// Pages that were read ahead were dropped before they were used.
    Thrash,
    /// A page of a mapped file is missing: those around it are read too.
    Mmap,
    /// A program said what it needs or how it reads (`posix_fadvise(2)`,
    /// `readahead(2)`, `madvise(2)`).
    Fadvise,
    /// A page anywhere is missing: what was asked for is read, and no more.
    Random,
}

impl ReadAheadPattern {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 13] = [
        Self::None,
        Self::Initial0,
        Self::Initial,
        Self::Subsequent,
        Self::Marker,
        Self::Trail,
        Self::Oversize,
        Self::Reverse,
        Self::Stride,
        Self::Thrash,
        Self::Mmap,
        Self::Fadvise,
        Self::Random,
    ];

    /// Its word in the table.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Initial0 => "initial0",
            Self::Initial => "initial",
            Self::Subsequent => "subsequent",
            Self::Marker => "marker",
            Self::Trail => "trail",
            Self::Oversize => "oversize",
            Self::Reverse => "reverse",
            Self::Stride => "stride",
            Self::Thrash => "thrash",
            Self::Mmap => "mmap",
            Self::Fadvise => "fadvise",
            Self::Random => "random",
        }
    }

    /// Whether the window goes on where another one ended.
    pub fn continues(self) -> bool {
        matches!(self, Self::Subsequent | Self::Marker)
    }

    /// Whether a window is set up for reading in order, as large as the kernel
    /// chose: not what was asked for and no more.
    pub fn in_order(self) -> bool {
        matches!(
            self,
            Self::Initial0 | Self::Initial | Self::Subsequent | Self::Marker | Self::Trail
        )
    }
}

/// Sums over the decisions of one row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadAheadCounts {
    /// Decisions.
    pub count: u64,
    /// Of these, those whose window holds the page that was asked for, and that
    /// read something: somebody waits for it.
    pub sync_count: u64,
    /// Of these, those that read less than the window because the file ends in
    /// it; `None` when the length of no file was known.
    pub eof_count: Option<u64>,
    /// Pages of the windows.
    pub size_pages: u64,
    /// Of these, pages behind the mark that starts the next window.
    pub async_pages: u64,
    /// Pages that entered the page cache: those that were not there.
    pub actual_pages: u64,
}

impl ReadAheadCounts {
    /// These and those of another row. A count of ends is known when either is.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let ends = [self.eof_count, other.eof_count];
        let known = ends.iter().any(Option::is_some);
        Self {
            count: self.count + other.count,
            sync_count: self.sync_count + other.sync_count,
            eof_count: known.then(|| ends.into_iter().flatten().sum()),
            size_pages: self.size_pages + other.size_pages,
            async_pages: self.async_pages + other.async_pages,
            actual_pages: self.actual_pages + other.actual_pages,
        }
    }

    /// A sum as the table shows it: its mean, rounded down; 0 without decisions.
    pub fn mean(&self, sum_pages: u64) -> u64 {
        sum_pages.checked_div(self.count).unwrap_or(0)
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAheadRow {
    /// Which.
    pub pattern: ReadAheadPattern,
    /// Its sums.
    #[serde(flatten)]
    pub counts: ReadAheadCounts,
}

/// How many windows of reading in order were so large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowSize {
    /// Pages.
    pub pages: u64,
    /// Windows.
    pub count: u64,
}

/// What became of the pages that read-ahead brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadAheadPages {
    /// Pages that entered the page cache by decisions of the table.
    pub added: u64,
    /// Of these, pages that were asked for before they left the page cache and
    /// before the watching ended.
    pub used: u64,
    /// Of `used`, pages that were only mapped along with a neighbour that was
    /// touched: whether a program looked at them is not told.
    pub mapped_only: u64,
    /// Pages that left the page cache before anybody asked for them.
    pub dropped_unused: u64,
    /// Pages that nobody had asked for when the watching ended.
    pub left_unused: u64,
}

impl ReadAheadPages {
    /// Pages that nobody asked for.
    pub fn unused(&self) -> u64 {
        self.dropped_unused + self.left_unused
    }
}

/// The part of a file in the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAheadFile {
    /// Its name; empty when it could not be told.
    pub name: String,
    /// Device that it lies on, `major:minor`.
    pub device: String,
    /// Its number there.
    pub inode: u64,
    /// Rows that have decisions, in the order of the table.
    pub rows: Vec<ReadAheadRow>,
    /// All of them together, with the undecided.
    pub all: ReadAheadCounts,
    /// Decisions that found the file's window taken by another stream.
    pub broken: u64,
}

/// The part of a thread in the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAheadThread {
    /// Its name; empty when it could not be told.
    pub name: String,
    /// Its number.
    pub thread: u32,
    /// Rows that have decisions, in the order of the table.
    pub rows: Vec<ReadAheadRow>,
    /// All of them together, with the undecided.
    pub all: ReadAheadCounts,
    /// Decisions that found the file's window taken by another stream.
    pub broken: u64,
}

/// What read-ahead decided, from the kernel's trace events.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadAhead {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// The rows of the table, each once, but for those of `not_told`.
    pub rows: Vec<ReadAheadRow>,
    /// All decisions, the undecided among them.
    pub all: ReadAheadCounts,
    /// Rows that cannot be filled, and why.
    pub not_told: Vec<Unseen>,
    /// Decisions of which it cannot be told whether they are `subsequent` or
    /// `marker`: the window that they go on from was set up before the watching
    /// began, or by what was not seen.
    pub undecided: u64,
    /// Marked pages that were reached and started nothing: the next pages were
    /// there already, or the device was congested.
    pub without_window: u64,
    /// The limit that the last decision found (`read_ahead_kb` of the device, or
    /// what the file was told), pages.
    pub limit_pages: Option<u64>,
    /// Windows of reading in order by size, smallest first.
    pub sizes: Vec<WindowSize>,
    /// What became of the pages.
    pub pages: ReadAheadPages,
    /// Decisions that went on in order, and found the file's window taken by
    /// another stream that reads through the same descriptor.
    pub broken: u64,
    /// Descriptors that several streams read through.
    pub shared_descriptors: u64,
    /// Decisions that went on in order through another descriptor, which knows
    /// nothing of the stream's window.
    pub scattered: u64,
    /// Decisions for a missing page where a stream went on in order, and its
    /// window was its own: the mark should have brought it, or it was dropped
    /// before it was used.
    pub late: u64,
    /// Nanoseconds from such decisions, and all others that somebody waited for,
    /// until the first page was there; `None` when there was no clock.
    pub sync_wait_ns: Option<u64>,
    /// By file, most pages first; empty when a single file was watched.
    #[serde(default)]
    pub files: Vec<ReadAheadFile>,
    /// By thread, most pages first; empty when there was a single one.
    #[serde(default)]
    pub threads: Vec<ReadAheadThread>,
    /// What the watching itself did; absent of simulated hosts.
    #[serde(default)]
    pub cost: Option<ReadAheadCost>,
}

/// What it took to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadAheadCost {
    /// Events that the kernel wrote and that were read.
    pub events: u64,
    /// Events that the kernel dropped because its buffers were full: the table
    /// then lacks decisions, and pages count as not used that were.
    pub lost: u64,
    /// Processor time that reading and sorting them took, nanoseconds; what the
    /// kernel took to write them is not in it. Absent when it is unknown.
    pub cpu_ns: Option<u64>,
}

impl ReadAhead {
    /// A row of the table; zeros when there were no decisions of it.
    pub fn row(&self, pattern: ReadAheadPattern) -> ReadAheadCounts {
        let row = self.rows.iter().find(|row| row.pattern == pattern);
        row.map_or_else(ReadAheadCounts::default, |row| row.counts)
    }

    /// Windows that go on where another ended, and how many of these are as large
    /// as the limit lets them be. The kernel ends a window where a large page
    /// ends, so a tenth below the limit counts as the limit
    /// (`page_cache_async_ra`, mm/readahead.c of Linux 6.18).
    pub fn at_limit(&self) -> Option<u64> {
        let limit = self.limit_pages?;
        let large = self
            .sizes
            .iter()
            .filter(|size| size.pages * 10 >= limit * 9);
        Some(large.map(|size| size.count).sum())
    }

    /// Windows of reading in order.
    pub fn windows(&self) -> u64 {
        self.sizes.iter().map(|size| size.count).sum()
    }
}
