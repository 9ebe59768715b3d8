//! Writes on their way into the flash: the buffer, the page being gathered,
//! flushes and trims.

use super::drive::Ssd;
use super::map::Location;
use super::parameters::Wear;
use crate::completion::{Breakdown, Layer};
use crate::fixed;
use crate::request::Request;
use std::cmp::Reverse;

impl Ssd {
    pub(super) fn write(&mut self, ready_ns: u64, request: &Request, breakdown: &mut Breakdown) {
        let mut ready_ns = ready_ns;
        if request.flags.preflush {
            let before_ns = breakdown.total_ns();
            self.flush(ready_ns, breakdown);
            ready_ns += breakdown.total_ns() - before_ns;
        }
        let bus_ns = fixed::bytes_to_ns(request.len, self.parameters.link_bytes_per_s);
        let start_ns = ready_ns.max(self.link_in_free_ns);
        self.link_in_free_ns = start_ns + bus_ns;
        breakdown.queue_ns += start_ns - ready_ns;
        breakdown.bus_ns += bus_ns;
        breakdown.layer = Layer::DriveCache;
        let arrived_ns = start_ns + bus_ns;
        let mut accepted_ns = arrived_ns;
        let mut collection_ns = 0;
        let unit_bytes = self.parameters.mapping_unit;
        for unit in self.units(request) {
            let first = unit * unit_bytes;
            let whole = request.offset <= first && first + unit_bytes <= request.end();
            let room_ns = self.wait_for_room(accepted_ns);
            accepted_ns = accepted_ns.max(room_ns);
            let mut data_ns = accepted_ns;
            if !whole && let Some((page, die)) = self.page_to_read(accepted_ns, unit) {
                // The rest of the unit comes from the flash, behind the
                // host's back.
                let read = self.flash.read(accepted_ns, die, page, unit_bytes, 0);
                data_ns = read.done_ns;
            }
            let paused_ns = self.append(data_ns, unit);
            collection_ns += paused_ns;
            accepted_ns += paused_ns;
        }
        let waited_ns = accepted_ns - arrived_ns;
        // The buffer empties slower by what the garbage collection programs.
        let buffer_ns = waited_ns - collection_ns;
        let share = self.collector.share_1024(self.blocks.units_per_block());
        let collected_ns = buffer_ns * share / 1024;
        breakdown.collection_ns += collection_ns + collected_ns;
        breakdown.cache_wait_ns += buffer_ns - collected_ns;
        if request.flags.fua && !self.parameters.power_loss_protection {
            self.pad_page(accepted_ns);
            breakdown.transfer_ns += self.programmed_ns.saturating_sub(accepted_ns);
            breakdown.layer = Layer::Media;
        }
    }

    /// When the buffer has room for another unit: as soon as enough programs
    /// have ended. Takes the room.
    fn wait_for_room(&mut self, now_ns: u64) -> u64 {
        let unit = self.parameters.mapping_unit;
        let limit = self.parameters.write_buffer.max(2 * self.parameters.page);
        let mut at_ns = now_ns;
        while self.occupied + unit > limit
            && let Some(Reverse((end_ns, bytes))) = self.programs.pop()
        {
            self.occupied -= bytes;
            at_ns = at_ns.max(end_ns);
        }
        self.occupied += unit;
        at_ns
    }

    /// Puts a unit of the host into the page being gathered, and programs the
    /// page when it is full. Gives the time that had to pass first, to gain a
    /// free superblock, ns.
    fn append(&mut self, now_ns: u64, unit: u64) -> u64 {
        let mut paused_ns = 0;
        if self.host.is_none() {
            paused_ns = self.open_host_block(now_ns);
        }
        let mut host = self
            .host
            .expect("a collected superblock is free for the host");
        self.forget(unit);
        // A physical unit number fits: a profile is refused otherwise.
        let physical = self.physical(host.block, host.next) as u32;
        self.map.put(unit, physical);
        self.blocks.write(host.block, host.next, unit as u32);
        self.counters.host_units += 1;
        self.gathering.push(unit);
        host.next += 1;
        self.host = Some(host);
        if host.next.is_multiple_of(self.parameters.units_per_page()) {
            self.program_page(now_ns + paused_ns);
        }
        paused_ns
    }

    /// What was stored for `unit` is not true any more.
    fn forget(&mut self, unit: u64) {
        match self.map.get(unit) {
            Location::At(physical) => {
                let block = u64::from(physical) / self.blocks.units_per_block();
                self.blocks.invalidate(block as usize);
            }
            Location::Untouched if self.parameters.wear == Wear::Sustained => {
                self.blocks.invalidate_ballast(unit);
            }
            Location::Untouched | Location::Trimmed => {}
        }
    }

    /// Programs the gathered page, which ends where the cursor is.
    fn program_page(&mut self, now_ns: u64) {
        let Some(host) = self.host else {
            return;
        };
        let page_bytes = self.parameters.page;
        let last = self.physical(host.block, host.next - 1) as u32;
        let (page, die) = self.page_of(last);
        let program_ns = match self.parameters.slc {
            Some(slc) if self.slc_used + page_bytes <= slc.capacity => {
                self.slc_used += page_bytes;
                slc.program_ns
            }
            _ => self.parameters.program_ns,
        };
        let end_ns = self.flash.program(now_ns, die, page_bytes, program_ns);
        let freed = self.gathering.len() as u64 * self.parameters.mapping_unit;
        self.programs.push(Reverse((end_ns, freed)));
        self.buffered.insert(page, end_ns);
        self.programmed_ns = self.programmed_ns.max(end_ns);
        self.gathering.clear();
        self.collect_along(now_ns);
        if host.next == self.blocks.units_per_block() {
            self.blocks.close(host.block);
            self.host = None;
        }
    }

    /// Fills the gathered page with nothing, so that it can be programmed.
    fn pad_page(&mut self, now_ns: u64) {
        if self.gathering.is_empty() {
            return;
        }
        if let Some(host) = &mut self.host {
            let per_page = self.parameters.units_per_page();
            let end = host.next.next_multiple_of(per_page);
            self.counters.padded_units += end - host.next;
            host.next = end;
        }
        self.program_page(now_ns);
    }

    pub(super) fn flush(&mut self, ready_ns: u64, breakdown: &mut Breakdown) {
        breakdown.layer = Layer::DriveCache;
        if self.lying_flush {
            return;
        }
        breakdown.overhead_ns += self.parameters.flush_ns;
        if self.parameters.power_loss_protection {
            return;
        }
        self.pad_page(ready_ns);
        let wait_ns = self.programmed_ns.saturating_sub(ready_ns);
        if wait_ns > 0 {
            breakdown.layer = Layer::Media;
        }
        breakdown.cache_wait_ns += wait_ns;
    }

    pub(super) fn trim(&mut self, request: &Request, breakdown: &mut Breakdown) {
        breakdown.layer = Layer::DriveCache;
        let unit_bytes = self.parameters.mapping_unit;
        // Parts of units stay.
        let mut unit = request.offset.div_ceil(unit_bytes);
        let end = request.end() / unit_bytes;
        while unit < end {
            if let Some(units) = self.map.trim_untouched_piece(unit, end) {
                if self.parameters.wear == Wear::Sustained {
                    self.blocks.invalidate_ballast_of_many(unit, units);
                }
                unit += units;
                continue;
            }
            self.forget(unit);
            self.map.trim(unit);
            unit += 1;
        }
    }
}
