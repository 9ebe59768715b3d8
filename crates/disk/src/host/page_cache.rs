//! Which pages of the device are in the host's memory, and which of them are
//! on their way.

use crate::device::Extent;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One page, bytes.
pub const PAGE: u64 = 4096;
/// Pages that are kept track of together.
const GROUP: u64 = 16;

/// Sixteen neighbouring pages, a bit for each.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    present: u16,
    dirty: u16,
    /// Being read.
    coming: u16,
    /// Read from the medium, or from the drive's memory, and not looked at by
    /// a program since.
    from_media: u16,
    from_drive: u16,
    /// Dirtied since the marks were cleared.
    recent: u16,
    /// Used since the clock hand passed.
    used: bool,
}

/// Pages that were read from the device and that a program looks at for the
/// first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fresh {
    /// Of these, read from the medium.
    pub media: u64,
    /// Of these, from the drive's memory.
    pub drive: u64,
}

/// The page cache of one device: least recently used groups go first, by the
/// clock algorithm (Corbató, "A paging experiment with the Multics system",
/// 1968).
#[derive(Debug, Clone)]
pub struct PageCache {
    groups: BTreeMap<u64, Group>,
    /// Numbers of the groups with a dirty page.
    dirty_groups: BTreeSet<u64>,
    clock: VecDeque<u64>,
    groups_max: usize,
}

/// The state of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// In memory.
    Present,
    /// Being read.
    Coming,
    /// Neither.
    Missing,
}

impl PageCache {
    /// An empty cache of `memory` bytes.
    pub fn new(memory: u64) -> Self {
        let groups = memory / (PAGE * GROUP);
        Self {
            groups: BTreeMap::new(),
            dirty_groups: BTreeSet::new(),
            clock: VecDeque::new(),
            groups_max: usize::try_from(groups).unwrap_or(usize::MAX).max(16),
        }
    }

    /// The state of page number `page`; looking at it counts as a use.
    pub fn look(&mut self, page: u64) -> Page {
        let Some(group) = self.groups.get_mut(&(page / GROUP)) else {
            return Page::Missing;
        };
        group.used = true;
        let bit = bit(page);
        if group.present & bit != 0 {
            Page::Present
        } else if group.coming & bit != 0 {
            Page::Coming
        } else {
            Page::Missing
        }
    }

    /// Pages from `first` to before `end` are being read.
    pub fn read_begins(&mut self, first: u64, end: u64) {
        self.update(first, end, |group, bits| {
            group.coming |= bits & !group.present;
        });
    }

    /// They have been read, or, if not `is_good`, could not be.
    pub fn read_ends(&mut self, first: u64, end: u64, is_good: bool) {
        self.update(first, end, |group, bits| {
            let came = group.coming & bits;
            group.coming &= !bits;
            if is_good {
                group.present |= came;
            }
        });
    }

    /// A program has written them. Gives how many were clean before.
    pub fn written(&mut self, first: u64, end: u64) -> u64 {
        let mut fresh = 0;
        self.update(first, end, |group, bits| {
            fresh += u64::from((bits & !group.dirty).count_ones());
            group.present |= bits;
            group.dirty |= bits;
            group.recent |= bits;
            group.used = true;
        });
        self.dirty_groups.extend(first / GROUP..end.div_ceil(GROUP));
        fresh
    }

    /// They are being written to the device: no longer dirty. Gives how many
    /// of them were dirtied since the marks were cleared.
    pub fn cleaned(&mut self, first: u64, end: u64) -> u64 {
        let mut recent = 0;
        self.update_known(first, end, |group, bits| {
            recent += u64::from((bits & group.dirty & group.recent).count_ones());
            group.dirty &= !bits;
            group.recent &= !bits;
        });
        self.note_clean(first, end);
        recent
    }

    /// They were just read, from the medium or from the drive's memory.
    pub fn came(&mut self, first: u64, end: u64, is_media: bool) {
        self.update_known(first, end, |group, bits| {
            let came = bits & group.present;
            if is_media {
                group.from_media |= came;
            } else {
                group.from_drive |= came;
            }
        });
    }

    /// A program looks at them: gives those for which it is the first time
    /// since they were read.
    pub fn taken(&mut self, first: u64, end: u64) -> Fresh {
        let mut fresh = Fresh::default();
        self.update_known(first, end, |group, bits| {
            fresh.media += u64::from((bits & group.from_media).count_ones());
            fresh.drive += u64::from((bits & group.from_drive).count_ones());
            group.from_media &= !bits;
            group.from_drive &= !bits;
        });
        fresh
    }

