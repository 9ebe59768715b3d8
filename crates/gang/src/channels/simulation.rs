//! Members of one group, polled in the order of virtual time.

use super::Network;
use crate::member::{Ending, Member, Next};
use crate::work::{Schedule, Work};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A network and its members.
pub struct Simulation<W, S> {
    network: Network,
    members: Vec<Member<W, S>>,
    /// What woke whom, and when.
    wakes: BinaryHeap<Reverse<(i64, usize, Wake)>>,
    /// The timer that counts; earlier ones were set before a frame came.
    timers_ns: Vec<i64>,
    endings: Vec<Option<Ending>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wake {
    Frame,
    Timer,
}

/// How a simulated group stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Of each host; `None` where it died, or had not ended when the time was over.
    pub endings: Vec<Option<Ending>>,
    /// The true time of the last ending.
    pub at_ns: i64,
}

impl<W: Work, S: Schedule> Simulation<W, S> {
    /// Members of the network's hosts, in the order of their ranks.
    pub fn new(network: Network, members: Vec<Member<W, S>>) -> Self {
        let hosts = members.len();
        Self {
            network,
            members,
            wakes: (0..hosts)
                .map(|rank| Reverse((0, rank, Wake::Timer)))
                .collect(),
            timers_ns: vec![0; hosts],
            endings: vec![None; hosts],
        }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// How many hosts it has, with those that died.
    pub fn network_size(&self) -> usize {
        self.members.len()
    }

    /// A member.
    pub fn member(&self, rank: usize) -> &Member<W, S> {
        &self.members[rank]
    }

    /// Until everybody has ended or died, or this true time is over.
    pub fn run(&mut self, until_ns: i64) -> Stopped {
        let mut at_ns = 0;
        while let Some(Reverse((at, rank, wake))) = self.wakes.pop() {
            if at > until_ns {
                break;
            }
            let stale = wake == Wake::Timer && at != self.timers_ns[rank];
            if stale || self.endings[rank].is_some() || self.network.is_dead(rank) {
                continue;
            }
            if let Some(until) = self.network.paused_until(rank, at) {
                self.wakes.push(Reverse((until, rank, Wake::Frame)));
                continue;
            }
            let host = &self.network.host_ns[rank];
            if wake == Wake::Frame && host.get() > at {
                // It was busy when the frame came, and looks for it when it is not.
                self.wakes.push(Reverse((host.get(), rank, wake)));
                continue;
            }
            host.set(host.get().max(at));
            if self.network.is_dead(rank) {
                continue;
            }
            self.poll(rank);
            at_ns = at_ns.max(self.network.host_ns[rank].get());
        }
        Stopped {
            endings: self.endings.clone(),
            at_ns,
        }
    }

    fn poll(&mut self, rank: usize) {
        let clock = self.network.clock(rank);
        let mut channels = self.network.channels(rank);
        match self.members[rank].poll(&mut channels, &clock) {
            // It died in the middle of this.
            _ if self.network.is_dead(rank) => {}
            Next::Ended(ending) => self.endings[rank] = Some(ending),
            Next::Wait { until_ns, .. } => {
                let now = self.network.host_ns[rank].get();
                let until = clock.clock.true_ns(until_ns).max(now + 1);
                self.timers_ns[rank] = until;
                self.wakes.push(Reverse((until, rank, Wake::Timer)));
            }
        }
        let announced = std::mem::take(&mut self.network.state.borrow_mut().announced);
        let frames = announced
            .into_iter()
            .map(|(at, to)| Reverse((at, to, Wake::Frame)));
        self.wakes.extend(frames);
    }
}
