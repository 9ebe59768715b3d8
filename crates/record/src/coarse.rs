//! Latency distributions in few buckets: of a part of a trial, of which there are many.
//!
//! The layout is that of [`Histogram`] with 8 sub-buckets in place of 128: values below 16
//! are exact, larger ones fall into buckets no wider than 1/8 of their value, so a value
//! read back from the middle of its bucket is off by at most 6.3 %. Each bucket is made of
//! whole buckets of a [`Histogram`], so what is made of one has lost nothing but its
//! sharpness.

use crate::histogram::{Histogram, supports};

const SUB_BITS: u32 = 3;
const SUB: usize = 1 << SUB_BITS;

/// Counts of values, in nanoseconds when they are latencies. It takes 4 KiB.
#[derive(Clone, PartialEq, Eq)]
pub struct CoarseHistogram {
    counts: Box<[u64; Self::BUCKETS]>,
}

impl Default for CoarseHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for CoarseHistogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.buckets()).finish()
    }
}

impl From<&Histogram> for CoarseHistogram {
    fn from(histogram: &Histogram) -> Self {
        let mut coarse = Self::new();
        coarse.follow(histogram, |_, _| {});
        coarse
    }
}

impl CoarseHistogram {
    /// How many buckets there are: for values from 0 to 2^64 - 1.
    pub const BUCKETS: usize = (64 - SUB_BITS as usize) * SUB + SUB;

    /// Without any value.
    pub fn new() -> Self {
        Self {
            counts: Box::new([0; Self::BUCKETS]),
        }
    }

    /// The place of the bucket that holds a value, below [`BUCKETS`](Self::BUCKETS).
    #[inline]
    pub fn index(value: u64) -> usize {
        // 0 for values below 16, then one more for each doubling.
        let shift = (64 - SUB_BITS - 1).saturating_sub(value.leading_zeros());
        ((shift as usize) << SUB_BITS) + (value >> shift) as usize
    }

    /// Smallest value of the bucket at a place below [`BUCKETS`](Self::BUCKETS).
    pub fn lowest(index: usize) -> u64 {
        if index < 2 * SUB {
            return index as u64;
        }
        let shift = (index >> SUB_BITS) - 1;
        ((index - (shift << SUB_BITS)) as u64) << shift
    }

    /// Largest value of the bucket at a place below [`BUCKETS`](Self::BUCKETS).
    pub fn highest(index: usize) -> u64 {
        if index + 1 == Self::BUCKETS {
            u64::MAX
        } else {
            Self::lowest(index + 1) - 1
        }
    }

    /// Follows a histogram that grows: becomes what it is now, and gives away what came since
    /// it was followed last, by the place of the bucket and its count. It costs what lies
    /// between the smallest and the largest value, and no memory.
    pub fn follow(&mut self, histogram: &Histogram, mut came: impl FnMut(usize, u64)) {
        let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else {
            return;
        };
        for index in Self::index(min)..=Self::index(max) {
            let now = histogram.count_of(Self::lowest(index), Self::highest(index));
            let before = std::mem::replace(&mut self.counts[index], now);
            if now > before {
                came(index, now - before);
            }
        }
    }

    /// Counts a value `n` times that falls into the bucket at a place below
    /// [`BUCKETS`](Self::BUCKETS).
    pub fn count_at(&mut self, index: usize, n: u64) {
        self.counts[index] += n;
    }

    /// Adds all counts of `other`.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts.iter()) {
            *mine += theirs;
        }
    }

    /// What it counts beyond `earlier`, which is the same distribution at an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        for (mine, theirs) in since.counts.iter_mut().zip(earlier.counts.iter()) {
            *mine = mine.saturating_sub(*theirs);
        }
        since
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|n| *n == 0)
    }

    /// The value at or below which the share `quantile` of all values lies (nearest rank),
    /// within 6.3 %; `None` when empty.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let count = self.count();
        // Rank from 1: the smallest whole number of values that is no less than the share
        // asked for.
        let rank = ((quantile.clamp(0.0, 1.0) * count as f64).ceil() as u64).max(1);
        let mut below = 0;
        self.buckets().find_map(|(low, high, n)| {
            below += n;
            (below >= rank.min(count)).then_some(low + (high - low) / 2)
        })
    }

    /// Like [`quantile`](Self::quantile), but `None` unless there are enough values to bound it,
    /// as of [`Histogram::supported_quantile`].
    pub fn supported_quantile(&self, quantile: f64) -> Option<u64> {
        let is_supported = supports(self.count(), quantile);
        is_supported.then(|| self.quantile(quantile)).flatten()
    }

    /// Occupied buckets in rising order: smallest value, largest value, count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let occupied = self.counts.iter().copied().enumerate();
        occupied
            .filter(|(_, n)| *n > 0)
            .map(|(index, n)| (Self::lowest(index), Self::highest(index), n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_join_without_gap_or_overlap_and_are_narrow() {
        assert_eq!(CoarseHistogram::lowest(0), 0);
        for index in 0..CoarseHistogram::BUCKETS {
            let low = CoarseHistogram::lowest(index);
            let high = CoarseHistogram::highest(index);
            assert_eq!(CoarseHistogram::index(low), index);
            assert_eq!(CoarseHistogram::index(high), index);
            assert!(high - low <= low / 8, "{low}..={high}");
        }
        let last = CoarseHistogram::index(u64::MAX);
        assert_eq!(last, CoarseHistogram::BUCKETS - 1);
    }

    #[test]
    fn an_empty_one_has_no_quantile() {
        let empty = CoarseHistogram::new();
        assert!(empty.is_empty());
        assert_eq!((empty.count(), empty.quantile(0.5)), (0, None));
    }

    #[test]
    fn what_came_since_is_counted_alone() {
        let mut histogram = Histogram::new();
        histogram.record(100);
        let earlier = CoarseHistogram::from(&histogram);
        histogram.record(100);
        histogram.record(5000);
        let (mut later, mut came) = (earlier.clone(), CoarseHistogram::new());
        later.follow(&histogram, |index, n| came.count_at(index, n));
        assert_eq!(later, CoarseHistogram::from(&histogram));
        let since = later.since(&earlier);
        assert_eq!(since, came);
        let buckets: Vec<_> = since.buckets().collect();
        assert_eq!(buckets, [(96, 103, 1), (4608, 5119, 1)]);
        let mut sum = earlier;
        sum.add(&since);
        assert_eq!(sum, later);
    }

    proptest! {
        #[test]
        fn made_of_a_histogram_it_counts_what_was_recorded(
            values in prop::collection::vec(prop_oneof![0_u64..5000, any::<u64>()], 0..300),
        ) {
            let (mut histogram, mut coarse) = (Histogram::new(), CoarseHistogram::new());
            for value in values {
                histogram.record(value);
                coarse.count_at(CoarseHistogram::index(value), 1);
            }
            prop_assert_eq!(CoarseHistogram::from(&histogram), coarse);
        }

        #[test]
        fn quantiles_agree_with_the_sorted_values(
            mut values in prop::collection::vec(prop_oneof![0_u64..1000, 0..u64::MAX / 2], 1..300),
            quantile in 0.0_f64..=1.0,
        ) {
            let mut coarse = CoarseHistogram::new();
            for value in &values {
                coarse.count_at(CoarseHistogram::index(*value), 1);
            }
            values.sort_unstable();
            let rank = ((quantile * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let got = coarse.quantile(quantile).expect("not empty") as f64;
            prop_assert!((got - exact).abs() <= exact / 15.9 + 0.5, "{got} against {exact}");
        }
    }
}
