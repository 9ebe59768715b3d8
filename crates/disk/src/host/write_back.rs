//! Dirty pages: how they come about, when they are written, and who waits.

use super::machine::{Host, pages_of};
use super::page_cache::PAGE;
use super::waiters::{HostIo, Next, Purpose};
use crate::completion::Layer;
use crate::device::{Device, Extent};
use crate::request::Request;
use std::collections::VecDeque;

/// A request that waits until pages are on the device, of which some are not sent.
#[derive(Debug, Clone)]
pub(super) struct Sync {
    waiter: usize,
    /// Pages that it is about, the first and one past the last.
    first: u64,
    end: u64,
    /// Pages that were dirty when it began and are not sent, the first and one
    /// past the last of each run.
    runs: VecDeque<(u64, u64)>,
}

impl Host {
    /// A program's data goes to pages, unless too many are dirty.
    pub(super) fn write_pages(&mut self, now_ns: u64, index: usize) {
        let request = self.waiters.get(index).request;
        let dirty = self.dirty_bytes + self.cleaning_bytes;
        if dirty > 0 && dirty + request.len > self.parameters.dirty_limit {
            self.waiters.get(index).since_ns = now_ns;
            self.throttled.push_back(index);
            self.is_writing_back = true;
            self.write_back(now_ns);
            return;
        }
        let (first, end) = pages_of(&request);
        let dirtied = self.cache.written(first, end) * PAGE;
        self.dirty_bytes += dirtied;
        self.traffic_of(&request).dirtied_bytes += dirtied;
        self.dirty_since_ns.get_or_insert(now_ns);
        let rate = self.parameters.filesystem_write_bytes_per_s;
        let host_ns = self.host_ns(now_ns, request.len, rate);
        let waiter = self.waiters.get(index);
        waiter.breakdown.host_ns += host_ns;
        if request.flags.fua || request.flags.preflush {
            waiter.next = Next::Journal;
            self.clean_for(now_ns, index, first, end);
        } else {
            self.complete(index);
        }
        if self.dirty_bytes > self.parameters.dirty_background {
            self.is_writing_back = true;
        }
        self.write_back(now_ns);
    }

    /// Makes a waiter wait until pages `first..end` are on the device, those
    /// that are dirty now and those that are being written already.
    ///
    /// No more than [`write_back_depth`](crate::host::HostParameters) of them are
    /// under way at a time: who syncs waits for a free request like every writer
    /// (`blk_mq_get_tag`, block/blk-mq-tag.c; `nr_requests`).
    pub(super) fn clean_for(&mut self, now_ns: u64, waiter: usize, first: u64, end: u64) {
        // What is dirty now, as the kernel marks it (`tag_pages_for_writeback`,
        // mm/page-writeback.c): what is dirtied from now on belongs to no sync.
        let mut runs = VecDeque::new();
        let mut at = first;
        while let Some((from, to)) = self.next_to_clean(at)
            && from < end
        {
            at = to.min(end);
            runs.push_back((from, at));
        }
        let own = self.waiters.get(waiter);
        own.since_ns = now_ns;
        // One for what is not sent yet.
        own.remaining = 1;
        let sync = Sync {
            waiter,
            first,
            end,
            runs,
        };
        if let Some(sync) = self.send(now_ns, sync) {
            self.syncs.push_back(sync);
        }
    }

    /// Sends what syncs wait for, as far as there is room.
    pub(super) fn go_on_syncing(&mut self, now_ns: u64) {
        for _ in 0..self.syncs.len() {
            let Some(sync) = self.syncs.pop_front() else {
                return;
            };
            if let Some(sync) = self.send(now_ns, sync) {
                self.syncs.push_front(sync);
                return;
            }
        }
    }

    /// Sends what a sync waits for; gives it back when there is no room for more.
    fn send(&mut self, now_ns: u64, mut sync: Sync) -> Option<Sync> {
        while let Some((from, to)) = sync.runs.pop_front() {
            // Somebody else may have sent some of it.
            let Some((from, dirty_to)) = self.next_to_clean(from).filter(|run| run.0 < to) else {
                continue;
            };
            if self.cleaning.len() >= self.parameters.write_back_depth {
                sync.runs.push_front((from, to));
                return Some(sync);
            }
            let sent_to = dirty_to.min(to);
            let io = self.clean(now_ns, from, sent_to);
            self.io.get(io).waiters.push(sync.waiter);
            self.waiters.get(sync.waiter).remaining += 1;
            if sent_to < to {
                sync.runs.push_front((sent_to, to));
            }
        }
        self.all_sent(now_ns, &sync);
        None
    }

