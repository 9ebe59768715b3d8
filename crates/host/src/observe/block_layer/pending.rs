//! Requests between one event and the next, found by where they begin.
//!
//! Trace events do not name a request. What they have is its device, its first sector
//! and what it asks for; of several requests with the same, the oldest is taken, so
//! that sums are right and two that overtook one another swap their times.

use diskfacts_record::evidence::RequestKind;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// What is remembered of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// When it was made or inserted; not known of some.
    pub(super) since_ns: Option<u64>,
    /// When it was issued last.
    pub(super) issued_ns: u64,
    /// Sectors that are not done.
    pub(super) sectors: u64,
    /// It was in the device before.
    pub(super) came_back: bool,
    /// It came with a flush.
    pub(super) flushes: bool,
    /// Where it began and how long it was when it was issued, sectors.
    pub(super) issued: (u64, u64),
    /// The thread that made it.
    pub(super) maker: u32,
}

/// Where a request begins, and what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    sector: u64,
    kind: RequestKind,
}

impl Key {
    pub(super) fn new(sector: u64, kind: RequestKind) -> Self {
        Self { sector, kind }
    }

    pub(super) fn kind(self) -> RequestKind {
        self.kind
    }
}

#[derive(Debug)]
struct Slot {
    first: Request,
    /// Others with the same key, which are rare; they take no memory when none.
    more: VecDeque<Request>,
}

/// Requests by where they begin.
#[derive(Debug, Default)]
pub(super) struct Pending {
    slots: HashMap<Key, Slot, BuildHasherDefault<Mixing>>,
}

impl Pending {
    /// Forgets all; tells how many there were of each kind.
    pub(super) fn forget(&mut self) -> BTreeMap<RequestKind, u64> {
        let kinds = self.numbers();
        self.slots.clear();
        kinds
    }

    /// How many there are of each kind.
    pub(super) fn numbers(&self) -> BTreeMap<RequestKind, u64> {
        let mut kinds = BTreeMap::new();
        for (key, slot) in &self.slots {
            *kinds.entry(key.kind()).or_default() += 1 + slot.more.len() as u64;
        }
        kinds
    }

    pub(super) fn put(&mut self, key: Key, request: Request) {
        self.slots
            .entry(key)
            .and_modify(|slot| slot.more.push_back(request))
            .or_insert_with(|| Slot {
                first: request,
                more: VecDeque::new(),
            });
    }

    /// The oldest with this key.
    pub(super) fn first(&self, key: Key) -> Option<&Request> {
        self.slots.get(&key).map(|slot| &slot.first)
    }

    /// Takes the oldest with this key.
    pub(super) fn take(&mut self, key: Key) -> Option<Request> {
        self.take_where(key, |_| true)
    }

    /// Takes the oldest with this key that has exactly so many sectors left, else the
    /// oldest.
    pub(super) fn take_of_length(&mut self, key: Key, sectors: u64) -> Option<Request> {
        let exact = self.take_where(key, |request| request.sectors == sectors);
        exact.or_else(|| self.take(key))
    }

    fn take_where(&mut self, key: Key, wanted: impl Fn(&Request) -> bool) -> Option<Request> {
        let slot = self.slots.get_mut(&key)?;
        if !wanted(&slot.first) {
            let index = slot.more.iter().position(wanted)?;
            return slot.more.remove(index);
        }
        let first = slot.first;
        match slot.more.pop_front() {
            Some(next) => slot.first = next,
            None => drop(self.slots.remove(&key)),
        }
        Some(first)
    }
}

/// Mixes the bits of one number (the finalizer of `SplitMix64`; Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", OOPSLA 2014). Sectors are no
/// adversary.
#[derive(Debug, Default)]
pub(super) struct Mixing(u64);

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = self.0.rotate_left(8) ^ number;
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(sectors: u64, issued_ns: u64) -> Request {
        Request {
            since_ns: None,
            issued_ns,
            sectors,
            came_back: false,
            flushes: false,
            issued: (0, sectors),
            maker: 0,
        }
    }

    #[test]
    fn of_requests_that_begin_alike_the_length_decides_then_the_age() {
        let mut pending = Pending::default();
        let key = Key::new(64, RequestKind::Read);
        for (sectors, issued_ns) in [(8, 1), (16, 2), (8, 3)] {
            pending.put(key, request(sectors, issued_ns));
        }
        pending.put(Key::new(64, RequestKind::Write), request(8, 4));
        let mut take = |sectors| pending.take_of_length(key, sectors).map(|r| r.issued_ns);
        assert_eq!(take(16), Some(2));
        assert_eq!(take(4), Some(1), "none of 4: the oldest");
        assert_eq!(take(8), Some(3));
        assert_eq!(take(8), None);
        assert_eq!(pending.forget(), BTreeMap::from([(RequestKind::Write, 1)]));
        assert!(pending.forget().is_empty());
    }
}
