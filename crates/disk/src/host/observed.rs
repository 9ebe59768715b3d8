//! What can be seen of a host from outside: what its page cache holds, what
//! went between it and the device, and where what programs read had come from.

use super::limits::{BlockLimits, JournalParameters};
use super::machine::{Host, pages_of};
use super::page_cache::PAGE;
use super::parameters::HostParameters;
use crate::device::{Device, Extent};
use crate::request::Request;
use crate::statistics::Statistics;

/// Bytes that programs moved through the page cache, and that it moved, since
/// the host was made. Counted in whole pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageTraffic {
    /// Read from the device into pages, asked for or ahead.
    pub filled_bytes: u64,
    /// Clean or missing pages that programs wrote to.
    pub dirtied_bytes: u64,
    /// Dirty pages that were dropped before they were written.
    pub cancelled_bytes: u64,
    /// Of what programs read: fetched from the medium since the last
    /// [`Host::begin_window`], and read for the first time.
    pub read_from_media_bytes: u64,
    /// The same from the drive's memory. The rest of what they read was in
    /// the page cache.
    pub read_from_drive_bytes: u64,
    /// Dirtied since the last [`Host::begin_window`], and then sent to the
    /// device.
    pub written_back_bytes: u64,
    /// Times that the journal was written.
    pub journal_commits: u64,
    /// Bytes of these.
    pub journal_bytes: u64,
}

impl Host {
    /// The same host, whose block layer has limits; before it is used.
    #[must_use]
    pub fn with_limits(mut self, limits: BlockLimits) -> Self {
        self.queue.set_limits(limits);
        self
    }

    /// The same host, whose file lies on a filesystem with a journal.
    #[must_use]
    pub fn with_journal(mut self, journal: JournalParameters) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Whether its file lies on a filesystem with a journal.
    pub fn has_journal(&self) -> bool {
        self.journal.is_some()
    }

    /// The blocks of a transaction go to the journal.
    pub(super) fn send_transaction(&mut self, now_ns: u64, waiter: usize) {
        let blocks = self.journal.map_or(0, |journal| journal.transaction);
        self.traffic.journal_commits += 1;
        self.send_journal(now_ns, waiter, blocks.max(PAGE));
    }

    /// So many bytes are written where the journal goes on.
    pub(super) fn send_journal(&mut self, now_ns: u64, waiter: usize, bytes: u64) {
        let Some(journal) = self.journal else {
            return self.go_on(now_ns, waiter);
        };
        let bytes = bytes.next_multiple_of(PAGE);
        if self.journal_at + bytes > journal.len {
            self.journal_at = 0;
        }
        let offset = journal.start + self.journal_at;
        self.journal_at += bytes;
        self.traffic.journal_bytes += bytes;
        self.send_own(now_ns, waiter, &Request::write(0, offset, bytes));
    }

    /// The same host, which does not flush the device's write cache when it is
    /// told to sync: the device has said that its cache keeps everything
    /// (Linux, `blk_insert_flush` in block/blk-flush.c), or the host was told
    /// to leave it (the mount option `nobarrier`).
    #[must_use]
    pub fn without_flushes(mut self) -> Self {
        self.flushes_device = false;
        self
    }

    /// What went by so far, but for what is counted apart.
    pub fn traffic(&self) -> PageTraffic {
        self.traffic
    }

    /// From now on, what the streams from this one on cause is counted apart, as
    /// far as it can be told whose it is: which pages are written back or dropped
    /// is not told by who dirtied them.
    pub fn count_apart(&mut self, first_stream: u32) {
        self.traffic_apart = Some((first_stream, PageTraffic::default()));
    }

    /// What was counted apart since [`count_apart`](Self::count_apart).
    pub fn traffic_apart(&self) -> PageTraffic {
        self.traffic_apart
            .map_or_else(PageTraffic::default, |(_, traffic)| traffic)
    }

    /// Where the traffic of a request is counted.
    pub(super) fn traffic_of(&mut self, request: &Request) -> &mut PageTraffic {
        match &mut self.traffic_apart {
            Some((first_stream, traffic)) if request.stream >= *first_stream => traffic,
            _ => &mut self.traffic,
        }
    }

    /// What is in the page cache now counts as old: reading it is served by
    /// memory, and its dirty pages belong to somebody else.
    pub fn begin_window(&mut self) {
        self.cache.clear_marks();
        self.forget_told();
    }

    /// Bytes of a range that are in the page cache, and those of them that are
    /// dirty, as `cachestat(2)` tells.
    pub fn resident(&self, range: Extent) -> (u64, u64) {
        let (first, end) = (range.start / PAGE, range.end.div_ceil(PAGE));
        let (cached, dirty) = self.cache.count(first, end);
        (
            (cached * PAGE).min(range.len()),
            (dirty * PAGE).min(range.len()),
        )
    }

    /// Bytes of all pages that are dirty or being written.
    pub fn dirty_bytes(&self) -> u64 {
        self.dirty_bytes + self.cleaning_bytes
    }

    /// How the host was made.
    pub fn parameters(&self) -> &HostParameters {
        &self.parameters
    }

    /// Drops the clean pages of a range, as `posix_fadvise(2)` with
    /// `POSIX_FADV_DONTNEED` does.
    pub fn forget(&mut self, range: Extent) {
        self.cache
            .forget_clean(range.start.div_ceil(PAGE), range.end.div_ceil(PAGE));
    }

    /// The counters of the block layer, those that iostat shows.
    pub fn block_statistics(&self, now_ns: u64) -> Statistics {
        self.queue.statistics(now_ns)
    }

    /// Acknowledged writes in the device that a power cut would lose.
    pub fn device_volatile(&self) -> Vec<Extent> {
        self.queue.volatile()
    }

    /// A program copies what it read from pages.
    pub(super) fn count_copy(&mut self, request: &Request) {
        let (first, end) = pages_of(request);
        let fresh = self.cache.taken(first, end);
        if let Some(decisions) = &mut self.decisions {
            decisions.count_used(fresh.media + fresh.drive);
        }
        let media = (fresh.media * PAGE).min(request.len);
        let traffic = self.traffic_of(request);
        traffic.read_from_media_bytes += media;
        traffic.read_from_drive_bytes += (fresh.drive * PAGE).min(request.len - media);
    }
}
