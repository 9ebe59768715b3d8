//! The volatile write cache: what is dirty, in which order it arrived, and
//! what of it is there by when.

use crate::device::Extent;
use crate::fixed;
use std::collections::BTreeMap;

/// A dirty range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    end: u64,
    /// Order of arrival.
    sequence: u64,
    /// When the byte at the start of the range arrives, ns.
    arrives_ns: u64,
}

/// A part of the cache that can be written in one go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Its bytes.
    pub extent: Extent,
    /// Earliest moment at which the head may pass the first byte, so that each
    /// byte has arrived when the head gets there, ns; as a time at the start
    /// of the run.
    pub ready_ns: u64,
}

/// Dirty ranges that do not overlap, by offset and by age.
#[derive(Debug, Clone)]
pub struct WriteCache {
    by_start: BTreeMap<u64, Entry>,
    by_age: BTreeMap<u64, u64>,
    next_sequence: u64,
    bus_bytes_per_s: u64,
    /// Bytes in the ranges.
    dirty: u64,
}

impl WriteCache {
    /// An empty cache, filled at the rate of the interface.
    pub fn new(bus_bytes_per_s: u64) -> Self {
        Self {
            by_start: BTreeMap::new(),
            by_age: BTreeMap::new(),
            next_sequence: 0,
            bus_bytes_per_s,
            dirty: 0,
        }
    }

    /// Dirty bytes, arrived or on their way, that no write is under way for.
    pub fn dirty(&self) -> u64 {
        self.dirty
    }

