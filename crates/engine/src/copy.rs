//! Copying from one file to another as GNU dd does it: a read, a write, and so
//! on, each with its own latency; one thread, one block at a time.
//!
//! The rules are those of coreutils 9.1 (`src/dd.c`): a read may bring less than
//! a block, and counts as a partial record; with `bs=` it is written as it came,
//! without it whole blocks are gathered; a last block that is too short for
//! direct I/O is written without, and synced; the clock runs from the first read
//! until the sync of `conv=` is done.
//!
//! The trial's operations are those of the end that is measured
//! ([`Copying::measured`](diskfacts_plan::Copying)). The other end is its source
//! or its sink: its latencies are kept beside, and its bytes are in
//! [`Copied`].

mod end;

use crate::buffers::Buffers;
use crate::clock::{Clock, Ticks};
use crate::cpu::{Cpu, thread_cpu_ns};
use crate::engine::{Abilities, FailedIn};
use crate::error::TrialError;
use crate::measure::{ErrorKind, Record};
use crate::outcome::{Conditions, StreamRecord, TrialOutcome, add_up};
use crate::over_time::OverTime;
use crate::trial::{Prepare, Progress};
use diskfacts_plan::dd::{Count, Dd, End, FinalSync};
use diskfacts_plan::{Stop, Workload};
use diskfacts_record::Histogram;
use diskfacts_record::evidence::{Copied, CopyEnd, Records};
pub use end::CopyFile;
use end::{FailedSync, Place};
use rustix::io::Errno;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What to copy.
#[derive(Debug)]
pub struct Copy<'a> {
    /// How, in the terms of dd.
    pub dd: &'a Dd,
    /// Which end the figures are of.
    pub measured: End,
    /// What is read, open for reading.
    pub input: CopyFile<'a>,
    /// What is written, open for writing; both at the place where they begin.
    pub output: CopyFile<'a>,
    /// What addresses of direct I/O must be a multiple of; a power of 2.
    pub alignment: usize,
}

/// What came of a copy.
#[derive(Debug, Clone)]
pub struct CopyOutcome {
    /// Of the end that is measured, but for the histograms, which are of both.
    pub trial: TrialOutcome,
    /// Of both ends.
    pub copied: Copied,
}

/// Copies. `prepare` brackets dd's own time on this thread; what the output
/// still has to write back is flushed and timed after that.
///
/// # Errors
/// When nothing could be begun. A read, write or sync that fails ends the copy,
/// and is counted.
pub fn run_copy(
    copy: &Copy<'_>,
    progress: &Progress,
    prepare: &mut dyn Prepare,
) -> Result<CopyOutcome, TrialError> {
    let clock = Clock::get();
    let buffer =
        || Buffers::new(1, copy.dd.block_size, copy.alignment, None).map_err(TrialError::Buffers);
    let gathered = copy.dd.gathers.then(buffer).transpose()?;
    let buffers = (buffer()?, gathered);
    prepare.before().map_err(TrialError::Prepare)?;
    prepare.window_opens(&[]);
    let cpu_before = Cpu::of_others();
    let from = clock.anchor();
    let copied = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("copy".to_owned())
            .spawn_scoped(scope, || Copier::new(copy, clock, progress).run(buffers))
            .map_err(|error| TrialError::Thread(format!("could not be started: {error}")))?
            .join()
            .map_err(|_| TrialError::Thread("ended without a record; this is a bug".to_owned()))
    });
    let to = clock.anchor();
    let cpu_after = Cpu::of_others();
    prepare.after();
    let (stream, mut copied) = copied?;
    let spent = cpu_after.since(cpu_before, stream.cpu_ns.unwrap_or(0));
    copied.flush_ns = flush(&copy.output);
    let fallbacks = stream.abilities.fallbacks.clone();
    let workload = Workload {
        stop: Stop::default(),
        ..copy.dd.workload(copy.measured)
    };
    let conditions = Conditions {
        scale: clock.scale(),
        clock: clock.name(),
        drift_ppm: clock.drift_ppm(from, to),
        user_ns: Some(spent.user_ns),
        system_ns: Some(spent.system_ns),
    };
    let mut trial = add_up(&workload, &fallbacks, conditions, vec![stream]);
    // What was read or written at the other end is no work of the target.
    let issued = &mut trial.issued;
    match copy.measured {
        End::Input => (issued.writes, issued.write_bytes) = (0, 0),
        End::Output => (issued.reads, issued.read_bytes) = (0, 0),
    }
    trial.ops = issued.reads + issued.writes;
    Ok(CopyOutcome { trial, copied })
}

