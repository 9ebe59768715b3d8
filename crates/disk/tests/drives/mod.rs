//! Running devices to their end, for several tests.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use diskfacts_disk::{Completion, Device, Kind, Request};
use diskfacts_plan::rng::Rng;

/// Keeps `depth` requests in flight until `requests` is empty; gives the
/// completions in order and the time of the last one, ns.
pub(crate) fn run(
    device: &mut dyn Device,
    depth: usize,
    requests: impl IntoIterator<Item = Request>,
) -> (Vec<Completion>, u64) {
    let mut requests = requests.into_iter().peekable();
    let mut done = Vec::new();
    let (mut in_flight, mut now_ns) = (0, 0);
    while in_flight > 0 || requests.peek().is_some() {
        while in_flight < depth
            && let Some(request) = requests.next()
        {
            device.submit(now_ns, &request);
            in_flight += 1;
        }
        let from = done.len();
        now_ns = device
            .next_event()
            .expect("something is in flight, so something will happen");
        device.advance(now_ns, &mut done);
        in_flight -= done.len() - from;
    }
    (done, now_ns)
}

/// A mixed load: reads, writes, some durable, flushes, trims, and some
/// requests that cannot be done.
pub(crate) fn mixed(capacity: u64, sector: u64, count: u64, seed: u64) -> Vec<Request> {
    let mut rng = Rng::new(seed);
    // A part of the device, so that requests meet.
    let region = (capacity / 2).min(64 << 20) / sector;
    (0..count)
        .map(|tag| {
            let offset = rng.below(region) * sector;
            let len = (1 + rng.below(64)) * sector;
            let base = Request::read(tag, offset, len).of_stream(rng.below(3) as u32);
            let write = Request {
                kind: Kind::Write,
                ..base
            };
            match rng.below(100) {
                0..=39 => base,
                40..=79 => write,
                80..=86 => write.fua(),
                87..=89 => write.preflush(),
                90..=94 => Request {
                    kind: Kind::Flush,
                    ..base
                },
                95..=96 => Request {
                    kind: Kind::Trim,
                    ..base
                },
                97 => Request {
                    offset: capacity - sector,
                    len: 2 * sector,
                    ..base
                },
                98 => Request { len: 0, ..base },
                _ => Request {
                    offset: offset + 1,
                    ..base
                },
            }
        })
        .collect()
}

/// The same load through the page cache, where there is one.
pub(crate) fn buffered(requests: Vec<Request>) -> Vec<Request> {
    requests.into_iter().map(Request::buffered).collect()
}

/// Random requests of `len` bytes on the first `span` bytes.
pub(crate) fn random(kind: Kind, len: u64, span: u64, count: u64, seed: u64) -> Vec<Request> {
    let mut rng = Rng::new(seed);
    (0..count)
        .map(|tag| {
            let offset = rng.below(span / len) * len;
            Request {
                kind,
                ..Request::read(tag, offset, len)
            }
        })
        .collect()
}

/// Requests of `len` bytes one after the other.
pub(crate) fn sequential(kind: Kind, start: u64, len: u64, count: u64) -> Vec<Request> {
    (0..count)
        .map(|tag| Request {
            kind,
            ..Request::read(tag, start + tag * len, len)
        })
        .collect()
}
