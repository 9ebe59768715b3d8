//! Limits that a host's block layer sets by itself, besides the depth of the
//! device: how large a request may be, how many it holds, and at which rate a
//! control group may send. Without any it behaves as without this file.

/// What the block layer limits. By default nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockLimits {
    /// What is larger than the largest request is cut into pieces of that size,
    /// and is done when all of them are (`bio_split_rw`, block/blk-merge.c;
    /// `max_sectors_kb`). Without it a program's request goes down whole,
    /// however large: the figures of the documents were taken so.
    pub splits: bool,
    /// Requests that it holds, queued or sent, at least 1; more wait before they
    /// are requests, and no counter shows them (`blk_mq_get_tag`,
    /// block/blk-mq-tag.c; `nr_requests`). Absent: any number.
    pub requests: Option<usize>,
    /// Neighbours are not joined to one request (`blk_attempt_plug_merge`,
    /// block/blk-merge.c; `nomerges` = 2).
    pub no_merges: bool,
    /// At which rate.
    pub rates: RateLimits,
}

/// The rates at which a control group may send (cgroup v2, `io.max`,
/// Documentation/admin-guide/cgroup-v2.rst). Each at least 1; absent where there
/// is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateLimits {
    /// Bytes read in a second (`rbps`).
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written in a second (`wbps`).
    pub write_bytes_per_s: Option<u64>,
    /// Reads in a second (`riops`).
    pub reads_per_s: Option<u64>,
    /// Writes in a second (`wiops`).
    pub writes_per_s: Option<u64>,
}

impl RateLimits {
    /// Whether there is any.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// The journal of a filesystem whose file is measured, as jbd2 keeps it
/// (`jbd2_journal_commit_transaction`, fs/jbd2/commit.c): a sync first writes the
/// blocks of its transaction, then flushes, then writes the block that commits
/// them, and flushes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalParameters {
    /// Blocks of a transaction, bytes: a descriptor and what it describes.
    pub transaction: u64,
    /// First byte of the journal on the device.
    pub start: u64,
    /// Its size, bytes, at least a transaction and a page: what comes to its end
    /// goes on at its start.
    pub len: u64,
}