/// Nanoseconds until the output is durable; `None` where that means nothing.
fn flush(output: &CopyFile<'_>) -> Option<u64> {
    if !output.stored {
        return None;
    }
    let began = Instant::now();
    output.sync(FinalSync::Fdatasync).ok()?;
    u64::try_from(began.elapsed().as_nanos()).ok()
}

/// A copy that is being made.
struct Copier<'a> {
    copy: &'a Copy<'a>,
    clock: Clock,
    progress: &'a Progress,
    input: Place<'a>,
    output: Place<'a>,
    histograms: [Histogram; 2],
    over_time: OverTime,
    errors: Vec<ErrorKind>,
    backwards: u64,
    started: u64,
    last: u64,
    records: [Records; 2],
    bytes: [u64; 2],
    /// What the last read brought.
    last_read: usize,
}

const READ: usize = 0;
const WRITE: usize = 1;

/// The copy cannot go on; what failed is counted.
struct Broken;

impl<'a> Copier<'a> {
    fn new(copy: &'a Copy<'a>, clock: Clock, progress: &'a Progress) -> Self {
        let started = clock.now();
        Self {
            copy,
            clock,
            progress,
            input: Place::new("the input", &copy.input, copy.dd.input_flags),
            output: Place::new("the output", &copy.output, copy.dd.output_flags),
            histograms: [Histogram::new(), Histogram::new()],
            over_time: OverTime::new(
                clock.scale(),
                [copy.measured == End::Input, copy.measured == End::Output],
            ),
            errors: Vec::new(),
            backwards: 0,
            started,
            last: started,
            records: [Records::default(); 2],
            bytes: [0; 2],
            last_read: 0,
        }
    }

    fn run(
        mut self,
        (mut block, mut gathered): (Buffers, Option<Buffers>),
    ) -> (StreamRecord, Copied) {
        let cpu_before = thread_cpu_ns();
        self.started = self.clock.now();
        self.over_time.begin_at(self.started);
        self.last = self.started;
        let skip_missing_bytes = self.skip(&mut block);
        self.last = self.clock.now();
        let ended = match skip_missing_bytes {
            Ok(_) => {
                let gathered = gathered.as_mut().map(|buffers| buffers.get_mut(0));
                self.blocks(block.get_mut(0), gathered)
            }
            Err(Broken) => Err(Broken),
        };
        let final_sync_ns = self.final_sync();
        let mut ended = ended.unwrap_or(CopyEnd::Error);
        if !self.errors.is_empty() {
            ended = CopyEnd::Error;
        }
        self.input.finish();
        self.output.finish();
        let cpu_ns = thread_cpu_ns().saturating_sub(cpu_before);
        let copied = Copied {
            records_in: self.records[READ],
            records_out: self.records[WRITE],
            read_bytes: self.bytes[READ],
            write_bytes: self.bytes[WRITE],
            ended,
            skip_missing_bytes: skip_missing_bytes.unwrap_or(0),
            dirty_bytes: None,
            flush_ns: None,
        };
        (self.stream(final_sync_ns, cpu_ns), copied)
    }

    /// Passes over the beginning of the input; answers what it did not have.
    fn skip(&mut self, block: &mut Buffers) -> Result<u64, Broken> {
        let mut left = self.copy.dd.skip_bytes;
        if self.input.seekable() || left == 0 {
            return Ok(self.input.skipped_to(left));
        }
        // A pipe is read, and what it brings is thrown away.
        while left > 0 && !self.stopped() {
            let room = block.get_mut(0);
            let most = usize::try_from(left).map_or(room.len(), |left| left.min(room.len()));
            let brought = self.input.read(&mut room[..most], &self.progress.stop);
            match brought {
                Ok(0) | Err(Errno::CANCELED) => break,
                Ok(bytes) => left -= bytes as u64,
                Err(errno) => return Err(self.failed(READ, FailedIn::Transfer, errno, 0)),
            }
        }
        Ok(left)
    }

