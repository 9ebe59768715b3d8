//! The drive as a device: commands in, commands out, and what it does by
//! itself in between.

use super::command::Command;
use super::geometry::Place;
use super::mechanism::Mechanism;
use super::parameters::HddParameters;
use super::pending::Pending;
use super::stream::{Lookup, ReadAhead};
use super::write_cache::WriteCache;
use crate::completion::{Breakdown, Completion, Layer};
use crate::defects::Defects;
use crate::device::{self, Device, Extent};
use crate::fixed;
use crate::outbox::Outbox;
use crate::request::{Kind, Request};
use crate::statistics::{Meter, Statistics};
use std::collections::VecDeque;

/// What the arm is at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Job {
    /// A read from the platter: from this byte to the end of the request.
    Read { command: Command, from: u64 },
    /// A read of what the head passes anyway.
    Join(Command),
    /// A write that is acknowledged when it is on the platter.
    Write(Command),
    /// A part of the write cache.
    Destage { extent: Extent, last: Place },
}

/// A cached write that has not been taken in completely.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer {
    pub(super) command: Command,
    /// Next byte to take in.
    pub(super) next: u64,
}

/// A hard disk.
///
/// One arm does one job at a time. Commands that the cache can serve pass it
/// by; the others wait until the arm is free and are chosen by the time until
/// the head would be over them. In its rest the drive reads on behind the last
/// read and writes what its cache holds.
///
/// Simplified: the interface is busy with cached transfers and with data of
/// writes, while data from the platter is sent as it comes.
#[derive(Debug, Clone)]
pub struct Hdd {
    pub(super) parameters: HddParameters,
    pub(super) mechanism: Mechanism,
    pub(super) read_ahead: ReadAhead,
    pub(super) cache: WriteCache,
    pub(super) defects: Defects,
    /// Revolutions owed to slow zones, ns.
    pub(super) slow_debt_ns: u64,
    /// A flush is acknowledged and not done.
    pub(super) lying_flush: bool,

    /// In front of the drive, in order: more than its depth, or behind a flush.
    waiting: VecDeque<(Request, u64)>,
    /// In need of the arm, oldest first.
    pub(super) pending: Pending,
    pub(super) writers: VecDeque<Writer>,
    /// The flush being done (or the write that asked for one first), and since when.
    pub(super) flush: Option<(Command, u64)>,
    /// The job and its end.
    pub(super) running: Option<(u64, Job)>,
    pub(super) outbox: Outbox,
    /// Taken in and not completed.
    in_drive: usize,
    pub(super) bus_free_ns: u64,
    /// Whether the cache is being written until it is empty.
    pub(super) destaging: bool,
    /// When enough dirty data will have arrived to begin.
    pub(super) destage_after_ns: Option<u64>,
    /// Where destaging would go on without losing the head's position.
    pub(super) destage_next: Option<u64>,
    pub(super) last_was_destage: bool,
    /// End of the last command or job.
    pub(super) last_busy_ns: u64,
    meter: Meter,
}

impl Hdd {
    /// A drive at rest, with empty caches and the arm at the rim.
    pub fn new(parameters: HddParameters) -> Self {
        Self::with_faults(parameters, Defects::default(), false)
    }

    /// A drive with bad places, and, if `lying_flush`, a cache that
    /// acknowledges flushes without doing them.
    pub fn with_faults(parameters: HddParameters, defects: Defects, lying_flush: bool) -> Self {
        let mechanism = Mechanism::new(&parameters);
        Self {
            read_ahead: ReadAhead::new(
                parameters.read_ahead,
                &mechanism.geometry,
                defects.extents(),
            ),
            mechanism,
            cache: WriteCache::new(parameters.bus_bytes_per_s),
            defects,
            slow_debt_ns: 0,
            lying_flush,
            waiting: VecDeque::new(),
            pending: Pending::new(parameters.queue_depth),
            writers: VecDeque::new(),
            flush: None,
            running: None,
            outbox: Outbox::new(),
            in_drive: 0,
            bus_free_ns: 0,
            destaging: false,
            destage_after_ns: None,
            destage_next: None,
            last_was_destage: false,
            last_busy_ns: 0,
            meter: Meter::default(),
            parameters,
        }
    }