    /// From now on, nothing counts as just read or recently dirtied.
    pub fn clear_marks(&mut self) {
        for group in self.groups.values_mut() {
            (group.from_media, group.from_drive, group.recent) = (0, 0, 0);
        }
    }

    /// Drops those that are neither dirty nor on their way.
    pub fn forget_clean(&mut self, first: u64, end: u64) {
        self.update_known(first, end, |group, bits| {
            group.present &= !(bits & !group.dirty);
        });
    }

    /// How many of them are in memory, and how many of these are dirty.
    pub fn count(&self, first: u64, end: u64) -> (u64, u64) {
        let mut counts = (0, 0);
        for (number, group) in self.groups.range(first / GROUP..end.div_ceil(GROUP)) {
            let bits = within(*number, first, end);
            counts.0 += u64::from((bits & group.present).count_ones());
            counts.1 += u64::from((bits & group.dirty).count_ones());
        }
        counts
    }

    /// They are not in memory any more, dirty or not. Gives how many were
    /// dirty.
    pub fn dropped(&mut self, first: u64, end: u64) -> u64 {
        let mut dirty = 0;
        self.update_known(first, end, |group, bits| {
            dirty += u64::from((bits & group.dirty).count_ones());
            group.present &= !bits;
            group.dirty &= !bits;
            group.from_media &= !bits;
            group.from_drive &= !bits;
        });
        if dirty > 0 {
            self.note_clean(first, end);
        }
        dirty
    }

    /// Changes groups that there are; pages of others are not in memory.
    fn update_known(&mut self, first: u64, end: u64, mut change: impl FnMut(&mut Group, u16)) {
        let numbers = first / GROUP..end.div_ceil(GROUP);
        if numbers.start + 1 == numbers.end {
            // Most requests lie within one group.
            if let Some(group) = self.groups.get_mut(&numbers.start) {
                change(group, within(numbers.start, first, end));
            }
            return;
        }
        for (number, group) in self.groups.range_mut(numbers) {
            change(group, within(*number, first, end));
        }
    }

    /// Some of these may have no dirty page any more.
    fn note_clean(&mut self, first: u64, end: u64) {
        for number in first / GROUP..end.div_ceil(GROUP) {
            if self
                .groups
                .get(&number)
                .is_none_or(|group| group.dirty == 0)
            {
                self.dirty_groups.remove(&number);
            }
        }
    }

    fn update(&mut self, first: u64, end: u64, mut change: impl FnMut(&mut Group, u16)) {
        let mut page = first;
        while page < end {
            let number = page / GROUP;
            let until = end.min((number + 1) * GROUP);
            let bits = (page..until).fold(0, |bits, page| bits | bit(page));
            if !self.groups.contains_key(&number) {
                self.make_room();
                self.clock.push_back(number);
            }
            change(self.groups.entry(number).or_default(), bits);
            page = until;
        }
    }

    /// Drops clean groups that were not used for longest, while there are too
    /// many; what is dirty or on its way stays, even beyond the limit.
    fn make_room(&mut self) {
        let mut looked_at = 0;
        while self.groups.len() >= self.groups_max && looked_at < 2 * self.clock.len() {
            let Some(number) = self.clock.pop_front() else {
                return;
            };
            looked_at += 1;
            let Some(group) = self.groups.get_mut(&number) else {
                continue;
            };
            if group.used || group.dirty != 0 || group.coming != 0 {
                group.used = false;
                self.clock.push_back(number);
            } else {
                self.groups.remove(&number);
            }
        }
    }

    /// The dirty pages, as bytes, in order.
    pub fn dirty(&self) -> Vec<Extent> {
        let mut extents: Vec<Extent> = Vec::new();
        for (&number, group) in &self.groups {
            for page in number * GROUP..(number + 1) * GROUP {
                if group.dirty & bit(page) == 0 {
                    continue;
                }
                match extents.last_mut() {
                    Some(last) if last.end == page * PAGE => last.end += PAGE,
                    _ => extents.push(Extent {
                        start: page * PAGE,
                        end: (page + 1) * PAGE,
                    }),
                }
            }
        }
        extents
    }

