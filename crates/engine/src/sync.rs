//! System calls that return when the operation is done: one in flight.

use crate::buffers::Buffers;
use crate::clock::{Ticks, Timescale};
use crate::engine::{Abilities, Completion, Done, Engine, FailedIn, Op, SyncEach, Wait, idle_real};
use crate::handling::Handling;
use crate::values::Wrong;
use rustix::io::Errno;
use std::fs::File;
use std::io;

/// `pread(2)` and `pwrite(2)`, and their v2 forms where a flag is needed.
pub struct Sync<T> {
    ticks: T,
    scale: Timescale,
    file: File,
    buffers: Buffers,
    sync_each: SyncEach,
    high_priority: bool,
    handling: Handling,
    wrong: Option<Wrong>,
    block_size: usize,
    fallbacks: Vec<String>,
    ended: Option<Completion>,
}

impl<T: Ticks> Sync<T> {
    /// An engine for one file. With `high_priority` the calls carry
    /// `RWF_HIPRI`, which makes the kernel poll the device for the completion.
    pub fn new(
        (ticks, scale): (T, Timescale),
        file: File,
        buffers: Buffers,
        sync_each: SyncEach,
        high_priority: bool,
    ) -> Self {
        let (high_priority, fallbacks) = if high_priority && !cfg!(target_os = "linux") {
            let reason = "RWF_HIPRI exists on Linux only; completions are waited for".to_owned();
            (false, vec![reason])
        } else {
            (high_priority, Vec::new())
        };
        Self {
            ticks,
            scale,
            file,
            block_size: buffers.block_size(),
            buffers,
            sync_each,
            high_priority,
            handling: Handling::default(),
            wrong: None,
            fallbacks,
            ended: None,
        }
    }

    /// The same engine, which does this with the bytes of each block.
    #[must_use]
    pub fn handling(mut self, handling: Handling) -> Self {
        self.handling = handling;
        self
    }

    /// Does one operation; answers the bytes moved by its last transfer, and
    /// where it failed if it did.
    #[inline]
    fn operate(&mut self, op: Op) -> (i32, FailedIn) {
        if op.write && self.handling.modify {
            match self.transfer(Op { write: false, ..op }) {
                Err(errno) => return (-errno.raw_os_error(), FailedIn::ReadFirst),
                Ok(moved) if moved < self.block_size => {
                    return (length(moved), FailedIn::ReadFirst);
                }
                Ok(_) => {
                    self.handling.look_at(self.buffers.get(op.slot));
                    if let Err(wrong) = self.handling.check(self.buffers.get(op.slot), op.offset) {
                        self.wrong = Some(wrong);
                        return (0, FailedIn::Value);
                    }
                    self.handling.change(self.buffers.get_mut(op.slot));
                }
            }
        } else if op.write {
            self.handling.make(self.buffers.get_mut(op.slot), op.offset);
            self.handling.before_write(self.buffers.get_mut(op.slot));
        }
        let moved = match self.transfer(op) {
            Err(errno) => return (-errno.raw_os_error(), FailedIn::Transfer),
            Ok(moved) => moved,
        };
        if !op.write {
            // No more was read than fits.
            let block = &self.buffers.get(op.slot)[..moved];
            self.handling.look_at(block);
            if moved == self.block_size
                && let Err(wrong) = self.handling.check(block, op.offset)
            {
                self.wrong = Some(wrong);
                return (0, FailedIn::Value);
            }
        } else if let Err(errno) = self.sync() {
            return (-errno.raw_os_error(), FailedIn::Sync);
        }
        (length(moved), FailedIn::Transfer)
    }

    /// Moves a block. What was moved in part goes on where it stopped: either the rest
    /// comes, or the next answer is the reason, an error or the end of the target.
    fn transfer(&mut self, op: Op) -> Result<usize, Errno> {
        let mut moved = 0;
        loop {
            match self.call(op, moved) {
                // A signal that set a flag and returned; the operation is still due.
                Err(Errno::INTR) => {}
                // The rest, up to the end, is no whole sector, which direct I/O refuses.
                Err(Errno::INVAL) if moved > 0 => return Ok(moved),
                Err(errno) => return Err(errno),
                Ok(0) => return Ok(moved),
                Ok(more) => {
                    moved += more;
                    if moved >= self.block_size {
                        return Ok(moved);
                    }
                }
            }
        }
    }

    /// One system call for what is left of a block after the first `from` bytes.
    #[cfg(target_os = "linux")]
    fn call(&mut self, op: Op, from: usize) -> Result<usize, Errno> {
        use rustix::io::{ReadWriteFlags, pread, preadv2, pwrite, pwritev2};
        let (slot, offset) = (op.slot, op.offset + from as u64);
        match (self.high_priority, op.write) {
            (false, false) => pread(&self.file, &mut self.buffers.get_mut(slot)[from..], offset),
            (false, true) => pwrite(&self.file, &self.buffers.get(slot)[from..], offset),
            (true, false) => preadv2(
                &self.file,
                &mut [io::IoSliceMut::new(&mut self.buffers.get_mut(slot)[from..])],
                offset,
                ReadWriteFlags::HIPRI,
            ),
            (true, true) => pwritev2(
                &self.file,
                &[io::IoSlice::new(&self.buffers.get(slot)[from..])],
                offset,
                ReadWriteFlags::HIPRI,
            ),
        }
    }

    /// One system call for what is left of a block after the first `from` bytes.
    #[cfg(not(target_os = "linux"))]
    fn call(&mut self, op: Op, from: usize) -> Result<usize, Errno> {
        use rustix::io::{pread, pwrite};
        let offset = op.offset + from as u64;
        if op.write {
            pwrite(&self.file, &self.buffers.get(op.slot)[from..], offset)
        } else {
            pread(
                &self.file,
                &mut self.buffers.get_mut(op.slot)[from..],
                offset,
            )
        }
    }

    fn sync(&self) -> Result<(), Errno> {
        match self.sync_each {
            SyncEach::None => Ok(()),
            #[cfg(not(target_vendor = "apple"))]
            SyncEach::Data => rustix::fs::fdatasync(&self.file),
            #[cfg(target_vendor = "apple")]
            SyncEach::Data => rustix::fs::fsync(&self.file),
            SyncEach::Full => rustix::fs::fsync(&self.file),
        }
    }
}

/// Bytes moved, as a completion has them: blocks are at most 1 GiB.
fn length(moved: usize) -> i32 {
    i32::try_from(moved).unwrap_or(i32::MAX)
}

impl<T: Ticks> Engine for Sync<T> {
    fn abilities(&self) -> Abilities {
        Abilities {
            name: "sync",
            depth: 1,
            features: if self.high_priority {
                vec!["hipri".to_owned()]
            } else {
                Vec::new()
            },
            fallbacks: self.fallbacks.clone(),
            ..Abilities::default()
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
        if !self.handling.makes_content() {
            self.buffers.renew(slot);
        }
    }

    #[inline]
    fn submit(&mut self, ops: &[Op]) -> io::Result<usize> {
        let (Some(op), None) = (ops.first(), self.ended) else {
            return Ok(0);
        };
        let (result, failed_in) = self.operate(*op);
        self.ended = Some(Completion {
            slot: op.slot,
            result,
            failed_in,
        });
        Ok(1)
    }

    #[inline]
    fn reap(&mut self, _wait: Wait, done: &mut Done) -> io::Result<()> {
        if let Some(completion) = self.ended.take() {
            done.push(completion);
        }
        Ok(())
    }

    fn wrong_value(&self) -> Option<Wrong> {
        self.wrong
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
