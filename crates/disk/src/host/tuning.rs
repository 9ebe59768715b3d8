//! Settings of a host that is in use: what an administrator changes between two
//! trials.

use super::block_queue::BlockQueue;
use super::limits::BlockLimits;
use super::machine::Host;
use super::order::Order;
use super::parameters::{BlockParameters, HostParameters, Scheduler};

impl Host {
    /// Takes other settings, from now on: what was queued stays queued, and is
    /// ordered by the new scheduler. The page cache keeps its size and what it holds;
    /// read-ahead begins anew, as for files that are opened again. Settings that are
    /// those in force change nothing.
    pub fn tune(&mut self, parameters: HostParameters, limits: BlockLimits) {
        let parameters = HostParameters {
            memory: self.parameters.memory,
            ..parameters
        };
        if parameters != self.parameters {
            self.forget_windows();
            self.parameters = parameters;
        }
        self.queue.tune(parameters.block, limits);
    }
}

impl BlockQueue {
    fn tune(&mut self, parameters: BlockParameters, limits: BlockLimits) {
        let now = self.parameters();
        if parameters.scheduler != now.scheduler {
            self.set_order(Order::new(parameters.scheduler));
        }
        self.set_parameters(parameters);
        if limits != self.limits() {
            self.set_limits(limits);
        }
    }
}

impl Scheduler {
    /// Linux's defaults of bfq for a disk that turns, as far as they are those of a
    /// scheduler in turns: a queue is served for `timeout_sync` (125 ms) at most, and the
    /// device kept idle for it for `slice_idle` (8 ms); Documentation/block/
    /// bfq-iosched.rst. What else bfq does is not simulated: budgets in sectors, weight
    /// raising, the queues that it merges.
    pub fn bfq() -> Self {
        Self::Fair {
            slice_ns: 125_000_000,
            idle_ns: 8_000_000,
        }
    }
}
