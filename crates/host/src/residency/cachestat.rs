//! `cachestat(2)`: page cache of a span, counted by the kernel.
//!
//! Source: kernel, `mm/filemap.c`, `include/uapi/linux/mman.h`; since Linux 6.5.

use super::page_bytes;
use crate::error::Error;
use diskfacts_record::evidence::{Residency, ResidencyMethod};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The same number on every architecture that Rust has.
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range`.
#[repr(C)]
struct Range {
    offset: u64,
    /// 0 means 'to the end', so that an empty span must not be asked about.
    len: u64,
}

/// `struct cachestat`, all in pages.
#[repr(C)]
#[derive(Default)]
struct Counts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// `None` when this kernel, this file or this user has no answer and `mincore`
/// is to be asked.
pub(super) fn residency(file: &File, offset: u64, len: u64) -> Result<Option<Residency>, Error> {
    let mut counts = Counts::default();
    if len > 0 {
        let range = Range { offset, len };
        // SAFETY: the descriptor is open for the length of the call; `range`
        // and `counts` have the layout of the kernel's structures, live until
        // the call returns, and the kernel writes only the latter.
        let result = unsafe {
            libc::syscall(
                SYS_CACHESTAT,
                file.as_raw_fd(),
                &raw const range,
                &raw mut counts,
                0_u32,
            )
        };
        if result != 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                // Before Linux 6.5 or under an old seccomp profile; hugetlbfs;
                // a file that is not this user's (since Linux 6.14).
                Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::EPERM | libc::EACCES) => Ok(None),
                _ => Err(Error::on_file(
                    "asking with cachestat what is cached of",
                    crate::error::hint(&error),
                    error,
                )),
            };
        }
    }
    let page = page_bytes();
    let cached_bytes = counts.cached.saturating_mul(page).min(len);
    // A page that is written back and dirtied again is in both counts.
    let dirty_bytes = counts
        .dirty
        .saturating_add(counts.writeback)
        .saturating_mul(page)
        .min(cached_bytes);
    // Pages that are not cached; those at the ends reach beyond the span.
    let evicted_bytes = counts
        .evicted
        .saturating_mul(page)
        .min(len.saturating_sub(cached_bytes));
    Ok(Some(Residency {
        span_bytes: len,
        cached_bytes,
        dirty_bytes: Some(dirty_bytes),
        writing_bytes: Some(counts.writeback.saturating_mul(page).min(dirty_bytes)),
        evicted_bytes: Some(evicted_bytes),
        recently_evicted_bytes: Some(
            counts
                .recently_evicted
                .saturating_mul(page)
                .min(evicted_bytes),
        ),
        method: ResidencyMethod::Cachestat,
    }))
}