    /// Reads and writes until there is no more to do.
    fn blocks(
        &mut self,
        block: &mut [u8],
        mut gathered: Option<&mut [u8]>,
    ) -> Result<CopyEnd, Broken> {
        let size = block.len() as u64;
        let (whole, rest) = match self.copy.dd.count {
            None => (u64::MAX, 0),
            Some(Count::Blocks(blocks)) => (blocks, 0),
            Some(Count::Bytes(bytes)) => (bytes / size, bytes % size),
        };
        let mut held = 0;
        let ended = loop {
            let done = self.records[READ].full + self.records[READ].partial;
            let most = match done.cmp(&whole) {
                std::cmp::Ordering::Less => block.len(),
                // Below the block size.
                std::cmp::Ordering::Equal if rest > 0 => rest as usize,
                _ => break CopyEnd::Count,
            };
            if self.stopped() {
                break CopyEnd::Stopped;
            }
            let brought = match self.read(&mut block[..most]) {
                Ok(brought) => brought,
                Err(Errno::CANCELED) => break CopyEnd::Stopped,
                Err(errno) => {
                    let offset = self.copy.dd.skip_bytes + self.bytes[READ];
                    self.failed(READ, FailedIn::Transfer, errno, offset);
                    break CopyEnd::Error;
                }
            };
            if brought == 0 {
                break CopyEnd::Input;
            }
            match &mut gathered {
                None => self.write(&block[..brought])?,
                Some(room) => {
                    let mut from = 0;
                    while from < brought {
                        let take = (brought - from).min(room.len() - held);
                        room[held..held + take].copy_from_slice(&block[from..from + take]);
                        from += take;
                        held += take;
                        if held == room.len() {
                            self.write(room)?;
                            held = 0;
                        }
                    }
                }
            }
        };
        if let Some(room) = gathered.filter(|_| held > 0) {
            self.write(&room[..held])?;
        }
        Ok(ended)
    }

    /// When the next call begins. Where nothing lies between two calls but the
    /// loop, that is when the last one ended: dd reads no clock between them, and
    /// from memory a reading costs as much as copying 1 KiB.
    fn begins(&self) -> u64 {
        let dd = self.copy.dd;
        if dd.gathers || dd.input_flags.nocache || dd.output_flags.nocache {
            self.clock.now()
        } else {
            self.last
        }
    }

    /// One record of the input; 0 at its end.
    fn read(&mut self, room: &mut [u8]) -> Result<usize, Errno> {
        let began = self.begins();
        let mut brought = 0;
        loop {
            match self.input.read(&mut room[brought..], &self.progress.stop) {
                Ok(0) => break,
                Ok(bytes) => brought += bytes,
                // Behind a short read direct I/O is at a place that it refuses:
                // the input ended there.
                Err(Errno::INVAL)
                    if self.copy.dd.input_flags.direct
                        && (brought > 0 || 0 < self.last_read && self.last_read < room.len()) =>
                {
                    break;
                }
                // What came before the error is copied; the next read meets it.
                Err(_) if brought > 0 => break,
                Err(errno) => return Err(errno),
            }
            if brought == room.len() || !self.copy.dd.input_flags.fullblock {
                break;
            }
        }
        self.last_read = brought;
        if brought > 0 {
            self.count(READ, brought, began);
            self.input.used(brought as u64);
        }
        Ok(brought)
    }

