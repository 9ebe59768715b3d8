//! The engine for files: system calls that return when the operation is done,
//! one in flight.

use super::FileSet;
use crate::buffers::Buffers;
use crate::clock::{Ticks, Timescale};
use crate::engine::{Abilities, Completion, Done, Engine, FailedIn, Op, Wait, idle_real};
use crate::error::TrialError;
use diskfacts_plan::{Operation, SyncMode, Workload};
use rustix::fs::{AtFlags, Mode, OFlags, fsync, openat, statat, unlinkat};
use rustix::io::{Errno, read, write};
use std::io;
use std::os::fd::OwnedFd;

/// What buffers are aligned to; any would do.
const ALIGNMENT: usize = 4096;

/// An operation that failed, and in which part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failure {
    pub(super) errno: Errno,
    pub(super) failed_in: FailedIn,
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self {
            errno,
            failed_in: FailedIn::Transfer,
        }
    }
}

fn in_sync(errno: Errno) -> Failure {
    Failure {
        errno,
        failed_in: FailedIn::Sync,
    }
}

/// Does the operations, on the files of one set.
pub(super) struct Doer<'a> {
    set: &'a FileSet,
    operation: Operation,
    sync: bool,
    buffers: Buffers,
    block_size: u64,
    read_bytes: u64,
    written_bytes: u64,
}

impl<'a> Doer<'a> {
    pub(super) fn new(
        set: &'a FileSet,
        workload: &Workload,
        seed: u64,
    ) -> Result<Self, TrialError> {
        // Never larger than what goes through it.
        let largest = set.files.size_max.clamp(1, workload.block_size.max(1));
        let fill = (workload.operation == Operation::Create).then_some(seed);
        Ok(Self {
            set,
            operation: workload.operation,
            sync: workload.sync == SyncMode::Fsync,
            buffers: Buffers::new(1, largest, ALIGNMENT, fill).map_err(TrialError::Buffers)?,
            block_size: largest,
            read_bytes: 0,
            written_bytes: 0,
        })
    }

    #[inline]
    fn folder(&self, index: u32) -> &'a OwnedFd {
        let part = self.set.files.folder_of(u64::from(index));
        self.set.folder.part(part)
    }

    /// Makes the file `index`, with its bytes.
    pub(super) fn create(&mut self, index: u32) -> Result<(), Failure> {
        let folder = self.folder(index);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = openat(folder, self.set.names.get(index), flags, mode)?;
        let mut left = self.set.files.size_of(self.set.seed, u64::from(index));
        while left > 0 {
            let length = left.min(self.block_size) as usize;
            let written = retried(|| write(&file, &self.buffers.get(0)[..length]))?;
            if written == 0 {
                return Err(Errno::IO.into());
            }
            left -= written as u64;
            self.written_bytes += written as u64;
        }
        if self.sync {
            fsync(&file).map_err(in_sync)?;
            fsync(folder).map_err(in_sync)?;
        }
        Ok(())
    }

    /// Asks for the attributes of the file `index`; reads it if it holds
    /// anything.
    fn stat(&mut self, index: u32) -> Result<(), Failure> {
        let folder = self.folder(index);
        let name = self.set.names.get(index);
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if stat.st_size == 0 {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(folder, name, flags, Mode::empty())?;
        loop {
            let moved = retried(|| read(&file, &mut *self.buffers.get_mut(0)))?;
            if moved == 0 {
                return Ok(());
            }
            self.read_bytes += moved as u64;
        }
    }

    /// Deletes the file `index`.
    fn delete(&mut self, index: u32) -> Result<(), Failure> {
        let folder = self.folder(index);
        unlinkat(folder, self.set.names.get(index), AtFlags::empty())?;
        if self.sync {
            fsync(folder).map_err(in_sync)?;
        }
        Ok(())
    }
}

/// Again, after a signal that set a flag and returned.
fn retried(mut call: impl FnMut() -> rustix::io::Result<usize>) -> rustix::io::Result<usize> {
    loop {
        let moved = call();
        if moved != Err(Errno::INTR) {
            return moved;
        }
    }
}

/// Creates, looks up or deletes the files of a set; the offset of an operation
/// is the place of its file in the order of visits. One that succeeded answers
/// 0, whatever the size of the file.
pub struct FileOps<'a, T> {
    ticks: T,
    scale: Timescale,
    doer: Doer<'a>,
    ended: Option<Completion>,
}

impl<'a, T: Ticks> FileOps<'a, T> {
    /// An engine for one stream.
    ///
    /// # Errors
    /// When there is no memory for a buffer.
    pub fn new(
        (ticks, scale): (T, Timescale),
        set: &'a FileSet,
        workload: &Workload,
        seed: u64,
    ) -> Result<Self, TrialError> {
        Ok(Self {
            ticks,
            scale,
            doer: Doer::new(set, workload, seed)?,
            ended: None,
        })
    }

    /// Bytes read out of files so far.
    pub fn read_bytes(&self) -> u64 {
        self.doer.read_bytes
    }

    /// Bytes written into files so far.
    pub fn written_bytes(&self) -> u64 {
        self.doer.written_bytes
    }
}

impl<T: Ticks> Engine for FileOps<'_, T> {
    fn abilities(&self) -> Abilities {
        Abilities {
            name: "sync",
            depth: 1,
            features: Vec::new(),
            fallbacks: Vec::new(),
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
        if self.doer.set.files.size_max > 0 && self.doer.operation == Operation::Create {
            self.doer.buffers.renew(slot);
        }
    }

    #[inline]
    fn submit(&mut self, ops: &[Op]) -> io::Result<usize> {
        let (Some(op), None) = (ops.first(), self.ended) else {
            return Ok(0);
        };
        let index = self.doer.set.order[op.offset as usize];
        let done = match self.doer.operation {
            Operation::Create => self.doer.create(index),
            Operation::Delete => self.doer.delete(index),
            _ => self.doer.stat(index),
        };
        let (result, failed_in) = match done {
            Ok(()) => (0, FailedIn::Transfer),
            Err(failure) => (-failure.errno.raw_os_error(), failure.failed_in),
        };
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

    fn sync_all(&mut self) -> io::Result<()> {
        for part in 0..self.doer.set.files.folders {
            fsync(self.doer.set.folder.part(part))?;
        }
        Ok(())
    }

    fn idle_until(&mut self, tick: u64) -> io::Result<()> {
        idle_real(self.ticks, self.scale, tick);
        Ok(())
    }
}
