//! The interface of every simulated device, and of every stack of them.

use crate::completion::{Completion, IoError};
use crate::request::{Kind, Request};
use crate::statistics::Statistics;

/// Bytes `start..end` of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extent {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl Extent {
    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether it holds no byte.
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }

    /// Whether the two have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// A disk, an array or a host: requests go in, time goes in, completions come
/// out.
///
/// Time is virtual, in ns from 0, and only ever goes forward: `now_ns` of
/// [`submit`](Self::submit) is not before an earlier one nor before the last
/// `to_ns` of [`advance`](Self::advance), and the caller advances a device to
/// (at least) every [`next_event`](Self::next_event) up to `now_ns` before it
/// submits at `now_ns`. A device takes any number of requests; what exceeds
/// its queue depth waits in front of it, as in a kernel's queue. Everything is
/// determined by the device's parameters, its seed, and the calls made.
pub trait Device: Send {
    /// Gives the device a request at `now_ns`. Every request comes back in
    /// exactly one completion, a bad one with an error.
    fn submit(&mut self, now_ns: u64, request: &Request);

    /// When something will happen by itself, if nothing is submitted before;
    /// `None` when the device is at rest. There may be events without a
    /// completion: a write cache that is emptied, a block that is erased.
    fn next_event(&self) -> Option<u64>;

    /// Lets time pass to `to_ns` and appends what was completed by then, in
    /// order of time.
    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>);

    /// Size in bytes.
    fn capacity(&self) -> u64;

    /// The smallest unit of offsets and lengths, bytes.
    fn logical_sector(&self) -> u64;

    /// How many requests the device looks at together (1 to 32 for SATA,
    /// up to 64 Ki for `NVMe`); more wait in front of it.
    fn queue_depth_limit(&self) -> u32;

    /// The counters at `now_ns`, which is not before the last call.
    fn statistics(&self, now_ns: u64) -> Statistics;

    /// Acknowledged writes that a power cut at this moment would lose, in
    /// order of their offsets; and perhaps some that are being taken in and
    /// not acknowledged yet.
    fn volatile(&self) -> Vec<Extent>;

    /// The devices this one is made of, in their order; none for a single disk.
    fn members(&self) -> Vec<&dyn Device> {
        Vec::new()
    }
}

impl Device for Box<dyn Device> {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        (**self).submit(now_ns, request);
    }
    fn next_event(&self) -> Option<u64> {
        (**self).next_event()
    }
    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>) {
        (**self).advance(to_ns, out);
    }
    fn capacity(&self) -> u64 {
        (**self).capacity()
    }
    fn logical_sector(&self) -> u64 {
        (**self).logical_sector()
    }
    fn queue_depth_limit(&self) -> u32 {
        (**self).queue_depth_limit()
    }
    fn statistics(&self, now_ns: u64) -> Statistics {
        (**self).statistics(now_ns)
    }
    fn volatile(&self) -> Vec<Extent> {
        (**self).volatile()
    }
    fn members(&self) -> Vec<&dyn Device> {
        (**self).members()
    }
}

/// Checks a request as every device does before it does anything.
///
/// # Errors
/// A range that is not within `capacity`, or not in whole sectors. Flushes are
/// always good.
pub fn check(request: &Request, capacity: u64, sector: u64) -> Result<(), IoError> {
    if request.kind == Kind::Flush {
        return Ok(());
    }
    if request.end() > capacity {
        return Err(IoError::BeyondEnd {
            offset: request.offset,
            end: request.end(),
            capacity,
        });
    }
    if request.len == 0
        || !request.offset.is_multiple_of(sector)
        || !request.len.is_multiple_of(sector)
    {
        return Err(IoError::Misaligned {
            offset: request.offset,
            len: request.len,
            sector,
        });
    }
    Ok(())
}

/// Runs one request to its end and gives its completion; the others that were
/// completed on the way are appended to `others`.
///
/// # Panics
/// When the device breaks its promise to complete every request.
pub fn run_one(
    device: &mut dyn Device,
    now_ns: u64,
    request: &Request,
    others: &mut Vec<Completion>,
) -> Completion {
    device.submit(now_ns, request);
    loop {
        let next = device
            .next_event()
            .expect("a device with a request in flight has a next event");
        let from = others.len();
        device.advance(next, others);
        if let Some(at) = others[from..].iter().position(|c| c.tag == request.tag) {
            return others.remove(from + at);
        }
    }
}

/// Lets the device come to rest, without new requests: everything in flight is
/// completed into `out` and every background job done. Gives the time of the
/// last event, or `now_ns` if there was none.
pub fn settle(device: &mut dyn Device, now_ns: u64, out: &mut Vec<Completion>) -> u64 {
    let mut now_ns = now_ns;
    while let Some(next) = device.next_event() {
        now_ns = now_ns.max(next);
        device.advance(now_ns, out);
    }
    now_ns
}
