//! The measuring loop.
//!
//! One function for closed loops, one for open ones; both are compiled once per
//! engine and clock, so that the calls to them are inlined. Everything is
//! decided before they start: they take operations from [`Steps`], stamp them,
//! hand them over, stamp the completions and count them.
//!
//! # What a latency is
//! From the moment before the operation was handed to the engine to the moment
//! after the engine gave it back. Operations that are handed over together are
//! stamped together, and so are completions that come back together: that is
//! when each of them left and when each of them was seen. The time that this
//! loop spends on the others of a batch is in neither.

use crate::clock::Timescale;
use crate::engine::{Completion, Done, Engine, FailedIn, Op, SyncEach, Wait};
use crate::fixed::Fixed;
use crate::over_time::OverTime;
use crate::trial::Progress;
use crate::values::Wrong;
use diskfacts_plan::arrivals::Intended;
use diskfacts_plan::pattern::{Step, Steps};
use diskfacts_record::{Histogram, LatencyOverTime};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Errors after which a stream gives up: a device that is gone answers a
/// million times a second.
pub const ERRORS_MAX: u64 = 1000;

/// Kinds of errors kept apart; more than these are added to the last.
const ERROR_KINDS_MAX: usize = 16;

/// What one stream is to do.
pub struct Job<'a> {
    /// Where to read and write next.
    pub steps: Steps,
    /// Bytes per operation.
    pub block_size: u64,
    /// Whether operations that write read their block first.
    pub modify: bool,
    /// Operations in flight.
    pub depth: u32,
    /// Nanoseconds after which no operation is started.
    pub time_ns: Option<u64>,
    /// The tick from which that counts; `None` for the first submission.
    pub time_from: Option<u64>,
    /// Operations after which none is started.
    pub operations: Option<u64>,
    /// Intended starts of an open loop.
    pub intended: Option<Intended>,
    /// The final sync that belongs to the measurement.
    pub sync_at_end: SyncEach,
    /// Tick at which the first interval of the trial begins, for all its threads the
    /// same and not later than they start; when it starts, if absent.
    pub intervals_from: Option<u64>,
    /// Set from outside to end early.
    pub stop: &'a AtomicBool,
    /// What was completed, for whoever watches; updated now and then.
    pub progress: &'a Progress,
}

/// What one stream did.
#[derive(Debug, Clone)]
pub struct Record {
    /// Latencies of reads, nanoseconds; from the intended start in an open loop.
    pub read: Histogram,
    /// Latencies of writes; of a modification, over its read and its write.
    pub write: Histogram,
    /// Latencies from submission, in an open loop.
    pub service: Option<Histogram>,
    /// Operations over time.
    pub intervals: diskfacts_record::evidence::Intervals,
    /// Their latencies over time.
    pub latency_over_time: LatencyOverTime,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Errors by kind: write, part, error number (0 for a short transfer),
    /// count, offset of the first.
    pub errors: Vec<ErrorKind>,
    /// Tick before the first submission.
    pub started: u64,
    /// Tick after the last completion or, in an open loop that kept its rate, up to which
    /// its operations are so many at that rate; and after the final sync.
    pub ended: u64,
    /// In an open loop, how far behind its intended starts it was in the end, ns.
    pub behind_ns: Option<u64>,
    /// Nanoseconds of the final sync, if there was one.
    pub final_sync_ns: Option<u64>,
    /// Completions that seemed to end before they began.
    pub backwards: u64,
    /// Sum of the time operations were in flight, nanoseconds.
    pub in_flight_ns: u128,
    /// Whether it ended because too many operations failed.
    pub gave_up: bool,
}

impl Record {
    /// Adds what the same stream did right after, without what it did when.
    pub(crate) fn append(&mut self, later: Self) {
        self.read.add(&later.read);
        self.write.add(&later.write);
        self.read_bytes += later.read_bytes;
        self.write_bytes += later.write_bytes;
        self.errors.extend(later.errors);
        self.ended = later.ended;
        self.behind_ns = later.behind_ns;
        self.final_sync_ns = later.final_sync_ns;
        self.backwards += later.backwards;
        self.in_flight_ns += later.in_flight_ns;
        self.gave_up = later.gave_up;
    }
}

/// One kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorKind {
    /// Of a write; else of a read.
    pub write: bool,
    /// Which part failed.
    pub failed_in: FailedIn,
    /// The error number; 0 when fewer bytes were moved than asked.
    pub errno: i32,
    /// How often.
    pub count: u64,
    /// Offset of the first one.
    pub first_offset: u64,
    /// The lowest offset of an operation that failed so.
    pub lowest_offset: u64,
    /// The highest.
    pub highest_offset: u64,
    /// What was wrong with the first one, where values were checked.
    pub wrong: Option<Wrong>,
}

