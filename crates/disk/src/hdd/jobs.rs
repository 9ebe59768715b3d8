//! What the arm does next, and what comes of it.

use super::command::Command;
use super::drive::{Hdd, Job};
use super::stream::Lookup;
use super::write_cache::Run;
use crate::device::Extent;
use crate::request::Kind;

/// How much of the cache is written before the drive looks for something else
/// to do, bytes.
const DESTAGE_PIECE: u64 = 64 * 1024;

impl Hdd {
    /// Gives the free arm its next job, if there is one.
    pub(super) fn start_next(&mut self, now_ns: u64) {
        while self.running.is_none() {
            // Reads go before the cache, but a write that waits for room gets
            // every second job.
            let cache_turn = self.is_writer_blocked() && !self.last_was_destage;
            let yields = cache_turn && self.wants_destage(now_ns);
            if !self.pending.is_empty() && !yields {
                let index = self.choose(now_ns);
                let command = self.pending.take(index);
                self.last_was_destage = false;
                if command.request.kind == Kind::Read {
                    self.start_read(now_ns, command);
                } else {
                    self.start_write(now_ns, command);
                }
            } else if !(self.wants_destage(now_ns) && self.start_destage(now_ns)) {
                return;
            }
        }
    }

    /// The command to do next: the oldest if it has waited too long, else what
    /// the head is about to read anyway, else what is soonest under the head.
    ///
    /// Leaving a stream for something a little nearer would cost a revolution
    /// to come back to it.
    fn choose(&self, now_ns: u64) -> usize {
        let waiting = self.pending.waiting();
        let is_too_old = |oldest: &Command| {
            now_ns.saturating_sub(oldest.admitted_ns) > self.parameters.age_limit_ns
        };
        if waiting.len() == 1 || self.pending.oldest().is_some_and(is_too_old) {
            return 0;
        }
        let geometry = &self.mechanism.geometry;
        let mut best = (true, u64::MAX, 0);
        for (index, command) in waiting.iter().enumerate() {
            let start_ns = now_ns.max(command.ready_ns);
            let joined_ns =
                self.read_ahead
                    .reached_ns(geometry, start_ns, command.offset, command.end);
            let reached_ns = joined_ns.unwrap_or_else(|| {
                start_ns + self.mechanism.approach(start_ns, &command.first).total_ns()
            });
            best = best.min((joined_ns.is_none(), reached_ns, index));
        }
        best.2
    }

    fn start_read(&mut self, now_ns: u64, mut command: Command) {
        let range = Extent {
            start: command.request.offset,
            end: command.request.end(),
        };
        let start_ns = now_ns.max(command.ready_ns);
        command.breakdown.queue_ns += start_ns - command.ready_ns;
        let found =
            self.read_ahead
                .lookup(&self.mechanism.geometry, start_ns, range.start, range.end);
        let from = match found {
            Lookup::Hit => {
                command.ready_ns = start_ns;
                self.serve_from_buffer(start_ns, 0, command);
                self.read_on(start_ns, range);
                return;
            }
            Lookup::Join {
                start_ns: reached_ns,
                end_ns,
            } => {
                let lost_ns = if self.read_on(start_ns, range) {
                    command.breakdown.lost_revolutions += 1;
                    self.parameters.revolution_ns
                } else {
                    0
                };
                command.breakdown.rotation_ns += reached_ns - start_ns + lost_ns;
                command.breakdown.transfer_ns += end_ns - reached_ns;
                self.running = Some((end_ns + lost_ns, Job::Join(command)));
                return;
            }
            Lookup::Partial { from } => from,
            Lookup::Miss => {
                self.leave_stream(start_ns);
                range.start
            }
        };
        let geometry = &self.mechanism.geometry;
        let place = if from == range.start {
            command.span.first
        } else {
            geometry.place(from)
        };
        let way = self.mechanism.approach_from_behind(start_ns, from, &place);
        let transfer_ns = command.span.last.media_ns - place.media_ns;
        command.breakdown.overhead_ns += way.overhead_ns;
        command.breakdown.seek_ns += way.seek_ns;
        command.breakdown.rotation_ns += way.rotation_ns;
        command.breakdown.transfer_ns += transfer_ns;
        let mut end_ns = start_ns + way.total_ns() + transfer_ns;
        if !self.defects.is_empty() {
            let missing = Extent {
                start: from,
                end: range.end,
            };
            let extra = self.defects.read(missing, transfer_ns);
            let retry_ns = u64::from(extra.retries) * self.parameters.revolution_ns
                + self.pay_slow_zone(extra.slow_ns);
            command.breakdown.retries += extra.retries;
            command.breakdown.retry_ns += retry_ns;
            end_ns += retry_ns;
        }
        self.running = Some((end_ns, Job::Read { command, from }));
    }

