//! The host as a device: what programs ask of it, buffered or direct.

use super::block_queue::BlockQueue;
use super::limits::JournalParameters;
use super::observed::PageTraffic;
use super::page_cache::{PAGE, Page, PageCache};
use super::parameters::HostParameters;
use super::read_ahead::{Pages, Window};
use super::told::Decisions;
use super::waiters::{HostIo, Next, Purpose, Slab, Waiter};
use super::write_back::Sync;
use crate::completion::{Breakdown, Completion, IoError, Layer};
use crate::device::{self, Device, Extent};
use crate::fixed;
use crate::relay::{Relay, earlier};
use crate::request::{Kind, Request};
use crate::statistics::Statistics;
use std::collections::{BTreeMap, VecDeque};

/// A host above a device.
///
/// A buffered read waits for pages that are missing and copies them; a
/// buffered write copies and returns, unless too much is dirty; a buffered
/// flush is an fsync of everything, a buffered write with `fua` one to a file
/// opened with `O_DSYNC`. Direct requests go to the block layer, once what
/// they would pass by in the page cache is written.
///
/// Simplified: all requests are to one file, programs do not compete for the
/// processor, and one copy of a filesystem's limit is shared by all.
pub struct Host {
    pub(super) parameters: HostParameters,
    pub(super) queue: BlockQueue,
    pub(super) cache: PageCache,
    pub(super) windows: BTreeMap<u32, Window>,
    /// Whether all streams share one window.
    pub(super) one_descriptor: bool,
    /// What read-ahead decided, when somebody asked to be told.
    pub(super) decisions: Option<Decisions>,
    pub(super) waiters: Slab<Waiter>,
    pub(super) io: Slab<HostIo>,
    /// I/Os that fill pages, by their first page.
    filling: BTreeMap<u64, usize>,
    /// I/Os that clean pages, in order.
    pub(super) cleaning: Vec<usize>,
    pub(super) dirty_bytes: u64,
    pub(super) cleaning_bytes: u64,
    /// Where write-back goes on, page number.
    pub(super) cursor: u64,
    /// Since when something is dirty, ns.
    pub(super) dirty_since_ns: Option<u64>,
    pub(super) is_writing_back: bool,
    /// Requests that wait for write-back, in their order, of which some is not sent.
    pub(super) syncs: VecDeque<Sync>,
    /// Writes that wait until less is dirty.
    pub(super) throttled: VecDeque<usize>,
    filesystem_free_ns: u64,
    /// Whether an fsync, or a direct flush, flushes the device.
    pub(super) flushes_device: bool,
    /// The journal of the filesystem, where one is kept as jbd2 does it.
    pub(super) journal: Option<JournalParameters>,
    /// Where its next transaction goes, from its start, bytes.
    pub(super) journal_at: u64,
    pub(super) traffic: PageTraffic,
    /// The same of the streams from this one on, if they are counted apart.
    pub(super) traffic_apart: Option<(u32, PageTraffic)>,
    relay: Relay,
    arrived: Vec<Completion>,
}

impl Host {
    /// A host with empty memory above `inner`.
    pub fn new(parameters: HostParameters, inner: Box<dyn Device>) -> Self {
        Self {
            queue: BlockQueue::new(parameters.block, inner),
            cache: PageCache::new(parameters.memory),
            parameters,
            windows: BTreeMap::new(),
            one_descriptor: false,
            decisions: None,
            waiters: Slab::default(),
            io: Slab::default(),
            filling: BTreeMap::new(),
            cleaning: Vec::new(),
            dirty_bytes: 0,
            cleaning_bytes: 0,
            cursor: 0,
            dirty_since_ns: None,
            is_writing_back: false,
            syncs: VecDeque::new(),
            throttled: VecDeque::new(),
            filesystem_free_ns: 0,
            flushes_device: true,
            journal: None,
            journal_at: 0,
            traffic: PageTraffic::default(),
            traffic_apart: None,
            relay: Relay::default(),
            arrived: Vec::new(),
        }
    }

    /// What was read ahead for whom says nothing of what comes next.
    pub(super) fn forget_windows(&mut self) {
        self.windows.clear();
    }

    fn wait(&mut self, now_ns: u64, request: &Request, next: Next) -> usize {
        self.waiters.add(Waiter {
            request: *request,
            submitted_ns: now_ns,
            since_ns: now_ns,
            breakdown: Breakdown::nothing(),
            remaining: 0,
            next,
            error: None,
        })
    }

