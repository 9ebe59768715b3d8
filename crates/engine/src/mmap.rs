//! Loads and stores in a mapping of the file: one in flight.
//!
//! # What an operation does
//! * A **read** brings its block into memory by looking at a byte of each of its
//!   pages; with [`Touch::First`] only at its first byte, with [`Touch::Every`]
//!   at every one. Nothing is copied.
//! * A **write** copies a block into the mapping; a **modification** changes the
//!   first byte where it lies.
//! * What was stored is made durable by `msync(2)` of the block's pages, and
//!   `fsync(2)` behind it where that was asked for: on Linux `msync` alone is
//!   `fdatasync` of that range (`mm/msync.c`).
//!
//! The kernel is given no advice (`madvise(2)`): its read-ahead around a fault is
//! part of what is measured.
//!
//! # A file that shrinks, a device that fails
//! A system call would answer an error; a mapping raises `SIGBUS`. The length of
//! the file is asked for when it is mapped, and an operation that goes beyond it
//! ends short without touching anything. If the file shrinks later, or a read of
//! the device fails, the `fault` handler lets the operation end, and it is
//! counted as short or as `EIO`. Bytes between the new end of a file and the end
//! of its last page read as zero without any fault; that is not noticed.

mod fault;

use crate::buffers::Buffers;
use crate::clock::{Ticks, Timescale};
use crate::engine::{Abilities, Completion, Done, Engine, FailedIn, Op, SyncEach, Wait, idle_real};
use crate::handling::Handling;
use crate::values::Wrong;
use diskfacts_plan::Touch;
use fault::Watch;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// An engine for one file.
pub struct Mmap<T> {
    ticks: T,
    scale: Timescale,
    file: File,
    buffers: Buffers,
    sync_each: SyncEach,
    handling: Handling,
    /// The first byte of the file in memory; null when it is empty.
    start: *mut u8,
    /// Bytes of the file when it was mapped.
    length: usize,
    writable: bool,
    page: usize,
    watch: Watch,
    wrong: Option<Wrong>,
    ended: Option<Completion>,
}

