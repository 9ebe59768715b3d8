//! The engine that does no I/O: what the measuring itself costs.

use crate::clock::{Ticks, Timescale};
use crate::engine::{Abilities, Completion, Done, Engine, FailedIn, Op, Wait, idle_real};
use crate::fixed::Fixed;
use std::io;

/// Completes every operation at the next reaping, without touching anything.
#[derive(Debug)]
pub struct Null<T> {
    ticks: T,
    scale: Timescale,
    block_size: i32,
    in_flight: Fixed<u32>,
}

impl<T: Ticks> Null<T> {
    /// An engine of this depth that pretends to move blocks of this size.
    pub fn new(ticks: T, scale: Timescale, depth: u32, block_size: u64) -> Self {
        Self {
            ticks,
            scale,
            block_size: i32::try_from(block_size).unwrap_or(i32::MAX),
            in_flight: Fixed::new(depth as usize),
        }
    }
}

impl<T: Ticks> Engine for Null<T> {
    fn abilities(&self) -> Abilities {
        Abilities {
            name: "null",
            // It came from a u32.
            depth: self.in_flight.capacity() as u32,
            ..Abilities::default()
        }
    }

    #[inline]
    fn now(&mut self) -> u64 {
        self.ticks.now()
    }

    fn timescale(&self) -> Timescale {
        self.scale
    }

    #[inline]
    fn prepare_write(&mut self, _: u32) {}

    #[inline]
    fn submit(&mut self, ops: &[Op]) -> io::Result<usize> {
        let room = self.in_flight.capacity() - self.in_flight.len();
        let taken = ops.len().min(room);
        for op in &ops[..taken] {
            self.in_flight.push(op.slot);
        }
        Ok(taken)
    }

    #[inline]
    fn reap(&mut self, _wait: Wait, done: &mut Done) -> io::Result<()> {
        for slot in self.in_flight.as_slice() {
            done.push(Completion {
                slot: *slot,
                result: self.block_size,
                failed_in: FailedIn::Transfer,
            });
        }
        self.in_flight.clear();
        Ok(())
    }

    fn sync_all(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn idle_until(&mut self, tick: u64) -> io::Result<()> {
        idle_real(self.ticks, self.scale, tick);
        Ok(())
    }
}
