//! A network in virtual time: the protocol under every delay, drift and death, in no time and the
//! same each time.
//!
//! Frames of one pair arrive in the order in which they were sent; those of different pairs
//! overtake each other. Each way has its own delay, there and back. Each host has a clock with an
//! offset and a drift. Sending, receiving and reading a clock take a host's time, as they do.
//! A host dies at one of its operations, and nothing is heard of it any more.

mod random;
mod simulation;

use crate::time::Clock;
use crate::transport::{Transport, TransportError};
use random::Random;
pub use simulation::{Simulation, Stopped};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// A host's clock against the true time of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostClock {
    /// What it has at the network's time 0.
    pub offset_ns: i64,
    /// How much it gains, in parts per 10^9.
    pub drift_ppb: i64,
}

impl HostClock {
    /// What it has at a true time.
    pub fn at(&self, true_ns: i64) -> i64 {
        let gained = i128::from(true_ns) * i128::from(self.drift_ppb) / 1_000_000_000;
        let gained = i64::try_from(gained).unwrap_or(i64::MAX);
        true_ns
            .saturating_add(self.offset_ns)
            .saturating_add(gained)
    }

    /// The true time at which it has this, to a nanosecond or two.
    fn true_ns(&self, local_ns: i64) -> i64 {
        let since = i128::from(local_ns) - i128::from(self.offset_ns);
        let true_ns = since * 1_000_000_000 / (1_000_000_000 + i128::from(self.drift_ppb));
        i64::try_from(true_ns).unwrap_or(i64::MIN)
    }
}

/// The way of frames from one host to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Way {
    /// What a frame takes at least.
    pub delay_ns: u64,
    /// At most so much more, by chance.
    pub jitter_ns: u64,
}

/// Hosts and the ways between them.
pub struct Network {
    state: Rc<RefCell<State>>,
    /// The true time of each host: it is ahead of the others while it is polled.
    host_ns: Rc<Vec<Cell<i64>>>,
    clocks: Vec<HostClock>,
}

/// A frame and when it arrives.
type Arriving = (i64, Vec<u8>);

struct State {
    random: Random,
    ways: Box<dyn Fn(usize, usize) -> Way>,
    frames: BTreeMap<(usize, usize), VecDeque<Arriving>>,
    /// When the last frame of a pair arrives.
    last_ns: BTreeMap<(usize, usize), i64>,
    /// Deliveries that the simulation does not know yet: when, and to whom.
    announced: Vec<(i64, usize)>,
    /// Frames that each host has sent.
    sent: Vec<u64>,
    /// The frame at whose sending a host dies.
    dies_at: Vec<Option<u64>>,
    /// The true time at which a host dies.
    dies_at_ns: Vec<Option<i64>>,
    /// Who dies because of whom, and how much later.
    dies_with: Vec<(usize, usize, i64)>,
    dead: Vec<bool>,
    /// From when to when a host stands still, in true time.
    pauses_ns: Vec<(i64, i64)>,
    /// Whether sending to a dead host fails, as over a connection that was closed.
    notices: bool,
}

impl State {
    fn is_dead(&self, rank: usize, now_ns: i64) -> bool {
        self.dead[rank] || self.dies_at_ns[rank].is_some_and(|at_ns| at_ns <= now_ns)
    }

    fn die(&mut self, rank: usize, now_ns: i64) {
        if std::mem::replace(&mut self.dead[rank], true) {
            return;
        }
        for (_, other, later_ns) in self.dies_with.iter().filter(|row| row.0 == rank) {
            self.dies_at_ns[*other] = Some(now_ns.saturating_add(*later_ns));
        }
    }
}

/// Most that a call of the transport takes.
const CALL_NS_MAX: u64 = 2000;

/// What reading a clock takes.
const CLOCK_NS: i64 = 25;

impl Network {
    /// As many hosts as there are clocks. `seed` decides what is left to chance.
    pub fn new(
        clocks: Vec<HostClock>,
        ways: impl Fn(usize, usize) -> Way + 'static,
        seed: u64,
    ) -> Self {
        let hosts = clocks.len();
        let state = State {
            random: Random::new(seed),
            ways: Box::new(ways),
            frames: BTreeMap::new(),
            last_ns: BTreeMap::new(),
            announced: Vec::new(),
            sent: vec![0; hosts],
            dies_at: vec![None; hosts],
            dies_at_ns: vec![None; hosts],
            dies_with: Vec::new(),
            dead: vec![false; hosts],
            pauses_ns: vec![(0, 0); hosts],
            notices: false,
        };
        Self {
            state: Rc::new(RefCell::new(state)),
            host_ns: Rc::new(vec![Cell::new(0); hosts]),
            clocks,
        }
    }

    /// A host dies instead of sending its frame of this number, from 0.
    pub fn kill_at_frame(&self, rank: usize, frame: u64) {
        self.state.borrow_mut().dies_at[rank] = Some(frame);
    }

