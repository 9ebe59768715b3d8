//! One end of a copy: a file, a device, a pipe or the like, read or written from
//! front to back.

use diskfacts_plan::dd::{FinalSync, Flags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Advice, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

/// `nocache` drops what was used in pieces of this, as GNU dd does.
const DROP_BYTES: u64 = 128 << 10;
/// How long a pipe is waited for before it is looked whether a signal came.
const PIPE_WAIT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// An open file at one end of a copy, at the place where the copy begins.
#[derive(Debug)]
pub struct CopyFile<'a> {
    /// The file.
    pub file: &'a File,
    /// Whether it is a regular file or a block device: then it can be flushed.
    pub stored: bool,
    /// Whether a call on it may wait for somebody else, as with a pipe: then it
    /// is looked whether a signal came. That costs a call more for each record.
    pub waits: bool,
    /// Bytes of it from where `skip=` counts, where that is known: a read behind
    /// them brings nothing.
    pub size_bytes: Option<u64>,
    /// Whether it was opened past the page cache.
    pub direct: bool,
    /// Why not, though that was asked for; a sentence.
    pub direct_refused: Option<String>,
}

/// The final sync failed.
pub(super) struct FailedSync(pub(super) Errno);

impl CopyFile<'_> {
    /// Makes what was written durable. Where the file knows no `fdatasync`,
    /// dd takes `fsync`.
    pub(super) fn sync(&self, sync: FinalSync) -> Result<(), FailedSync> {
        if sync == FinalSync::Fdatasync {
            #[cfg(not(target_vendor = "apple"))]
            match rustix::fs::fdatasync(self.file) {
                Err(Errno::NOSYS | Errno::INVAL) => {}
                other => return other.map_err(FailedSync),
            }
        }
        rustix::fs::fsync(self.file).map_err(FailedSync)
    }
}

/// Where a copy is at one of its ends.
pub(super) struct Place<'a> {
    at: &'a CopyFile<'a>,
    /// `the input`, `the output`.
    name: &'static str,
    /// First byte that `nocache` has not dropped; `None` where nothing is cached.
    kept_from: Option<u64>,
    /// Bytes used since then.
    kept: u64,
    /// Direct I/O was left because the last block is too short for it.
    left_direct: bool,
    /// What could not be done as asked, a sentence each.
    pub(super) fallbacks: Vec<String>,
}

impl<'a> Place<'a> {
    pub(super) fn new(name: &'static str, at: &'a CopyFile<'a>, flags: Flags) -> Self {
        let mut place = Self {
            at,
            name,
            kept_from: None,
            kept: 0,
            left_direct: false,
            fallbacks: Vec::new(),
        };
        if flags.nocache {
            match rustix::fs::tell(at.file) {
                Ok(position) => place.kept_from = Some(position),
                Err(errno) => place.nocache_failed(errno),
            }
        }
        place
    }

    /// Whether it can be placed, and was before the copy began.
    pub(super) fn seekable(&self) -> bool {
        self.at.stored
    }

    /// Bytes of a skip that lie behind the end of the file.
    pub(super) fn skipped_to(&self, skip: u64) -> u64 {
        self.at
            .size_bytes
            .map_or(0, |size| skip.saturating_sub(size))
    }

    /// One read; `Errno::CANCELED` when `stop` was set while a pipe was waited
    /// for.
    pub(super) fn read(&self, room: &mut [u8], stop: &AtomicBool) -> Result<usize, Errno> {
        loop {
            self.wait(PollFlags::IN, stop)?;
            match rustix::io::read(self.at.file, &mut *room) {
                Err(Errno::INTR) => {}
                other => return other,
            }
        }
    }

    /// One write, as [`read`](Self::read).
    pub(super) fn write(&self, record: &[u8], stop: &AtomicBool) -> Result<usize, Errno> {
        loop {
            self.wait(PollFlags::OUT, stop)?;
            match rustix::io::write(self.at.file, record) {
                Err(Errno::INTR) => {}
                other => return other,
            }
        }
    }

    /// Waits until a pipe can be used.
    fn wait(&self, events: PollFlags, stop: &AtomicBool) -> Result<(), Errno> {
        if !self.at.waits {
            return Ok(());
        }
        loop {
            let mut waited = [PollFd::new(self.at.file, events)];
            match poll(&mut waited, Some(&PIPE_WAIT)) {
                Ok(0) | Err(Errno::INTR) => {}
                // A call on what cannot be waited for says what is wrong.
                Ok(_) | Err(_) => return Ok(()),
            }
            if stop.load(Ordering::Relaxed) {
                return Err(Errno::CANCELED);
            }
        }
    }

    /// So many bytes were read or written.
    pub(super) fn used(&mut self, bytes: u64) {
        if self.kept_from.is_none() {
            return;
        }
        self.kept += bytes;
        if self.kept >= DROP_BYTES {
            self.drop_used(self.kept / DROP_BYTES * DROP_BYTES);
        }
    }

    /// The last record is too short for direct I/O: it goes through the page
    /// cache, and is synced.
    pub(super) fn without_direct(&mut self) {
        if self.left_direct || !self.at.direct {
            return;
        }
        self.left_direct = true;
        let left = rustix::fs::fcntl_getfl(self.at.file).and_then(|flags| {
            rustix::fs::fcntl_setfl(self.at.file, flags.difference(OFlags::DIRECT))
        });
        self.fallbacks.push(match left {
            Ok(()) => "The last block is shorter than bs= and too short for direct I/O; it went \
                       through the page cache and was synced, as GNU dd does it"
                .to_owned(),
            Err(errno) => format!(
                "The last block is too short for direct I/O, and the file could not be set back \
                 to the page cache: {}",
                std::io::Error::from(errno)
            ),
        });
    }

    /// Whether a sync has to make up for direct I/O that was left.
    pub(super) fn owes_sync(&self) -> bool {
        self.left_direct
    }

    /// Drops what is left to drop; with nothing copied, all of the file.
    pub(super) fn finish(&mut self) {
        if self.kept_from.is_some() {
            self.drop_used(self.kept);
        }
    }

    fn drop_used(&mut self, bytes: u64) {
        let Some(from) = self.kept_from else { return };
        // Without a length: up to the end of the file.
        let length = NonZeroU64::new(bytes);
        let advised = rustix::fs::fadvise(self.at.file, from, length, Advice::DontNeed);
        if let Err(errno) = advised {
            self.nocache_failed(errno);
            return;
        }
        self.kept_from = Some(from + bytes);
        self.kept -= bytes;
    }

    fn nocache_failed(&mut self, errno: Errno) {
        self.kept_from = None;
        self.fallbacks.push(format!(
            "nocache had no effect on {}: {}",
            self.name,
            std::io::Error::from(errno)
        ));
    }
}