/// What is in flight in one slot.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Tick at which it was handed over.
    submitted: u64,
    /// Twice the offset, plus one for a write.
    place: u64,
}

impl Slot {
    #[inline]
    fn new(step: Step) -> Self {
        Self {
            submitted: 0,
            place: step.offset << 1 | u64::from(step.write),
        }
    }

    #[inline]
    fn write(self) -> bool {
        self.place & 1 == 1
    }

    fn offset(self) -> u64 {
        self.place >> 1
    }
}

/// An operation that succeeded and is yet to be counted.
#[derive(Debug, Clone, Copy, Default)]
struct Ended {
    /// From the submission or, in an open loop, from the intended start.
    latency_ticks: u64,
    /// From the submission.
    service_ticks: u64,
    write: bool,
}

/// What both loops record.
struct Tally {
    histograms: [Histogram; 2],
    service: Option<Histogram>,
    over_time: OverTime,
    scale: Timescale,
    block_size: u64,
    modify: bool,
    /// Bytes of operations that failed, yet moved some.
    short_bytes: [u64; 2],
    failed: u64,
    failed_in_flight_ns: u128,
    errors: Vec<ErrorKind>,
    backwards: u64,
    started: u64,
    last: u64,
    behind: Option<u64>,
}

impl Tally {
    fn new<E: Engine>(engine: &mut E, job: &Job<'_>) -> Self {
        let scale = engine.timescale();
        let mut tally = Self {
            histograms: [Histogram::new(), Histogram::new()],
            service: job.intended.is_some().then(Histogram::new),
            over_time: OverTime::new(scale, [true; 2]),
            scale,
            block_size: job.block_size,
            modify: job.modify,
            short_bytes: [0; 2],
            failed: 0,
            failed_in_flight_ns: 0,
            errors: Vec::with_capacity(ERROR_KINDS_MAX),
            backwards: 0,
            started: 0,
            last: 0,
            behind: job.intended.is_some().then_some(0),
        };
        // Taking half a mebibyte is no part of the trial.
        tally.started = engine.now();
        tally.last = tally.started;
        let intervals_from = job.intervals_from.unwrap_or(tally.started);
        tally.over_time.begin_at(intervals_from);
        tally
    }

    /// Counts one operation that succeeded.
    #[inline]
    fn count(&mut self, ended: Ended) {
        let latency_ns = self.scale.ns(ended.latency_ticks);
        self.histograms[usize::from(ended.write)].record(latency_ns);
        if let Some(service) = &mut self.service {
            service.record(self.scale.ns(ended.service_ticks));
        }
    }

    /// The ticks of a latency; 0, and a mark on the clock, when it would be
    /// negative.
    #[inline]
    fn lasted(&mut self, from: u64, to: u64) -> u64 {
        let lasted = to.checked_sub(from);
        if lasted.is_none() {
            self.backwards += 1;
        }
        lasted.unwrap_or(0)
    }

    /// Completions have been seen at `now`, and none of them was counted yet.
    #[inline]
    fn turn(&mut self, now: u64, job: &Job<'_>) {
        self.last = now;
        if self.over_time.is_over(now) {
            let [read, write] = &self.histograms;
            self.over_time.advance([read, write], now, job.progress);
        }
    }

    #[cold]
    fn failure(&mut self, completion: Completion, slot: Slot, now: u64, wrong: Option<Wrong>) {
        self.failed += 1;
        let ticks = self.lasted(slot.submitted, now);
        self.failed_in_flight_ns += u128::from(self.scale.ns(ticks));
        let errno = (-completion.result).max(0);
        let read_first = completion.failed_in == FailedIn::ReadFirst;
        if completion.result > 0 {
            // Fewer bytes than a block.
            self.short_bytes[usize::from(slot.write() && !read_first)] +=
                u64::from(completion.result.unsigned_abs());
        }
        let checked = completion.failed_in == FailedIn::Value;
        if checked || (self.modify && slot.write() && !read_first) {
            self.short_bytes[0] += self.block_size;
        }
        let wrong = wrong.filter(|_| checked);
        let kind = ErrorKind {
            write: slot.write(),
            failed_in: completion.failed_in,
            errno,
            count: 1,
            first_offset: wrong.map_or(slot.offset(), |wrong| wrong.offset),
            lowest_offset: slot.offset(),
            highest_offset: slot.offset(),
            wrong,
        };
        let same = |known: &&mut ErrorKind| {
            (known.write, known.failed_in, known.errno) == (kind.write, kind.failed_in, kind.errno)
        };
        if let Some(known) = self.errors.iter_mut().find(same) {
            known.count += 1;
            known.lowest_offset = known.lowest_offset.min(kind.lowest_offset);
            known.highest_offset = known.highest_offset.max(kind.highest_offset);
        } else if self.errors.len() < ERROR_KINDS_MAX {
            self.errors.push(kind);
        } else if let Some(last) = self.errors.last_mut() {
            last.count += 1;
        }
    }

