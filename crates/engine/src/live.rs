//! The latencies of a trial while it runs, for whoever watches it.

use diskfacts_record::CoarseHistogram;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what each stream of a trial has completed, by latency. A stream adds to it when one
/// of its intervals ends: every 20 ms, and in trials of more than 20 s, 40 s, 80 s every 40, 80,
/// 160 ms. So it costs the measuring loop nothing per operation.
#[derive(Debug)]
pub struct LiveLatencies {
    counts: Box<[AtomicU64; CoarseHistogram::BUCKETS]>,
}

impl Default for LiveLatencies {
    fn default() -> Self {
        Self {
            counts: Box::new([const { AtomicU64::new(0) }; CoarseHistogram::BUCKETS]),
        }
    }
}

impl LiveLatencies {
    /// Counts `n` more operations in the bucket at a place of [`CoarseHistogram`].
    pub(crate) fn count_at(&self, index: usize, n: u64) {
        self.counts[index].fetch_add(n, Ordering::Relaxed);
    }

    /// All that completed so far; reads and writes together, of a copy the end that is
    /// measured. What completed since an earlier look is
    /// [`CoarseHistogram::since`]. Operations that are counted at this very moment may be
    /// in this look or in the next, and are in one.
    pub fn so_far(&self) -> CoarseHistogram {
        let mut so_far = CoarseHistogram::new();
        for (index, n) in self.counts.iter().enumerate() {
            so_far.count_at(index, n.load(Ordering::Relaxed));
        }
        so_far
    }
}
