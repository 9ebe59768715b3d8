//! A server and a link between the host and the disk.
//!
//! The model of seed 001, an iSCSI-like target: the server reads in windows
//! and hands them on at its own rate while the disk works; the end of each
//! window crosses the link while the disk has nothing to do. The client asks
//! for at least so many bytes, and keeps what it did not need yet.

use crate::completion::{Breakdown, Completion, Layer};
use crate::device::{self, Device, Extent};
use crate::fixed;
use crate::relay::{Relay, earlier};
use crate::request::{Kind, Request};
use crate::statistics::Statistics;
use std::collections::BTreeMap;

/// A server behind a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkParameters {
    /// How fast the server hands data on, bytes/s.
    pub server_bytes_per_s: u64,
    /// The link, bytes/s.
    pub link_bytes_per_s: u64,
    /// What the client asks for at least, bytes.
    pub client_request: u64,
    /// The window in which the server reads, bytes.
    pub server_window: u64,
    /// The part of each window whose transfer overlaps with nothing, at most, bytes.
    pub unoverlapped: u64,
    /// From the host to the server and back, without data, ns: what every request
    /// that goes there waits for, however many there are.
    pub round_trip_ns: u64,
}

/// What the client holds of one stream.
#[derive(Debug, Clone, Copy)]
struct Held {
    extent: Extent,
    /// When it is all there; unknown while it is being fetched.
    ready_ns: Option<u64>,
}

/// A device behind a network.
pub struct Network {
    parameters: NetworkParameters,
    inner: Box<dyn Device>,
    relay: Relay,
    held: BTreeMap<u32, Held>,
    /// Reads of what is being fetched: they wait for it.
    waiting: Vec<(u64, Request)>,
    /// Until when server and link have work agreed on, ns.
    server_until_ns: u64,
    link_until_ns: u64,
    arrived: Vec<Completion>,
}

impl Network {
    /// Puts a network in front of `inner`.
    pub fn new(parameters: NetworkParameters, inner: Box<dyn Device>) -> Self {
        Self {
            parameters,
            inner,
            relay: Relay::default(),
            held: BTreeMap::new(),
            waiting: Vec::new(),
            server_until_ns: 0,
            link_until_ns: 0,
            arrived: Vec::new(),
        }
    }

    fn read(&mut self, now_ns: u64, request: &Request) {
        let range = Extent {
            start: request.offset,
            end: request.end(),
        };
        if let Some(held) = self.held.get(&request.stream)
            && held.extent.start <= range.start
            && range.end <= held.extent.end
        {
            match held.ready_ns {
                Some(ready_ns) => self.answer_from_client(now_ns, ready_ns, request),
                None => self.waiting.push((now_ns, *request)),
            }
            return;
        }
        let parameters = &self.parameters;
        let least = parameters.client_request.max(parameters.server_window);
        let end = range.start + range.len().max(least);
        let extent = Extent {
            start: range.start,
            end: end.min(self.inner.capacity()),
        };
        let held = Held {
            extent,
            ready_ns: None,
        };
        self.held.insert(request.stream, held);
        let mut below = self
            .relay
            .pass(now_ns, request, now_ns, Breakdown::nothing());
        below.len = extent.len();
        self.inner.submit(now_ns, &below);
    }

    fn answer_from_client(&mut self, now_ns: u64, ready_ns: u64, request: &Request) {
        let breakdown = Breakdown {
            queue_ns: ready_ns.saturating_sub(now_ns),
            ..Breakdown::nothing()
        };
        self.relay.answer(request, now_ns, breakdown, Ok(()));
    }