    fn finish<E: Engine>(mut self, engine: &mut E, job: &Job<'_>) -> Record {
        let mut final_sync_ns = None;
        if job.sync_at_end != SyncEach::None && !self.histograms[1].is_empty() {
            let before = engine.now();
            let synced = match job.sync_at_end {
                SyncEach::Data => engine.sync_data(),
                SyncEach::None | SyncEach::Full => engine.sync_all(),
            };
            let after = engine.now();
            final_sync_ns = Some(self.scale.ns(after.saturating_sub(before)));
            self.last = after;
            if let Err(error) = synced {
                self.errors.push(ErrorKind {
                    write: true,
                    failed_in: FailedIn::Sync,
                    errno: error.raw_os_error().unwrap_or(0),
                    count: 1,
                    first_offset: 0,
                    lowest_offset: 0,
                    highest_offset: 0,
                    wrong: None,
                });
            }
        }
        let [read, write] = self.histograms;
        let (intervals, latency_over_time) = self.over_time.finish([&read, &write], job.progress);
        // Time in flight is the sum of all latencies from submission.
        let succeeded = match &self.service {
            Some(service) => service.sum(),
            None => read.sum() + write.sum(),
        };
        let read_blocks = read.count() + if self.modify { write.count() } else { 0 };
        Record {
            read_bytes: read_blocks * self.block_size + self.short_bytes[0],
            write_bytes: write.count() * self.block_size + self.short_bytes[1],
            read,
            write,
            service: self.service,
            intervals,
            latency_over_time,
            errors: self.errors,
            started: self.started,
            ended: self.last,
            behind_ns: self.behind.map(|ticks| self.scale.ns(ticks)),
            final_sync_ns,
            backwards: self.backwards,
            in_flight_ns: succeeded + self.failed_in_flight_ns,
            gave_up: self.failed >= ERRORS_MAX,
        }
    }
}

/// Operations on their way: slots, and what was not taken yet.
struct Flight {
    slots: Box<[Slot]>,
    free: Fixed<u32>,
    batch: Fixed<Op>,
}

impl Flight {
    fn new(depth: u32) -> Self {
        let mut free = Fixed::new(depth as usize);
        for slot in (0..depth).rev() {
            free.push(slot);
        }
        Self {
            slots: vec![Slot::default(); depth as usize].into_boxed_slice(),
            free,
            batch: Fixed::new(depth as usize),
        }
    }

    /// Puts the next operation into a free slot.
    #[inline]
    fn load<E: Engine>(&mut self, engine: &mut E, slot: u32, step: Step) {
        if step.write {
            engine.prepare_write(slot);
        }
        self.slots[slot as usize] = Slot::new(step);
        self.batch.push(Op {
            offset: step.offset,
            slot,
            write: step.write,
        });
    }

    /// Hands over the batch, all of it at one moment; what does not fit stays
    /// in it.
    #[inline]
    fn hand_over<E: Engine>(&mut self, engine: &mut E) -> io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let now = engine.now();
        for op in self.batch.as_slice() {
            self.slots[op.slot as usize].submitted = now;
        }
        let taken = engine.submit(self.batch.as_slice())?;
        self.batch.drop_front(taken);
        Ok(())
    }

    #[inline]
    fn none_in_flight(&self) -> bool {
        self.slots.len() == self.free.len() + self.batch.len()
    }
}

/// Does the operations of one stream and records them.
///
/// # Errors
/// When the engine breaks. An operation that fails is counted in the record.
pub fn measure<E: Engine>(engine: &mut E, job: &mut Job<'_>) -> io::Result<Record> {
    match job.intended.take() {
        Some(intended) => {
            job.intended = Some(intended.clone());
            open_loop(engine, job, intended)
        }
        None => closed_loop(engine, job),
    }
}

/// Each completion starts the next operation.
fn closed_loop<E: Engine>(engine: &mut E, job: &mut Job<'_>) -> io::Result<Record> {
    let mut flight = Flight::new(job.depth);
    let mut done = Done::new(job.depth as usize);
    let mut ended_before = Fixed::new(job.depth as usize);
    let block_size = result_of(job.block_size);
    let mut tally = Tally::new(engine, job);
    let end = ends_at(&tally, job);
    let mut left = job.operations.unwrap_or(u64::MAX);
    let mut going = true;
    loop {
        if going {
            while left > 0
                && let Some(slot) = flight.free.pop()
            {
                left -= 1;
                flight.load(engine, slot, job.steps.next_step());
            }
        }
        flight.hand_over(engine)?;
        if flight.none_in_flight() {
            break;
        }
        engine.reap(Wait::One, &mut done)?;
        let now = engine.now();
        // Counting what came back a turn ago needs nothing that this reading
        // gives, so the processor does it while it reads the clock.
        for ended in ended_before.as_slice() {
            tally.count(*ended);
        }
        ended_before.clear();
        tally.turn(now, job);
        for completion in done.as_slice() {
            let slot = flight.slots[completion.slot as usize];
            flight.free.push(completion.slot);
            if completion.result == block_size {
                let ticks = tally.lasted(slot.submitted, now);
                ended_before.push(Ended {
                    latency_ticks: ticks,
                    service_ticks: ticks,
                    write: slot.write(),
                });
            } else {
                tally.failure(*completion, slot, now, engine.wrong_value());
            }
        }
        done.clear();
        going = tally.last < end && tally.failed < ERRORS_MAX && !job.stop.load(Ordering::Relaxed);
    }
    for ended in ended_before.as_slice() {
        tally.count(*ended);
    }
    Ok(tally.finish(engine, job))
}

