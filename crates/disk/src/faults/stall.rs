//! A device that does nothing at all now and then: a firmware that tidies up,
//! a link that is reset.

use crate::completion::{Breakdown, Completion};
use crate::device::{Device, Extent};
use crate::relay::Relay;
use crate::request::Request;
use crate::statistics::Statistics;

/// When a device stalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallParameters {
    /// From the start of one stall to the next, ns; the first one comes after
    /// one such time.
    pub every_ns: u64,
    /// How long each lasts, ns; shorter than `every_ns`.
    pub for_ns: u64,
}

impl StallParameters {
    /// The device's own time at `now_ns`: its clock stands still in a stall.
    fn own_time_ns(&self, now_ns: u64) -> u64 {
        let stalls = now_ns / self.every_ns;
        let into_ns = now_ns % self.every_ns;
        let stalled_ns = if stalls == 0 {
            0
        } else {
            (stalls - 1) * self.for_ns + into_ns.min(self.for_ns)
        };
        now_ns - stalled_ns
    }

    /// The first moment at which the device's own time is `own_ns`.
    fn outer_time_ns(&self, own_ns: u64) -> u64 {
        // The own time stands still at every_ns, then once in each run.
        if own_ns <= self.every_ns {
            return own_ns;
        }
        let run_ns = self.every_ns - self.for_ns;
        let runs = (own_ns - self.every_ns - 1) / run_ns + 1;
        own_ns + runs * self.for_ns
    }
}

/// A device that stalls: its clock, and everything that goes by it, stands
/// still meanwhile.
pub struct Stalling {
    parameters: StallParameters,
    inner: Box<dyn Device>,
    relay: Relay,
    arrived: Vec<Completion>,
}

impl Stalling {
    /// Makes `inner` stall.
    pub fn new(parameters: StallParameters, inner: Box<dyn Device>) -> Self {
        Self {
            parameters,
            inner,
            relay: Relay::default(),
            arrived: Vec::new(),
        }
    }
}

impl Device for Stalling {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.relay.begin(now_ns);
        let below = self
            .relay
            .pass(now_ns, request, now_ns, Breakdown::nothing());
        self.inner
            .submit(self.parameters.own_time_ns(now_ns), &below);
    }

    fn next_event(&self) -> Option<u64> {
        let inner_ns = self.inner.next_event();
        let outer_ns = inner_ns.map(|own_ns| self.parameters.outer_time_ns(own_ns));
        crate::relay::earlier(self.relay.next_ns(), outer_ns)
    }

    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>) {
        while let Some(now_ns) = self.next_event()
            && now_ns <= to_ns
        {
            let mut arrived = std::mem::take(&mut self.arrived);
            self.inner
                .advance(self.parameters.own_time_ns(now_ns), &mut arrived);
            for below in arrived.drain(..) {
                let passed = self.relay.take(&below);
                let done_ns = self.parameters.outer_time_ns(below.done_ns);
                let passed_ns = done_ns.max(passed.passed_ns) - passed.passed_ns;
                let after = Breakdown {
                    stall_ns: passed_ns.saturating_sub(below.breakdown.total_ns()),
                    ..Breakdown::nothing()
                };
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_clock_stands_still_in_a_stall() {
        let stall = StallParameters {
            every_ns: 100,
            for_ns: 30,
        };
        let own: Vec<u64> = [0, 99, 100, 115, 130, 199, 200, 230, 250]
            .map(|now_ns| stall.own_time_ns(now_ns))
            .to_vec();
        assert_eq!(own, [0, 99, 100, 100, 100, 169, 170, 170, 190]);
        assert_eq!(stall.outer_time_ns(100), 100);
        assert_eq!(stall.outer_time_ns(101), 131);
        assert_eq!(stall.outer_time_ns(170), 200);
        assert_eq!(stall.outer_time_ns(171), 231);
    }

    proptest! {
        #[test]
        fn outer_time_is_the_first_moment_of_an_own_time(
            every_ns in 2_u64..1000,
            share in 1_u64..100,
            own_ns in 0_u64..100_000,
        ) {
            let for_ns = (every_ns * share / 100).clamp(1, every_ns - 1);
            let stall = StallParameters { every_ns, for_ns };
            let outer_ns = stall.outer_time_ns(own_ns);
            prop_assert_eq!(stall.own_time_ns(outer_ns), own_ns);
            if outer_ns > 0 {
                prop_assert!(stall.own_time_ns(outer_ns - 1) < own_ns);
            }
        }
    }
}
