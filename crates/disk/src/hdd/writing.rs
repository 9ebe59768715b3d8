//! Writes on their way through the cache or past it, and flushes.

use super::command::Command;
use super::drive::{Hdd, Job};
use crate::completion::Layer;
use crate::device::Extent;
use crate::fixed;
use crate::request::Kind;

impl Hdd {
    pub(super) fn take_write_through(&mut self, now_ns: u64, mut command: Command) {
        let request = command.request;
        let range = Extent {
            start: request.offset,
            end: request.end(),
        };
        self.cache.remove(range);
        self.read_ahead.forget(range.start, range.end);
        let start_ns = now_ns.max(self.bus_free_ns);
        let decoded_ns = start_ns + self.parameters.command_overhead_ns;
        self.bus_free_ns = decoded_ns + self.bus_ns(range.len());
        // The head may start when enough has arrived, and must not overtake
        // the rest on its way.
        let travel_ns = command.span.transfer_ns();
        let first_ns = self.bus_ns(range.len().min(self.parameters.write_cache.threshold));
        command.ready_ns = (decoded_ns + first_ns).max(self.bus_free_ns.saturating_sub(travel_ns));
        command.breakdown.queue_ns += start_ns - now_ns;
        command.breakdown.overhead_ns += self.parameters.command_overhead_ns;
        command.breakdown.bus_ns += command.ready_ns - decoded_ns;
        self.pending.push(command);
    }

    /// Takes data of the waiting writes into the cache while there is room.
    pub(super) fn accept_writes(&mut self, now_ns: u64) {
        let cache = self.parameters.write_cache;
        let sector = self.parameters.logical_sector;
        while let Some(writer) = self.writers.front_mut() {
            let in_flight = match &self.running {
                Some((_, Job::Destage { extent, .. })) => extent.len(),
                _ => 0,
            };
            let before = self.cache.dirty() + in_flight;
            let room = cache.capacity.saturating_sub(before) / sector * sector;
            if room == 0 {
                // Full, once all that was promised room has arrived.
                self.destage_after_ns.get_or_insert(self.bus_free_ns);
                return;
            }
            let request = writer.command.request;
            let end = request.end().min(writer.next + room);
            let mut start_ns = now_ns.max(self.bus_free_ns);
            if writer.next == request.offset {
                writer.command.breakdown.queue_ns +=
                    self.bus_free_ns.clamp(writer.command.admitted_ns, start_ns)
                        - writer.command.admitted_ns;
                writer.command.breakdown.overhead_ns += self.parameters.command_overhead_ns;
                start_ns += self.parameters.command_overhead_ns;
            }
            let chunk = Extent {
                start: writer.next,
                end,
            };
            writer.next = end;
            let bus_ns = fixed::bytes_to_ns(chunk.len(), self.parameters.bus_bytes_per_s);
            writer.command.breakdown.bus_ns += bus_ns;
            self.bus_free_ns = start_ns + bus_ns;
            self.cache.insert(chunk, start_ns);
            let after = self.cache.dirty() + in_flight;
            if after >= cache.threshold && self.destage_after_ns.is_none() {
                let missing = cache.threshold.saturating_sub(before).min(chunk.len());
                let arrival_ns = fixed::bytes_to_ns(missing, self.parameters.bus_bytes_per_s);
                self.destage_after_ns = Some(start_ns + arrival_ns);
            }
            if end < request.end() {
                self.destage_after_ns.get_or_insert(self.bus_free_ns);
                return;
            }
            let mut command = writer.command;
            self.writers.pop_front();
            command.breakdown.cache_wait_ns += self.bus_free_ns - command.now_ns();
            command.breakdown.layer = Layer::DriveCache;
            self.outbox.push(command.completion());
        }
    }

    pub(super) fn begin_flush(&mut self, now_ns: u64, command: Command) {
        self.flush = Some((command, now_ns));
        let protected = self.parameters.write_cache.protected;
        if self.lying_flush || protected || self.is_clean() {
            self.end_flush(now_ns);
        } else {
            self.destaging = true;
        }
    }

    fn is_clean(&self) -> bool {
        self.cache.dirty() == 0 && !matches!(self.running, Some((_, Job::Destage { .. })))
    }

    fn end_flush(&mut self, now_ns: u64) {
        let Some((mut command, since_ns)) = self.flush.take() else {
            return;
        };
        command.breakdown.cache_wait_ns += now_ns - since_ns;
        if command.request.kind == Kind::Flush {
            command.breakdown.overhead_ns += self.parameters.command_overhead_ns;
            if now_ns == since_ns {
                command.breakdown.layer = Layer::DriveCache;
            }
            self.outbox.push(command.completion());
        } else {
            self.take_in(now_ns, command);
        }
    }

    /// Whether the cache should be written now.
    pub(super) fn wants_destage(&mut self, now_ns: u64) -> bool {
        if self.cache.dirty() == 0 {
            return false;
        }
        if self.destage_due_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            self.destaging = true;
        }
        self.destaging
    }

    /// When the drive begins to write its cache by itself.
    pub(super) fn destage_due_ns(&self) -> Option<u64> {
        if self.cache.dirty() == 0 {
            return None;
        }
        let idle_ns = self
            .last_busy_ns
            .saturating_add(self.parameters.write_cache.idle_ns);
        Some(
            self.destage_after_ns
                .map_or(idle_ns, |after_ns| idle_ns.min(after_ns)),
        )
    }

    /// Whether dirty data is written because nothing else is to do.
    pub(super) fn is_idle(&self, now_ns: u64) -> bool {
        now_ns
            >= self
                .last_busy_ns
                .saturating_add(self.parameters.write_cache.idle_ns)
    }

    /// A part of the cache was written.
    pub(super) fn destaged(&mut self, now_ns: u64) {
        if self.cache.dirty() == 0 {
            self.destaging = false;
        }
        if self.cache.dirty() < self.parameters.write_cache.threshold {
            self.destage_after_ns = None;
        }
        self.accept_writes(now_ns);
        if self.is_flushing() && self.is_clean() {
            self.end_flush(now_ns);
        }
    }
}