impl<T: Ticks> Mmap<T> {
    /// Maps a file or a block device as a whole, for writing too if it is open
    /// for that. To be called on the thread that will use it.
    ///
    /// # Errors
    /// When its length cannot be told or it cannot be mapped.
    pub fn new(
        (ticks, scale): (T, Timescale),
        file: File,
        buffers: Buffers,
        sync_each: SyncEach,
        handling: Handling,
    ) -> io::Result<Self> {
        let length = length_of(&file)?;
        let page = rustix::param::page_size();
        let (start, writable) = if length == 0 {
            (std::ptr::null_mut(), true)
        } else {
            match map(&file, None, 0, length, true) {
                Ok(start) => (start, true),
                // Not open for writing.
                Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
                    (map(&file, None, 0, length, false)?, false)
                }
                Err(error) => return Err(error),
            }
        };
        Ok(Self {
            ticks,
            scale,
            file,
            buffers,
            sync_each,
            handling,
            start,
            length,
            writable,
            page,
            watch: Watch::over(start, length)?,
            wrong: None,
            ended: None,
        })
    }

    fn operate(&mut self, op: Op) -> (i32, FailedIn) {
        let block = self.buffers.block_size();
        let left = u64::try_from(self.length)
            .unwrap_or(u64::MAX)
            .saturating_sub(op.offset);
        let inside = usize::try_from(left).unwrap_or(usize::MAX).min(block);
        if op.write && !self.writable {
            return (-libc::EBADF, FailedIn::Transfer);
        }
        if inside < block {
            let failed_in = if op.write && self.handling.modify {
                FailedIn::ReadFirst
            } else {
                FailedIn::Transfer
            };
            return (length(inside), failed_in);
        }
        // Below the length of the mapping, which is a usize.
        let at = op.offset as usize;
        if self.handling.values.is_some() {
            if let Err(wrong) = self.keep_content(op, at, block) {
                self.wrong = Some(wrong);
                return (0, FailedIn::Value);
            }
        } else {
            self.touch_or_store(op, at, block);
        }
        if self.watch.faulted() {
            return self.after_fault(op, at, block);
        }
        if op.write
            && let Err(error) = self.sync(at, block)
        {
            return (-error.raw_os_error().unwrap_or(libc::EIO), FailedIn::Sync);
        }
        (length(block), FailedIn::Transfer)
    }

    /// The operation itself, on `block` bytes at `at`, which lie in the mapping.
    #[inline]
    fn touch_or_store(&mut self, op: Op, at: usize, block: usize) {
        // SAFETY: `at + block` is at most `length`, the length of the mapping,
        // which stays until `self` is dropped.
        let place = unsafe { self.start.add(at) };
        if !op.write || self.handling.modify {
            let step = match self.handling.touch {
                Touch::None => self.page,
                Touch::First => block,
                // Characters pass through a buffer, and there is none here: such a
                // workload is refused.
                Touch::Every | Touch::Character | Touch::CharacterUnlocked => 1,
            };
            // SAFETY: all of `block` lies in the mapping, see above; it is
            // readable, and a fault is dealt with by `watch`.
            unsafe { look_at(place, block, step) };
        }
        if !op.write {
            return;
        }
        if self.handling.modify {
            // SAFETY: the block lies in the mapping and has at least a byte, and
            // the mapping is writable, or `operate` had refused the operation.
            unsafe {
                let first = place.read_volatile();
                place.write_volatile(first.wrapping_add(1));
            }
        } else {
            let buffer = self.buffers.get(op.slot);
            self.handling.look_at(buffer);
            // SAFETY: both are `block` bytes long, the buffer is memory of its
            // own, and the mapping is writable. Others may change the same bytes
            // of the file at the same time, as with pwrite(2): then either's may
            // be there in the end; nothing here depends on them.
            unsafe { std::ptr::copy_nonoverlapping(buffer.as_ptr(), place, block) };
        }
    }

    /// The operation itself where content is checked: in a buffer, because what is
    /// checked must not change meanwhile. A page that could not be had is found
    /// by the caller.
    fn keep_content(&mut self, op: Op, at: usize, block: usize) -> Result<(), Wrong> {
        // SAFETY: `at + block` is at most `length`, the length of the mapping,
        // which stays until `self` is dropped.
        let place = unsafe { self.start.add(at) };
        let buffer = self.buffers.get_mut(op.slot);
        if op.write && !self.handling.modify {
            self.handling.make(buffer, op.offset);
        } else {
            // SAFETY: both are `block` bytes long, and the buffer is memory of
            // its own. Who changes the file meanwhile is what the check is for.
            unsafe { std::ptr::copy_nonoverlapping(place, buffer.as_mut_ptr(), block) };
            if self.watch.has_faulted() {
                return Ok(());
            }
            self.handling.look_at(buffer);
            self.handling.check(buffer, op.offset)?;
            if op.write {
                self.handling.change(buffer);
            }
        }
        if op.write {
            // SAFETY: as above, and the mapping is writable, or `operate` had
            // refused the operation.
            unsafe { std::ptr::copy_nonoverlapping(buffer.as_ptr(), place, block) };
        }
        Ok(())
    }

    /// What became of an operation in which a page could not be had. The file is
    /// mapped there again, so that later operations find it.
    #[cold]
    fn after_fault(&mut self, op: Op, at: usize, block: usize) -> (i32, FailedIn) {
        let failed_in = if op.write && self.handling.modify {
            FailedIn::ReadFirst
        } else {
            FailedIn::Transfer
        };
        let first = at / self.page * self.page;
        let end = (at + block).next_multiple_of(self.page);
        // SAFETY: pages of the mapping, which begins at a page.
        let place = unsafe { self.start.add(first) };
        let again = map(
            &self.file,
            Some(place),
            op.offset - (at - first) as u64,
            end - first,
            self.writable,
        );
        if let Err(error) = again {
            return (-error.raw_os_error().unwrap_or(libc::EIO), failed_in);
        }
        match length_of(&self.file) {
            Ok(now) if now < at + block => (length(now.saturating_sub(at)), failed_in),
            _ => (-libc::EIO, failed_in),
        }
    }

    /// Makes what was stored in a block durable.
    fn sync(&self, at: usize, block: usize) -> io::Result<()> {
        if self.sync_each == SyncEach::None {
            return Ok(());
        }
        self.msync(at, block)?;
        match self.sync_each {
            SyncEach::Full => self.file.sync_all(),
            SyncEach::None | SyncEach::Data => Ok(()),
        }
    }

    fn msync(&self, at: usize, bytes: usize) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let first = at / self.page * self.page;
        // SAFETY: pages of the mapping; nothing is taken away from it.
        let result = unsafe {
            libc::msync(
                self.start.add(first).cast(),
                at - first + bytes,
                libc::MS_SYNC,
            )
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

/// Looks at a byte every `step` of `bytes` from `place`, and at all of them with
/// a step of 1.
///
/// # Safety
/// All of it is readable.
#[inline]
unsafe fn look_at(place: *const u8, bytes: usize, step: usize) {
    let mut at = 0;
    if step == 1 {
        // Word by word while whole words are left.
        while at + 8 <= bytes {
            // SAFETY: within the readable bytes.
            unsafe { place.add(at).cast::<[u8; 8]>().read_volatile() };
            at += 8;
        }
    }
    while at < bytes {
        // SAFETY: within the readable bytes.
        unsafe { place.add(at).read_volatile() };
        at += step;
    }
    // The last page of a block that does not begin at one.
    if bytes > step {
        // SAFETY: within the readable bytes.
        unsafe { place.add(bytes - 1).read_volatile() };
    }
}

/// Bytes moved, as a completion has them: blocks are at most 1 GiB.
fn length(moved: usize) -> i32 {
    i32::try_from(moved).unwrap_or(i32::MAX)
}

/// Bytes of a file or of a block device, which has no length but an end.
fn length_of(file: &File) -> io::Result<usize> {
    let end = rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))?;
    usize::try_from(end).map_err(|_| {
        io::Error::new(
            io::ErrorKind::FileTooLarge,
            "it is larger than the addresses of this machine",
        )
    })
}

