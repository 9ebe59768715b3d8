//! The queue in front of a device: joins neighbours, orders, and keeps the
//! statistics that iostat shows.

use super::order::{Choice, Order, Queued};
use super::parameters::BlockParameters;
use crate::completion::{Breakdown, Completion};
use crate::device::{self, Device, Extent};
use crate::relay::{Relay, earlier};
use crate::request::{Kind, Request};
use crate::statistics::{Meter, Statistics};
use std::collections::BTreeMap;

/// A request of the caller, on its own or joined to others.
#[derive(Debug, Clone, Copy)]
struct Part {
    request: Request,
    submitted_ns: u64,
    /// What the scheduler had idled when it came, ns.
    idled_ns: u64,
}

/// A queued request and what it is made of.
#[derive(Debug, Clone)]
struct Joined {
    request: Request,
    parts: Vec<Part>,
}

/// A device with a scheduler in front.
pub struct BlockQueue {
    parameters: BlockParameters,
    inner: Box<dyn Device>,
    order: Order,
    queue: BTreeMap<u64, Queued>,
    joined: BTreeMap<u64, Joined>,
    /// Queued reads and writes by their first and last byte, to find neighbours.
    by_start: BTreeMap<(u64, u64), u64>,
    by_end: BTreeMap<(u64, u64), u64>,
    sent: BTreeMap<u64, (u64, Joined)>,
    next_sequence: u64,
    /// Since when, and until when, the scheduler keeps the device idle, ns.
    idle: Option<(u64, u64)>,
    idled_ns: u64,
    relay: Relay,
    /// Of the requests after joining, as the kernel counts them.
    meter: Meter,
    arrived: Vec<Completion>,
}

impl BlockQueue {
    /// Puts a queue in front of `inner`.
    pub fn new(parameters: BlockParameters, inner: Box<dyn Device>) -> Self {
        Self {
            order: Order::new(parameters.scheduler),
            parameters,
            inner,
            queue: BTreeMap::new(),
            joined: BTreeMap::new(),
            by_start: BTreeMap::new(),
            by_end: BTreeMap::new(),
            sent: BTreeMap::new(),
            next_sequence: 0,
            idle: None,
            idled_ns: 0,
            relay: Relay::default(),
            meter: Meter::default(),
            arrived: Vec::new(),
        }
    }

    fn enqueue(&mut self, now_ns: u64, request: &Request) {
        let part = Part {
            request: *request,
            submitted_ns: now_ns,
            idled_ns: self.idled_ns,
        };
        if let Some(neighbour) = self.neighbour(request) {
            self.meter.merged(request);
            self.join(neighbour, part);
            return;
        }
        self.meter.begin(now_ns);
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let joined = Joined {
            request: *request,
            parts: vec![part],
        };
        self.insert(sequence, joined, now_ns);
    }

    fn insert(&mut self, sequence: u64, joined: Joined, arrived_ns: u64) {
        let request = joined.request;
        self.queue.insert(
            sequence,
            Queued {
                sequence,
                kind: request.kind,
                offset: request.offset,
                stream: request.context,
                arrived_ns,
            },
        );
        if may_join(&request) {
            let class = class_of(&request);
            self.by_start.insert((class, request.offset), sequence);
            self.by_end.insert((class, request.end()), sequence);
        }
        self.joined.insert(sequence, joined);
    }

    fn remove(&mut self, sequence: u64) -> Option<(Queued, Joined)> {
        let queued = self.queue.remove(&sequence)?;
        let joined = self.joined.remove(&sequence)?;
        let class = class_of(&joined.request);
        self.by_start.remove(&(class, joined.request.offset));
        self.by_end.remove(&(class, joined.request.end()));
        Some((queued, joined))
    }