    /// The same drive, whose platters had turned by `phase_ns` at time 0:
    /// the spindles of an array do not turn in step.
    #[must_use]
    pub fn turned(mut self, phase_ns: u64) -> Self {
        self.mechanism.turn(phase_ns);
        self
    }

    /// The disk's layout and speeds.
    pub fn parameters(&self) -> &HddParameters {
        &self.parameters
    }

    /// Where a byte lies.
    pub fn place(&self, byte: u64) -> Place {
        self.mechanism.geometry.place(byte)
    }

    /// Bytes of the track that holds `byte`.
    pub fn track_bytes(&self, byte: u64) -> u64 {
        self.mechanism.geometry.track_bytes(byte)
    }

    /// Number of cylinders.
    pub fn cylinders(&self) -> u64 {
        self.mechanism.geometry.cylinders()
    }

    pub(super) fn bus_ns(&self, bytes: u64) -> u64 {
        fixed::bytes_to_ns(bytes, self.parameters.bus_bytes_per_s)
    }

    /// Whether a flush, or a write that asked for one, waits for the cache.
    pub(super) fn is_flushing(&self) -> bool {
        self.flush.is_some()
    }

    /// Whether a write waits for room in the cache.
    pub(super) fn is_writer_blocked(&self) -> bool {
        !self.writers.is_empty()
    }

    /// Whether a write may be acknowledged from the cache.
    fn may_cache(&self, request: &Request) -> bool {
        let cache = &self.parameters.write_cache;
        cache.enabled && (cache.protected || !request.flags.fua)
    }

    /// Takes in from the front what may be taken in.
    fn admit(&mut self, now_ns: u64) {
        while self.flush.is_none()
            && self.in_drive < self.parameters.queue_depth
            && let Some(&(request, submitted_ns)) = self.waiting.front()
        {
            let barrier = request.kind == Kind::Flush || request.flags.preflush;
            if barrier && self.in_drive > 0 {
                // ATA FLUSH CACHE is not a queued command.
                break;
            }
            self.waiting.pop_front();
            self.in_drive += 1;
            let start = request.offset.min(self.parameters.capacity - 1);
            let end = request.end().max(start + 1);
            let span = self.mechanism.geometry.span(start, end);
            let command = Command::new(&request, submitted_ns, now_ns, span);
            if barrier {
                self.begin_flush(now_ns, command);
            } else {
                self.take_in(now_ns, command);
            }
        }
        self.start_next(now_ns);
    }

    pub(super) fn take_in(&mut self, now_ns: u64, mut command: Command) {
        let request = command.request;
        match request.kind {
            Kind::Read => self.take_read(now_ns, command),
            Kind::Write if self.may_cache(&request) => {
                self.read_ahead.forget(request.offset, request.end());
                self.writers.push_back(Writer {
                    command,
                    next: request.offset,
                });
                self.accept_writes(now_ns);
            }
            Kind::Write => self.take_write_through(now_ns, command),
            Kind::Flush | Kind::Trim => {
                // A conventional disk has nothing to gain from a trim.
                command.breakdown.overhead_ns += self.parameters.command_overhead_ns;
                command.breakdown.layer = Layer::DriveCache;
                self.outbox.push(command.completion());
            }
        }
    }

    fn take_read(&mut self, now_ns: u64, mut command: Command) {
        let request = command.request;
        let range = Extent {
            start: request.offset,
            end: request.end(),
        };
        let ready_ns = now_ns + self.parameters.command_overhead_ns;
        if self.cache.dirty() > 0
            && let Some(since_ns) = self.cache.holds(range)
        {
            self.serve_from_buffer(now_ns, since_ns, command);
            return;
        }
        let found =
            self.read_ahead
                .lookup(&self.mechanism.geometry, ready_ns, range.start, range.end);
        if found == Lookup::Hit {
            self.serve_from_buffer(now_ns, 0, command);
            self.read_on(ready_ns, range);
        } else {
            command.breakdown.overhead_ns += self.parameters.command_overhead_ns;
            command.ready_ns = ready_ns;
            self.pending.push(command);
        }
    }

