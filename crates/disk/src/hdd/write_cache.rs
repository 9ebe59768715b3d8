//! The volatile write cache: what is dirty, in which order it arrived, and
//! what of it is there by when.

use super::sorted::Sorted;
use crate::device::Extent;
use crate::fixed;

/// A dirty range, between the ones that arrived before and after it.
#[derive(Debug, Clone, Copy)]
struct Entry {
    extent: Extent,
    /// When the byte at the start of the range arrives, ns.
    arrives_ns: u64,
    /// Slots of its neighbours in order of arrival, or [`NONE`].
    older: u32,
    newer: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;

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
    by_start: Sorted,
    entries: Vec<Entry>,
    /// Slots of entries that are no more.
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    bus_bytes_per_s: u64,
    /// Bytes in the ranges.
    dirty: u64,
}

impl WriteCache {
    /// An empty cache, filled at the rate of the interface.
    pub fn new(bus_bytes_per_s: u64) -> Self {
        Self {
            by_start: Sorted::default(),
            entries: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
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
        let slots = self.by_start.from(0).map(|(_, slot)| slot);
        slots.map(|slot| self.entry(slot).extent)
    }

    fn entry(&self, slot: u32) -> &Entry {
        &self.entries[slot as usize]
    }

    /// Whether all of `range` is dirty, and since when it is all there, ns.
    pub fn holds(&self, range: Extent) -> Option<u64> {
        let mut at = range.start;
        let mut since_ns = 0;
        while at < range.end {
            let (_, slot) = self.by_start.at_most(at)?;
            let entry = self.entry(slot);
            if entry.extent.end <= at {
                return None;
            }
            let until = entry.extent.end.min(range.end);
            since_ns = since_ns.max(self.arrival_ns(entry, until));
            at = until;
        }
        Some(since_ns)
    }

    /// When the last byte before `byte` of an entry arrives, ns.
    fn arrival_ns(&self, entry: &Entry, byte: u64) -> u64 {
        entry.arrives_ns + fixed::bytes_to_ns(byte - entry.extent.start, self.bus_bytes_per_s)
    }

    /// Takes in `range`, whose first byte arrives at `arrives_ns`. What it
    /// covers was overwritten before it reached the platter.
    pub fn insert(&mut self, range: Extent, arrives_ns: u64) {
        self.remove(range);
        self.add_newest(range, arrives_ns);
    }

    fn add_newest(&mut self, extent: Extent, arrives_ns: u64) {
        let entry = Entry {
            extent,
            arrives_ns,
            older: self.newest,
            newer: NONE,
        };
        let slot = if let Some(slot) = self.free.pop() {
            self.entries[slot as usize] = entry;
            slot
        } else {
            self.entries.push(entry);
            // A cache of 1 TiB has less than 2^32 ranges of a sector.
            (self.entries.len() - 1) as u32
        };
        match self.newest {
            NONE => self.oldest = slot,
            newest => self.entries[newest as usize].newer = slot,
        }
        self.newest = slot;
        self.by_start.insert(extent.start, slot);
        self.dirty += extent.len();
    }

    fn take_out(&mut self, slot: u32) {
        let Entry {
            extent,
            older,
            newer,
            ..
        } = *self.entry(slot);
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        self.by_start.remove(extent.start);
        self.free.push(slot);
        self.dirty -= extent.len();
    }

    /// Drops whatever of `range` is dirty.
    pub fn remove(&mut self, range: Extent) {
        while let Some(last) = range.end.checked_sub(1)
            && let Some((_, slot)) = self.by_start.at_most(last)
        {
            let entry = *self.entry(slot);
            if entry.extent.end <= range.start {
                break;
            }
            let head = Extent {
                start: entry.extent.start,
                end: range.start,
            };
            let has_head = entry.extent.start < range.start;
            if range.end < entry.extent.end {
                // The tail keeps the place of the whole in the order of age; a
                // head, if any is left too, becomes the newest.
                let tail = Extent {
                    start: range.end,
                    end: entry.extent.end,
                };
                self.by_start.remove(entry.extent.start);
                self.by_start.insert(tail.start, slot);
                self.dirty -= tail.start - entry.extent.start;
                let arrives_ns = self.arrival_ns(&entry, range.end);
                let kept = &mut self.entries[slot as usize];
                kept.extent = tail;
                kept.arrives_ns = arrives_ns;
                if has_head {
                    self.add_newest(head, entry.arrives_ns);
                }
            } else if has_head {
                self.dirty -= entry.extent.end - head.end;
                self.entries[slot as usize].extent = head;
            } else {
                self.take_out(slot);
            }
        }
    }

    /// The first bytes of the oldest ranges, oldest first.
    pub fn oldest(&self) -> impl Iterator<Item = u64> + '_ {
        let of = |slot: u32| (slot != NONE).then_some(slot);
        std::iter::successors(of(self.oldest), move |slot| of(self.entry(*slot).newer))
            .map(|slot| self.entry(slot).extent.start)
    }

    /// Whether nothing was written after the range that starts at `start`.
    pub fn is_newest(&self, start: u64) -> bool {
        self.newest != NONE && self.entry(self.newest).extent.start == start
    }

    /// Whether a dirty range starts at `start`.
    pub fn starts_at(&self, start: u64) -> bool {
        self.by_start.get(start).is_some()
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
        let mut first_media_ns = 0;
        let mut end = start;
        let mut ready_ns = now_ns;
        for (at, slot) in self.by_start.from(start) {
            if at != end || end >= start + limit {
                break;
            }
            let entry = self.entry(slot);
            let until = entry.extent.end.min(start + limit);
            // The head passes `at` so much after `start`; the data of a slow
            // interface must be ahead of it at both ends of the range.
            let at_media_ns = media_ns(at);
            if at == start {
                first_media_ns = at_media_ns;
            }
            let head = at_media_ns - first_media_ns;
            let tail = media_ns(until - 1) - first_media_ns;
            let wanted = entry
                .arrives_ns
                .saturating_sub(head)
                .max(self.arrival_ns(entry, until).saturating_sub(tail));
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
