//! `mincore(2)`: page cache of a mapped span, one byte per page.
//!
//! Mapped and asked in chunks, so that memory stays constant. Mapping touches
//! no page, so nothing is read by asking.

use super::page_bytes;
use crate::error::Error;
use diskfacts_record::evidence::{Residency, ResidencyMethod};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

/// Pages asked about at once: 128 MiB of 4 KiB pages, 32 KiB of answers.
const CHUNK_PAGES: u64 = 32 * 1024;

pub(super) fn residency(file: &File, offset: u64, len: u64) -> Result<Residency, Error> {
    if !tells_the_truth(file)? {
        return Err(Error::NotAllowed {
            doing: "asking what is cached of",
            on: "the open file".to_owned(),
            why: "the kernel tells it only to the owner, to who may write the file, and to root"
                .to_owned(),
        });
    }
    let page = page_bytes();
    let first = offset / page;
    let last = offset.saturating_add(len).div_ceil(page);
    let mut answers = vec![0_u8; usize::try_from(CHUNK_PAGES.min(last - first)).unwrap_or(0)];
    let mut cached_pages = 0_u64;
    let mut from = first;
    while from < last {
        let pages = CHUNK_PAGES.min(last - from);
        // At most CHUNK_PAGES, which fits any usize.
        let answers = &mut answers[..pages as usize];
        chunk(file, from * page, pages * page, answers)?;
        cached_pages += answers.iter().filter(|answer| **answer & 1 == 1).count() as u64;
        from += pages;
    }
    Ok(Residency {
        span_bytes: len,
        cached_bytes: cached_pages.saturating_mul(page).min(len),
        dirty_bytes: None,
        writing_bytes: None,
        evicted_bytes: None,
        recently_evicted_bytes: None,
        method: ResidencyMethod::Mincore,
    })
}

/// Asks about `len` bytes from `offset`, both whole pages, one answer for each.
fn chunk(file: &File, offset: u64, len: u64, answers: &mut [u8]) -> Result<(), Error> {
    let fail = |doing, error: io::Error| {
        Error::on_file(doing, "this file cannot be mapped into memory", error)
    };
    let len = usize::try_from(len)
        .map_err(|_| fail("mapping", io::Error::from(io::ErrorKind::OutOfMemory)))?;
    // SAFETY: a fresh mapping at an address of the kernel's choice, of which
    // no byte is read here: another process may cut the file short.
    let address = unsafe {
        mmap(
            std::ptr::null_mut(),
            len,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            offset,
        )
    }
    .map_err(|error| fail("mapping", error.into()))?;
    // SAFETY: the mapping is `len` bytes of whole pages, and `answers` has a
    // byte for each of them.
    let result = unsafe { libc::mincore(address, len, answers.as_mut_ptr().cast()) };
    let outcome = if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    };
    // SAFETY: the mapping made above, which nothing refers to any more.
    let unmapped = unsafe { munmap(address, len) };
    outcome.map_err(|error| fail("asking with mincore what is cached of", error))?;
    unmapped.map_err(|error| fail("unmapping", error.into()))
}

/// Whether `mincore` will answer truly: for the owner, for root, and for who may
/// write the file (kernel: `can_do_mincore` in `mm/mincore.c`).
fn tells_the_truth(file: &File) -> Result<bool, Error> {
    let metadata = file
        .metadata()
        .map_err(|error| Error::on_file("looking at", "the file may be gone", error))?;
    let user = rustix::process::geteuid();
    if user.is_root() || user.as_raw() == metadata.uid() {
        return Ok(true);
    }
    // By way of /proc, so that the very file that is open is asked about.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::{DirtyPages, cachestat, drop_cache};
    use super::*;
    use diskfacts_testkit::{FilesystemKind, LoopDevice, MountedFilesystem, or_skip};
    use std::os::unix::fs::{FileExt, PermissionsExt};

    const MIB: u64 = 1 << 20;

    /// A file on a filesystem of its own, of which every third page is cached.
    fn every_third(mounted: &MountedFilesystem, size: u64) -> File {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(mounted.path().join("file"))
            .expect("a file");
        let content = vec![1; usize::try_from(size).expect("small")];
        file.write_all_at(&content, 0).expect("writing");
        file.sync_all().expect("syncing");
        drop_cache(&file, 0, size, DirtyPages::WriteFirst).expect("dropping");
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).expect("advice");
        for page in (0..size / page_bytes()).step_by(3) {
            file.read_exact_at(&mut [0], page * page_bytes())
                .expect("reading");
        }
        file
    }

    #[test]
    fn it_counts_what_cachestat_counts() {
        let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
        let size = 4 * MIB + 100;
        let file = every_third(&mounted, size);
        for (offset, len) in [(0, size), (0, 1), (4095, 2), (MIB + 5, MIB), (size - 1, 1)] {
            let seen = residency(&file, offset, len).expect("an answer");
            assert_eq!(seen.method, ResidencyMethod::Mincore);
            assert_eq!(seen.dirty_bytes, None);
            let Some(other) = cachestat::residency(&file, offset, len).expect("an answer") else {
                diskfacts_testkit::skip("cachestat: Linux 6.5");
                return;
            };
            assert_eq!(
                (seen.span_bytes, seen.cached_bytes),
                (other.span_bytes, other.cached_bytes),
                "{len} bytes from {offset}"
            );
        }
    }

    #[test]
    fn a_span_of_several_chunks_is_counted_to_the_end() {
        let device = or_skip!(LoopDevice::new(3 * CHUNK_PAGES * page_bytes() / 2));
        let file = File::open(device.path()).expect("the device");
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).expect("advice");
        let size = 3 * CHUNK_PAGES * page_bytes() / 2;
        // The last page of the first chunk, the first of the second, the last.
        for page in [CHUNK_PAGES - 1, CHUNK_PAGES, 3 * CHUNK_PAGES / 2 - 1] {
            file.read_exact_at(&mut [0], page * page_bytes())
                .expect("reading");
        }
        let seen = residency(&file, 0, size).expect("an answer");
        assert_eq!(seen.cached_bytes, 3 * page_bytes());
    }

    #[test]
    fn a_user_to_whom_the_kernel_would_lie_is_told_so() {
        or_skip!(diskfacts_testkit::require_root());
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), [1; 5000]).expect("writing");
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644))
            .expect("everyone may read it");
        let open = File::open(file.path()).expect("the file");
        // On Linux a thread can have a user of its own.
        let outcome = std::thread::spawn(move || {
            let nobody = rustix::fs::Uid::from_raw(65534);
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).expect("another user");
            residency(&open, 0, 5000)
        })
        .join()
        .expect("the thread");
        let error = outcome.expect_err("not allowed");
        assert!(error.to_string().contains("only to the owner"), "{error}");
    }
}
