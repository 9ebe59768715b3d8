//! Distributions in few numbers.

use diskfacts_record::Histogram;
use diskfacts_record::evidence::Bucket;

/// Steps of a latency within a factor of two: 2^3, so that a step is 9 to 12 % wide.
const LATENCY_BITS: u32 = 3;

/// Sizes that are kept apart.
const SIZES_MAX: usize = 64;

const SECTOR_BYTES: u64 = 512;

/// The bucket of a value, with 2^`bits` buckets for each factor of two.
fn around(value: u64, bits: u32) -> (u64, u64) {
    let shift = value.checked_ilog2().unwrap_or(0).saturating_sub(bits);
    let from = value >> shift << shift;
    (from, from + ((1 << shift) - 1))
}

/// Adds counts of one bucket up; the values come in rising order.
fn gather(values: impl Iterator<Item = (u64, u64)>, bits: u32) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = Vec::new();
    for (value, count) in values {
        let (from, to) = around(value, bits);
        match buckets.last_mut() {
            Some(last) if last.from == from => last.count += count,
            _ => buckets.push(Bucket { from, to, count }),
        }
    }
    buckets
}

/// A distribution of latencies: eight buckets for each factor of two. Those of a
/// [`Histogram`] lie within them.
pub(super) fn latencies(histogram: &Histogram) -> Vec<Bucket> {
    gather(
        histogram.buckets().map(|(low, _, n)| (low, n)),
        LATENCY_BITS,
    )
}

/// A distribution in powers of two.
pub(super) fn powers_of_two(histogram: &Histogram) -> Vec<Bucket> {
    gather(histogram.buckets().map(|(low, _, n)| (low, n)), 0)
}

/// Sizes in bytes, of counts by sectors in rising order: each one, or in powers of
/// two of sectors where there are many.
pub(super) fn sizes(by_sectors: &[(u64, u64)]) -> Vec<Bucket> {
    let bits = if by_sectors.len() > SIZES_MAX { 0 } else { 63 };
    let mut buckets = gather(by_sectors.iter().copied(), bits);
    for bucket in &mut buckets {
        bucket.from = bucket.from.saturating_mul(SECTOR_BYTES);
        bucket.to = bucket.to.saturating_mul(SECTOR_BYTES);
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(from: u64, to: u64, count: u64) -> Bucket {
        Bucket { from, to, count }
    }

    #[test]
    fn latencies_fall_into_steps_of_an_eighth_of_a_power_of_two() {
        let mut histogram = Histogram::new();
        for value in [0, 7, 8, 15, 16, 17, 18, 1024, 1151, 1152, u64::MAX] {
            histogram.record(value);
        }
        let top = u64::MAX - ((1 << 60) - 1);
        assert_eq!(
            latencies(&histogram),
            [
                bucket(0, 0, 1),
                bucket(7, 7, 1),
                bucket(8, 8, 1),
                bucket(15, 15, 1),
                bucket(16, 17, 2),
                bucket(18, 19, 1),
                bucket(1024, 1151, 2),
                bucket(1152, 1279, 1),
                bucket(top, u64::MAX, 1),
            ]
        );
    }

    #[test]
    fn few_sizes_are_exact_and_many_lie_in_powers_of_two() {
        assert_eq!(
            sizes(&[(8, 5), (1280, 2)]),
            [bucket(4096, 4096, 5), bucket(655_360, 655_360, 2)]
        );
        let many: Vec<(u64, u64)> = (1..=65).map(|sectors| (sectors, 1)).collect();
        let gathered = sizes(&many);
        assert_eq!(gathered.len(), 7);
        assert_eq!(gathered[2], bucket(4 * 512, 7 * 512, 4));
        assert_eq!(gathered[6], bucket(64 * 512, 127 * 512, 2));
    }

    #[test]
    fn distances_lie_in_powers_of_two() {
        let mut histogram = Histogram::new();
        for value in [1, 2, 3, 8, 1000] {
            histogram.record(value);
        }
        assert_eq!(
            powers_of_two(&histogram),
            [
                bucket(1, 1, 1),
                bucket(2, 3, 2),
                bucket(8, 15, 1),
                bucket(512, 1023, 1)
            ]
        );
    }
}