    /// Slow zones are read and written in whole extra revolutions: gives those
    /// that `slow_ns` more make due, ns.
    fn pay_slow_zone(&mut self, slow_ns: u64) -> u64 {
        self.slow_debt_ns += slow_ns;
        let owed_ns = self.slow_debt_ns % self.parameters.revolution_ns;
        let due_ns = self.slow_debt_ns - owed_ns;
        self.slow_debt_ns = owed_ns;
        due_ns
    }

    /// The arm leaves the stream it was reading on.
    fn leave_stream(&mut self, now_ns: u64) {
        if let Some(head) = self.read_ahead.stop(&self.mechanism.geometry, now_ns) {
            let last = head.min(self.parameters.capacity - 1);
            let place = self.mechanism.geometry.place(last);
            self.mechanism.move_to(&place);
        }
    }

    fn start_write(&mut self, now_ns: u64, mut command: Command) {
        let range = Extent {
            start: command.request.offset,
            end: command.request.end(),
        };
        let start_ns = now_ns.max(command.ready_ns);
        self.leave_stream(start_ns);
        let way = self
            .mechanism
            .approach_from_behind(start_ns, range.start, &command.span.first);
        let transfer_ns = command.span.transfer_ns();
        let lost = self.revolutions_to_read_first(range, command.span.first.media_ns);
        let lost_ns = u64::from(lost) * self.parameters.revolution_ns;
        let slow_ns = self.defects.slow_ns(range, transfer_ns);
        let retry_ns = self.pay_slow_zone(slow_ns);
        let breakdown = &mut command.breakdown;
        breakdown.queue_ns += start_ns - command.ready_ns;
        breakdown.overhead_ns += way.overhead_ns;
        breakdown.seek_ns += way.seek_ns;
        breakdown.rotation_ns += way.rotation_ns + lost_ns;
        breakdown.lost_revolutions += lost;
        breakdown.transfer_ns += transfer_ns;
        breakdown.retry_ns += retry_ns;
        let end_ns = start_ns + way.total_ns() + lost_ns + transfer_ns + retry_ns;
        self.running = Some((end_ns, Job::Write(command)));
    }

    /// The whole revolutions that writing `range`, which begins at media time
    /// `start_media_ns`, loses because sectors at its ends are only partly
    /// overwritten and must be read first.
    fn revolutions_to_read_first(&self, range: Extent, start_media_ns: u64) -> u32 {
        let geometry = &self.mechanism.geometry;
        let sector = self.parameters.physical_sector;
        if range.end.is_multiple_of(sector) {
            return u32::from(!range.start.is_multiple_of(sector));
        }
        let last = range.end.next_multiple_of(sector).min(geometry.capacity());
        let read_ns = geometry.media_end_ns(last) - start_media_ns;
        read_ns.div_ceil(self.parameters.revolution_ns) as u32
    }