/// Operations start at intended moments, whether or not earlier ones ended.
fn open_loop<E: Engine>(
    engine: &mut E,
    job: &mut Job<'_>,
    mut intended: Intended,
) -> io::Result<Record> {
    let mut flight = Flight::new(job.depth);
    let block_size = result_of(job.block_size);
    let mut intended_of = vec![0_u64; job.depth as usize];
    let mut done = Done::new(job.depth as usize);
    let mut tally = Tally::new(engine, job);
    let end = ends_at(&tally, job);
    let mut left = job.operations.unwrap_or(u64::MAX);
    let (started, scale) = (tally.started, tally.scale);
    let tail = scale.ticks(intended.tail_ns());
    let mut next_due = || started.saturating_add(scale.ticks(intended.next_ns()));
    let (mut due, mut last_due) = (next_due(), started);
    let mut over = false;
    loop {
        let now = engine.now();
        let stopped = tally.failed >= ERRORS_MAX || job.stop.load(Ordering::Relaxed);
        if !over {
            // A target that cannot keep up would be owed operations for ever, so
            // the end ends the debt too.
            over = now >= end || due >= end || left == 0 || stopped;
            if over && left > 0 && due < end {
                tally.behind = Some(now.min(end).saturating_sub(due));
            }
        }
        while !over && due <= now && due < end && left > 0 {
            let Some(slot) = flight.free.pop() else { break };
            left -= 1;
            flight.load(engine, slot, job.steps.next_step());
            intended_of[slot as usize] = due;
            tally.behind = Some(now - due);
            (last_due, due) = (due, next_due());
        }
        flight.hand_over(engine)?;
        if flight.none_in_flight() {
            if over {
                // The rate is that of the time for which the operations were meant, not
                // of that up to the end of the last: n would be divided by n - 1
                // distances.
                let until = if left == 0 {
                    last_due.saturating_add(tail).min(end)
                } else {
                    end
                };
                if !stopped && until != u64::MAX && until > tally.last {
                    idle(engine, until, job)?;
                    tally.last = until.min(engine.now().max(tally.last));
                }
                break;
            }
            idle(engine, due.min(end), job)?;
            continue;
        }
        let wait = if over || flight.free.is_empty() {
            Wait::One
        } else {
            Wait::Until(due)
        };
        engine.reap(wait, &mut done)?;
        let now = engine.now();
        if !done.is_empty() {
            tally.turn(now, job);
        }
        for completion in done.as_slice() {
            let slot = flight.slots[completion.slot as usize];
            flight.free.push(completion.slot);
            if completion.result == block_size {
                let ended = Ended {
                    latency_ticks: tally.lasted(intended_of[completion.slot as usize], now),
                    service_ticks: tally.lasted(slot.submitted, now),
                    write: slot.write(),
                };
                tally.count(ended);
            } else {
                tally.failure(*completion, slot, now, engine.wrong_value());
            }
        }
        done.clear();
    }
    Ok(tally.finish(engine, job))
}

/// Idles until `tick`, or until the trial is stopped.
fn idle<E: Engine>(engine: &mut E, tick: u64, job: &Job<'_>) -> io::Result<()> {
    /// The longest time for which a signal is not looked at.
    const SLICE_NS: u64 = 50_000_000;
    let slice = engine.timescale().ticks(SLICE_NS);
    loop {
        let now = engine.now();
        if now >= tick || job.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        engine.idle_until(tick.min(now.saturating_add(slice)))?;
    }
}

/// What an operation answers that moved a whole block: at most 1 GiB.
fn result_of(block_size: u64) -> i32 {
    i32::try_from(block_size).unwrap_or(i32::MAX)
}

fn ends_at(tally: &Tally, job: &Job<'_>) -> u64 {
    job.time_ns.map_or(u64::MAX, |ns| {
        let from = job.time_from.unwrap_or(tally.started);
        from.saturating_add(tally.scale.ticks(ns))
    })
}