    fn begin(&mut self, now_ns: u64, request: &Request) {
        let (first, end) = pages_of(request);
        match request.kind {
            Kind::Flush if request.flags.direct && self.journal.is_none() => {
                let waiter = self.wait(now_ns, request, Next::Flush);
                self.go_on(now_ns, waiter);
            }
            Kind::Flush => {
                let waiter = self.wait(now_ns, request, Next::Journal);
                self.clean_for(now_ns, waiter, 0, u64::MAX);
            }
            Kind::Read | Kind::Write | Kind::Trim
                if request.flags.direct || request.kind == Kind::Trim =>
            {
                let waiter = self.wait(now_ns, request, Next::Direct);
                if request.kind == Kind::Read {
                    self.clean_for(now_ns, waiter, first, end);
                } else {
                    self.drop_pages(request);
                    self.go_on(now_ns, waiter);
                }
            }
            Kind::Read => {
                let waiter = self.wait(now_ns, request, Next::Copy);
                self.read_buffered(now_ns, waiter, first, end);
            }
            Kind::Write | Kind::Trim => {
                let waiter = self.wait(now_ns, request, Next::Write);
                self.fill_partial_pages(now_ns, waiter);
            }
        }
    }

    /// Pages that a direct write or a trim makes untrue.
    fn drop_pages(&mut self, request: &Request) {
        let (first, end) = pages_of(request);
        let dropped = self.cache.dropped(first, end) * PAGE;
        self.dirty_bytes -= dropped;
        self.traffic.cancelled_bytes += dropped;
        if self.dirty_bytes == 0 {
            self.dirty_since_ns = None;
        }
    }

    fn read_buffered(&mut self, now_ns: u64, waiter: usize, first: u64, end: u64) {
        let request = self.waiters.get(waiter).request;
        let pages_max = self.parameters.read_ahead / PAGE;
        let missing = (first..end).find(|page| self.cache.look(*page) == Page::Missing);
        let window = self.windows.entry(self.window_of(request.stream));
        let window = window.or_default();
        let wanted = match missing {
            Some(page) => Some(window.missed(page, end, pages_max)),
            None => window.reached(first, end, pages_max),
        };
        let read = wanted.map(|pages| (pages, self.fill(now_ns, &request, pages)));
        let asked = Pages {
            first: missing.unwrap_or(first),
            end,
        };
        self.tell_decision(&request, asked, read, missing.is_some());
        self.wait_for_pages(now_ns, waiter, first, end);
    }

    /// Reads what of `pages` is neither there nor on its way, for a request; how
    /// many bytes that is.
    fn fill(&mut self, now_ns: u64, wanted_by: &Request, pages: Pages) -> u64 {
        let mut bytes = 0;
        let pages_max = (self.parameters.block.max_request / PAGE).max(1);
        let capacity = self.queue.capacity();
        let end = pages.end.min(capacity.div_ceil(PAGE));
        let mut at = pages.first;
        while at < end {
            if self.cache.look(at) != Page::Missing {
                at += 1;
                continue;
            }
            let first = at;
            while at < end && at - first < pages_max && self.cache.look(at) == Page::Missing {
                at += 1;
            }
            self.cache.read_begins(first, at);
            let extent = Extent {
                start: first * PAGE,
                end: (at * PAGE).min(capacity),
            };
            let io = self.io.add(HostIo {
                purpose: Purpose::Fill,
                extent,
                waiters: Vec::new(),
            });
            self.filling.insert(first, io);
            let request = Request::read(io as u64, extent.start, extent.len())
                .of_stream(wanted_by.stream)
                .in_context(wanted_by.context);
            self.traffic_of(wanted_by).filled_bytes += extent.len();
            bytes += extent.len();
            self.queue.submit(now_ns, &request);
        }
        bytes
    }

    /// Makes a waiter wait for every I/O that fills one of its pages.
    fn wait_for_pages(&mut self, now_ns: u64, waiter: usize, first: u64, end: u64) {
        if self.filling.is_empty() {
            self.waiters.get(waiter).remaining = 0;
            self.go_on(now_ns, waiter);
            return;
        }
        let mut count = 0;
        let before = self.filling.range(..first).next_back();
        let ios: Vec<usize> = before
            .into_iter()
            .chain(self.filling.range(first..end))
            .map(|(_, io)| *io)
            .collect();
        for io in ios {
            let io = self.io.get(io);
            if io.extent.end > first * PAGE {
                io.waiters.push(waiter);
                count += 1;
            }
        }
        self.waiters.get(waiter).remaining = count;
        if count == 0 {
            self.go_on(now_ns, waiter);
        }
    }