    /// The first dirty pages at or behind `page`, without a gap, at most
    /// `pages_max`: first, and one past the last.
    pub fn next_dirty(&self, page: u64, pages_max: u64) -> Option<(u64, u64)> {
        let mut found: Option<(u64, u64)> = None;
        for &number in self.dirty_groups.range(page / GROUP..) {
            let Some(group) = self.groups.get(&number) else {
                continue;
            };
            if found.is_some_and(|(_, end)| end != number * GROUP) {
                break;
            }
            for at in (number * GROUP).max(page)..(number + 1) * GROUP {
                let is_dirty = group.dirty & bit(at) != 0;
                match &mut found {
                    None if is_dirty => found = Some((at, at + 1)),
                    Some((first, end)) if is_dirty && *end == at && at - *first < pages_max => {
                        *end = at + 1;
                    }
                    Some(_) => return found,
                    None => {}
                }
            }
        }
        found
    }
}

fn bit(page: u64) -> u16 {
    1 << (page % GROUP)
}

/// The pages of a group from `first` to before `end`, a bit for each.
fn within(number: u64, first: u64, end: u64) -> u16 {
    let pages = (number * GROUP).max(first)..((number + 1) * GROUP).min(end);
    pages.fold(0, |bits, page| bits | bit(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_and_are_there() {
        let mut cache = PageCache::new(1 << 30);
        assert_eq!(cache.look(20), Page::Missing);
        cache.read_begins(10, 30);
        assert_eq!(cache.look(20), Page::Coming);
        cache.read_ends(10, 30, true);
        assert_eq!(cache.look(20), Page::Present);
        assert_eq!(cache.look(30), Page::Missing);
    }

    #[test]
    fn dirty_pages_are_found_in_order_and_once() {
        let mut cache = PageCache::new(1 << 30);
        assert_eq!(cache.written(14, 18), 4);
        assert_eq!(cache.written(17, 19), 1);
        cache.written(40, 41);
        assert_eq!(cache.next_dirty(0, 100), Some((14, 19)));
        assert_eq!(cache.next_dirty(0, 3), Some((14, 17)));
        assert_eq!(cache.next_dirty(20, 100), Some((40, 41)));
        cache.cleaned(14, 19);
        assert_eq!(
            cache.dirty(),
            [Extent {
                start: 40 * PAGE,
                end: 41 * PAGE
            }]
        );
    }

    #[test]
    fn a_page_is_fresh_for_the_first_look_only() {
        let mut cache = PageCache::new(1 << 30);
        cache.read_begins(10, 30);
        cache.read_ends(10, 30, true);
        cache.came(10, 20, true);
        cache.came(20, 30, false);
        assert_eq!(cache.taken(15, 22), Fresh { media: 5, drive: 2 });
        assert_eq!(cache.taken(15, 23), Fresh { media: 0, drive: 1 });
        cache.clear_marks();
        assert_eq!(cache.taken(10, 30), Fresh::default());
    }

    #[test]
    fn what_is_dirty_stays_when_the_rest_is_forgotten() {
        let mut cache = PageCache::new(1 << 30);
        cache.read_begins(0, 40);
        cache.read_ends(0, 40, true);
        cache.written(18, 20);
        assert_eq!(cache.count(0, 40), (40, 2));
        assert_eq!(cache.count(17, 19), (2, 1));
        cache.forget_clean(5, 1 << 40);
        assert_eq!(cache.count(0, 100), (7, 2));
        assert_eq!(cache.cleaned(0, 20), 2);
        cache.written(18, 19);
        cache.clear_marks();
        assert_eq!(cache.cleaned(0, 20), 0);
    }

    #[test]
    fn the_cache_keeps_what_is_used_and_what_is_dirty() {
        let mut cache = PageCache::new(16 * GROUP * PAGE);
        cache.written(0, 1);
        for group in 1..100 {
            cache.read_begins(group * GROUP, group * GROUP + 1);
            cache.read_ends(group * GROUP, group * GROUP + 1, true);
            assert_eq!(cache.look(GROUP), Page::Present);
        }
        assert_eq!(cache.look(0), Page::Present, "dirty");
        assert_eq!(cache.look(GROUP), Page::Present, "used");
        assert_eq!(cache.look(50 * GROUP), Page::Missing, "old");
        assert!(cache.groups.len() <= 16);
    }
}
