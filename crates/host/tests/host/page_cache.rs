//! What of a file is cached, and dropping it.

use crate::alone::alone;
use diskfacts_host::{DirtyPages, drop_cache, residency};
use diskfacts_record::evidence::{Residency, ResidencyMethod};
use diskfacts_testkit::{FilesystemKind, LoopDevice, Missing, MountedFilesystem, Scratch, or_skip};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MIB: u64 = 1 << 20;

/// A file of `size` bytes that is on the disk and not in the page cache. On a
/// filesystem of its own, because in memory nothing can be dropped.
fn cold(folder: &Path, size: u64) -> File {
    let path = folder.join("file");
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .expect("a file");
    file.write_all_at(&vec![7; usize::try_from(size).expect("small")], 0)
        .expect("writing");
    file.sync_all().expect("syncing");
    let dropped = drop_cache(&file, 0, size, DirtyPages::Leave).expect("dropping");
    assert_eq!(dropped.is_cold(), Some(true), "{dropped:?}");
    // Reading a page here must not bring its neighbours.
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).expect("advice");
    file
}

/// What `look` sees of a cold file of 8 MiB. The kernel may take pages away at any time
/// (DAMON does of what nobody used of late), and counts those in each answer: a pass in which
/// it did is made again. Before Linux 6.5 it does not tell.
fn left_alone<const N: usize>(
    look: impl Fn(&File) -> [Residency; N],
) -> Result<[Residency; N], Missing> {
    for _ in 0..10 {
        let mounted = MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB)?;
        let seen = look(&cold(mounted.path(), 8 * MIB));
        if seen.iter().all(|one| one.evicted_bytes.unwrap_or(0) == 0) {
            return Ok(seen);
        }
    }
    Err(Missing::new(
        "a kernel that leaves what was just read in the page cache",
        "it took pages away in ten of ten passes",
    ))
}

#[test]
fn exactly_what_was_read_is_cached() {
    let _alone = alone();
    let [seen, half, rest] = or_skip!(left_alone(|file| {
        let mut block = vec![0; 4096];
        // Every other of the first 512 pages.
        for page in (0..512).step_by(2) {
            file.read_exact_at(&mut block, page * 4096)
                .expect("reading");
        }
        [(0, 8 * MIB), (MIB, MIB), (2 * MIB, 100 * MIB)]
            .map(|(from, length)| residency(file, from, length).expect("an answer"))
    }));
    assert_eq!(seen.span_bytes, 8 * MIB);
    assert_eq!(seen.cached_bytes, 256 * 4096);
    assert_eq!(half.cached_bytes, 128 * 4096);
    assert_eq!(rest.span_bytes, 6 * MIB);
    assert_eq!(rest.cached_bytes, 0);
}

#[test]
fn cold_half_warm_and_warm_are_told_apart() {
    let _alone = alone();
    let size = 8 * MIB;
    let seen = or_skip!(left_alone(|file| {
        [0, size / 2, size].map(|read| {
            let mut content = vec![0; usize::try_from(read).expect("small")];
            file.read_exact_at(&mut content, 0).expect("reading");
            residency(file, 0, size).expect("an answer")
        })
    }));
    assert_eq!(seen.map(|one| one.cached_bytes), [0, size / 2, size]);
}

#[test]
fn dirty_pages_are_seen_and_written_before_they_are_dropped() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB));
    let file = cold(mounted.path(), 4 * MIB);
    file.write_all_at(&vec![9; 1 << 20], 0).expect("writing");
    let dirty = residency(&file, 0, 4 * MIB).expect("an answer");
    if dirty.method == ResidencyMethod::Mincore {
        diskfacts_testkit::skip("cachestat: Linux 6.5");
        return;
    }
    assert_eq!(dirty.dirty_bytes, Some(MIB));
    // Nobody has asked for it to be written, and it is young.
    assert_eq!(dirty.writing_bytes, Some(0));
    let gone = drop_cache(&file, 0, 4 * MIB, DirtyPages::WriteFirst).expect("dropping");
    assert_eq!(gone.is_cold(), Some(true), "{gone:?}");
    let left = gone.stayed.expect("an answer");
    assert_eq!((left.dirty_bytes, left.writing_bytes), (Some(0), Some(0)));
    // What was dropped on demand was not evicted.
    assert_eq!(
        (left.evicted_bytes, left.recently_evicted_bytes),
        (Some(0), Some(0))
    );
    let mut block = [0; 4096];
    file.read_exact_at(&mut block, 0).expect("reading");
    assert_eq!(block, [9; 4096]);
    // How much stays without waiting depends on how fast the disk is; that
    // nothing is lost does not.
    file.write_all_at(&vec![8; 1 << 20], 0).expect("writing");
    drop_cache(&file, 0, 4 * MIB, DirtyPages::Leave).expect("dropping");
    file.read_exact_at(&mut block, MIB - 4096).expect("reading");
    assert_eq!(block, [8; 4096]);
}