    /// A write that does not cover its first or last page needs the rest of it.
    fn fill_partial_pages(&mut self, now_ns: u64, waiter: usize) {
        let request = self.waiters.get(waiter).request;
        let (first, end) = pages_of(&request);
        let partial_first = !request.offset.is_multiple_of(PAGE);
        let partial_last = !request.end().is_multiple_of(PAGE);
        for (page, is_partial) in [(first, partial_first), (end - 1, partial_last)] {
            if is_partial && self.cache.look(page) == Page::Missing {
                let pages = Pages {
                    first: page,
                    end: page + 1,
                };
                self.fill(now_ns, &request, pages);
            }
        }
        self.wait_for_pages(now_ns, waiter, first, end);
    }

    /// What a waiter waited for is done.
    pub(super) fn go_on(&mut self, now_ns: u64, index: usize) {
        let waiter = self.waiters.get(index);
        if waiter.error.is_some() {
            self.complete(index);
            return;
        }
        let request = waiter.request;
        match waiter.next {
            Next::Copy => {
                let rate = self.parameters.filesystem_read_bytes_per_s;
                let host_ns = self.host_ns(now_ns, request.len, rate);
                self.waiters.get(index).breakdown.host_ns += host_ns;
                self.count_copy(&request);
                self.complete(index);
            }
            Next::Write => self.write_pages(now_ns, index),
            Next::Journal if self.journal.is_some() => {
                self.waiters.get(index).next = Next::Commit;
                self.send_transaction(now_ns, index);
            }
            Next::Commit => {
                self.waiters.get(index).next = Next::CommitBlock;
                if self.flushes_device {
                    self.send_own(now_ns, index, &Request::flush(0));
                } else {
                    self.go_on(now_ns, index);
                }
            }
            Next::CommitBlock => {
                self.waiters.get(index).next = Next::Flush;
                self.send_journal(now_ns, index, PAGE);
            }
            Next::Journal if self.parameters.journal_bytes > 0 => {
                self.waiters.get(index).next = Next::Flush;
                // At the end of the device, where no data of the run is.
                let len = self.parameters.journal_bytes.next_multiple_of(PAGE);
                let capacity = self.queue.capacity();
                let offset = (capacity / PAGE * PAGE).saturating_sub(len);
                let journal = Request::write(0, offset, len.min(capacity - offset));
                let traffic = self.traffic_of(&request);
                traffic.journal_commits += 1;
                traffic.journal_bytes += journal.len;
                self.send_own(now_ns, index, &journal);
            }
            Next::Journal | Next::Flush if self.flushes_device => {
                self.waiters.get(index).next = Next::Done;
                let own = request.kind == Kind::Flush && request.flags.direct;
                let flush = if own { request } else { Request::flush(0) };
                self.send_own(now_ns, index, &flush);
            }
            Next::Journal | Next::Flush => {
                self.waiters.get(index).breakdown.host_ns += self.parameters.call_ns;
                self.complete(index);
            }
            Next::Direct => {
                let waiter = self.waiters.get(index);
                waiter.next = Next::Done;
                waiter.breakdown.host_ns += self.parameters.call_ns;
                self.send_own(now_ns, index, &request);
            }
            Next::Done => self.complete(index),
        }
    }

    /// An I/O for one waiter.
    pub(super) fn send_own(&mut self, now_ns: u64, waiter: usize, request: &Request) {
        let own = self.waiters.get(waiter);
        own.since_ns = now_ns;
        own.remaining = 1;
        let io = self.io.add(HostIo {
            purpose: Purpose::Own,
            extent: Extent { start: 0, end: 0 },
            waiters: vec![waiter],
        });
        let mut below = *request;
        below.tag = io as u64;
        self.queue.submit(now_ns, &below);
    }

    pub(super) fn complete(&mut self, index: usize) {
        let waiter = self.waiters.remove(index);
        self.relay.answer(
            &waiter.request,
            waiter.submitted_ns,
            waiter.breakdown,
            waiter.error.map_or(Ok(()), Err),
        );
    }

