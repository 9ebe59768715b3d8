//! A file or a partition of a disk as the device that is measured: where its bytes
//! lie is said by the profile's table `[layout]`.
//!
//! A request that runs from one piece of a file to the next goes down in parts, as
//! a filesystem sends one request for each extent. What a filesystem itself reads
//! and writes to find its extents is not modelled.

use crate::completion::{Breakdown, Completion, IoError};
use crate::device::{self, Device, Extent};
use crate::profile::LayoutParameters;
use crate::relay::{Relay, earlier};
use crate::request::{Kind, Request};
use crate::statistics::Statistics;
use std::collections::BTreeMap;

/// A request of which parts are under way.
#[derive(Debug, Clone, Copy)]
struct Whole {
    request: Request,
    submitted_ns: u64,
    /// Parts that have not come back.
    remaining: usize,
    failed: Option<IoError>,
}

/// What is measured of `inner`.
pub(crate) struct Placed {
    layout: LayoutParameters,
    capacity: u64,
    inner: Box<dyn Device>,
    relay: Relay,
    /// Requests under way, by the order in which they came.
    wholes: BTreeMap<u64, Whole>,
    next: u64,
    arrived: Vec<Completion>,
}

impl Placed {
    /// What `layout` says is measured of `inner`.
    pub(crate) fn new(layout: LayoutParameters, inner: Box<dyn Device>) -> Self {
        Self {
            capacity: layout.size(inner.capacity()),
            layout,
            inner,
            relay: Relay::default(),
            wholes: BTreeMap::new(),
            next: 0,
            arrived: Vec::new(),
        }
    }

    /// A part has come back.
    fn finish(&mut self, below: &Completion) {
        let Some(whole) = self.wholes.get_mut(&below.tag) else {
            return;
        };
        whole.remaining -= 1;
        whole.failed = whole.failed.or(below.result.err());
        if whole.remaining > 0 {
            return;
        }
        let whole = *whole;
        self.wholes.remove(&below.tag);
        // What the part that was last took; it waited for nothing but the disk.
        let took_ns = below.done_ns - whole.submitted_ns;
        let breakdown = Breakdown::nothing().then(&below.breakdown.last(took_ns));
        let result = whole.failed.map_or(Ok(()), Err);
        self.relay
            .answer(&whole.request, whole.submitted_ns, breakdown, result);
    }
}

impl Device for Placed {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.relay.begin(now_ns);
        if let Err(error) = device::check(request, self.capacity, self.logical_sector()) {
            self.relay
                .answer(request, now_ns, Breakdown::nothing(), Err(error));
            return;
        }
        let parts = if request.kind == Kind::Flush {
            vec![(request.offset, request.len)]
        } else {
            self.layout.pieces(request.offset, request.len)
        };
        let tag = self.next;
        self.next += 1;
        let whole = Whole {
            request: *request,
            submitted_ns: now_ns,
            remaining: parts.len(),
            failed: None,
        };
        self.wholes.insert(tag, whole);
        for (offset, len) in parts {
            let part = Request {
                tag,
                offset,
                len,
                ..*request
            };
            self.inner.submit(now_ns, &part);
        }
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
                self.finish(&below);
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
        let mut extents: Vec<Extent> = self
            .inner
            .volatile()
            .into_iter()
            .flat_map(|extent| self.layout.measured_of(extent))
            .map(|extent| Extent {
                start: extent.start.min(self.capacity),
                end: extent.end.min(self.capacity),
            })
            .filter(|extent| !extent.is_empty())
            .collect();
        extents.sort_unstable();
        extents
    }

    fn members(&self) -> Vec<&dyn Device> {
        vec![&*self.inner]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::run_one;
    use crate::profile::{Measured, build_disk, profile};

    fn disk(measured: Measured) -> Box<dyn Device> {
        let mut profile = profile("hdd-7200-1tb").unwrap();
        profile.layout.as_mut().unwrap().measured = measured;
        build_disk(&profile, 1)
    }

    #[test]
    fn a_request_that_runs_from_piece_to_piece_comes_back_once_and_whole() {
        let mut file = disk(Measured::File);
        let group = 128 << 20;
        let read = Request::read(7, group - 4096, 3 * 4096);
        let completion = run_one(&mut *file, 0, &read, &mut Vec::new());
        assert_eq!((completion.tag, completion.len), (7, 3 * 4096));
        assert_eq!(completion.result, Ok(()));
        // The next piece is three block groups away: the arm has to move.
        assert!(completion.breakdown.total_ns() == completion.latency_ns());
        let within = Request::read(8, group + (64 << 20), 4096);
        let other = run_one(&mut *file, completion.done_ns, &within, &mut Vec::new());
        assert_eq!(other.result, Ok(()));
        assert_eq!(file.statistics(other.done_ns).in_flight, 0);
    }

    #[test]
    fn beyond_the_end_of_what_is_measured_nothing_is_read() {
        for measured in [Measured::Disk, Measured::Partition, Measured::File] {
            let mut device = disk(measured);
            let end = device.capacity();
            let good = Request::read(0, end - 512, 512);
            assert_eq!(
                run_one(&mut *device, 0, &good, &mut Vec::new()).result,
                Ok(())
            );
            let now_ns = device.next_event().unwrap_or(0).max(1 << 40);
            let bad = Request::read(1, end, 512);
            let completion = run_one(&mut *device, now_ns, &bad, &mut Vec::new());
            assert!(
                matches!(completion.result, Err(IoError::BeyondEnd { .. })),
                "{measured:?}"
            );
        }
    }

    #[test]
    fn what_a_power_cut_would_lose_is_named_by_its_place_in_the_file() {
        let mut file = disk(Measured::File);
        let group = 128_u64 << 20;
        let write = Request::write(0, group - 4096, 8192);
        run_one(&mut *file, 0, &write, &mut Vec::new());
        let lost: u64 = file.volatile().iter().map(Extent::len).sum();
        assert_eq!(lost, 8192);
        for extent in file.volatile() {
            assert!(group - 4096 <= extent.start && extent.end <= group + 4096);
        }
    }
}
