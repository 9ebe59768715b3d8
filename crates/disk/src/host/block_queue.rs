//! The queue in front of a device: joins neighbours, orders, and keeps the
//! statistics that iostat shows.

use super::limits::BlockLimits;
use super::order::{Choice, Order, Queued};
use super::parameters::BlockParameters;
use super::rate_limit::RateLimit;
use super::served::Served;
use super::split::Splits;
use crate::completion::{Breakdown, Completion};
use crate::device::{self, Device, Extent};
use crate::relay::{Relay, earlier};
use crate::request::{Kind, Request};
use crate::statistics::{Meter, Statistics};
use std::collections::{BTreeMap, VecDeque};

/// A request of the caller, or a piece of one, on its own or joined to others.
#[derive(Debug, Clone, Copy)]
struct Part {
    request: Request,
    /// When it was asked for, ns.
    submitted_ns: u64,
    /// How long a rate limit held it back, ns.
    held_ns: u64,
    /// When it became a request of the block layer, ns.
    entered_ns: u64,
    /// The number of the request that it is a piece of.
    whole: Option<u64>,
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
    limits: BlockLimits,
    /// Where a control group has a rate limit.
    rate: Option<RateLimit>,
    /// What waits until it may be a request.
    outside: VecDeque<Part>,
    /// What was cut into pieces.
    splits: Splits,
    /// How far time has come, ns.
    now_ns: u64,
    relay: Relay,
    /// Of the requests after joining, as the kernel counts them.
    meter: Meter,
    /// Requests that are done, when somebody asked to be told.
    served: Option<Vec<Served>>,
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
            limits: BlockLimits::default(),
            rate: None,
            outside: VecDeque::new(),
            splits: Splits::default(),
            now_ns: 0,
            relay: Relay::default(),
            meter: Meter::default(),
            served: None,
            arrived: Vec::new(),
        }
    }

    /// Tells of the requests that are done from now on, or no more.
    pub(super) fn tell_requests(&mut self, whether: bool) {
        self.served = whether.then(Vec::new);
    }

    /// What was done since this was asked last.
    pub(super) fn take_served(&mut self) -> impl Iterator<Item = Served> + '_ {
        self.served.iter_mut().flat_map(|served| served.drain(..))
    }

    /// Sets its limits, before anything is asked of it.
    pub(super) fn set_limits(&mut self, limits: BlockLimits) {
        self.rate = limits.rates.any().then(|| RateLimit::new(limits.rates));
        self.limits = limits;
    }

    pub(super) fn limits(&self) -> BlockLimits {
        self.limits
    }

    pub(super) fn parameters(&self) -> BlockParameters {
        self.parameters
    }

    /// Sets its parameters but for the scheduler, which is [`set_order`](Self::set_order).
    pub(super) fn set_parameters(&mut self, parameters: BlockParameters) {
        self.parameters = parameters;
    }

    /// Puts another scheduler in the place of its own.
    pub(super) fn set_order(&mut self, order: Order) {
        self.order = order;
    }

    /// Into how many requests this one is cut.
    fn pieces(&self, request: &Request) -> u64 {
        let is_cut = self.limits.splits && matches!(request.kind, Kind::Read | Kind::Write);
        if is_cut {
            request.len.div_ceil(self.parameters.max_request).max(1)
        } else {
            1
        }
    }

    /// Takes in what the rate limit lets pass.
    fn pass_limit(&mut self, now_ns: u64) {
        while let Some(rate) = &mut self.rate
            && let Some((asked_ns, request)) = rate.pass(now_ns)
        {
            self.take_in(now_ns, &request, asked_ns);
        }
    }

    /// A request that was asked for at `asked_ns` may go.
    fn take_in(&mut self, now_ns: u64, request: &Request, asked_ns: u64) {
        let part = Part {
            request: *request,
            submitted_ns: asked_ns,
            held_ns: now_ns - asked_ns,
            entered_ns: now_ns,
            whole: None,
            idled_ns: self.idled_ns,
        };
        let pieces = self.pieces(request);
        if pieces == 1 {
            self.enqueue(now_ns, part);
            return;
        }
        let whole = self.splits.begin(now_ns, request, asked_ns, pieces);
        let largest = self.parameters.max_request;
        for offset in (request.offset..request.end()).step_by(largest as usize) {
            let piece = Request {
                offset,
                len: largest.min(request.end() - offset),
                ..*request
            };
            let part = Part {
                request: piece,
                submitted_ns: now_ns,
                held_ns: 0,
                whole: Some(whole),
                ..part
            };
            self.enqueue(now_ns, part);
        }
    }

    /// Whether one request more may be held.
    fn has_room(&self) -> bool {
        let held = self.joined.len() + self.sent.len();
        self.limits.requests.is_none_or(|most| held < most)
    }

    fn enqueue(&mut self, now_ns: u64, part: Part) {
        if let Some(neighbour) = self.neighbour(&part.request) {
            self.meter.merged(&part.request);
            self.join(neighbour, part);
        } else if self.outside.is_empty() && self.has_room() {
            self.enter(now_ns, part);
        } else {
            self.outside.push_back(part);
        }
    }

    /// Takes in what waited for room, as far as there is some.
    fn let_in(&mut self, now_ns: u64) {
        while self.has_room()
            && let Some(part) = self.outside.pop_front()
        {
            self.enter(now_ns, part);
        }
    }

    /// It becomes a request of its own.
    fn enter(&mut self, now_ns: u64, part: Part) {
        self.meter.begin(now_ns);
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let joined = Joined {
            request: part.request,
            parts: vec![Part {
                entered_ns: now_ns,
                ..part
            }],
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
        if self.limits.no_merges || !may_join(request) {
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
        let first_ns = joined.parts.iter().map(|part| part.entered_ns).min();
        self.meter.end(
            below.done_ns,
            below.kind,
            below.len,
            first_ns.unwrap_or(sent_ns),
        );
        if let Some(served) = &mut self.served {
            served.push(Served {
                kind: joined.request.kind,
                offset: joined.request.offset,
                len: joined.request.len,
                stream: joined.request.stream,
                queued_ns: first_ns.unwrap_or(sent_ns),
                issued_ns: sent_ns,
                completed_ns: below.done_ns,
                failed: below.result.is_err(),
            });
        }
        for part in joined.parts {
            let waited_ns = sent_ns - part.submitted_ns - part.held_ns;
            // Idling is for one stream at the cost of the others.
            let idled_ns = (self.idled_ns - part.idled_ns).min(waited_ns);
            let before = Breakdown {
                queue_ns: waited_ns - idled_ns,
                throttle_ns: part.held_ns,
                idled_ns,
                ..Breakdown::nothing()
            };
            let breakdown = before.then(&below.breakdown);
            let Some(number) = part.whole else {
                self.relay
                    .answer(&part.request, part.submitted_ns, breakdown, below.result);
                continue;
            };
            let ended = self
                .splits
                .ended(number, below.done_ns, breakdown, below.result);
            if let Some(whole) = ended {
                self.relay.answer(
                    &whole.request,
                    whole.asked_ns,
                    whole.breakdown,
                    whole.result,
                );
            }
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
        self.now_ns = now_ns;
        let pieces = self.pieces(request);
        if let Some(rate) = &mut self.rate {
            rate.ask(now_ns, request, pieces);
            self.pass_limit(now_ns);
        } else {
            self.take_in(now_ns, request, now_ns);
        }
        self.dispatch(now_ns);
    }

    fn next_event(&self) -> Option<u64> {
        let idle_ns = self.idle.map(|(_, until_ns)| until_ns);
        let above_ns = earlier(self.relay.next_ns(), idle_ns);
        let limit_ns = self
            .rate
            .as_ref()
            .and_then(|rate| rate.next_ns(self.now_ns));
        let above_ns = earlier(above_ns, limit_ns);
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
            self.now_ns = now_ns;
            self.pass_limit(now_ns);
            self.let_in(now_ns);
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
