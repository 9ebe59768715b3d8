//! Dirty pages: how they come about, when they are written, and who waits.

use super::machine::{Host, pages_of};
use super::page_cache::PAGE;
use super::waiters::{HostIo, Next, Purpose};
use crate::completion::Layer;
use crate::device::{Device, Extent};
use crate::request::Request;

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
    pub(super) fn clean_for(&mut self, now_ns: u64, waiter: usize, first: u64, end: u64) {
        let mut count = 0;
        let wanted = first.saturating_mul(PAGE)..end.saturating_mul(PAGE);
        for &io in &self.cleaning {
            let io = self.io.get(io);
            if io.extent.start < wanted.end && wanted.start < io.extent.end {
                io.waiters.push(waiter);
                count += 1;
            }
        }
        let mut at = first;
        while let Some((from, to)) = self.next_to_clean(at)
            && from < end
        {
            let io = self.clean(now_ns, from, to.min(end));
            self.io.get(io).waiters.push(waiter);
            count += 1;
            at = to.min(end);
        }
        let own = self.waiters.get(waiter);
        own.since_ns = now_ns;
        own.remaining = count;
        if count == 0 {
            self.go_on(now_ns, waiter);
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