    /// A read whose data is in the drive's memory, there since `since_ns`.
    pub(super) fn serve_from_buffer(&mut self, now_ns: u64, since_ns: u64, mut command: Command) {
        let start_ns = now_ns.max(self.bus_free_ns);
        let bus_ns = self.bus_ns(command.request.len);
        let breakdown = &mut command.breakdown;
        breakdown.queue_ns += start_ns - now_ns;
        if command.ready_ns == now_ns && breakdown.overhead_ns == 0 {
            breakdown.overhead_ns += self.parameters.command_overhead_ns;
        }
        breakdown.layer = Layer::DriveCache;
        let decoded_ns = command.now_ns();
        command.breakdown.cache_wait_ns += since_ns.saturating_sub(decoded_ns);
        command.breakdown.bus_ns += bus_ns;
        let completion = command.completion();
        self.bus_free_ns = completion.done_ns;
        self.outbox.push(completion);
    }

    /// A read of `range` was served by the stream: the drive reads on, if the
    /// arm is free. Gives whether the stream fell back by a revolution.
    pub(super) fn read_on(&mut self, now_ns: u64, range: Extent) -> bool {
        let geometry = &self.mechanism.geometry;
        let served = self
            .read_ahead
            .served(geometry, now_ns, range.start, range.end);
        if let Some(byte) = served.resume_at
            && byte < geometry.capacity()
            && self.running.is_none()
            && self.pending.is_empty()
        {
            let place = geometry.place(byte);
            let way = self.mechanism.approach(now_ns, &place);
            self.read_ahead
                .resume(geometry, now_ns + way.total_ns(), place.media_ns);
        }
        served.lost_revolution
    }

    fn emit(&mut self, completion: Completion, out: &mut Vec<Completion>) {
        self.last_busy_ns = self.last_busy_ns.max(completion.done_ns);
        self.meter.end(
            completion.done_ns,
            completion.kind,
            completion.len,
            completion.submitted_ns,
        );
        out.push(completion);
    }
}

impl Device for Hdd {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.meter.begin(now_ns);
        match device::check(
            request,
            self.parameters.capacity,
            self.parameters.logical_sector,
        ) {
            Ok(()) => {
                self.waiting.push_back((*request, now_ns));
                self.admit(now_ns);
            }
            Err(error) => {
                let mut completion = Completion::of(request, now_ns, Breakdown::default());
                completion.result = Err(error);
                self.in_drive += 1;
                self.outbox.push(completion);
            }
        }
    }

    fn next_event(&self) -> Option<u64> {
        let job_ns = match &self.running {
            Some((end_ns, _)) => Some(*end_ns),
            None => self.destage_due_ns(),
        };
        match (self.outbox.next_ns(), job_ns) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>) {
        while let Some(now_ns) = self.next_event()
            && now_ns <= to_ns
        {
            if let Some(completion) = self.outbox.pop_due(now_ns) {
                self.in_drive -= 1;
                self.emit(completion, out);
                self.admit(now_ns);
            } else if self
                .running
                .as_ref()
                .is_some_and(|(end_ns, _)| *end_ns <= now_ns)
                && let Some((end_ns, job)) = self.running.take()
            {
                self.finish(end_ns, job);
                self.start_next(end_ns);
            } else {
                self.start_next(now_ns);
            }
        }
    }

    fn capacity(&self) -> u64 {
        self.parameters.capacity
    }

    fn logical_sector(&self) -> u64 {
        self.parameters.logical_sector
    }

    fn queue_depth_limit(&self) -> u32 {
        self.parameters.queue_depth as u32
    }

    fn statistics(&self, now_ns: u64) -> Statistics {
        self.meter.at(now_ns)
    }

    fn volatile(&self) -> Vec<Extent> {
        if self.parameters.write_cache.protected {
            return Vec::new();
        }
        let mut extents: Vec<Extent> = self.cache.extents().collect();
        if let Some((_, Job::Destage { extent, .. })) = &self.running {
            extents.push(*extent);
        }
        extents.sort_unstable();
        extents
    }
}
