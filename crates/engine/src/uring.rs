//! Linux `io_uring`: one ring per thread, everything registered that can be.
//!
//! Each ability is asked for and dropped, with the reason kept, when the kernel
//! refuses it; that it works is shown by a real read through the ring
//! ([`Uring::probe`]), because a ring that was set up is not yet a ring that
//! can read: with `IOPOLL` the setup succeeds everywhere and every read fails
//! on a filesystem or device without polling.
//!
//! * `SINGLE_ISSUER` + `DEFER_TASKRUN` (Linux 6.1): completions are worked off
//!   when we ask for them, not whenever the kernel interrupts us.
//! * `NO_SQARRAY` (6.6): one indirection less per submission.
//! * registered file, buffers and ring descriptor: no reference counting, no
//!   page pinning per operation.

mod unfinished;

use crate::buffers::Buffers;
use crate::clock::{Ticks, Timescale};
use crate::engine::{Abilities, Completion, Done, Engine, FailedIn, Op, SyncEach, Wait, idle_real};
use crate::handling::Handling;
use diskfacts_plan::Touch;
use io_uring::types::{Fd, Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
pub use unfinished::NoWait;
use unfinished::Unfinished;

/// Marks the completion of the sync that follows a write.
const SYNC: u64 = 1 << 32;
/// Largest piece of memory that one registered buffer may be
/// (`io_uring/rsrc.c`, `io_buffer_validate`).
const REGISTERED_MAX_BYTES: usize = 1 << 30;
/// Milliseconds after which a polling kernel thread goes to sleep.
const SQPOLL_IDLE_MS: u32 = 2000;

/// What to ask of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Operations in flight.
    pub depth: u32,
    /// Poll the device for completions.
    pub iopoll: bool,
    /// Let a kernel thread take the submissions.
    pub sqpoll: bool,
    /// Hand every operation to the ring's worker threads, at most so many. They
    /// are made with `CLONE_IO` (kernel `create_io_thread`, `kernel/fork.c`), so
    /// all share the I/O context of this thread.
    pub workers: Option<u32>,
    /// Whose first attempt must not wait. For tests of what follows from such an answer.
    pub nowait: NoWait,
}

/// An `io_uring` engine for one file.
pub struct Uring<T: Ticks> {
    // Fields are dropped in this order: the ring, and with it every operation
    // in flight, before the buffers that they point to.
    ring: IoUring,
    ticks: T,
    scale: Timescale,
    file: File,
    buffers: Buffers,
    options: Options,
    sync_each: SyncEach,
    fixed_file: bool,
    fixed_buffers: FixedBuffers,
    in_flight: u32,
    /// Result of the write whose sync is still due, by slot.
    written: Vec<i32>,
    unfinished: Unfinished,
    handling: Handling,
    /// Whether the operation in a slot writes; kept where reads are looked at.
    writes: Vec<bool>,
    features: Vec<String>,
    fallbacks: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FixedBuffers {
    No,
    /// One registration covers all.
    Region,
    /// One registration per slot.
    PerSlot,
}

impl<T: Ticks> Uring<T> {
    /// Sets up a ring. To be called on the thread that will use it.
    ///
    /// # Errors
    /// When the kernel has no `io_uring`, forbids it, or lacks the memory.
    pub fn new(
        (ticks, scale): (T, Timescale),
        file: File,
        buffers: Buffers,
        sync_each: SyncEach,
        options: Options,
    ) -> io::Result<Self> {
        let mut features = Vec::new();
        let mut fallbacks = Vec::new();
        let block_size = buffers.block_size();
        // A write with a sync takes two entries.
        let entries = (options.depth * 2).next_power_of_two();
        let ring = set_up(entries, options, &mut features, &mut fallbacks)?;
        let mut engine = Self {
            ring,
            ticks,
            scale,
            file,
            buffers,
            options,
            sync_each,
            fixed_file: false,
            fixed_buffers: FixedBuffers::No,
            in_flight: 0,
            written: vec![0; options.depth as usize],
            unfinished: Unfinished::new(options.depth, block_size),
            handling: Handling::default(),
            writes: vec![false; options.depth as usize],
            features,
            fallbacks,
        };
        engine.register();
        if let Some(workers) = options.workers {
            // Reads and writes of files and block devices are bounded work, all
            // else is not; the limit is meant for both.
            let mut most = [workers; 2];
            engine
                .ring
                .submitter()
                .register_iowq_max_workers(&mut most)?;
            engine.features.push(format!("{workers}-threads"));
            engine.features.push("io-context-shared".to_owned());
        }
        Ok(engine)
    }