    /// All that a sync waits for is under way; what others have sent of it counts.
    fn all_sent(&mut self, now_ns: u64, sync: &Sync) {
        let wanted = sync.first.saturating_mul(PAGE)..sync.end.saturating_mul(PAGE);
        for &io in &self.cleaning {
            let io = self.io.get(io);
            if io.extent.start < wanted.end
                && wanted.start < io.extent.end
                && !io.waiters.contains(&sync.waiter)
            {
                io.waiters.push(sync.waiter);
                self.waiters.get(sync.waiter).remaining += 1;
            }
        }
        let waiter = self.waiters.get(sync.waiter);
        waiter.remaining -= 1;
        if waiter.remaining == 0 {
            // What it waited for, if anything, was written by others.
            waiter.breakdown.queue_ns += now_ns - waiter.since_ns;
            waiter.since_ns = now_ns;
            self.go_on(now_ns, sync.waiter);
        }
    }

    fn next_to_clean(&self, page: u64) -> Option<(u64, u64)> {
        let pages_max = (self.parameters.block.max_request / PAGE).max(1);
        self.cache.next_dirty(page, pages_max)
    }

    /// Writes dirty pages to the device; gives the I/O.
    fn clean(&mut self, now_ns: u64, first: u64, end: u64) -> usize {
        self.traffic.written_back_bytes += self.cache.cleaned(first, end) * PAGE;
        let bytes = (end - first) * PAGE;
        self.dirty_bytes -= bytes;
        self.cleaning_bytes += bytes;
        if self.dirty_bytes == 0 {
            self.dirty_since_ns = None;
        }
        let extent = Extent {
            start: first * PAGE,
            end: (end * PAGE).min(self.queue.capacity()),
        };
        let io = self.io.add(HostIo {
            purpose: Purpose::Clean,
            extent,
            waiters: Vec::new(),
        });
        self.cleaning.push(io);
        let request = Request::write(io as u64, extent.start, extent.len()).of_stream(u32::MAX);
        self.queue.submit(now_ns, &request);
        io
    }

    /// Keeps write-back going while there is a reason for it.
    pub(super) fn write_back(&mut self, now_ns: u64) {
        while self.is_writing_back && self.cleaning.len() < self.parameters.write_back_depth {
            let is_expired = self.expires_ns().is_some_and(|due_ns| due_ns <= now_ns);
            let is_wanted = is_expired
                || !self.throttled.is_empty()
                || self.dirty_bytes > self.parameters.dirty_background;
            let next = self
                .next_to_clean(self.cursor)
                .or_else(|| self.next_to_clean(0));
            let Some((first, end)) = next.filter(|_| is_wanted) else {
                self.is_writing_back = false;
                break;
            };
            self.clean(now_ns, first, end);
            self.cursor = end;
        }
        if self.dirty_bytes == 0 {
            self.dirty_since_ns = None;
            self.is_writing_back = false;
        }
    }

    pub(super) fn expires_ns(&self) -> Option<u64> {
        self.dirty_since_ns
            .map(|since_ns| since_ns.saturating_add(self.parameters.dirty_expire_ns))
    }

    pub(super) fn wake_throttled(&mut self, now_ns: u64) {
        while let Some(&index) = self.throttled.front() {
            let len = self.waiters.get(index).request.len;
            let dirty = self.dirty_bytes + self.cleaning_bytes;
            if dirty > 0 && dirty + len > self.parameters.dirty_limit {
                return;
            }
            self.throttled.pop_front();
            let waiter = self.waiters.get(index);
            waiter.breakdown.cache_wait_ns += now_ns - waiter.since_ns;
            waiter.breakdown.layer = waiter.breakdown.layer.max(Layer::PageCache);
            self.write_pages(now_ns, index);
        }
    }
}
