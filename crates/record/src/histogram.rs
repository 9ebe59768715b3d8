//! Whole latency distributions in constant memory.
//!
//! The layout is that of `HdrHistogram` (Gil Tene) with 128 sub-buckets: values
//! below 256 are exact, larger ones fall into buckets no wider than 1/128 of
//! their value, so a value read back from the middle of its bucket is off by
//! at most 0.4 %. Recording is a shift, an add and one increment, because it
//! happens once per operation inside the measuring loop; minimum, maximum and
//! sum are exact. Histograms add up; percentiles are never averaged.
//!
//! # Stored form
//! [`Histogram::to_bytes`]: one byte version (1), one byte sub-bucket bits (7),
//! then LEB128 integers: minimum, maximum, sum (up to 128 bits), number of
//! occupied buckets, and for each the distance from the last index and its
//! count. It must open in five years, so it depends on nothing but this page.

use crate::leb128::{put, take, take_u64};
use std::ops::Range;
use thiserror::Error;

const SUB_BITS: u32 = 7;
const SUB: usize = 1 << SUB_BITS;
/// Values from 0 to 2^64 - 1.
const BUCKETS: usize = (64 - SUB_BITS as usize) * SUB + SUB;
const VERSION: u8 = 1;
/// The stored form of a histogram without any value: no minimum is 2^64 - 1.
pub(crate) const EMPTY_STORED: [u8; 15] = [
    VERSION, 7, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0,
];

/// Counts of values, in nanoseconds when they are latencies.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
    min: u64,
    max: u64,
    sum: u128,
}

/// Why bytes are not a stored histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// They end too early.
    #[error("the stored histogram is cut short")]
    Truncated,
    /// They come from a newer version, or are something else.
    #[error("histogram version {0} is not known here; a newer diskfacts may have written it")]
    Version(u8),
    /// They contradict themselves.
    #[error("the stored histogram is damaged: {0}")]
    Damaged(&'static str),
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("min", &self.min())
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}

impl Histogram {
    /// An empty histogram. It takes 58 KiB.
    ///
    /// # Panics
    /// Never: the vector has the length of the array.
    pub fn new() -> Self {
        let counts = vec![0_u64; BUCKETS].into_boxed_slice();
        Self {
            counts: counts.try_into().expect("the vector has BUCKETS elements"),
            min: u64::MAX,
            max: 0,
            sum: 0,
        }
    }

    #[inline]
    fn index(value: u64) -> usize {
        // 0 for values below 256, then one more for each doubling.
        let shift = (64 - SUB_BITS - 1).saturating_sub(value.leading_zeros());
        ((shift as usize) << SUB_BITS) + (value >> shift) as usize
    }

    /// Smallest value of the bucket.
    fn lowest(index: usize) -> u64 {
        if index < 2 * SUB {
            return index as u64;
        }
        let shift = (index >> SUB_BITS) - 1;
        ((index - (shift << SUB_BITS)) as u64) << shift
    }

    /// Largest value of the bucket.
    fn highest(index: usize) -> u64 {
        if index + 1 == BUCKETS {
            u64::MAX
        } else {
            Self::lowest(index + 1) - 1
        }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.counts[Self::index(value)] += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += u128::from(value);
    }

    /// Adds all counts of `other`.
    pub fn add(&mut self, other: &Self) {
        let range = other.range();
        let theirs = &other.counts[range.clone()];
        for (mine, theirs) in self.counts[range].iter_mut().zip(theirs) {
            *mine += theirs;
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
    }

    /// Adds all counts of a stored histogram.
    ///
    /// # Errors
    /// As of [`from_bytes`](Self::from_bytes); some of the counts are added then.
    pub(crate) fn add_stored(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let totals = Totals::of_stored(bytes, |index, n| self.counts[index] += n)?;
        self.min = self.min.min(totals.min);
        self.max = self.max.max(totals.max);
        self.sum += totals.sum;
        Ok(())
    }

    /// The buckets between which all values lie: some hundreds of the thousands,
    /// mostly.
    fn range(&self) -> Range<usize> {
        if self.is_empty() {
            0..0
        } else {
            Self::index(self.min)..Self::index(self.max) + 1
        }
    }

    /// The occupied buckets by their places, in rising order, with their counts.
    fn occupied(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let range = self.range();
        range
            .clone()
            .zip(self.counts[range].iter().copied())
            .filter(|(_, n)| *n > 0)
    }

    /// Number of values in the buckets from that of `low` to that of `high`.
    pub(crate) fn count_of(&self, low: u64, high: u64) -> u64 {
        self.counts[Self::index(low)..=Self::index(high)]
            .iter()
            .sum()
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts[self.range()].iter().sum()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.min > self.max
    }

    /// Smallest value, exact.
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// Largest value, exact.
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// Sum of all values, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Arithmetic mean, exact.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The value at or below which the share `quantile` of all values lies
    /// (nearest rank), within 0.4 %; `None` when empty.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        self.quantiles(&[quantile]).first().copied()
    }