#[test]
fn the_span_is_dropped_with_all_folios_it_touches_and_no_others() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB));
    let file = cold(mounted.path(), 8 * MIB);
    let read_all = || {
        let mut block = vec![0; 1 << 20];
        for mib in 0..8 {
            file.read_exact_at(&mut block, mib * MIB).expect("reading");
        }
    };
    read_all();
    // From within the second folio of 2 MiB to within the third.
    drop_cache(&file, 2 * MIB + 100, 2 * MIB, DirtyPages::Leave).expect("dropping");
    let cached = |offset, len| {
        residency(&file, offset, len)
            .expect("an answer")
            .cached_bytes
    };
    assert_eq!(cached(2 * MIB, 4 * MIB), 0);
    assert_eq!(cached(0, 2 * MIB) + cached(6 * MIB, 2 * MIB), 4 * MIB);
    let nothing = drop_cache(&file, MIB, 0, DirtyPages::Leave).expect("dropping");
    assert_eq!(nothing.stayed.map(|stayed| stayed.span_bytes), Some(0));
    assert_eq!(cached(0, 2 * MIB), 2 * MIB);
    let largest = drop_cache(&file, 0, u64::MAX, DirtyPages::WriteFirst).expect("dropping");
    assert_eq!(largest.is_cold(), Some(true));
}

#[test]
fn a_span_that_ends_within_a_folio_is_cold_after_it_was_dropped() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let path = mounted.path().join("large");
    // Written at once, so that the kernel makes folios as large as it can.
    std::fs::write(&path, vec![5; 16 << 20]).expect("writing");
    let file = File::open(&path).expect("opening");
    let span = 5 * MIB + 300_000;
    let dropped = drop_cache(&file, 0, span, DirtyPages::WriteFirst).expect("dropping");
    assert_eq!(dropped.is_cold(), Some(true), "{dropped:?}");
}

#[test]
fn an_empty_span_and_one_behind_the_end_are_empty() {
    let _alone = alone();
    let scratch = or_skip!(Scratch::new());
    let path = scratch.join("file");
    std::fs::write(&path, [1; 5000]).expect("a file");
    let file = File::open(&path).expect("the file");
    for (offset, len) in [(0, 0), (4096, 0), (5000, 10), (u64::MAX, u64::MAX)] {
        let seen = residency(&file, offset, len).expect("an answer");
        assert_eq!(
            (seen.span_bytes, seen.cached_bytes),
            (0, 0),
            "{offset} {len}"
        );
    }
    let all = residency(&file, 0, u64::MAX).expect("an answer");
    assert_eq!((all.span_bytes, all.cached_bytes), (5000, 5000));
    let tail = residency(&file, 4999, 100).expect("an answer");
    assert_eq!((tail.span_bytes, tail.cached_bytes), (1, 1));
}

#[test]
fn the_page_cache_of_a_block_device_is_seen_too() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(4 * MIB));
    let file = File::open(device.path()).expect("the device");
    drop_cache(&file, 0, 4 * MIB, DirtyPages::WriteFirst).expect("dropping");
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).expect("advice");
    let mut block = vec![0; 65536];
    file.read_exact_at(&mut block, 0).expect("reading");
    let seen = residency(&file, 0, u64::MAX).expect("an answer");
    assert_eq!(seen.span_bytes, 4 * MIB);
    assert_eq!(seen.cached_bytes, 65536);
}
