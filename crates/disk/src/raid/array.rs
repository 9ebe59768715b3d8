//! An array as a device.

use super::gather::Gather;
use super::layout::{Layout, Level, Piece};
use super::nodes::{MemberIo, Node, Nodes, Owner, Then};
use super::stripe;
use crate::completion::{Breakdown, Completion, IoError};
use crate::device::{self, Device, Extent};
use crate::request::{Kind, Request};
use crate::statistics::{Meter, Statistics};
use std::collections::{BTreeMap, VecDeque};

/// An array of equal members.
///
/// Requests are cut at chunk borders and sent to the members at once; a
/// request is done when its last part is. Mirrors are read where the head is
/// nearest. Writes to a stripe with parity read what they need first, and two
/// writes to one stripe follow each other. A sector that a member cannot read
/// is read or computed from the others and written there again.
pub struct Raid {
    layout: Layout,
    members: Vec<Box<dyn Device>>,
    capacity: u64,
    sector: u64,
    nodes: Nodes,
    /// Stripes with parity that are being written, and what waits for each.
    busy_stripes: BTreeMap<u64, VecDeque<usize>>,
    gather: Gather,
    /// Requests in flight on each member, and the end of the last one, for
    /// the choice of a mirror.
    load: Vec<(u64, u64)>,
    /// Completions of a member on their way up.
    arrived: Vec<Completion>,
    /// Completions on their way out.
    finished: Vec<Completion>,
    meter: Meter,
}

impl Raid {
    /// An array over `members`, with `chunk` bytes in a row on each. Writes to
    /// a part of a stripe with parity wait up to `gather_ns` for the rest.
    pub fn new(level: Level, chunk: u64, gather_ns: u64, members: Vec<Box<dyn Device>>) -> Self {
        let layout = Layout {
            level,
            members: members.len(),
            chunk,
        };
        let smallest = members
            .iter()
            .map(super::super::device::Device::capacity)
            .min();
        let sector = members
            .iter()
            .map(super::super::device::Device::logical_sector)
            .max();
        Self {
            layout,
            capacity: layout.capacity(smallest.unwrap_or(0)),
            sector: sector.unwrap_or(512),
            nodes: Nodes::default(),
            busy_stripes: BTreeMap::new(),
            gather: Gather::new(gather_ns, layout.stripe_bytes()),
            load: vec![(0, 0); members.len()],
            arrived: Vec::new(),
            finished: Vec::new(),
            members,
            meter: Meter::default(),
        }
    }