    /// The queued request that `request` adjoins and may be joined to.
    fn neighbour(&self, request: &Request) -> Option<u64> {
        if !may_join(request) {
            return None;
        }
        let class = class_of(request);
        let before = self.by_end.get(&(class, request.offset));
        let behind = self.by_start.get(&(class, request.end()));
        let fits = |sequence: &&u64| {
            let joined = &self.joined[*sequence].request;
            joined.len + request.len <= self.parameters.max_request
        };
        before.filter(fits).or_else(|| behind.filter(fits)).copied()
    }

    fn join(&mut self, sequence: u64, part: Part) {
        let Some((queued, mut joined)) = self.remove(sequence) else {
            return;
        };
        joined.request.offset = joined.request.offset.min(part.request.offset);
        joined.request.len += part.request.len;
        joined.parts.push(part);
        self.insert(sequence, joined, queued.arrived_ns);
    }

    fn dispatch(&mut self, now_ns: u64) {
        if let Some((since_ns, _)) = self.idle.take() {
            self.idled_ns += now_ns - since_ns;
        }
        while self.sent.len() < self.parameters.depth {
            match self.order.choose(now_ns, &self.queue, self.sent.is_empty()) {
                Choice::Send(sequence) => {
                    let Some((_, joined)) = self.remove(sequence) else {
                        return;
                    };
                    let request = Request {
                        tag: sequence,
                        ..joined.request
                    };
                    self.sent.insert(sequence, (now_ns, joined));
                    self.inner.submit(now_ns, &request);
                }
                Choice::IdleUntil(until_ns) => {
                    if self.sent.is_empty() {
                        self.idle = Some((now_ns, until_ns));
                    }
                    return;
                }
                Choice::Nothing => return,
            }
        }
    }

    fn finish(&mut self, below: &Completion) {
        let Some((sent_ns, joined)) = self.sent.remove(&below.tag) else {
            return;
        };
        let first_ns = joined.parts.iter().map(|part| part.submitted_ns).min();
        self.meter.end(
            below.done_ns,
            below.kind,
            below.len,
            first_ns.unwrap_or(sent_ns),
        );
        for part in joined.parts {
            let waited_ns = sent_ns - part.submitted_ns;
            // Idling is for one stream at the cost of the others.
            let idled_ns = (self.idled_ns - part.idled_ns).min(waited_ns);
            let before = Breakdown {
                queue_ns: waited_ns - idled_ns,
                host_ns: idled_ns,
                ..Breakdown::nothing()
            };
            let breakdown = before.then(&below.breakdown);
            self.relay
                .answer(&part.request, part.submitted_ns, breakdown, below.result);
        }
    }
}

fn may_join(request: &Request) -> bool {
    matches!(request.kind, Kind::Read | Kind::Write)
        && !request.flags.fua
        && !request.flags.preflush
}

/// Requests of one class may be joined: same kind, same I/O context.
fn class_of(request: &Request) -> u64 {
    u64::from(request.context) << 1 | u64::from(request.kind == Kind::Write)
}

impl Device for BlockQueue {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.relay.begin(now_ns);
        if let Err(error) = device::check(request, self.capacity(), self.logical_sector()) {
            self.relay
                .answer(request, now_ns, Breakdown::nothing(), Err(error));
            return;
        }
        self.enqueue(now_ns, request);
        self.dispatch(now_ns);
    }

    fn next_event(&self) -> Option<u64> {
        let idle_ns = self.idle.map(|(_, until_ns)| until_ns);
        let above_ns = earlier(self.relay.next_ns(), idle_ns);
        earlier(above_ns, self.inner.next_event())
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
            self.dispatch(now_ns);
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
        self.parameters.depth.min(u32::MAX as usize) as u32
    }

    fn statistics(&self, now_ns: u64) -> Statistics {
        self.meter.at(now_ns)
    }

    fn volatile(&self) -> Vec<Extent> {
        self.inner.volatile()
    }

    fn members(&self) -> Vec<&dyn Device> {
        vec![&*self.inner]
    }
}