    /// [`quantile`](Self::quantile) of several shares, which do not fall, in one walk; none when
    /// empty.
    pub fn quantiles(&self, shares: &[f64]) -> Vec<u64> {
        debug_assert!(shares.is_sorted(), "the walk does not go back");
        let count = self.count();
        if count == 0 {
            return Vec::new();
        }
        let mut buckets = self.occupied();
        let (mut below, mut value) = (0, self.min);
        let quantile = |share: &f64| {
            // Rank from 1: the smallest whole number of values that is no less
            // than the share asked for.
            let rank = ((share.clamp(0.0, 1.0) * count as f64).ceil() as u64).clamp(1, count);
            if rank == count {
                return self.max;
            }
            while below < rank {
                let Some((index, n)) = buckets.next() else {
                    return self.max;
                };
                below += n;
                let (low, high) = (Self::lowest(index), Self::highest(index));
                value = (low + (high - low) / 2).clamp(self.min, self.max);
            }
            value
        };
        shares.iter().map(quantile).collect()
    }

    /// Like [`quantile`](Self::quantile), but `None` unless there are enough
    /// values to bound it: the largest of *n* values is an upper bound of a
    /// quantile *q* with 95 % confidence only when q^n <= 0.05 (Wilks,
    /// "Determination of sample sizes for setting tolerance limits", Annals of
    /// Mathematical Statistics 12, 1941). That takes 59 values for p95, 299 for
    /// p99, 2995 for p99.9 and 29956 for p99.99.
    pub fn supported_quantile(&self, quantile: f64) -> Option<u64> {
        if supports(self.count(), quantile) {
            self.quantile(quantile)
        } else {
            None
        }
    }

    /// The mean of the largest values, as many as this `share` of all, within 0.4 %: of the
    /// bucket in which they begin, in proportion. `None` when empty, or of no share.
    pub fn mean_of_largest(&self, share: f64) -> Option<f64> {
        let wanted = self.count() as f64 * share;
        let buckets: Vec<(u64, u64, u64)> = self.buckets().collect();
        let (mut taken, mut sum) = (0.0, 0.0);
        for (low, high, n) in buckets.into_iter().rev() {
            let n = (n as f64).min(wanted - taken);
            sum += n * (low + (high - low) / 2).clamp(self.min, self.max) as f64;
            taken += n;
            if taken >= wanted {
                break;
            }
        }
        (taken > 0.0).then(|| sum / taken)
    }

    /// The share of values at or below `value`; a bucket that straddles it
    /// counts in proportion. `None` when empty.
    pub fn share_at_or_below(&self, value: u64) -> Option<f64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let mut below = 0.0;
        for (low, high, n) in self.buckets() {
            if high <= value {
                below += n as f64;
            } else if low <= value {
                below += n as f64 * ((value - low) as f64 + 1.0) / ((high - low) as f64 + 1.0);
            }
        }
        Some(below / count as f64)
    }

    /// Occupied buckets in rising order: smallest value, largest value, count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.occupied()
            .map(|(index, n)| (Self::lowest(index), Self::highest(index), n))
    }

    /// The stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let occupied: Vec<(usize, u64)> = self.occupied().collect();
        Self::stored((self.min, self.max, self.sum), &occupied)
    }

    fn stored((min, max, sum): (u64, u64, u128), occupied: &[(usize, u64)]) -> Vec<u8> {
        let mut out = vec![VERSION, SUB_BITS as u8];
        put(&mut out, u128::from(min));
        put(&mut out, u128::from(max));
        put(&mut out, sum);
        put(&mut out, occupied.len() as u128);
        let mut last = 0;
        for (index, n) in occupied {
            put(&mut out, (index - last) as u128);
            put(&mut out, u128::from(*n));
            last = *index;
        }
        out
    }

    /// The stored form of these limits, this sum, and counts of buckets by their smallest value,
    /// in rising order. Whether they agree is for who reads it; `None` where no bucket begins at
    /// one of them, or they do not rise.
    pub(crate) fn stored_of(
        limits: (u64, u64, u128),
        buckets: impl Iterator<Item = (u64, u64)>,
    ) -> Option<Vec<u8>> {
        let index = |(from, n)| {
            let index = Self::index(from);
            (Self::lowest(index) == from).then_some((index, n))
        };
        let occupied: Vec<(usize, u64)> = buckets.map(index).collect::<Option<_>>()?;
        let rises = occupied.is_sorted_by(|(before, _), (next, _)| before < next);
        rises.then(|| Self::stored(limits, &occupied))
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// When the bytes are cut short, of an unknown version or contradictory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut histogram = Self::new();
        histogram.add_stored(bytes)?;
        Ok(histogram)
    }

    /// The occupied buckets of a stored histogram, as of
    /// [`buckets`](Self::buckets).
    ///
    /// # Errors
    /// As of [`from_bytes`](Self::from_bytes).
    pub(crate) fn buckets_of_stored(bytes: &[u8]) -> Result<Vec<(u64, u64, u64)>, DecodeError> {
        let mut buckets = Vec::new();
        Totals::of_stored(bytes, |index, n| {
            buckets.push((Self::lowest(index), Self::highest(index), n));
        })?;
        Ok(buckets)
    }
}