    /// The map of the array.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&mut self, now_ns: u64, request: &Request) {
        let index = self
            .nodes
            .add(Node::new(request, now_ns, now_ns, Owner::Caller));
        let has_parity = self.layout.level.parities() > 0;
        match request.kind {
            Kind::Flush => {
                self.release_gathered(now_ns);
                self.flush_members(now_ns, index);
            }
            Kind::Write if request.flags.preflush => {
                self.release_gathered(now_ns);
                self.nodes.get(index).then = Then::Write;
                self.flush_members(now_ns, index);
            }
            Kind::Write => self.begin_write(now_ns, index),
            // md does not pass trims on where parity would have to follow.
            Kind::Trim if has_parity => self.end_node(now_ns, index),
            Kind::Read | Kind::Trim => {
                let range = Extent {
                    start: request.offset,
                    end: request.end(),
                };
                let io = self.member_io(request.kind, range);
                self.start_io(now_ns, index, io);
            }
        }
    }

    fn flush_members(&mut self, now_ns: u64, index: usize) {
        let io = (0..self.members.len())
            .map(|member| MemberIo {
                piece: Piece {
                    member,
                    extent: Extent { start: 0, end: 0 },
                },
                kind: Kind::Flush,
                redirected: false,
            })
            .collect();
        self.start_io(now_ns, index, io);
    }

    /// The I/O on members of a level without parity.
    fn member_io(&self, kind: Kind, range: Extent) -> Vec<MemberIo> {
        let copies = self.layout.copies();
        let mut io = Vec::new();
        for piece in self.layout.pieces(range) {
            let one = |member: usize| MemberIo {
                piece: Piece { member, ..piece },
                kind,
                redirected: false,
            };
            if kind == Kind::Read {
                io.push(one(self.nearest_copy(&piece)));
            } else {
                io.extend((piece.member..piece.member + copies).map(one));
            }
        }
        io
    }

    /// The copy to read: the one whose last request ended there, else the
    /// least busy, else the one whose last request was nearest (the order of
    /// Linux, drivers/md/raid1.c, `read_balance`).
    fn nearest_copy(&self, piece: &Piece) -> usize {
        let copies = piece.member..piece.member + self.layout.copies();
        copies
            .min_by_key(|&member| {
                let (in_flight, last_end) = self.load[member];
                let distance = last_end.abs_diff(piece.extent.start);
                (distance != 0, in_flight, distance)
            })
            .unwrap_or(piece.member)
    }

    fn begin_write(&mut self, now_ns: u64, index: usize) {
        let request = self.nodes.get(index).request;
        let range = Extent {
            start: request.offset,
            end: request.end(),
        };
        if self.layout.level.parities() == 0 {
            let io = self.member_io(Kind::Write, range);
            self.start_io(now_ns, index, io);
            return;
        }
        let stripe_bytes = self.layout.stripe_bytes();
        let stripes = range.start / stripe_bytes..range.end.div_ceil(stripe_bytes);
        let node = self.nodes.get(index);
        node.started_ns = now_ns;
        node.remaining = (stripes.end - stripes.start) as usize;
        for stripe in stripes {
            let part = Extent {
                start: range.start.max(stripe * stripe_bytes),
                end: range.end.min((stripe + 1) * stripe_bytes),
            };
            if let Some(gathered) = self.gather.add(now_ns, stripe, part, index) {
                self.write_stripe(now_ns, stripe, gathered.range, gathered.nodes);
            }
        }
    }

    /// Stops waiting for more data of any stripe.
    fn release_gathered(&mut self, now_ns: u64) {
        for (stripe, gathered) in self.gather.release_all() {
            self.write_stripe(now_ns, stripe, gathered.range, gathered.nodes);
        }
    }

    /// Writes a part of a stripe, for the writes of `parents`, now or after
    /// the write to that stripe that is under way.
    fn write_stripe(&mut self, now_ns: u64, stripe: u64, range: Extent, parents: Vec<usize>) {
        let mut request = self.nodes.get(parents[0]).request;
        request.flags.fua = parents
            .iter()
            .any(|&parent| self.nodes.get(parent).request.flags.fua);
        request.offset = range.start;
        request.len = range.len();
        let owner = Owner::Stripe(stripe, parents);
        let index = self.nodes.add(Node::new(&request, now_ns, now_ns, owner));
        if let Some(waiting) = self.busy_stripes.get_mut(&stripe) {
            waiting.push_back(index);
        } else {
            self.busy_stripes.insert(stripe, VecDeque::new());
            self.start_stripe(now_ns, stripe, index);
        }
    }

    fn start_stripe(&mut self, now_ns: u64, stripe: u64, index: usize) {
        let node = self.nodes.get(index);
        node.breakdown.queue_ns = now_ns - node.submitted_ns;
        let range = Extent {
            start: node.request.offset,
            end: node.request.end(),
        };
        let plan = stripe::plan(&self.layout, stripe, range);
        let io = |pieces: Vec<Piece>, kind| -> Vec<MemberIo> {
            let one = |piece| MemberIo {
                piece,
                kind,
                redirected: false,
            };
            pieces.into_iter().map(one).collect()
        };
        let reads = io(plan.reads, Kind::Read);
        let writes = io(plan.writes, Kind::Write);
        if reads.is_empty() {
            self.start_io(now_ns, index, writes);
        } else {
            self.nodes.get(index).then = Then::Io(writes);
            self.start_io(now_ns, index, reads);
        }
    }

    fn start_io(&mut self, now_ns: u64, index: usize, io: Vec<MemberIo>) {
        let node = self.nodes.get(index);
        node.started_ns = now_ns;
        node.remaining = io.len();
        let flags = node.flags();
        let (stream, context) = (node.request.stream, node.request.context);
        for (number, one) in io.iter().enumerate() {
            let MemberIo { piece, kind, .. } = *one;
            let request = Request {
                tag: Nodes::tag(index, number),
                kind,
                offset: piece.extent.start,
                len: piece.extent.len(),
                flags: if kind == Kind::Write {
                    flags
                } else {
                    crate::Flags {
                        direct: true,
                        ..crate::Flags::default()
                    }
                },
                stream,
                context,
            };
            let (in_flight, last_end) = &mut self.load[piece.member];
            *in_flight += 1;
            if kind != Kind::Flush {
                *last_end = piece.extent.end;
            }
            self.members[piece.member].submit(now_ns, &request);
        }
        self.nodes.get(index).io = io;
    }

    fn member_done(&mut self, completion: &Completion) {
        let now_ns = completion.done_ns;
        let (index, number) = Nodes::of_tag(completion.tag);
        let io = self.nodes.get(index).io[number];
        self.load[io.piece.member].0 -= 1;
        let error = completion.result.err();
        if error.is_some()
            && io.kind == Kind::Read
            && !io.redirected
            && let Some(others) = self.other_sources(&io)
        {
            let request = self.nodes.get(index).request;
            let mut node = Node::new(&request, now_ns, now_ns, Owner::Node(index));
            node.breakdown = completion.breakdown;
            node.then = Then::Repair(io);
            let child = self.nodes.add(node);
            self.start_io(now_ns, child, others);
            return;
        }
        self.part_done(now_ns, index, &completion.breakdown, error);
    }

    /// Where the bytes of a failed read can be had instead.
    fn other_sources(&self, io: &MemberIo) -> Option<Vec<MemberIo>> {
        let failed = io.piece.member;
        let members = match self.layout.level {
            Level::Stripe => return None,
            Level::Mirror => vec![(failed + 1) % self.members.len()],
            Level::StripedMirrors => vec![failed ^ 1],
            Level::Parity | Level::DoubleParity => (0..self.members.len())
                .filter(|member| *member != failed)
                .take(self.layout.data_members())
                .collect(),
        };
        let one = |member| MemberIo {
            piece: Piece { member, ..io.piece },
            kind: Kind::Read,
            redirected: true,
        };
        Some(members.into_iter().map(one).collect())
    }

    fn part_done(
        &mut self,
        now_ns: u64,
        index: usize,
        breakdown: &Breakdown,
        error: Option<IoError>,
    ) {
        let node = self.nodes.get(index);
        node.remaining -= 1;
        node.last = *breakdown;
        node.error = node.error.or(error);
        if node.remaining == 0 {
            node.breakdown = node.breakdown.then(&node.last);
            self.end_node(now_ns, index);
        }
    }

    fn end_node(&mut self, now_ns: u64, index: usize) {
        let node = self.nodes.get(index);
        match std::mem::replace(&mut node.then, Then::Done) {
            Then::Io(io) if node.error.is_none() => {
                self.start_io(now_ns, index, io);
                return;
            }
            Then::Write if node.error.is_none() => {
                self.begin_write(now_ns, index);
                return;
            }
            Then::Repair(io) if node.error.is_none() => {
                let mut request = node.request;
                request.kind = Kind::Write;
                let repair = MemberIo {
                    kind: Kind::Write,
                    ..io
                };
                let node = Node::new(&request, now_ns, now_ns, Owner::Nobody);
                let writer = self.nodes.add(node);
                self.start_io(now_ns, writer, vec![repair]);
            }
            Then::Done | Then::Io(_) | Then::Write | Then::Repair(_) => {}
        }
        let node = self.nodes.remove(index);
        match node.owner {
            Owner::Caller => {
                let mut completion =
                    Completion::of(&node.request, node.submitted_ns, node.breakdown);
                completion.result = node.error.map_or(Ok(()), Err);
                self.finished.push(completion);
            }
            Owner::Node(parent) => {
                self.part_done(now_ns, parent, &node.breakdown, node.error);
            }
            Owner::Stripe(stripe, parents) => {
                self.next_on_stripe(now_ns, stripe);
                for parent in parents {
                    // The time that its data waited for its neighbours.
                    let waited_ns = node.submitted_ns - self.nodes.get(parent).started_ns;
                    let mut breakdown = node.breakdown;
                    breakdown.queue_ns += waited_ns;
                    self.part_done(now_ns, parent, &breakdown, node.error);
                }
            }
            Owner::Nobody => {}
        }
    }

    fn next_on_stripe(&mut self, now_ns: u64, stripe: u64) {
        let Some(waiting) = self.busy_stripes.get_mut(&stripe) else {
            return;
        };
        if let Some(next) = waiting.pop_front() {
            self.start_stripe(now_ns, stripe, next);
        } else {
            self.busy_stripes.remove(&stripe);
        }
    }
}

