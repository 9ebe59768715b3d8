//! What completed when: operations and their latencies over the time of a trial.

use crate::clock::Timescale;
use crate::intervals::{FIRST_LENGTH_NS, Intervals};
use crate::trial::Progress;
use diskfacts_record::evidence::Intervals as Record;
use diskfacts_record::{CoarseHistogram, Histogram, LatencyOverTime};
use std::sync::atomic::Ordering;

/// Watches the histograms of a stream grow, interval after interval, and tells
/// whoever watches the trial. Between the ends of intervals it costs the measuring
/// loop one comparison.
pub(crate) struct OverTime {
    intervals: Intervals,
    latencies: LatencyOverTime,
    /// Of reads, and of writes.
    sides: [Side; 2],
}

struct Side {
    /// Whether its operations are those of the trial; else they are of the other end
    /// of a copy.
    is_measured: bool,
    /// What was counted when the current interval began.
    followed: CoarseHistogram,
}

impl OverTime {
    /// Takes the memory for it: before the trial [begins](Self::begin_at). The trial's
    /// operations are the reads, the writes, or both.
    pub(crate) fn new(scale: Timescale, is_measured: [bool; 2]) -> Self {
        Self {
            intervals: Intervals::new(0, scale),
            // Whole intervals of the others, and fewer.
            latencies: LatencyOverTime::new(FIRST_LENGTH_NS),
            sides: is_measured.map(|is_measured| Side {
                is_measured,
                followed: CoarseHistogram::new(),
            }),
        }
    }

    /// The first interval begins at this tick.
    pub(crate) fn begin_at(&mut self, start: u64) {
        self.intervals.begin_at(start);
    }

    /// Whether the current interval is over at `now`.
    #[inline]
    pub(crate) fn is_over(&self, now: u64) -> bool {
        self.intervals.is_over(now)
    }

    /// The current interval ended, and another runs at `now`. The histograms, of reads
    /// and of writes, hold what completed before it was seen that it ended.
    #[cold]
    pub(crate) fn advance(&mut self, histograms: [&Histogram; 2], now: u64, progress: &Progress) {
        self.count(histograms, progress);
        self.intervals.advance(now);
    }

    /// Counts what completed since the current interval began.
    fn count(&mut self, histograms: [&Histogram; 2], progress: &Progress) {
        let row = self.latencies.reach(self.intervals.current_ns());
        let mut operations = 0;
        for (is_write, histogram) in [false, true].into_iter().zip(histograms) {
            let side = &mut self.sides[usize::from(is_write)];
            side.followed.follow(histogram, |index, n| {
                self.latencies.count_at(row, is_write, index, n);
                if side.is_measured {
                    operations += n;
                    progress.latencies.count_at(index, n);
                }
            });
        }
        self.intervals.count(operations);
        progress.operations.fetch_add(operations, Ordering::Relaxed);
    }

    /// What completed when, once all is in the histograms.
    pub(crate) fn finish(
        mut self,
        histograms: [&Histogram; 2],
        progress: &Progress,
    ) -> (Record, LatencyOverTime) {
        self.count(histograms, progress);
        (self.intervals.record(), self.latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Over up to 100 s both grids are joined several times.
        #[test]
        fn each_operation_counts_in_the_interval_in_which_it_completed(
            operations in prop::collection::vec(
                (0_u64..1_000_000_000, any::<bool>(), 50_000_u64..5_000_000),
                0..100,
            ),
            started in 0_u64..u64::MAX / 2,
            is_measured in any::<[bool; 2]>(),
        ) {
            let progress = Progress::default();
            let mut over_time = OverTime::new(Timescale::NANOSECONDS, is_measured);
            over_time.begin_at(started);
            let mut histograms = [Histogram::new(), Histogram::new()];
            let mut completed = Vec::new();
            let mut at_ns = 0;
            for (after_ns, is_write, latency) in operations {
                at_ns += after_ns;
                let now = started + at_ns;
                if over_time.is_over(now) {
                    let [read, write] = &histograms;
                    over_time.advance([read, write], now, &progress);
                }
                histograms[usize::from(is_write)].record(latency);
                completed.push((at_ns, is_write, latency));
            }
            let [read, write] = &histograms;
            let (counts, latencies) = over_time.finish([read, write], &progress);

            let mut wanted = LatencyOverTime::new(latencies.length_ns());
            prop_assert_eq!(wanted.reach(at_ns), latencies.rows() - 1);
            let mut seen = CoarseHistogram::new();
            let mut wanted_counts = vec![0; counts.operations.len()];
            for (at_ns, is_write, latency) in completed {
                let bucket = CoarseHistogram::index(latency);
                let row = wanted.reach(at_ns);
                wanted.count_at(row, is_write, bucket, 1);
                if is_measured[usize::from(is_write)] {
                    seen.count_at(bucket, 1);
                    let interval = usize::try_from(at_ns / counts.length_ns).expect("few");
                    wanted_counts[interval] += 1;
                }
            }
            prop_assert_eq!(&latencies, &wanted);
            prop_assert_eq!(counts.operations, wanted_counts);
            prop_assert_eq!(progress.operations.load(Ordering::Relaxed), seen.count());
            prop_assert_eq!(progress.latencies.so_far(), seen);
            // All intervals together are the histograms of the trial.
            for (is_write, histogram) in [(false, read), (true, write)] {
                let mut sum = CoarseHistogram::new();
                for row in 0..latencies.rows() {
                    sum.add(&if is_write { latencies.write(row) } else { latencies.read(row) });
                }
                prop_assert_eq!(sum, CoarseHistogram::from(histogram));
            }
        }
    }
}