    /// The dirty ranges in order.
    pub fn extents(&self) -> impl Iterator<Item = Extent> + '_ {
        self.by_start.iter().map(|(&start, entry)| Extent {
            start,
            end: entry.end,
        })
    }

    /// Whether all of `range` is dirty, and since when it is all there, ns.
    pub fn holds(&self, range: Extent) -> Option<u64> {
        let mut at = range.start;
        let mut since_ns = 0;
        while at < range.end {
            let (&start, entry) = self.by_start.range(..=at).next_back()?;
            if entry.end <= at {
                return None;
            }
            let until = entry.end.min(range.end);
            since_ns = since_ns.max(self.arrival_ns(start, entry, until));
            at = until;
        }
        Some(since_ns)
    }

    fn arrival_ns(&self, start: u64, entry: &Entry, byte: u64) -> u64 {
        entry.arrives_ns + fixed::bytes_to_ns(byte - start, self.bus_bytes_per_s)
    }

    /// Takes in `range`, whose first byte arrives at `arrives_ns`. What it
    /// covers was overwritten before it reached the platter.
    pub fn insert(&mut self, range: Extent, arrives_ns: u64) {
        self.remove(range);
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.add(range, sequence, arrives_ns);
    }

    fn add(&mut self, range: Extent, sequence: u64, arrives_ns: u64) {
        self.by_start.insert(
            range.start,
            Entry {
                end: range.end,
                sequence,
                arrives_ns,
            },
        );
        self.by_age.insert(sequence, range.start);
        self.dirty += range.len();
    }

    /// Drops whatever of `range` is dirty.
    pub fn remove(&mut self, range: Extent) {
        while let Some((&start, &entry)) = self.by_start.range(..range.end).next_back() {
            if entry.end <= range.start {
                break;
            }
            self.by_start.remove(&start);
            self.by_age.remove(&entry.sequence);
            self.dirty -= entry.end - start;
            if range.end < entry.end {
                // The tail keeps the place of the whole in the order of age;
                // a head, if any is left too, is put just behind it.
                let arrives_ns = self.arrival_ns(start, &entry, range.end);
                let tail = Extent {
                    start: range.end,
                    end: entry.end,
                };
                self.add(tail, entry.sequence, arrives_ns);
            }
            if start < range.start {
                let head = Extent {
                    start,
                    end: range.start,
                };
                let sequence = if range.end < entry.end {
                    self.next_sequence += 1;
                    self.next_sequence - 1
                } else {
                    entry.sequence
                };
                self.add(head, sequence, entry.arrives_ns);
            }
        }
    }

    /// The first bytes of the oldest ranges, oldest first.
    pub fn oldest(&self) -> impl Iterator<Item = u64> + '_ {
        self.by_age.values().copied()
    }

    /// Whether nothing was written after the range that starts at `start`.
    pub fn is_newest(&self, start: u64) -> bool {
        self.by_age
            .last_key_value()
            .is_some_and(|(_, last)| *last == start)
    }

    /// Whether a dirty range starts at `start`.
    pub fn starts_at(&self, start: u64) -> bool {
        self.by_start.contains_key(&start)
    }

    /// What can be written in one go from `start` at `now_ns`, at most `limit`
    /// bytes: the range that starts there and its neighbours without a gap.
    ///
    /// `media_ns` gives the media time of a byte. A neighbour that would come
    /// late, for a head that starts at the run's own ready time, is left out.
    pub fn run(
        &self,
        now_ns: u64,
        start: u64,
        limit: u64,
        media_ns: impl Fn(u64) -> u64,
    ) -> Option<Run> {
        let first_media_ns = media_ns(start);
        let mut end = start;
        let mut ready_ns = now_ns;
        for (&at, entry) in self.by_start.range(start..) {
            if at != end || end >= start + limit {
                break;
            }
            let until = entry.end.min(start + limit);
            // The head passes `at` so much after `start`; the data of a slow
            // interface must be ahead of it at both ends of the range.
            let head = media_ns(at) - first_media_ns;
            let tail = media_ns(until - 1) - first_media_ns;
            let wanted = entry
                .arrives_ns
                .saturating_sub(head)
                .max(self.arrival_ns(at, entry, until).saturating_sub(tail));
            if at > start && wanted > ready_ns {
                break;
            }
            ready_ns = ready_ns.max(wanted);
            end = until;
        }
        (end > start).then_some(Run {
            extent: Extent { start, end },
            ready_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(start: u64, end: u64) -> Extent {
        Extent { start, end }
    }

    #[test]
    fn data_arrives_at_the_rate_of_the_interface() {
        let mut cache = WriteCache::new(1_000_000_000);
        cache.insert(range(0, 1000), 500);
        assert_eq!(cache.holds(range(0, 1000)), Some(1500));
        assert_eq!(cache.holds(range(0, 400)), Some(900));
        assert_eq!(cache.holds(range(0, 1001)), None);
    }

    #[test]
    fn a_run_joins_neighbours_that_come_in_time() {
        let mut cache = WriteCache::new(1_000_000_000);
        cache.insert(range(0, 1000), 0);
        cache.insert(range(1000, 2000), 1000);
        cache.insert(range(2000, 3000), 9000);
        // The head passes 2 ns per byte: slower than the interface.
        let run = cache.run(0, 0, 10_000, |byte| 2 * byte).unwrap();
        assert_eq!(run.extent, range(0, 2000));
        assert_eq!(run.ready_ns, 0);
        // A head of 0.5 ns per byte has to start later, for the last byte.
        let run = cache.run(0, 0, 1000, |byte| byte / 2).unwrap();
        assert_eq!(run.ready_ns, 1000 - 499);
    }

    proptest! {
        /// The cache against a table of bytes.
        #[test]
        fn dirty_ranges_are_what_a_table_of_bytes_says(
            changes in prop::collection::vec((0_u64..200, 1_u64..50, prop::bool::weighted(0.7)), 1..60),
        ) {
            let mut cache = WriteCache::new(1_000_000_000);
            let mut table = [false; 256];
            for (start, len, dirty) in changes {
                let extent = range(start, start + len);
                if dirty {
                    cache.insert(extent, 0);
                } else {
                    cache.remove(extent);
                }
                table[start as usize..(start + len) as usize].fill(dirty);
                prop_assert_eq!(cache.dirty(), table.iter().filter(|b| **b).count() as u64);
                let mut seen = [false; 256];
                for extent in cache.extents() {
                    for byte in extent.start..extent.end {
                        prop_assert!(!seen[byte as usize], "two ranges hold byte {}", byte);
                        seen[byte as usize] = true;
                    }
                }
                prop_assert_eq!(seen, table);
                prop_assert_eq!(cache.oldest().count(), cache.extents().count());
                for first in cache.oldest() {
                    prop_assert!(cache.starts_at(first));
                }
            }
        }
    }
}
