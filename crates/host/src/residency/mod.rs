//! How much of a file lies in the page cache, and emptying that cache.

#[cfg(target_os = "linux")]
mod cachestat;
mod drop;
#[cfg(unix)]
mod mincore;

pub use drop::{DirtyPages, Dropped, drop_cache, write_back};

use crate::error::Error;
use diskfacts_record::evidence::Residency;
use std::fs::File;

/// How much of `len` bytes from `offset` of `file` lies in the page cache.
///
/// The span is cut at the end of the file or device, and
/// [`Residency::span_bytes`] is what was left of it. Memory used is constant:
/// 64 KiB at most.
///
/// Asks `cachestat(2)` (Linux 6.5), else `mincore(2)`. Both count whole pages;
/// the count is cut at the span.
///
/// # Errors
/// When neither call works on this file, or the kernel would not tell this user
/// the truth: since Linux 5.2 `mincore` says 'all cached' of files that the
/// user neither owns nor may write (commit 134fca9063ad), which is refused here
/// rather than believed.
pub fn residency(file: &File, offset: u64, len: u64) -> Result<Residency, Error> {
    imp::residency(file, offset, len)
}

#[cfg(unix)]
mod imp {
    use super::{Error, File, Residency};
    use std::io::{Seek, SeekFrom};

    pub(super) fn residency(file: &File, offset: u64, len: u64) -> Result<Residency, Error> {
        let size = size_of(file)?;
        let len = len.min(size.saturating_sub(offset));
        #[cfg(target_os = "linux")]
        if let Some(seen) = super::cachestat::residency(file, offset, len)? {
            return Ok(seen);
        }
        super::mincore::residency(file, offset, len)
    }

    /// Bytes of a file or a block device; metadata gives 0 for the latter.
    pub(super) fn size_of(mut file: &File) -> Result<u64, Error> {
        let fail = |error| {
            Error::on_file(
                "finding the size of",
                "the page cache can be asked about regular files and block devices only",
                error,
            )
        };
        let metadata = file.metadata().map_err(fail)?;
        if metadata.is_file() {
            return Ok(metadata.len());
        }
        // Seeking moves the position that this open file shares with others.
        let here = file.stream_position().map_err(fail)?;
        let size = file.seek(SeekFrom::End(0)).map_err(fail)?;
        file.seek(SeekFrom::Start(here)).map_err(fail)?;
        Ok(size)
    }
}

#[cfg(not(unix))]
mod imp {
    use super::{Error, File, Residency};

    pub(super) fn residency(_: &File, _: u64, _: u64) -> Result<Residency, Error> {
        Err(Error::NotHere {
            doing: "asking what of a file is cached",
            why: "the system does not tell",
        })
    }
}

/// Bytes of a page of memory.
#[cfg(unix)]
fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}