impl Device for Raid {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.meter.begin(now_ns);
        match device::check(request, self.capacity, self.sector) {
            Ok(()) => self.begin(now_ns, request),
            Err(error) => {
                let mut completion = Completion::of(request, now_ns, Breakdown::nothing());
                completion.result = Err(error);
                self.finished.push(completion);
            }
        }
    }

    fn next_event(&self) -> Option<u64> {
        if let Some(completion) = self.finished.first() {
            return Some(completion.done_ns);
        }
        let members = self
            .members
            .iter()
            .filter_map(super::super::device::Device::next_event);
        members.chain(self.gather.next_ns()).min()
    }

    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>) {
        while let Some(now_ns) = self.next_event()
            && now_ns <= to_ns
        {
            for member in 0..self.members.len() {
                if self.members[member]
                    .next_event()
                    .is_some_and(|next_ns| next_ns <= now_ns)
                {
                    let mut arrived = std::mem::take(&mut self.arrived);
                    self.members[member].advance(now_ns, &mut arrived);
                    for completion in arrived.drain(..) {
                        self.member_done(&completion);
                    }
                    self.arrived = arrived;
                }
            }
            for (stripe, gathered) in self.gather.release_due(now_ns) {
                self.write_stripe(now_ns, stripe, gathered.range, gathered.nodes);
            }
            for completion in self.finished.drain(..) {
                self.meter.end(
                    completion.done_ns,
                    completion.kind,
                    completion.len,
                    completion.submitted_ns,
                );
                out.push(completion);
            }
        }
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn logical_sector(&self) -> u64 {
        self.sector
    }

    fn queue_depth_limit(&self) -> u32 {
        let all = self
            .members
            .iter()
            .map(super::super::device::Device::queue_depth_limit);
        all.fold(0, u32::saturating_add)
    }

    fn statistics(&self, now_ns: u64) -> Statistics {
        self.meter.at(now_ns)
    }

    /// In bytes of the array; what is volatile on a member's parity is left out.
    fn volatile(&self) -> Vec<Extent> {
        let mut extents = Vec::new();
        for (member, device) in self.members.iter().enumerate() {
            for extent in device.volatile() {
                extents.extend(self.layout.array_extents(member, extent));
            }
        }
        extents.sort_unstable();
        extents.dedup();
        extents
    }

    fn members(&self) -> Vec<&dyn Device> {
        self.members.iter().map(|member| &**member).collect()
    }
}
