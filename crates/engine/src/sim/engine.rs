//! The engine of one stream.

use super::baton::Baton;
use super::machine::{Waiting, errno};
use super::plant::CpuCost;
use crate::clock::Timescale;
use crate::engine::{Abilities, Done, Engine, Op, Wait};
use diskfacts_disk::Extent;
use std::io;

/// The clock of a simulated host: virtual time, or, where that is planted, a
/// clock that runs a little faster or slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SimClock {
    /// Parts per million that it runs too fast.
    pub(super) ppm: i64,
}

impl SimClock {
    /// What it shows at a moment.
    #[inline]
    pub(super) fn tick(self, ns: u64) -> u64 {
        if self.ppm == 0 {
            return ns;
        }
        let off = i128::from(ns) * i128::from(self.ppm) / 1_000_000;
        // A clock that is off by less than all of its time is not negative.
        (i128::from(ns) + off) as u64
    }

    /// The first moment at which it shows a tick.
    fn moment(self, tick: u64) -> u64 {
        if self.ppm == 0 || tick == u64::MAX {
            return tick;
        }
        let rate = i128::from(1_000_000 + self.ppm);
        let ns = (i128::from(tick) * 1_000_000 / rate).max(0) as u64;
        (ns.saturating_sub(2)..=ns.saturating_add(2))
            .find(|ns| self.tick(*ns) >= tick)
            .unwrap_or(ns)
    }
}

/// Does the operations of one stream on a simulated machine.
pub struct Sim {
    baton: Baton,
    clock: SimClock,
    abilities: Abilities,
    in_flight: u32,
    /// What an operation costs the processor; nothing unless it is planted.
    cost: CpuCost,
    /// User time of operations that came back, and is not spent yet, ns: it is
    /// spent when the loop goes on, so it is in no latency.
    owed_ns: u64,
    /// The loop has read the clock for what came back.
    is_stamped: bool,
    /// Why the thread could not spend its time: another stream broke.
    broken: Option<io::Error>,
}

impl Sim {
    /// Waits for its turn.
    ///
    /// # Errors
    /// Another stream broke before it came.
    pub(super) fn begin(
        mut baton: Baton,
        clock: SimClock,
        abilities: Abilities,
        cost: CpuCost,
    ) -> io::Result<Self> {
        baton.receive()?;
        Ok(Self {
            baton,
            clock,
            abilities,
            in_flight: 0,
            cost,
            owed_ns: 0,
            is_stamped: true,
            broken: None,
        })
    }
}

impl Sim {
    /// Processor time of the stream, ns.
    pub(super) fn processor_ns(&mut self) -> Option<u64> {
        if self.broken.is_some() {
            return None;
        }
        let me = self.baton.me();
        Some(self.baton.machine().processor_ns(me))
    }

    /// The thread works for so long and does nothing else.
    fn work(&mut self, for_ns: u64) -> io::Result<()> {
        let until_ns = self.baton.machine().now_ns() + for_ns;
        self.baton.wait(Waiting::Time(until_ns))
    }

    /// Spends the user time that is owed.
    #[cold]
    fn spend_owed(&mut self) -> io::Result<()> {
        let owed_ns = std::mem::take(&mut self.owed_ns);
        let me = self.baton.me();
        self.baton.machine().count_processor(me, owed_ns, 0);
        self.work(owed_ns)
    }

    /// Starts operations one by one, each with its time in the kernel.
    #[cold]
    fn submit_at_a_cost(&mut self, ops: &[Op]) -> io::Result<()> {
        let me = self.baton.me();
        for op in ops {
            self.work(self.cost.system_ns)?;
            let machine = self.baton.machine();
            machine.count_processor(me, 0, self.cost.system_ns);
            machine.begin(me, op);
        }
        Ok(())
    }

    /// Drops the clean pages of a range from the page cache.
    pub(super) fn forget(&mut self, range: Extent) {
        self.baton.machine().host.forget(range);
    }
}

impl Engine for Sim {
    fn abilities(&self) -> Abilities {
        self.abilities.clone()
    }

    #[inline]
    fn now(&mut self) -> u64 {
        if self.owed_ns > 0 {
            if self.is_stamped {
                self.broken = self.spend_owed().err();
            }
            self.is_stamped = true;
        }
        if self.broken.is_some() {
            // The next call that may fail says so.
            return u64::MAX;
        }
        let now_ns = self.baton.machine().now_ns();
        self.clock.tick(now_ns)
    }

    fn timescale(&self) -> Timescale {
        Timescale::NANOSECONDS
    }

    /// Nothing: data has no content here.
    #[inline]
    fn prepare_write(&mut self, _: u32) {}

    #[inline]
    fn submit(&mut self, ops: &[Op]) -> io::Result<usize> {
        let room = (self.abilities.depth - self.in_flight) as usize;
        let taken = ops.len().min(room);
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        if self.cost == CpuCost::default() {
            let me = self.baton.me();
            let machine = self.baton.machine();
            for op in &ops[..taken] {
                machine.begin(me, op);
            }
        } else {
            self.submit_at_a_cost(&ops[..taken])?;
        }
        // At most the depth.
        self.in_flight += taken as u32;
        Ok(taken)
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Done) -> io::Result<()> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        if self.owed_ns > 0 {
            self.spend_owed()?;
        }
        match wait {
            Wait::One => self.baton.wait(Waiting::Completion(u64::MAX))?,
            Wait::Until(tick) => {
                let until_ns = self.clock.moment(tick);
                self.baton.wait(Waiting::Completion(until_ns))?;
            }
            Wait::Poll => self.baton.machine().catch_up(),
        }
        let me = self.baton.me();
        let before = done.len();
        self.baton
            .machine()
            .take_ready(me, |completion| done.push(completion));
        // No more than were in flight.
        let came_back = (done.len() - before) as u32;
        self.in_flight -= came_back;
        self.owed_ns = u64::from(came_back) * self.cost.user_ns;
        self.is_stamped = false;
        Ok(())
    }

    fn sync_all(&mut self) -> io::Result<()> {
        let me = self.baton.me();
        self.baton.machine().begin_final_sync(me);
        self.baton.wait(Waiting::FinalSync)?;
        match self.baton.machine().take_synced(me) {
            Some(Err(error)) => Err(errno(error).into()),
            Some(Ok(())) | None => Ok(()),
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        // A device without a filesystem has no metadata to leave out.
        self.sync_all()
    }

    fn idle_until(&mut self, tick: u64) -> io::Result<()> {
        let until_ns = self.clock.moment(tick);
        self.baton.wait(Waiting::Time(until_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_fast_shows_a_tick_early_and_never_before_its_moment() {
        for ppm in [0, 1000, -1000] {
            let clock = SimClock { ppm };
            for tick in [0, 1, 999, 1_000_000, 123_456_789_012] {
                let ns = clock.moment(tick);
                assert!(clock.tick(ns) >= tick, "{ppm} {tick}");
                assert!(ns == 0 || clock.tick(ns - 1) < tick, "{ppm} {tick}");
            }
        }
        assert_eq!(SimClock { ppm: 1000 }.tick(1_000_000), 1_001_000);
    }
}
