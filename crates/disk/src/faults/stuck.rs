//! A command that gets stuck now and then: the others overtake it, and it
//! comes back when a timeout or an abort wakes it.

use crate::completion::{Breakdown, Completion};
use crate::device::{Device, Extent};
use crate::relay::{Relay, earlier};
use crate::request::Request;
use crate::statistics::Statistics;

/// Which commands get stuck, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StuckParameters {
    /// One command of so many, at least 1.
    pub every_commands: u64,
    /// How long it stays, ns.
    pub for_ns: u64,
}

/// A device with a queue in which commands get stuck.
pub struct StuckQueue {
    parameters: StuckParameters,
    inner: Box<dyn Device>,
    relay: Relay,
    completed: u64,
    arrived: Vec<Completion>,
}

impl StuckQueue {
    /// Makes commands of `inner` get stuck.
    pub fn new(parameters: StuckParameters, inner: Box<dyn Device>) -> Self {
        Self {
            parameters,
            inner,
            relay: Relay::default(),
            completed: 0,
            arrived: Vec::new(),
        }
    }
}

impl Device for StuckQueue {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.relay.begin(now_ns);
        let below = self
            .relay
            .pass(now_ns, request, now_ns, Breakdown::nothing());
        self.inner.submit(now_ns, &below);
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
                let passed = self.relay.take(&below);
                self.completed += 1;
                let mut after = Breakdown::nothing();
                if self
                    .completed
                    .is_multiple_of(self.parameters.every_commands)
                {
                    after.stall_ns = self.parameters.for_ns;
                }
                self.relay.complete(&passed, &below, &after);
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
