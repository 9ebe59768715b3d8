//! Pages of a file that read-ahead brought and nobody asked for yet.

use std::collections::BTreeMap;

/// Ranges that do not touch, by their first page.
#[derive(Debug, Clone, Default)]
pub(super) struct Unused {
    ranges: BTreeMap<u64, u64>,
}

impl Unused {
    /// Adds pages `first..end`, and says how many of them were not in it.
    pub(super) fn add(&mut self, first: u64, end: u64) -> u64 {
        if end <= first {
            return 0;
        }
        let before = self.remove(first, end);
        let (mut first, mut end) = (first, end);
        let new = end - first - before;
        if let Some((&at, &until)) = self.ranges.range(..first).next_back()
            && until == first
        {
            self.ranges.remove(&at);
            first = at;
        }
        if let Some(until) = self.ranges.remove(&end) {
            end = until;
        }
        self.ranges.insert(first, end);
        new
    }

    /// Takes pages `first..end` out, and says how many of them were in it.
    pub(super) fn remove(&mut self, first: u64, end: u64) -> u64 {
        let mut count = 0;
        if end <= first {
            return count;
        }
        while let Some((&at, &until)) = self.ranges.range(..end).next_back() {
            if until <= first {
                break;
            }
            self.ranges.remove(&at);
            if at < first {
                self.ranges.insert(at, first);
            }
            if until > end {
                self.ranges.insert(end, until);
            }
            count += until.min(end) - at.max(first);
            if at <= first {
                break;
            }
        }
        count
    }

    /// Pages in it.
    pub(super) fn count(&self) -> u64 {
        self.ranges.iter().map(|(first, end)| end - first).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_are_a_set_of_pages(
            steps in prop::collection::vec((any::<bool>(), 0_u64..40, 0_u64..12), 1..60)
        ) {
            let mut ranges = Unused::default();
            let mut pages = BTreeSet::new();
            for (adds, first, len) in steps {
                let range = first..first + len;
                if adds {
                    let new = range.clone().filter(|page| pages.insert(*page)).count();
                    prop_assert_eq!(ranges.add(first, first + len), new as u64);
                } else {
                    let gone = range.clone().filter(|page| pages.remove(page)).count();
                    prop_assert_eq!(ranges.remove(first, first + len), gone as u64);
                }
                prop_assert_eq!(ranges.count(), pages.len() as u64);
                let apart = ranges.ranges.iter().zip(ranges.ranges.keys().skip(1));
                for ((_, end), next) in apart {
                    prop_assert!(end < next, "{:?}", ranges);
                }
            }
        }
    }
}