/// Whether the largest of `n` values bounds a quantile; see
/// [`Histogram::supported_quantile`].
pub(crate) fn supports(n: u64, quantile: f64) -> bool {
    n as f64 * quantile.ln() <= 0.05_f64.ln()
}

/// What a histogram holds besides its counts, and how many they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Totals {
    min: u64,
    max: u64,
    sum: u128,
    /// Number of values.
    pub(crate) count: u64,
}

impl Totals {
    /// Reads the stored form of a histogram and gives each occupied bucket away, by
    /// its place and its count; so it costs what is occupied, and no memory.
    ///
    /// # Errors
    /// As of [`Histogram::from_bytes`]; some buckets were given away by then.
    pub(crate) fn of_stored(
        bytes: &[u8],
        mut bucket: impl FnMut(usize, u64),
    ) -> Result<Self, DecodeError> {
        let [version, sub_bits, rest @ ..] = bytes else {
            return Err(DecodeError::Truncated);
        };
        if *version != VERSION || u32::from(*sub_bits) != SUB_BITS {
            return Err(DecodeError::Version(*version));
        }
        let mut input = rest;
        let min = take_u64(&mut input)?;
        let max = take_u64(&mut input)?;
        let sum = take(&mut input)?;
        let occupied = take_u64(&mut input)?;
        let mut index = 0_usize;
        let mut first = None;
        let mut count = 0_u64;
        let (mut least, mut most) = (0_u128, 0_u128);
        for i in 0..occupied {
            let step = take_u64(&mut input)?;
            if step == 0 && i > 0 {
                return Err(DecodeError::Damaged("a bucket occurs twice"));
            }
            index = usize::try_from(step)
                .ok()
                .and_then(|step| index.checked_add(step))
                .filter(|index| *index < BUCKETS)
                .ok_or(DecodeError::Damaged("a bucket beyond the last"))?;
            let n = take_u64(&mut input)?;
            if n == 0 {
                return Err(DecodeError::Damaged("a bucket without a count"));
            }
            count = count
                .checked_add(n)
                // Two stored histograms add up without overflow.
                .filter(|count| *count <= u64::MAX / 2)
                .ok_or(DecodeError::Damaged("more values than 63 bits count"))?;
            bucket(index, n);
            // Below 2^63 values of less than 2^64 add up to less than 2^127.
            let n = u128::from(n);
            least += u128::from(Histogram::lowest(index).max(min)) * n;
            most += u128::from(Histogram::highest(index).min(max)) * n;
            first.get_or_insert(index);
        }
        if !input.is_empty() {
            return Err(DecodeError::Damaged("bytes follow its end"));
        }
        let fits = match first {
            Some(first) => {
                min <= max
                    && Histogram::index(min) == first
                    && Histogram::index(max) == index
                    && (least..=most).contains(&sum)
            }
            None => min == u64::MAX && max == 0 && sum == 0,
        };
        if fits {
            Ok(Self {
                min,
                max,
                sum,
                count,
            })
        } else {
            Err(DecodeError::Damaged("its limits and counts disagree"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    #[test]
    fn buckets_join_without_gap_or_overlap_and_are_narrow() {
        assert_eq!(Histogram::lowest(0), 0);
        for index in 0..BUCKETS - 1 {
            let (low, high) = (Histogram::lowest(index), Histogram::highest(index));
            assert_eq!(Histogram::lowest(index + 1), high + 1);
            assert_eq!(Histogram::index(low), index);
            assert_eq!(Histogram::index(high), index);
            assert!(high - low <= low / 128, "{low}..={high}");
        }
        assert_eq!(Histogram::index(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn an_empty_histogram_has_no_figures() {
        let empty = Histogram::new();
        assert_eq!((empty.min(), empty.max(), empty.count()), (None, None, 0));
        assert_eq!(empty.mean(), None);
        assert_eq!(empty.quantile(0.5), None);
        assert_eq!(empty.mean_of_largest(0.01), None);
        assert_eq!(empty.to_bytes(), EMPTY_STORED);
        assert_eq!(Histogram::from_bytes(&EMPTY_STORED), Ok(empty));
    }

    #[test]
    fn a_percentile_is_withheld_until_the_sample_supports_it() {
        let mut histogram = of(&vec![1000; 298]);
        assert_eq!(histogram.supported_quantile(0.99), None);
        histogram.record(1000);
        assert_eq!(histogram.supported_quantile(0.99), Some(1000));
        assert_eq!(histogram.supported_quantile(0.999), None);
    }

    #[test]
    fn the_stored_form_never_changes() {
        // Written by version 1; a later version must read it as the same.
        let bytes = [1, 7, 0, 172, 2, 173, 2, 3, 0, 1, 1, 1, 149, 2, 1];
        let histogram = of(&[0, 1, 300]);
        assert_eq!(histogram.to_bytes(), bytes);
        assert_eq!(Histogram::from_bytes(&bytes), Ok(histogram));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let good = of(&[5, 7, 1_000_000]).to_bytes();
        for cut in 0..good.len() {
            assert!(Histogram::from_bytes(&good[..cut]).is_err(), "cut at {cut}");
        }
        let mut longer = good.clone();
        longer.push(0);
        assert!(Histogram::from_bytes(&longer).is_err());
        let mut newer = good;
        newer[0] = 2;
        assert_eq!(Histogram::from_bytes(&newer), Err(DecodeError::Version(2)));
    }

    proptest! {
        #[test]
        fn percentiles_together_are_what_each_is_alone(
            values in proptest::collection::vec(any::<u64>(), 0..60),
            mut shares in proptest::collection::vec(0.0_f64..=1.0, 0..12),
        ) {
            shares.sort_by(f64::total_cmp);
            let histogram = of(&values);
            let alone: Vec<u64> =
                shares.iter().filter_map(|share| histogram.quantile(*share)).collect();
            prop_assert_eq!(histogram.quantiles(&shares), alone);
        }

        #[test]
        fn quantiles_agree_with_the_sorted_values(
            mut values in prop::collection::vec(prop_oneof![0_u64..1000, any::<u64>()], 1..400),
            quantile in 0.0_f64..=1.0,
        ) {
            let histogram = of(&values);
            values.sort_unstable();
            let rank = ((quantile * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let got = histogram.quantile(quantile).unwrap() as f64;
            prop_assert!((got - exact).abs() <= exact / 250.0 + 0.5, "{got} against {exact}");
            prop_assert_eq!(histogram.min(), values.first().copied());
            prop_assert_eq!(histogram.max(), values.last().copied());
            let mean = values.iter().map(|v| *v as f64).sum::<f64>() / values.len() as f64;
            prop_assert!((histogram.mean().unwrap() / mean.max(1e-9) - 1.0).abs() < 1e-9 || mean == 0.0);
        }

        #[test]
        fn the_mean_of_the_largest_agrees_with_the_sorted_values(
            mut values in prop::collection::vec(0_u64..1 << 50, 1..400),
            share in 0.001_f64..=1.0,
        ) {
            let got = of(&values).mean_of_largest(share).expect("not empty");
            values.sort_unstable_by(|a, b| b.cmp(a));
            let wanted = values.len() as f64 * share;
            let each = values.iter().enumerate();
            let sum: f64 = each
                .map(|(at, value)| (wanted - at as f64).clamp(0.0, 1.0) * *value as f64)
                .sum();
            let mean = sum / wanted;
            prop_assert!((got - mean).abs() <= mean / 250.0 + 0.5, "{got} against {mean}");
        }

        #[test]
        fn adding_is_recording_all(a in prop::collection::vec(any::<u64>(), 0..50), b in prop::collection::vec(any::<u64>(), 0..50)) {
            let mut sum = of(&a);
            sum.add(&of(&b));
            let mut stored = of(&a);
            stored.add_stored(&of(&b).to_bytes()).unwrap();
            let all: Vec<u64> = a.into_iter().chain(b).collect();
            prop_assert_eq!(&sum, &of(&all));
            prop_assert_eq!(stored, sum);
        }

        #[test]
        fn the_stored_form_reads_back(values in prop::collection::vec(any::<u64>(), 0..200)) {
            let histogram = of(&values);
            prop_assert_eq!(Histogram::from_bytes(&histogram.to_bytes()), Ok(histogram));
        }

        #[test]
        fn no_bytes_make_the_reader_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Histogram::from_bytes(&bytes);
            if bytes.len() > 2 {
                bytes[0] = 1;
                bytes[1] = 7;
                let _ = Histogram::from_bytes(&bytes);
            }
        }
    }
}