    /// Begins to write a part of the cache; `false` if it had better wait for
    /// the rest of a sector.
    fn start_destage(&mut self, now_ns: u64) -> bool {
        let Some(run) = self.next_destage(now_ns) else {
            self.destaging = false;
            self.destage_after_ns = None;
            return false;
        };
        let start_ns = run.ready_ns;
        self.leave_stream(start_ns);
        let Extent { start, end } = run.extent;
        let span = self.mechanism.geometry.span(start, end);
        let way = self
            .mechanism
            .approach_from_behind(start_ns, start, &span.first);
        let transfer_ns = span.transfer_ns();
        let lost = self.revolutions_to_read_first(run.extent, span.first.media_ns);
        let lost_ns = u64::from(lost) * self.parameters.revolution_ns;
        let slow_ns = self.defects.slow_ns(run.extent, transfer_ns);
        let retry_ns = self.pay_slow_zone(slow_ns);
        let end_ns = start_ns + way.total_ns() + lost_ns + transfer_ns + retry_ns;
        self.cache.remove(run.extent);
        let job = Job::Destage {
            extent: run.extent,
            last: span.last,
        };
        self.running = Some((end_ns, job));
        self.last_was_destage = true;
        true
    }

    /// Which part of the cache to write next.
    fn next_destage(&self, now_ns: u64) -> Option<Run> {
        use super::parameters::DestageOrder;
        let start = match (self.destage_next, self.parameters.write_cache.order) {
            (Some(next), _) if self.cache.starts_at(next) => next,
            (_, DestageOrder::Fifo) => self.cache.oldest().next()?,
            (_, DestageOrder::Nearest { window }) => self
                .cache
                .oldest()
                .take(window.max(1))
                .min_by_key(|&start| {
                    let place = self.mechanism.geometry.place(start);
                    self.mechanism.approach(now_ns, &place).total_ns()
                })?,
        };
        let geometry = &self.mechanism.geometry;
        let up_to = |limit: u64| {
            self.cache
                .run(now_ns, start, limit, |byte| geometry.media_ns(byte))
        };
        let run = up_to(DESTAGE_PIECE)?;
        let end = run.extent.end;
        let sector = self.parameters.physical_sector;
        if !end.is_multiple_of(sector) {
            // More of the sector is likely on its way if the data goes on or
            // has just arrived; a flush, a full cache or rest end the waiting.
            let goes_on = self.cache.starts_at(end);
            let cut = run.extent.len() == DESTAGE_PIECE;
            let forced = self.is_flushing() || self.is_writer_blocked() || self.is_idle(now_ns);
            let whole = end / sector * sector;
            if whole > start && (goes_on || cut || !forced) {
                return up_to(whole - start);
            } else if whole <= start && !forced && self.cache.is_newest(start) {
                return None;
            }
        }
        Some(run)
    }

    /// The arm has done its job at `now_ns`.
    pub(super) fn finish(&mut self, now_ns: u64, job: Job) {
        self.destage_next = None;
        match job {
            Job::Read { command, from } => {
                let request = command.request;
                let last = command.span.last;
                self.mechanism.passed(request.end(), &last, now_ns);
                self.read_ahead.begin(
                    &self.mechanism.geometry,
                    now_ns,
                    from,
                    request.end(),
                    last.media_ns,
                );
                let missing = Extent {
                    start: from,
                    end: request.end(),
                };
                let error = self.defects.read(missing, 0).error;
                self.complete_read(command, error);
            }
            Job::Join(command) => self.complete_read(command, None),
            Job::Write(command) => {
                let request = command.request;
                self.written(Extent {
                    start: request.offset,
                    end: request.end(),
                });
                self.mechanism
                    .passed(request.end(), &command.span.last, now_ns);
                self.outbox.push(command.completion());
            }
            Job::Destage { extent, last } => {
                self.written(extent);
                self.mechanism.passed(extent.end, &last, now_ns);
                self.destage_next = Some(extent.end);
                self.destaged(now_ns);
            }
        }
    }

    fn complete_read(&mut self, mut command: Command, error: Option<crate::IoError>) {
        // An interface slower than the platter is still busy.
        let bus_ns = self.bus_ns(command.request.len);
        command.breakdown.bus_ns += bus_ns.saturating_sub(command.breakdown.transfer_ns);
        let mut completion = command.completion();
        if let Some(error) = error {
            completion.result = Err(error);
        }
        self.outbox.push(completion);
    }

    fn written(&mut self, range: Extent) {
        if !self.defects.is_empty() {
            for byte in self.defects.heal(range) {
                self.read_ahead.remove_barrier(byte);
            }
        }
    }
}