    /// When `rank` dies, `other` does so `later_ns` after it, as hosts of one rack do.
    pub fn kill_with(&self, rank: usize, other: usize, later_ns: i64) {
        let row = (rank, other, later_ns);
        self.state.borrow_mut().dies_with.push(row);
    }

    /// A host stands still for this true time, as a virtual machine does that is moved.
    pub fn pause(&self, rank: usize, from_ns: i64, until_ns: i64) {
        self.state.borrow_mut().pauses_ns[rank] = (from_ns, until_ns);
    }

    /// Until when a host stands still, if it does at this true time.
    fn paused_until(&self, rank: usize, at_ns: i64) -> Option<i64> {
        let (from, until) = self.state.borrow().pauses_ns[rank];
        (from <= at_ns && at_ns < until).then_some(until)
    }

    /// Sending to a dead host fails; without this it is silent.
    pub fn notices_death(&self) {
        self.state.borrow_mut().notices = true;
    }

    /// How many frames a host has sent.
    pub fn sent(&self, rank: usize) -> u64 {
        self.state.borrow().sent[rank]
    }

    /// Whether a host died.
    pub fn is_dead(&self, rank: usize) -> bool {
        self.state.borrow().is_dead(rank, self.host_ns[rank].get())
    }

    /// The transport of a host.
    pub fn channels(&self, rank: usize) -> Channels {
        Channels {
            state: Rc::clone(&self.state),
            host_ns: Rc::clone(&self.host_ns),
            rank,
        }
    }

    /// The clock of a host.
    pub fn clock(&self, rank: usize) -> VirtualClock {
        VirtualClock {
            host_ns: Rc::clone(&self.host_ns),
            clock: self.clocks[rank],
            rank,
        }
    }
}

/// One host's end of a [`Network`].
pub struct Channels {
    state: Rc<RefCell<State>>,
    host_ns: Rc<Vec<Cell<i64>>>,
    rank: usize,
}

impl Channels {
    fn now_ns(&self) -> i64 {
        self.host_ns[self.rank].get()
    }

    fn take_time(&self, state: &mut State) {
        let took = state.random.below(CALL_NS_MAX).cast_signed();
        self.host_ns[self.rank].set(self.now_ns() + took);
    }
}

impl Transport for Channels {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.host_ns.len()
    }

    fn send(&mut self, to: usize, frame: &[u8]) -> Result<(), TransportError> {
        let mut state = self.state.borrow_mut();
        self.take_time(&mut state);
        let number = state.sent[self.rank];
        let now = self.now_ns();
        if state.dies_at[self.rank].is_some_and(|dies_at| number >= dies_at)
            || state.is_dead(self.rank, now)
        {
            state.die(self.rank, now);
            return Ok(());
        }
        state.sent[self.rank] += 1;
        if state.is_dead(to, now) {
            return if state.notices {
                let why = "connection reset by peer".to_owned();
                Err(TransportError::Gone { rank: to, why })
            } else {
                Ok(())
            };
        }
        let way = (state.ways)(self.rank, to);
        let takes = way.delay_ns + state.random.below(way.jitter_ns);
        let pair = (self.rank, to);
        let last = state.last_ns.get(&pair).copied().unwrap_or(i64::MIN);
        let arrives = self.now_ns().saturating_add_unsigned(takes).max(last);
        state.last_ns.insert(pair, arrives);
        let frames = state.frames.entry(pair).or_default();
        frames.push_back((arrives, frame.to_vec()));
        state.announced.push((arrives, to));
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Option<Vec<u8>>, TransportError> {
        let mut state = self.state.borrow_mut();
        let now = self.now_ns();
        if state.is_dead(self.rank, now) {
            return Ok(None);
        }
        let Some(frames) = state.frames.get_mut(&(from, self.rank)) else {
            return Ok(None);
        };
        if frames.front().is_none_or(|(arrives, _)| *arrives > now) {
            return Ok(None);
        }
        let frame = frames.pop_front().map(|(_, frame)| frame);
        self.take_time(&mut state);
        Ok(frame)
    }

    fn unsent(&mut self) -> Result<usize, TransportError> {
        Ok(0)
    }
}

/// The clock of one host of a [`Network`].
#[derive(Clone)]
pub struct VirtualClock {
    host_ns: Rc<Vec<Cell<i64>>>,
    clock: HostClock,
    rank: usize,
}

impl VirtualClock {
    /// The true time, which no host can know.
    pub fn true_ns(&self) -> i64 {
        self.host_ns[self.rank].get()
    }

    /// The true time at which this clock has `local_ns`, to a nanosecond or two.
    pub fn to_true(&self, local_ns: i64) -> i64 {
        self.clock.true_ns(local_ns)
    }
}

impl Clock for VirtualClock {
    fn now_ns(&self) -> i64 {
        let host = &self.host_ns[self.rank];
        host.set(host.get() + CLOCK_NS);
        self.clock.at(host.get())
    }
}
