//! Emptying the page cache of a span, so that the next read is cold.

use super::residency;
use crate::error::Error;
use diskfacts_record::Unseen;
use diskfacts_record::evidence::Residency;
use std::fs::File;

/// What to do with pages that are not yet written back: they cannot be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirtyPages {
    /// Do not wait for them. The kernel begins to write them back when it is
    /// asked to drop them, but drops only those that are clean by then.
    Leave,
    /// Write them back first, and wait. Only the span's data: no metadata, and the
    /// drive's own cache is not flushed.
    WriteFirst,
}

/// What came of emptying the page cache of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// What lies in the page cache now; `None` when that cannot be seen.
    pub stayed: Option<Residency>,
    /// Why it cannot be seen.
    pub unseen: Option<Unseen>,
}

impl Dropped {
    /// Whether nothing of the span stayed; `None` when that cannot be seen.
    pub fn is_cold(&self) -> Option<bool> {
        self.stayed.map(|stayed| stayed.cached_bytes == 0)
    }
}

/// Asks the kernel to drop `len` bytes from `offset` of `file` from the page
/// cache, and looks how much stayed.
///
/// `posix_fadvise(POSIX_FADV_DONTNEED)` is advice: pages that are dirty,
/// mapped by a process, locked, or only partly inside the span stay (kernel:
/// `mm/fadvise.c`, `mm/truncate.c`). Pages come in folios of up to 2 MiB, which
/// go as a whole or not at all, so the span is widened to multiples of that, and
/// the answer is [`Dropped::stayed`], not the success of the call. The drive's
/// own cache is not touched.
///
/// # Errors
/// When writing back fails (the data may be lost: an I/O error), or the advice
/// is refused, as on a pipe.
pub fn drop_cache(file: &File, offset: u64, len: u64, dirty: DirtyPages) -> Result<Dropped, Error> {
    imp::drop_cache(file, offset, len, dirty)?;
    Ok(match residency(file, offset, len) {
        Ok(stayed) => Dropped {
            stayed: Some(stayed),
            unseen: None,
        },
        Err(error) => Dropped {
            stayed: None,
            unseen: Some(Unseen {
                what: "residency after dropping the cache".to_owned(),
                why: error.to_string(),
            }),
        },
    })
}

/// Writes `len` bytes from `offset` of `file` back, and waits for it. Only data: no
/// metadata, and the drive's own cache is not flushed.
///
/// # Errors
/// When the kernel could not write some of it, now or since the file was opened: it tells
/// that once for each time that a file is open (`errseq_t`, kernel, `lib/errseq.c`).
pub fn write_back(file: &File, offset: u64, len: u64) -> std::io::Result<()> {
    imp::write_back(file, offset, len)
}

#[cfg(target_os = "linux")]
mod imp {
    use super::{DirtyPages, Error, File};
    use crate::residency::page_bytes;
    use rustix::fs::{Advice, fadvise, fdatasync};
    use std::io;
    use std::num::NonZeroU64;
    use std::os::fd::AsRawFd;

    /// Largest folio of the page cache, bytes: what one entry of the second level
    /// of page tables maps on machines with pages of 4 KiB (`MAX_PAGECACHE_ORDER`,
    /// include/linux/pagemap.h). A folio begins at a multiple of its size.
    const FOLIO_BYTES: u64 = 2 << 20;

    pub(super) fn drop_cache(
        file: &File,
        offset: u64,
        len: u64,
        dirty: DirtyPages,
    ) -> Result<(), Error> {
        if len == 0 {
            return Ok(());
        }
        let folio = page_bytes().max(FOLIO_BYTES);
        let start = offset / folio * folio;
        let end = offset
            .saturating_add(len)
            .div_ceil(folio)
            .saturating_mul(folio);
        // Offsets are signed in the kernel: an end beyond that is refused.
        let end = end.min(i64::MAX as u64);
        // A length of 0 would mean 'to the end of the file'.
        let Some(span) = NonZeroU64::new(end.saturating_sub(start)) else {
            return Ok(());
        };
        if dirty == DirtyPages::WriteFirst {
            write_back(file, start, span.get()).map_err(|error| {
                Error::on_file(
                    "writing back the dirty pages of",
                    "an I/O error here means that data was lost: see the kernel log (`dmesg`)",
                    error,
                )
            })?;
        }
        fadvise(file, start, Some(span), Advice::DontNeed).map_err(|error| {
            Error::on_file(
                "dropping from the page cache the pages of",
                "only regular files and block devices have such pages",
                error,
            )
        })
    }

    pub(super) fn write_back(file: &File, start: u64, len: u64) -> io::Result<()> {
        const ALL_THREE: u32 = libc::SYNC_FILE_RANGE_WAIT_BEFORE
            | libc::SYNC_FILE_RANGE_WRITE
            | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        // Offsets are signed in the kernel.
        let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        // SAFETY: a system call on an open descriptor, with numbers only.
        let result = unsafe {
            libc::sync_file_range(file.as_raw_fd(), signed(start), signed(len), ALL_THREE)
        };
        if result == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            // The filesystem or a seccomp profile lacks the call.
            Some(libc::ENOSYS | libc::EINVAL | libc::ESPIPE | libc::EPERM) => Ok(fdatasync(file)?),
            _ => Err(error),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::{DirtyPages, Error, File};

    pub(super) fn drop_cache(_: &File, _: u64, _: u64, _: DirtyPages) -> Result<(), Error> {
        Err(Error::NotHere {
            doing: "dropping a file from the page cache",
            why: "diskfacts has no code for it yet",
        })
    }

    pub(super) fn write_back(file: &File, _: u64, _: u64) -> std::io::Result<()> {
        file.sync_data()
    }
}
