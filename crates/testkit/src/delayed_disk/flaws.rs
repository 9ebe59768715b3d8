//! What is wrong with a disk of known delay.

use std::ops::Range;
use std::time::{Duration, Instant};

/// What is wrong with the disk.
#[derive(Debug, Default)]
pub(super) struct Flaws {
    /// Bytes that cannot be read or written, and the error number.
    pub(super) failing: Vec<(Range<u64>, i32)>,
    /// After so many requests, no answer for so long.
    pub(super) stall: Option<(u64, Duration)>,
    /// The same again and again.
    pub(super) stalls: Option<Each>,
    /// Flushes that take long.
    pub(super) slow_flushes: Option<Each>,
    /// After so many requests, each answer so much later.
    pub(super) slower: Option<(u64, Duration)>,
    /// Bytes of which each answer comes so much later.
    pub(super) place: Option<(Range<u64>, Duration)>,
    /// One of so many blocks, of which each answer comes so much later.
    pub(super) blocks: Option<(u64, Duration)>,
    /// From then on answers come later by this for each second that has gone by.
    pub(super) drift: Option<(Instant, Duration)>,
    /// From then on answers come later by this in every second turn of such a length.
    pub(super) turns: Option<(Instant, Duration, Duration)>,
    /// The next request is begun when the one before is answered.
    pub(super) one_at_a_time: bool,
}

/// Something that takes long each so many times.
#[derive(Debug)]
pub(super) struct Each {
    times: u64,
    /// Until the next one.
    left: u64,
    takes: Duration,
}

impl Each {
    pub(super) fn new(times: u64, takes: Duration) -> Self {
        Self {
            times,
            left: times,
            takes,
        }
    }

    /// How long this time takes.
    pub(super) fn next(&mut self) -> Duration {
        self.left -= 1;
        if self.left > 0 {
            return Duration::ZERO;
        }
        self.left = self.times;
        self.takes
    }
}

impl Flaws {
    /// The error of a request.
    pub(super) fn of(&self, offset: u64, bytes: u64) -> Option<i32> {
        let mut failing = self.failing.iter();
        let met = |(at, _): &&(Range<u64>, i32)| offset < at.end && at.start < offset + bytes;
        failing.find(met).map(|(_, errno)| *errno)
    }

    /// How much later than at its time the next request is answered.
    pub(super) fn later(&mut self, offset: u64) -> Duration {
        let from_then_on = match &mut self.slower {
            Some((0, by)) => *by,
            Some((left, _)) => {
                *left -= 1;
                Duration::ZERO
            }
            None => Duration::ZERO,
        };
        let place = self.place.iter().filter(|(at, _)| at.contains(&offset));
        let place: Duration = place.map(|(_, by)| *by).sum();
        // A multiplier of a linear congruential generator (L'Ecuyer, 1999) scatters them.
        let scattered = (offset / 4096).wrapping_mul(3_935_559_000_370_003_845) >> 32;
        let blocks = self.blocks.iter();
        let blocks = blocks.filter(|(one_in, _)| scattered.is_multiple_of(*one_in));
        let blocks: Duration = blocks.map(|(_, by)| *by).sum();
        let drift = self.drift.iter();
        let drift: Duration = drift
            .map(|(from, by)| by.mul_f64(from.elapsed().as_secs_f64()))
            .sum();
        let turns = self.turns.iter();
        let slow = turns.filter(|(from, turn, _)| {
            let turns = from.elapsed().as_nanos() / turn.as_nanos().max(1);
            !turns.is_multiple_of(2)
        });
        let turns: Duration = slow.map(|(_, _, by)| *by).sum();
        from_then_on + place + blocks + drift + turns
    }

    /// How long to wait before the next answer.
    pub(super) fn pause(&mut self) -> Duration {
        let again = self.stalls.as_mut().map_or(Duration::ZERO, Each::next);
        let once = match &mut self.stall {
            Some((0, _)) => self.stall.take().map_or(Duration::ZERO, |(_, pause)| pause),
            Some((left, _)) => {
                *left -= 1;
                Duration::ZERO
            }
            None => Duration::ZERO,
        };
        once + again
    }
}
