//! Somebody else's I/O on the same device: another virtual machine, another
//! partition, a scrub.

use crate::completion::{Breakdown, Completion};
use crate::device::{Device, Extent};
use crate::fixed;
use crate::relay::{Relay, earlier};
use crate::request::{Kind, Request};
use crate::statistics::Statistics;
use diskfacts_plan::rng::Rng;

/// What the neighbour does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighbourParameters {
    /// Mean time between its requests, ns; they come at random (Poisson).
    pub every_ns: u64,
    /// Bytes of each.
    pub len: u64,
    /// Whether it writes; else it reads.
    pub writes: bool,
    /// Where, as bytes of the device; the whole of it when empty.
    pub extent: Extent,
}

/// Most requests that the neighbour has in flight, as deep as a host's queue
/// (`nr_requests` of the kernel's block layer): a neighbour that asks for more
/// than the device can do waits, as everybody does.
const IN_FLIGHT_MAX: u32 = 256;

/// The tag of the neighbour's requests.
const NEIGHBOUR: u64 = u64::MAX;

/// A device with a neighbour. The neighbour works while there is a request of
/// the caller in flight: what it does in between changes little, and a device
/// that nobody uses is to come to rest.
pub struct Shared {
    parameters: NeighbourParameters,
    inner: Box<dyn Device>,
    relay: Relay,
    rng: Rng,
    /// When the neighbour's next request comes, ns.
    next_ns: u64,
    /// The neighbour's requests that have not ended.
    in_flight: u32,
    arrived: Vec<Completion>,
}

impl Shared {
    /// Gives `inner` a neighbour, whose requests `seed` determines.
    pub fn new(parameters: NeighbourParameters, inner: Box<dyn Device>, seed: u64) -> Self {
        let mut shared = Self {
            parameters,
            inner,
            relay: Relay::default(),
            rng: Rng::new(seed),
            next_ns: 0,
            in_flight: 0,
            arrived: Vec::new(),
        };
        shared.next_ns = shared.draw_pause_ns();
        shared
    }

    fn draw_pause_ns(&mut self) -> u64 {
        let pause = -fixed::ln_of_unit(self.rng.unit()) * self.parameters.every_ns as f64;
        (pause as u64).max(1)
    }

    fn disturb(&mut self, now_ns: u64) {
        self.in_flight += 1;
        let sector = self.inner.logical_sector();
        let extent = if self.parameters.extent.is_empty() {
            Extent {
                start: 0,
                end: self.inner.capacity(),
            }
        } else {
            self.parameters.extent
        };
        let len = self.parameters.len.next_multiple_of(sector);
        let places = (extent.len() / len).max(1);
        let kind = if self.parameters.writes {
            Kind::Write
        } else {
            Kind::Read
        };
        let mut request = Request::read(
            NEIGHBOUR,
            extent.start / sector * sector + self.rng.below(places) * len,
            len,
        );
        request.kind = kind;
        request.stream = u32::MAX;
        self.inner.submit(now_ns, &request);
    }

    /// When the neighbour disturbs, if the caller is there to notice.
    fn neighbour_ns(&self) -> Option<u64> {
        let can = self.relay.in_flight() > 0 && self.in_flight < IN_FLIGHT_MAX;
        can.then_some(self.next_ns)
    }

    /// A request of the neighbour has ended; if it waited for that, it goes on
    /// after its usual pause.
    fn neighbour_ended(&mut self, now_ns: u64) {
        if self.in_flight == IN_FLIGHT_MAX {
            self.next_ns = now_ns + self.draw_pause_ns();
        }
        self.in_flight -= 1;
    }
}

impl Device for Shared {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        if self.relay.in_flight() == 0 && self.next_ns < now_ns {
            self.next_ns = now_ns + self.draw_pause_ns();
        }
        self.relay.begin(now_ns);
        let below = self
            .relay
            .pass(now_ns, request, now_ns, Breakdown::nothing());
        self.inner.submit(now_ns, &below);
    }

    fn next_event(&self) -> Option<u64> {
        let above_ns = earlier(self.relay.next_ns(), self.neighbour_ns());
        earlier(above_ns, self.inner.next_event())
    }

    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>) {
        while let Some(now_ns) = self.next_event()
            && now_ns <= to_ns
        {
            let mut arrived = std::mem::take(&mut self.arrived);
            self.inner.advance(now_ns, &mut arrived);
            for below in arrived.drain(..) {
                if below.tag == NEIGHBOUR {
                    self.neighbour_ended(now_ns);
                } else {
                    let passed = self.relay.take(&below);
                    self.relay.complete(&passed, &below, &Breakdown::nothing());
                }
            }
            self.arrived = arrived;
            if self.neighbour_ns().is_some_and(|next_ns| next_ns <= now_ns) {
                self.disturb(now_ns);
                self.next_ns = now_ns + self.draw_pause_ns();
            }
            self.relay.emit(now_ns, out);
        }
    }

    fn capacity(&self) -> u64 {
        self.inner.capacity()
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
        self.inner.volatile()
    }

    fn members(&self) -> Vec<&dyn Device> {
        vec![&*self.inner]
    }
}