    /// The same ring, which does this with the bytes of each block.
    ///
    /// # Panics
    /// When asked to modify or to check: one operation of a ring reads or writes.
    #[must_use]
    pub fn handling(mut self, handling: Handling) -> Self {
        assert!(!handling.makes_content(), "a ring only reads or writes");
        self.handling = handling;
        self
    }

    fn register(&mut self) {
        let submitter = self.ring.submitter();
        match submitter.register_files(&[self.file.as_raw_fd()]) {
            Ok(()) => {
                self.fixed_file = true;
                self.features.push("registered-files".to_owned());
            }
            Err(error) => self
                .fallbacks
                .push(format!("the file could not be registered: {error}")),
        }
        let (start, length) = self.buffers.region();
        let (pieces, kind) = if length <= REGISTERED_MAX_BYTES {
            (vec![(start, length)], FixedBuffers::Region)
        } else {
            let pieces = (0..self.options.depth)
                .map(|slot| (self.buffers.pointer(slot), self.buffers.block_size()))
                .collect();
            (pieces, FixedBuffers::PerSlot)
        };
        let vectors: Vec<libc::iovec> = pieces
            .into_iter()
            .map(|(start, length)| libc::iovec {
                iov_base: start.cast(),
                iov_len: length,
            })
            .collect();
        // SAFETY: the vectors lie within the pool, which lives until after the
        // ring is dropped (order of the fields) and is never reallocated.
        match unsafe { submitter.register_buffers(&vectors) } {
            Ok(()) => {
                self.fixed_buffers = kind;
                self.features.push("registered-buffers".to_owned());
            }
            Err(error) => self.fallbacks.push(format!(
                "the buffers could not be registered ({error}); RLIMIT_MEMLOCK may be too low, see ulimit -l"
            )),
        }
    }

    /// Reads the block at `offset` through the ring, to see that reading works.
    ///
    /// # Errors
    /// What the ring or the read answered.
    pub fn probe(&mut self, offset: u64) -> io::Result<()> {
        let op = Op {
            offset,
            slot: 0,
            write: false,
        };
        let mut done = Done::new(1);
        self.submit(&[op])?;
        while done.is_empty() {
            self.reap(Wait::One, &mut done)?;
        }
        match done.as_slice()[0].result {
            moved if moved >= 0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(-errno)),
        }
    }

    /// The entry of an operation of which `moved` bytes are done already.
    #[inline]
    fn entry(&self, op: Op, moved: u32, rw_flags: i32) -> squeue::Entry {
        let pointer = self.buffers.pointer(op.slot).wrapping_add(moved as usize);
        // At most 1 GiB, see the plan's checks.
        let length = self.buffers.block_size() as u32 - moved;
        let offset = op.offset + u64::from(moved);
        let index = match self.fixed_buffers {
            FixedBuffers::No => None,
            FixedBuffers::Region => Some(0),
            // At most 4096 slots.
            FixedBuffers::PerSlot => Some(op.slot as u16),
        };
        macro_rules! build {
            ($file:expr) => {
                match (op.write, index) {
                    (false, Some(i)) => opcode::ReadFixed::new($file, pointer, length, i)
                        .offset(offset)
                        .rw_flags(rw_flags)
                        .build(),
                    (true, Some(i)) => opcode::WriteFixed::new($file, pointer, length, i)
                        .offset(offset)
                        .rw_flags(rw_flags)
                        .build(),
                    (false, None) => opcode::Read::new($file, pointer, length)
                        .offset(offset)
                        .rw_flags(rw_flags)
                        .build(),
                    (true, None) => opcode::Write::new($file, pointer, length)
                        .offset(offset)
                        .rw_flags(rw_flags)
                        .build(),
                }
            };
        }
        let entry = if self.fixed_file {
            build!(Fixed(0))
        } else {
            build!(Fd(self.file.as_raw_fd()))
        };
        entry.user_data(u64::from(op.slot))
    }

    fn sync_entry(&self, slot: u32) -> squeue::Entry {
        let flags = match self.sync_each {
            SyncEach::Data => FsyncFlags::DATASYNC,
            _ => FsyncFlags::empty(),
        };
        let entry = if self.fixed_file {
            opcode::Fsync::new(Fixed(0)).flags(flags).build()
        } else {
            opcode::Fsync::new(Fd(self.file.as_raw_fd()))
                .flags(flags)
                .build()
        };
        entry.user_data(u64::from(slot) | SYNC)
    }

