//! A part of a disk, as a partition table cuts it: the inner half, or one that
//! does not begin on a physical sector.

use crate::completion::{Breakdown, Completion};
use crate::device::{self, Device, Extent};
use crate::relay::{Relay, earlier};
use crate::request::{Kind, Request};
use crate::statistics::Statistics;

/// A partition of `inner`.
pub struct Partition {
    start: u64,
    capacity: u64,
    inner: Box<dyn Device>,
    relay: Relay,
    arrived: Vec<Completion>,
}

impl Partition {
    /// The part of `inner` from byte `start` on, `capacity` bytes or what is
    /// left of it; in whole sectors.
    pub fn new(start: u64, capacity: u64, inner: Box<dyn Device>) -> Self {
        let sector = inner.logical_sector();
        let start = start.min(inner.capacity()) / sector * sector;
        let capacity = capacity.min(inner.capacity() - start) / sector * sector;
        Self {
            start,
            capacity,
            inner,
            relay: Relay::default(),
            arrived: Vec::new(),
        }
    }
}

impl Device for Partition {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.relay.begin(now_ns);
        if let Err(error) = device::check(request, self.capacity, self.logical_sector()) {
            self.relay
                .answer(request, now_ns, Breakdown::nothing(), Err(error));
            return;
        }
        let mut below = self
            .relay
            .pass(now_ns, request, now_ns, Breakdown::nothing());
        if request.kind != Kind::Flush {
            below.offset += self.start;
        }
        self.inner.submit(now_ns, &below);
    }

    fn next_event(&self) -> Option<u64> {
        earlier(self.relay.next_ns(), self.inner.next_event())
    }

    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>) {
        while let Some(now_ns) = self.next_event()
            && now_ns <= to_ns
        {
            let mut arrived = std::mem::take(&mut self.arrived);
            self.inner.advance(now_ns, &mut arrived);
            for below in arrived.drain(..) {
                let passed = self.relay.take(&below);
                self.relay.complete(&passed, &below, &Breakdown::nothing());
            }
            self.arrived = arrived;
            self.relay.emit(now_ns, out);
        }
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn logical_sector(&self) -> u64 {
        self.inner.logical_sector()
    }

    fn queue_depth_limit(&self) -> u32 {
        self.inner.queue_depth_limit()
    }

    fn statistics(&self, now_ns: u64) -> Statistics {
        self.relay.statistics(now_ns)
    }

    fn volatile(&self) -> Vec<Extent> {
        let end = self.start + self.capacity;
        self.inner
            .volatile()
            .into_iter()
            .filter(|extent| extent.start < end && self.start < extent.end)
            .map(|extent| Extent {
                start: extent.start.max(self.start) - self.start,
                end: extent.end.min(end) - self.start,
            })
            .collect()
    }

    fn members(&self) -> Vec<&dyn Device> {
        vec![&*self.inner]
    }
}