    /// The host's own time for a buffered transfer, ns.
    pub(super) fn host_ns(&mut self, now_ns: u64, bytes: u64, filesystem_bytes_per_s: u64) -> u64 {
        let parameters = &self.parameters;
        let rate = if bytes <= parameters.near_bytes {
            parameters.copy_bytes_per_s
        } else {
            parameters.far_copy_bytes_per_s
        };
        let copied_ns = now_ns + parameters.call_ns + fixed::bytes_to_ns(bytes, rate);
        let limit_ns = fixed::bytes_to_ns(bytes, filesystem_bytes_per_s);
        self.filesystem_free_ns = self.filesystem_free_ns.max(now_ns) + limit_ns;
        copied_ns.max(self.filesystem_free_ns) - now_ns
    }

    fn finish(&mut self, below: &Completion) {
        let now_ns = below.done_ns;
        let index = below.tag as usize;
        let io = self.io.remove(index);
        match io.purpose {
            Purpose::Fill => {
                let first = io.extent.start / PAGE;
                self.filling.remove(&first);
                let end = io.extent.end.div_ceil(PAGE);
                self.cache.read_ends(first, end, below.result.is_ok());
                let is_media = below.breakdown.layer == Layer::Media;
                self.cache.came(first, end, is_media);
            }
            Purpose::Clean => {
                self.cleaning.retain(|cleaning| *cleaning != index);
                self.cleaning_bytes -= io.extent.len().next_multiple_of(PAGE);
            }
            Purpose::Own => {}
        }
        for waiter in io.waiters {
            self.part_done(now_ns, waiter, &below.breakdown, below.result.err());
        }
        self.go_on_syncing(now_ns);
        self.write_back(now_ns);
        self.wake_throttled(now_ns);
    }

    fn part_done(
        &mut self,
        now_ns: u64,
        index: usize,
        breakdown: &Breakdown,
        error: Option<IoError>,
    ) {
        let waiter = self.waiters.get(index);
        waiter.error = waiter.error.or(error);
        waiter.remaining -= 1;
        if waiter.remaining > 0 {
            return;
        }
        let waited_ns = now_ns - waiter.since_ns;
        waiter.breakdown = waiter.breakdown.then(&breakdown.last(waited_ns));
        waiter.since_ns = now_ns;
        self.go_on(now_ns, index);
    }
}

/// First page of a request, and one past its last.
pub(super) fn pages_of(request: &Request) -> (u64, u64) {
    (request.offset / PAGE, request.end().div_ceil(PAGE))
}

impl Device for Host {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.relay.begin(now_ns);
        // The page cache takes any byte; only direct requests need sectors.
        let sector = if request.flags.direct {
            self.queue.logical_sector()
        } else {
            1
        };
        match device::check(request, self.queue.capacity(), sector) {
            Ok(()) => self.begin(now_ns, request),
            Err(error) => {
                self.relay
                    .answer(request, now_ns, Breakdown::nothing(), Err(error));
            }
        }
    }

    fn next_event(&self) -> Option<u64> {
        let expires_ns = self.expires_ns().filter(|_| !self.is_writing_back);
        let above_ns = earlier(self.relay.next_ns(), expires_ns);
        earlier(above_ns, self.queue.next_event())
    }

    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>) {
        while let Some(now_ns) = self.next_event()
            && now_ns <= to_ns
        {
            let mut arrived = std::mem::take(&mut self.arrived);
            self.queue.advance(now_ns, &mut arrived);
            for below in arrived.drain(..) {
                self.finish(&below);
            }
            self.arrived = arrived;
            if self.expires_ns().is_some_and(|due_ns| due_ns <= now_ns) && self.dirty_bytes > 0 {
                self.is_writing_back = true;
                self.write_back(now_ns);
            }
            self.relay.emit(now_ns, out);
        }
    }

    fn capacity(&self) -> u64 {
        self.queue.capacity()
    }

    fn logical_sector(&self) -> u64 {
        self.queue.logical_sector()
    }

    fn queue_depth_limit(&self) -> u32 {
        self.queue.queue_depth_limit()
    }

    fn statistics(&self, now_ns: u64) -> Statistics {
        self.relay.statistics(now_ns)
    }

    fn volatile(&self) -> Vec<Extent> {
        let mut extents = self.cache.dirty();
        let cleaning = self.cleaning.iter();
        extents.extend(cleaning.map(|&io| self.io.peek(io).extent));
        extents.extend(self.queue.volatile());
        extents.sort_unstable();
        extents
    }

    /// The block layer's queue, whose statistics are those that iostat shows.
    fn members(&self) -> Vec<&dyn Device> {
        vec![&self.queue]
    }
}