    /// Puts an operation into the queue, with its sync where one follows.
    #[inline]
    fn push(&mut self, op: Op, moved: u32, flags: squeue::Flags) -> io::Result<()> {
        let syncs = op.write && self.sync_each != SyncEach::None;
        let first = moved == 0 && self.unfinished.parts[op.slot as usize].refused == 0;
        let must_not_wait = match self.options.nowait {
            NoWait::Never => false,
            NoWait::Reads => !op.write,
            NoWait::Writes => op.write,
        };
        let rw_flags = if must_not_wait && first {
            libc::RWF_NOWAIT
        } else {
            0
        };
        let mut entry = self.entry(op, moved, rw_flags).flags(flags);
        if syncs {
            entry = entry.flags(flags | squeue::Flags::IO_LINK);
        }
        if self.sync_each != SyncEach::None {
            self.written[op.slot as usize] = if syncs { AWAITS_SYNC } else { NO_SYNC };
        }
        // SAFETY: the entry points into the pool, at a slot that is not in
        // flight (contract of `Op`), and to a descriptor that we own; both
        // live until after the ring is dropped.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        let pushed = pushed.and_then(|()| {
            if syncs {
                let sync = self.sync_entry(op.slot);
                // SAFETY: a sync points to no memory.
                unsafe { self.ring.submission().push(&sync) }
            } else {
                Ok(())
            }
        });
        // There are two entries for each operation of the depth, and what
        // was pushed is submitted before each wait.
        pushed.map_err(io::Error::other)
    }

    /// Hands over again what the kernel did not do, or did a part of.
    #[cold]
    fn submit_again(&mut self) -> io::Result<()> {
        while let Some(slot) = self.unfinished.due.pop() {
            let part = self.unfinished.parts[slot as usize];
            // A worker thread of the ring may wait where the first attempt, which
            // must not, was answered EAGAIN; so this does not go round for nothing.
            let flags = if part.refused > 0 || self.options.workers.is_some() {
                squeue::Flags::ASYNC
            } else {
                squeue::Flags::empty()
            };
            self.push(part.op, part.moved, flags)?;
        }
        Ok(())
    }

    /// Works off what has completed.
    #[inline]
    fn collect(&mut self, done: &mut Done) -> io::Result<()> {
        let before = done.len();
        self.collect_untouched(done);
        if !self.unfinished.due.is_empty() {
            self.submit_again()?;
        }
        if self.handling.touch != Touch::None {
            for completion in &done.as_slice()[before..] {
                let moved = usize::try_from(completion.result).unwrap_or(0);
                if !self.writes[completion.slot as usize] {
                    let block = self.buffers.get(completion.slot);
                    self.handling.look_at(&block[..moved]);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn collect_untouched(&mut self, done: &mut Done) {
        let syncing = self.sync_each != SyncEach::None;
        for entry in self.ring.completion() {
            // The low half is the slot.
            let slot = entry.user_data() as u32;
            let result = entry.result();
            if !syncing {
                let completion = Completion {
                    slot,
                    result,
                    failed_in: FailedIn::Transfer,
                };
                if let Some(ended) = self.unfinished.ended(completion) {
                    done.push(ended);
                    self.in_flight -= 1;
                }
                continue;
            }
            let is_sync = entry.user_data() & SYNC != 0;
            let pending = &mut self.written[slot as usize];
            let completion = if is_sync {
                // A failed or short write cancels the sync linked to it.
                if *pending < 0 || (result == -libc::ECANCELED) {
                    (*pending, FailedIn::Transfer)
                } else if result < 0 {
                    (result, FailedIn::Sync)
                } else {
                    (*pending, FailedIn::Transfer)
                }
            } else if *pending == AWAITS_SYNC {
                *pending = result;
                continue;
            } else {
                (result, FailedIn::Transfer)
            };
            let completion = Completion {
                slot,
                result: completion.0,
                failed_in: completion.1,
            };
            if let Some(ended) = self.unfinished.ended(completion) {
                done.push(ended);
                self.in_flight -= 1;
            }
        }
    }
}

/// In `Uring::written`: the write itself has not completed yet.
const AWAITS_SYNC: i32 = i32::MAX;
/// In `Uring::written`: no sync follows.
const NO_SYNC: i32 = i32::MIN;

fn set_up(
    entries: u32,
    options: Options,
    features: &mut Vec<String>,
    fallbacks: &mut Vec<String>,
) -> io::Result<IoUring> {
    // From the best to the plainest; each step gives up what an older kernel
    // does not know. SQPOLL excludes DEFER_TASKRUN.
    let ladder: &[&[&str]] = if options.sqpoll {
        &[&["single-issuer", "no-sqarray"], &["single-issuer"], &[]]
    } else {
        &[
            &["single-issuer", "defer-taskrun", "no-sqarray"],
            &["single-issuer", "defer-taskrun"],
            &["coop-taskrun"],
            &[],
        ]
    };
    let mut refused = None;
    for rung in ladder {
        let mut builder = IoUring::builder();
        for flag in *rung {
            match *flag {
                "single-issuer" => builder.setup_single_issuer(),
                "defer-taskrun" => builder.setup_defer_taskrun(),
                "no-sqarray" => builder.setup_no_sqarray(),
                _ => builder.setup_coop_taskrun(),
            };
        }
        if options.iopoll {
            builder.setup_iopoll();
        }
        if options.sqpoll {
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
        }
        match builder.build(entries) {
            Ok(ring) => {
                features.extend(rung.iter().map(|flag| (*flag).to_owned()));
                features.extend(options.iopoll.then(|| "iopoll".to_owned()));
                features.extend(options.sqpoll.then(|| "sqpoll".to_owned()));
                if *rung != ladder[0] {
                    fallbacks.push(format!(
                        "this kernel refuses a ring with {}; it got one with {}",
                        ladder[0].join(", "),
                        if rung.is_empty() {
                            "no such flag".to_owned()
                        } else {
                            rung.join(", ")
                        }
                    ));
                }
                return Ok(ring);
            }
            // Unknown flags; anything else will not get better further down.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refused = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(refused.unwrap_or_else(|| io::Error::from_raw_os_error(libc::EINVAL)))
}

impl<T: Ticks> Engine for Uring<T> {
    fn abilities(&self) -> Abilities {
        Abilities {
            name: "io_uring",
            depth: self.options.depth,
            features: self.features.clone(),
            fallbacks: self.fallbacks.clone(),
            resubmitted: self.unfinished.resubmitted,
        }
    }

    #[inline]
    fn now(&mut self) -> u64 {
        self.ticks.now()
    }

    fn timescale(&self) -> Timescale {
        self.scale
    }

    #[inline]
    fn prepare_write(&mut self, slot: u32) {
        self.buffers.renew(slot);
    }

    #[inline]
    fn submit(&mut self, ops: &[Op]) -> io::Result<usize> {
        let room = (self.options.depth - self.in_flight) as usize;
        let taken = ops.len().min(room);
        for op in &ops[..taken] {
            if self.handling.touch != Touch::None {
                self.writes[op.slot as usize] = op.write;
                if op.write {
                    self.handling.look_at(self.buffers.get(op.slot));
                }
            }
            let flags = if self.options.workers.is_some() {
                squeue::Flags::ASYNC
            } else {
                squeue::Flags::empty()
            };
            self.unfinished.begins(*op);
            self.push(*op, 0, flags)?;
        }
        // At most the depth, a u32.
        self.in_flight += taken as u32;
        Ok(taken)
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Done) -> io::Result<()> {
        let before = done.len();
        loop {
            let entered = match wait {
                Wait::One => self.ring.submit_and_wait(1),
                Wait::Poll => {
                    // DEFER_TASKRUN works off completions only when asked to
                    // get events; a wait that is over at once asks.
                    let none = Timespec::new();
                    let args = SubmitArgs::new().timespec(&none);
                    self.ring.submitter().submit_with_args(1, &args)
                }
                Wait::Until(tick) => {
                    let left = tick.saturating_sub(self.ticks.now());
                    let ns = self.scale.ns(left);
                    // Below 10^9.
                    let until = Timespec::new()
                        .sec(ns / 1_000_000_000)
                        .nsec((ns % 1_000_000_000) as u32);
                    let args = SubmitArgs::new().timespec(&until);
                    self.ring.submitter().submit_with_args(1, &args)
                }
            };
            match entered {
                Ok(_) => {}
                Err(error) => match error.raw_os_error() {
                    // The time is over; a signal came; completions must be
                    // worked off before more is taken.
                    Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => {}
                    _ => return Err(error),
                },
            }
            self.collect(done)?;
            if done.len() > before || wait != Wait::One {
                return Ok(());
            }
        }
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn idle_until(&mut self, tick: u64) -> io::Result<()> {
        idle_real(self.ticks, self.scale, tick);
        Ok(())
    }
}

impl<T: Ticks> Drop for Uring<T> {
    /// Waits for what is in flight: the kernel may still write into the buffers
    /// of a ring that was closed.
    fn drop(&mut self) {
        let mut done = Done::new(self.options.depth as usize);
        while self.in_flight > 0 {
            if self.reap(Wait::One, &mut done).is_err() {
                // Nothing is known about the buffers any more; they must not be
                // reused.
                let depth = 1;
                if let Ok(empty) = Buffers::new(depth, 512, 512, None) {
                    std::mem::forget(std::mem::replace(&mut self.buffers, empty));
                }
                return;
            }
            done.clear();
        }
        // The kernel takes a closed ring apart some time later. Until then it
        // would hold the file, and its filesystem could not be unmounted.
        if self.fixed_file {
            let _ = self.ring.submitter().unregister_files();
        }
    }
}

#[cfg(test)]
mod tests;