    /// One record of the output.
    fn write(&mut self, record: &[u8]) -> Result<(), Broken> {
        let size = self.copy.dd.block_size as usize;
        if self.copy.dd.output_flags.direct && record.len() < size {
            self.output.without_direct();
        }
        let began = self.begins();
        let mut written = 0;
        while written < record.len() {
            let errno = match self.output.write(&record[written..], &self.progress.stop) {
                // A device that takes nothing has no more room.
                Ok(0) => Errno::NOSPC,
                Ok(bytes) => {
                    written += bytes;
                    continue;
                }
                Err(errno) => errno,
            };
            self.bytes[WRITE] += written as u64;
            self.records[WRITE].partial += u64::from(written > 0);
            self.output.used(written as u64);
            if errno == Errno::CANCELED {
                // The next turn of the loop sees the signal.
                return Ok(());
            }
            let offset = self.copy.dd.seek_bytes + self.bytes[WRITE];
            return Err(self.failed(WRITE, FailedIn::Transfer, errno, offset));
        }
        self.count(WRITE, written, began);
        self.output.used(written as u64);
        Ok(())
    }

    fn count(&mut self, side: usize, bytes: usize, began: u64) {
        let now = self.clock.now();
        if self.over_time.is_over(now) {
            let [read, write] = &self.histograms;
            self.over_time.advance([read, write], now, self.progress);
        }
        let ticks = now.checked_sub(began);
        self.backwards += u64::from(ticks.is_none());
        self.histograms[side].record(self.clock.scale().ns(ticks.unwrap_or(0)));
        self.last = now;
        self.bytes[side] += bytes as u64;
        if bytes as u64 == self.copy.dd.block_size {
            self.records[side].full += 1;
        } else {
            self.records[side].partial += 1;
        }
    }

    fn stopped(&self) -> bool {
        self.progress.stop.load(Ordering::Relaxed)
    }

    fn failed(&mut self, side: usize, failed_in: FailedIn, errno: Errno, offset: u64) -> Broken {
        self.last = self.clock.now();
        self.errors.push(ErrorKind {
            write: side == WRITE,
            failed_in,
            errno: errno.raw_os_error(),
            count: 1,
            first_offset: offset,
            lowest_offset: offset,
            highest_offset: offset,
            wrong: None,
        });
        Broken
    }

    /// The sync of `conv=`, or of a last block that direct I/O did not take.
    fn final_sync(&mut self) -> Option<u64> {
        let asked = self.copy.dd.final_sync;
        let sync = if self.output.owes_sync() {
            FinalSync::Fsync
        } else {
            asked
        };
        if sync == FinalSync::None {
            return None;
        }
        let before = self.clock.now();
        let synced = self.copy.output.sync(sync);
        self.last = self.clock.now();
        if let Err(FailedSync(errno)) = synced {
            self.failed(WRITE, FailedIn::Sync, errno, 0);
            return None;
        }
        Some(self.clock.scale().ns(self.last.saturating_sub(before)))
    }

    fn stream(self, final_sync_ns: Option<u64>, cpu_ns: u64) -> StreamRecord {
        let file = match self.copy.measured {
            End::Input => &self.copy.input,
            End::Output => &self.copy.output,
        };
        let mut fallbacks = self.input.fallbacks;
        fallbacks.extend(self.output.fallbacks);
        let in_flight_ns = match self.copy.measured {
            End::Input => self.histograms[READ].sum(),
            End::Output => self.histograms[WRITE].sum(),
        };
        let [read, write] = self.histograms;
        let (intervals, latency_over_time) = self.over_time.finish([&read, &write], self.progress);
        StreamRecord {
            thread: 0,
            record: Record {
                behind_ns: None,
                gave_up: false,
                read,
                write,
                service: None,
                intervals,
                latency_over_time,
                read_bytes: self.bytes[READ],
                write_bytes: self.bytes[WRITE],
                errors: self.errors,
                started: self.started,
                ended: self.last,
                final_sync_ns,
                backwards: self.backwards,
                in_flight_ns,
            },
            abilities: Abilities {
                name: "sync",
                depth: 1,
                features: Vec::new(),
                fallbacks,
                ..Abilities::default()
            },
            direct: file.direct,
            direct_refused: file.direct_refused.clone(),
            cpu_ns: Some(cpu_ns),
            waited_ns: None,
            io_priority: crate::io_priority::of_this_thread(),
        }
    }
}
