//! Operations over time on a grid of fixed size.

use diskfacts_record::evidence::Intervals as Record;

/// Intervals kept; when they are used up, neighbours are joined.
const KEPT: usize = 1024;
/// Length of an interval at first, nanoseconds.
pub(crate) const FIRST_LENGTH_NS: u64 = 20_000_000;

/// Counts operations per interval from the start of a trial, in constant
/// memory: after 20 s the intervals last 40 ms, after 40 s 80 ms, and so on.
#[derive(Debug, Clone)]
pub(crate) struct Intervals {
    counts: Box<[u64; KEPT]>,
    current: usize,
    ends_at: u64,
    length: u64,
    length_ns: u64,
}

impl Intervals {
    /// From `start`, in ticks of `scale`.
    pub(crate) fn new(start: u64, scale: crate::clock::Timescale) -> Self {
        let length = scale.ticks(FIRST_LENGTH_NS).max(1);
        Self {
            counts: Box::new([0; KEPT]),
            current: 0,
            ends_at: start.saturating_add(length),
            length,
            length_ns: FIRST_LENGTH_NS,
        }
    }

    /// The first interval, of which nothing was counted, begins at this tick.
    pub(crate) fn begin_at(&mut self, start: u64) {
        self.ends_at = start.saturating_add(self.length);
    }

    /// Whether the current interval is over at `now`.
    #[inline]
    pub(crate) fn is_over(&self, now: u64) -> bool {
        now >= self.ends_at
    }

    /// When the current interval began, nanoseconds from the start.
    pub(crate) fn current_ns(&self) -> u64 {
        self.current as u64 * self.length_ns
    }

    /// Counts operations of the current interval.
    pub(crate) fn count(&mut self, operations: u64) {
        self.counts[self.current] += operations;
    }

    /// Goes on to the interval of `now`. What completed in the turn that went over the
    /// end of an interval counts for the interval in which it was seen.
    pub(crate) fn advance(&mut self, now: u64) {
        while self.is_over(now) {
            if self.current + 1 == KEPT {
                for i in 0..KEPT / 2 {
                    self.counts[i] = self.counts[2 * i] + self.counts[2 * i + 1];
                }
                self.counts[KEPT / 2..].fill(0);
                // The interval that was current is the second half of the last
                // joined one, which ends where it ended.
                self.current = KEPT / 2 - 1;
                self.length *= 2;
                self.length_ns *= 2;
            }
            self.current += 1;
            self.ends_at = self.ends_at.saturating_add(self.length);
        }
    }

    pub(crate) fn record(&self) -> Record {
        Record {
            length_ns: self.length_ns,
            operations: self.counts[..=self.current].to_vec(),
        }
    }
}

/// Adds up the intervals of several streams, which may have joined theirs a
/// different number of times.
pub(crate) fn add(sum: &mut Record, mut other: Record) {
    if sum.length_ns == 0 {
        *sum = other;
        return;
    }
    while sum.length_ns < other.length_ns {
        halve(sum);
    }
    while other.length_ns < sum.length_ns {
        halve(&mut other);
    }
    if sum.operations.len() < other.operations.len() {
        sum.operations.resize(other.operations.len(), 0);
    }
    for (mine, theirs) in sum.operations.iter_mut().zip(other.operations) {
        *mine += theirs;
    }
}

fn halve(record: &mut Record) {
    record.operations = record
        .operations
        .chunks(2)
        .map(|pair| pair.iter().sum())
        .collect();
    record.length_ns *= 2;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timescale;

    #[test]
    fn every_operation_is_counted_in_its_interval() {
        let mut intervals = Intervals::new(1000, Timescale::NANOSECONDS);
        for i in 0..100_u64 {
            intervals.advance(1000 + i * 1_000_000);
            intervals.count(1);
        }
        let record = intervals.record();
        assert_eq!(record.length_ns, 20_000_000);
        assert_eq!(record.operations, [20, 20, 20, 20, 20]);
    }

    #[test]
    fn a_long_trial_joins_neighbours_and_loses_nothing() {
        let mut intervals = Intervals::new(0, Timescale::NANOSECONDS);
        for i in 0..10_000_u64 {
            intervals.advance(i * 10_000_000);
            intervals.count(1);
        }
        let record = intervals.record();
        assert_eq!(record.operations.iter().sum::<u64>(), 10_000);
        assert_eq!(record.length_ns, 160_000_000);
        let full = &record.operations[..record.operations.len() - 1];
        assert!(full.iter().all(|n| *n == 16), "{full:?}");
    }

    #[test]
    fn silence_shows_as_empty_intervals() {
        let mut intervals = Intervals::new(0, Timescale::NANOSECONDS);
        intervals.count(1);
        intervals.advance(100_000_000);
        intervals.count(1);
        assert_eq!(intervals.record().operations, [1, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn streams_with_different_lengths_add_up() {
        let mut sum = Record {
            length_ns: 20,
            operations: vec![1, 2, 3],
        };
        add(
            &mut sum,
            Record {
                length_ns: 40,
                operations: vec![10, 20, 30],
            },
        );
        assert_eq!(
            sum,
            Record {
                length_ns: 40,
                operations: vec![13, 23, 30]
            }
        );
    }
}
