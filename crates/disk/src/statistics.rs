//! A device's counters, as Linux keeps them in /proc/diskstats.

use crate::request::{Kind, Request};

/// Counters of one kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Requests completed.
    pub ios: u64,
    /// Requests that were joined to a neighbour before they were sent.
    pub merges: u64,
    /// Sectors of 512 bytes, whatever the device's sector is.
    pub sectors: u64,
    /// Sum of the times from submission to completion, ns.
    pub ticks_ns: u64,
}

/// Counters of one device (Linux, Documentation/admin-guide/iostats.rst), in
/// nanoseconds where the kernel prints milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Reads.
    pub read: Counters,
    /// Writes.
    pub write: Counters,
    /// Trims.
    pub discard: Counters,
    /// Flushes.
    pub flush: Counters,
    /// Requests submitted and not completed.
    pub in_flight: u64,
    /// Time with at least one request in flight, ns.
    pub busy_ns: u64,
    /// Integral of the requests in flight over time, ns: divided by the time
    /// that passed it is iostat's queue length.
    pub weighted_ns: u64,
}

/// Keeps [`Statistics`] up to date. Exact, unlike the kernel's, which samples
/// the busy time once per jiffy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meter {
    counters: Statistics,
    changed_ns: u64,
}

impl Meter {
    fn pass_to(&mut self, now_ns: u64) {
        let passed = now_ns.saturating_sub(self.changed_ns);
        if self.counters.in_flight > 0 {
            self.counters.busy_ns += passed;
            self.counters.weighted_ns += passed * self.counters.in_flight;
        }
        self.changed_ns = self.changed_ns.max(now_ns);
    }

    /// A request went in at `now_ns`.
    pub fn begin(&mut self, now_ns: u64) {
        self.pass_to(now_ns);
        self.counters.in_flight += 1;
    }

    /// A request of `kind` and `len` bytes, submitted at `submitted_ns`, came
    /// back at `now_ns`.
    pub fn end(&mut self, now_ns: u64, kind: Kind, len: u64, submitted_ns: u64) {
        self.pass_to(now_ns);
        self.counters.in_flight -= 1;
        let counters = self.of(kind);
        counters.ios += 1;
        counters.sectors += len.div_ceil(512);
        counters.ticks_ns += now_ns.saturating_sub(submitted_ns);
    }

    /// A request was joined to another one.
    pub fn merged(&mut self, request: &Request) {
        self.of(request.kind).merges += 1;
    }

    fn of(&mut self, kind: Kind) -> &mut Counters {
        match kind {
            Kind::Read => &mut self.counters.read,
            Kind::Write => &mut self.counters.write,
            Kind::Flush => &mut self.counters.flush,
            Kind::Trim => &mut self.counters.discard,
        }
    }

    /// The counters at `now_ns`.
    pub fn at(&self, now_ns: u64) -> Statistics {
        let mut copy = *self;
        copy.pass_to(now_ns);
        copy.counters
    }
}
