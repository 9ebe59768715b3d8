//! Extents of real files.

use crate::alone::alone;
use diskfacts_host::{Error, Extents, ExtentsMethod, extents};
use diskfacts_testkit::{FilesystemKind, LoopDevice, MountedFilesystem, Tmpfs, or_skip};
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn create(folder: &Path) -> File {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(folder.join("file"))
        .expect("a file")
}

fn fill(file: &File, offset: u64, bytes: u64) {
    let bytes = usize::try_from(bytes).expect("small");
    file.write_all_at(&vec![3; bytes], offset).expect("writing");
}

fn look(file: &File) -> Extents {
    extents(file).expect("an answer")
}

#[test]
fn holes_data_and_unwritten_extents_are_told_apart() {
    let _alone = alone();
    for (kind, size) in [
        (FilesystemKind::Ext4, 64 * MIB),
        (FilesystemKind::Xfs, 512 * MIB),
        (FilesystemKind::Btrfs, 256 * MIB),
    ] {
        let mounted = or_skip!(MountedFilesystem::new(kind, size));
        let file = create(mounted.path());
        // 1 MiB of data, 2 MiB set aside, 3 MiB of hole, 1 MiB of data.
        fill(&file, 0, MIB);
        fallocate(&file, FallocateFlags::empty(), MIB, 2 * MIB).expect("setting aside");
        fill(&file, 6 * MIB, MIB);
        file.sync_all().expect("syncing");
        let seen = look(&file);
        assert_eq!(seen.method, ExtentsMethod::Fiemap, "{kind:?}");
        assert_eq!(seen.size_bytes, 7 * MIB, "{kind:?}");
        assert_eq!(seen.hole_bytes, 3 * MIB, "{kind:?}");
        assert_eq!(seen.unwritten_bytes, Some(2 * MIB), "{kind:?}");
        assert_eq!(seen.delayed_bytes, Some(0), "{kind:?}");
        assert_eq!(seen.zero_bytes(), 5 * MIB, "{kind:?}");
        assert!(seen.count >= 3, "{kind:?}");
        // Room behind the end is no part of the file.
        fallocate(&file, FallocateFlags::KEEP_SIZE, 7 * MIB, 2 * MIB).expect("setting aside");
        assert_eq!(look(&file).unwritten_bytes, Some(2 * MIB), "{kind:?}");
    }
}

#[test]
fn a_file_with_more_extents_than_one_answer_holds_is_counted_to_the_end() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let file = create(mounted.path());
    for index in 0..1000 {
        fill(&file, index * 8192, 4096);
    }
    file.set_len(1000 * 8192).expect("a hole at the end");
    file.sync_all().expect("syncing");
    let seen = look(&file);
    assert_eq!(seen.count, 1000);
    assert_eq!(seen.hole_bytes, 1000 * 4096);
}

#[test]
fn a_sparse_file_is_one_hole_and_an_empty_one_is_nothing() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 16 * MIB));
    let file = create(mounted.path());
    assert_eq!((look(&file).size_bytes, look(&file).count), (0, 0));
    file.set_len(100 * MIB).expect("a sparse file");
    let seen = look(&file);
    assert_eq!(seen.hole_bytes, 100 * MIB);
    assert_eq!(seen.zero_bytes(), 100 * MIB);
    assert_eq!(seen.count, 0);
}

#[test]
fn data_that_has_no_place_yet_is_no_hole() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let file = create(mounted.path());
    fill(&file, 0, MIB);
    let seen = look(&file);
    assert_eq!(seen.hole_bytes, 0);
    // Unless it was written back meanwhile.
    assert!(matches!(seen.delayed_bytes, Some(0 | MIB)), "{seen:?}");
}

#[test]
fn compressed_inline_and_shared_extents_of_btrfs_are_flagged() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(256 * MIB));
    let mounted = or_skip!(MountedFilesystem::on(
        device,
        FilesystemKind::Btrfs,
        "compress-force=zlib"
    ));
    let file = create(mounted.path());
    fill(&file, 0, MIB);
    file.sync_all().expect("syncing");
    assert_eq!(look(&file).encoded_bytes, Some(MIB));
    let small = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(mounted.path().join("small"))
        .expect("a file");
    fill(&small, 0, 100);
    small.sync_all().expect("syncing");
    assert_eq!(look(&small).inline_bytes, Some(100));
    let clone = File::create(mounted.path().join("clone")).expect("a file");
    rustix::fs::ioctl_ficlone(&clone, &file).expect("sharing the extents");
    clone.sync_all().expect("syncing");
    assert_eq!(look(&file).shared_bytes, Some(MIB));
}

#[test]
fn a_filesystem_without_a_map_still_tells_its_holes() {
    let _alone = alone();
    let tmpfs = or_skip!(Tmpfs::new(16 * MIB));
    let file = create(tmpfs.path());
    fill(&file, 0, MIB);
    fill(&file, 4 * MIB, MIB);
    file.set_len(8 * MIB).expect("a hole at the end");
    let before = rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(77)).expect("seeking");
    let seen = look(&file);
    assert_eq!(seen.method, ExtentsMethod::SeekHole);
    assert_eq!(seen.hole_bytes, 6 * MIB);
    assert_eq!(seen.count, 2);
    assert_eq!(seen.unwritten_bytes, None);
    let after = rustix::fs::tell(&file).expect("the position");
    assert_eq!(before, after);
}

#[test]
fn a_block_device_and_a_folder_have_no_extents() {
    let _alone = alone();
    let folder = File::open(".").expect("this folder");
    let error = extents(&folder).expect_err("a folder");
    assert!(matches!(error, Error::NotAllowed { .. }));
    assert!(error.to_string().contains("a folder"), "{error}");
    let device = or_skip!(LoopDevice::new(MIB));
    let device = File::open(device.path()).expect("the device");
    assert!(extents(&device).is_err());
}
