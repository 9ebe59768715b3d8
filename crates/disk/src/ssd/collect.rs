//! Garbage collection: moving what is still true out of the superblock that
//! holds least of it, so that it can be erased.

use super::blocks::{NOBODY, RESERVE};
use super::drive::{Cursor, Ssd};
use super::map::Location;

/// A collection under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Victim {
    block: usize,
    /// Next page of it to look at.
    page: u64,
    /// Units to be moved when it was chosen.
    valid: u64,
}

/// State of the garbage collection.
#[derive(Debug, Clone, Default)]
pub(super) struct Collector {
    victim: Option<Victim>,
    /// Where moved units go.
    cursor: Option<Cursor>,
    /// Units read and not yet programmed: the owner, or `NOBODY` for ballast,
    /// and where it was.
    gathering: Vec<(u32, u32)>,
    /// Units that should have been moved by now, times the units per block.
    credit: u64,
}

impl Collector {
    /// Of the units programmed while the victim is collected, the share that
    /// is moved, in 1024ths.
    pub(super) fn share_1024(&self, units_per_block: u64) -> u64 {
        self.victim
            .map_or(0, |victim| victim.valid * 1024 / units_per_block)
    }
}

impl Ssd {
    /// Collects as much as one more page of the host calls for: while the host
    /// fills what the victim gains, all that is true in the victim is moved.
    pub(super) fn collect_along(&mut self, now_ns: u64) {
        if self.collector.victim.is_none() && !self.choose_victim() {
            return;
        }
        let Some(victim) = self.collector.victim else {
            return;
        };
        let per_page = self.parameters.units_per_page();
        let gain = self
            .blocks
            .units_per_block()
            .saturating_sub(victim.valid)
            .max(1);
        // Moved units per host unit: valid / gain.
        self.collector.credit += per_page * victim.valid;
        while self.collector.victim.is_some() && self.collector.credit >= gain {
            let moved = self.collect_page(now_ns);
            let paid = moved.max(1) * gain;
            self.collector.credit = self.collector.credit.saturating_sub(paid);
        }
    }

    fn choose_victim(&mut self) -> bool {
        if self.blocks.free_count() > RESERVE {
            return false;
        }
        let Some(block) = self.blocks.victim() else {
            return false;
        };
        let valid = u64::from(self.blocks.block(block).valid());
        self.blocks.begin_collection(block);
        self.collector.victim = Some(Victim {
            block,
            page: 0,
            valid,
        });
        self.collector.credit = 0;
        true
    }

    /// Moves what is true in the victim's next page; gives how many units. At
    /// its end the victim is erased.
    fn collect_page(&mut self, now_ns: u64) -> u64 {
        let Some(mut victim) = self.collector.victim else {
            return 0;
        };
        let per_page = self.parameters.units_per_page();
        let pages = self.blocks.units_per_block() / per_page;
        let first = victim.page * per_page;
        let before = self.collector.gathering.len();
        for place in first..first + per_page {
            let physical = self.physical(victim.block, place) as u32;
            let owners = &self.blocks.block(victim.block).owners;
            if let Some(&owner) = owners.get(place as usize)
                && owner != NOBODY
                && self.map.get(u64::from(owner)) == Location::At(physical)
            {
                self.collector.gathering.push((owner, physical));
            }
        }
        // Ballast is spread over the pages that are left.
        let ballast = u64::from(self.blocks.block(victim.block).ballast);
        let share = ballast.div_ceil(pages - victim.page) as u32;
        let taken = self.blocks.take_ballast(victim.block, share);
        for _ in 0..taken {
            self.collector.gathering.push((NOBODY, 0));
        }
        let moved = (self.collector.gathering.len() - before) as u64;
        let mut data_ns = now_ns;
        if moved > 0 {
            let (page, die) = self.page_of(self.physical(victim.block, first) as u32);
            let bytes = moved * self.parameters.mapping_unit;
            data_ns = self.flash.read(now_ns, die, page, bytes, 0).done_ns;
        }
        while self.collector.gathering.len() as u64 >= per_page {
            self.program_moved(data_ns);
        }
        victim.page += 1;
        if victim.page < pages {
            self.collector.victim = Some(victim);
        } else {
            while !self.collector.gathering.is_empty() {
                self.program_moved(data_ns);
            }
            self.collector.victim = None;
            self.blocks.erase(victim.block);
            self.flash.erase_all(now_ns);
            self.counters.erased += 1;
        }
        moved
    }

    /// Programs a page of moved units.
    fn program_moved(&mut self, now_ns: u64) {
        let per_page = self.parameters.units_per_page();
        if self.collector.cursor.is_none() {
            let block = self
                .blocks
                .open()
                .expect("the host leaves a free superblock to the garbage collection");
            self.collector.cursor = Some(Cursor { block, next: 0 });
        }
        let Some(mut cursor) = self.collector.cursor else {
            return;
        };
        let (_, die) = self.page_of(self.physical(cursor.block, cursor.next) as u32);
        let full = self.collector.gathering.len().min(per_page as usize);
        let units: Vec<(u32, u32)> = self.collector.gathering.drain(..full).collect();
        for (place, (owner, from)) in (cursor.next..).zip(units) {
            if owner == NOBODY {
                self.blocks.add_ballast(cursor.block, 1);
                self.counters.moved_units += 1;
            } else if self.map.get(u64::from(owner)) == Location::At(from) {
                let old = u64::from(from) / self.blocks.units_per_block();
                self.blocks.invalidate(old as usize);
                let physical = self.physical(cursor.block, place) as u32;
                self.map.put(u64::from(owner), physical);
                self.blocks.write(cursor.block, place, owner);
                self.counters.moved_units += 1;
            }
            // Else it was overwritten since it was read: its place stays empty.
        }
        self.flash.program(
            now_ns,
            die,
            self.parameters.page,
            self.parameters.program_ns,
        );
        cursor.next += per_page;
        if cursor.next == self.blocks.units_per_block() {
            self.blocks.close(cursor.block);
            self.collector.cursor = None;
        } else {
            self.collector.cursor = Some(cursor);
        }
    }

    /// Opens a superblock for the host. When too few are left, the host waits
    /// until one is collected; gives how long, ns.
    pub(super) fn open_host_block(&mut self, now_ns: u64) -> u64 {
        let mut paused_ns = 0;
        while self.blocks.free_count() < 2 {
            if self.collector.victim.is_none() && !self.choose_victim() {
                break;
            }
            while self.collector.victim.is_some() {
                self.collect_page(now_ns);
            }
            paused_ns = self.flash.idle_ns().saturating_sub(now_ns);
        }
        self.host = self.blocks.open().map(|block| Cursor { block, next: 0 });
        paused_ns
    }
}