    /// Data of `bytes` left the disk from `first_ns` to `now_ns`: how long until
    /// the client has it, ns. The server hands on what it has while the disk
    /// reads the rest.
    fn cross(&mut self, first_ns: u64, now_ns: u64, bytes: u64) -> u64 {
        let parameters = &self.parameters;
        let server_ns = fixed::bytes_to_ns(bytes, parameters.server_bytes_per_s);
        self.server_until_ns = self.server_until_ns.max(first_ns) + server_ns;
        let handed_on_ns = self.server_until_ns.max(now_ns);
        let windows = bytes.div_ceil(parameters.server_window);
        let lag = windows
            * parameters
                .server_window
                .min(bytes)
                .min(parameters.unoverlapped);
        let lag_ns = fixed::bytes_to_ns(lag, parameters.link_bytes_per_s);
        let link_ns = fixed::bytes_to_ns(bytes, parameters.link_bytes_per_s);
        self.link_until_ns = self.link_until_ns.max(first_ns) + link_ns;
        (handed_on_ns + lag_ns).max(self.link_until_ns) - now_ns
    }

    fn finish(&mut self, below: &Completion) {
        let passed = self.relay.take(below);
        let mut after = Breakdown {
            network_ns: self.parameters.round_trip_ns,
            ..Breakdown::nothing()
        };
        if below.kind != Kind::Flush && below.result.is_ok() {
            let first_ns = if below.kind == Kind::Read {
                first_byte_ns(passed.passed_ns, below)
            } else {
                passed.passed_ns
            };
            after.network_ns += self.cross(first_ns, below.done_ns, below.len);
        }
        self.relay.complete(&passed, below, &after);
        if below.kind != Kind::Read {
            return;
        }
        let ready_ns = below.done_ns + after.network_ns;
        let stream = passed.request.stream;
        if below.result.is_err() {
            self.held.remove(&stream);
        } else if let Some(held) = self.held.get_mut(&stream)
            && held.extent.start == passed.request.offset
        {
            held.ready_ns = Some(ready_ns);
        }
        let fetched = passed.request.offset..passed.request.offset + below.len;
        let again: Vec<(u64, Request)> = self
            .waiting
            .extract_if(.., |(_, request)| {
                request.stream == stream
                    && fetched.start <= request.offset
                    && request.end() <= fetched.end
            })
            .collect();
        for (asked_ns, request) in again {
            if below.result.is_err() {
                self.relay.answer(
                    &request,
                    asked_ns,
                    waited(asked_ns, below.done_ns),
                    below.result,
                );
            } else {
                self.answer_from_client(asked_ns, ready_ns, &request);
            }
        }
    }
}

/// When the first byte of a read that was passed on at `passed_ns` left the
/// disk, ns: behind the queue, the arm's way and the wait for the sector. A
/// stream that goes on where it was has none of these, and its bytes come from
/// the beginning.
fn first_byte_ns(passed_ns: u64, below: &Completion) -> u64 {
    let parts = &below.breakdown;
    let waited_ns = parts.queue_ns + parts.idled_ns + parts.host_ns;
    let positioned_ns = if parts.seek_ns > 0 {
        parts.overhead_ns + parts.seek_ns + parts.rotation_ns
    } else {
        0
    };
    (passed_ns + waited_ns + positioned_ns).min(below.done_ns)
}

fn waited(from_ns: u64, to_ns: u64) -> Breakdown {
    Breakdown {
        queue_ns: to_ns - from_ns,
        layer: Layer::PageCache,
        ..Breakdown::nothing()
    }
}

impl Device for Network {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.relay.begin(now_ns);
        match device::check(request, self.capacity(), self.logical_sector()) {
            Err(error) => self
                .relay
                .answer(request, now_ns, Breakdown::nothing(), Err(error)),
            Ok(()) if request.kind == Kind::Read => self.read(now_ns, request),
            Ok(()) => {
                if request.kind != Kind::Flush {
                    self.held.retain(|_, held| {
                        held.ready_ns.is_none()
                            || request.end() <= held.extent.start
                            || held.extent.end <= request.offset
                    });
                }
                let below = self
                    .relay
                    .pass(now_ns, request, now_ns, Breakdown::nothing());
                self.inner.submit(now_ns, &below);
            }
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
