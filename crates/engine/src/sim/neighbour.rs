//! Another process of the simulated host that uses the same disk: it shows in
//! the counters of the block layer, and not in those of this process.

use diskfacts_disk::faults::neighbour::NeighbourParameters;
use diskfacts_disk::request::Kind;
use diskfacts_disk::{Request, fixed};
use diskfacts_plan::rng::Rng;

/// The stream that its requests belong to.
const STREAM: u32 = u32::MAX;

/// Requests at random moments (Poisson) to random places, past the page cache.
#[derive(Debug, Clone)]
pub(super) struct Neighbour {
    parameters: NeighbourParameters,
    rng: Rng,
    /// When the next request comes, ns.
    pub(super) next_ns: u64,
}

impl Neighbour {
    pub(super) fn new(parameters: NeighbourParameters, seed: u64) -> Self {
        let mut neighbour = Self {
            parameters,
            rng: Rng::new(seed),
            next_ns: 0,
        };
        neighbour.next_ns = neighbour.pause_ns();
        neighbour
    }

    fn pause_ns(&mut self) -> u64 {
        let pause = -fixed::ln_of_unit(self.rng.unit()) * self.parameters.every_ns as f64;
        (pause as u64).max(1)
    }

    /// Trials begin at `now_ns`: what would have come before came to nobody.
    pub(super) fn begin(&mut self, now_ns: u64) {
        if self.next_ns < now_ns {
            self.next_ns = now_ns + self.pause_ns();
        }
    }

    /// Its request at `now_ns`, on a disk of so many bytes.
    pub(super) fn request(&mut self, now_ns: u64, tag: u64, capacity: u64) -> Request {
        self.next_ns = now_ns + self.pause_ns();
        let NeighbourParameters { len, extent, .. } = self.parameters;
        let (start, bytes) = if extent.is_empty() {
            (0, capacity)
        } else {
            (extent.start, extent.len())
        };
        let places = (bytes / len.max(1)).max(1);
        let mut request = Request::read(tag, start + self.rng.below(places) * len, len);
        if self.parameters.writes {
            request.kind = Kind::Write;
        }
        request.of_stream(STREAM)
    }
}