/// Maps part of a file: anywhere, or in place of the pages at `place`.
fn map(
    file: &File,
    place: Option<*mut u8>,
    offset: u64,
    length: usize,
    writable: bool,
) -> io::Result<*mut u8> {
    let protection = if writable {
        libc::PROT_READ | libc::PROT_WRITE
    } else {
        libc::PROT_READ
    };
    let (address, fixed) = match place {
        Some(place) => (place.cast(), libc::MAP_FIXED),
        None => (std::ptr::null_mut(), 0),
    };
    let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
    // SAFETY: without a place the kernel chooses one that is free; with one, the
    // caller's own mapping lies there and is replaced by the same pages.
    let mapped = unsafe {
        libc::mmap(
            address,
            length,
            protection,
            libc::MAP_SHARED | fixed,
            file.as_raw_fd(),
            offset,
        )
    };
    if mapped == libc::MAP_FAILED {
        Err(io::Error::last_os_error())
    } else {
        Ok(mapped.cast())
    }
}

impl<T: Ticks> Engine for Mmap<T> {
    fn abilities(&self) -> Abilities {
        Abilities {
            name: "mmap",
            depth: 1,
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
        self.msync(0, self.length)?;
        self.file.sync_all()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.msync(0, self.length)?;
        self.file.sync_data()
    }

    fn idle_until(&mut self, tick: u64) -> io::Result<()> {
        idle_real(self.ticks, self.scale, tick);
        Ok(())
    }
}

impl<T> Drop for Mmap<T> {
    fn drop(&mut self) {
        self.watch.end();
        if !self.start.is_null() {
            // SAFETY: the mapping is this engine's own, nothing of it was given
            // away, and its length is that with which it was mapped.
            unsafe { libc::munmap(self.start.cast(), self.length) };
        }
    }
}
