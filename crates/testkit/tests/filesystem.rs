//! Small filesystems work, and nothing of them stays.
#![cfg(target_os = "linux")]

use diskfacts_testkit::{FilesystemKind, Missing, MountedFilesystem, Tmpfs, or_skip, skip};
use std::fs;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Type of the filesystem mounted at exactly this place.
fn mounted_at(place: &Path) -> Option<String> {
    fs::read_to_string("/proc/self/mounts")
        .expect("the mounts")
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .find(|fields| Path::new(fields[1]) == place)
        .map(|fields| fields[2].to_owned())
}

fn works(kind: FilesystemKind, name: &str, size: u64) {
    let filesystem = or_skip!(MountedFilesystem::new(kind, size));
    let place = filesystem.path().to_owned();
    assert_eq!(mounted_at(&place).as_deref(), Some(name));
    let content = vec![7; 100_000];
    fs::write(place.join("file"), &content).expect("writing");
    assert_eq!(fs::read(place.join("file")).expect("reading"), content);
    drop(filesystem);
    assert_eq!(mounted_at(&place), None);
    assert!(!place.exists());
}

#[test]
fn ext4_works() {
    works(FilesystemKind::Ext4, "ext4", 16 << 20);
}

#[test]
fn xfs_works() {
    works(FilesystemKind::Xfs, "xfs", 320 << 20);
}

#[test]
fn btrfs_works() {
    works(FilesystemKind::Btrfs, "btrfs", 128 << 20);
}

#[test]
fn vfat_works() {
    works(FilesystemKind::Vfat, "vfat", 16 << 20);
}

#[test]
fn a_filesystem_can_be_made_read_only() {
    let filesystem = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 16 << 20));
    or_skip!(filesystem.remount_read_only());
    let refused = fs::write(filesystem.path().join("file"), b"x").expect_err("it is read-only");
    assert_eq!(refused.kind(), ErrorKind::ReadOnlyFilesystem);
}

#[test]
fn a_tmpfs_holds_as_much_as_asked_and_no_more() {
    let tmpfs = or_skip!(Tmpfs::new(1 << 20));
    assert_eq!(mounted_at(tmpfs.path()).as_deref(), Some("tmpfs"));
    fs::write(tmpfs.path().join("half"), vec![0; 1 << 19]).expect("it fits");
    let full = fs::write(tmpfs.path().join("more"), vec![0; 1 << 20]).expect_err("it does not");
    assert_eq!(full.kind(), ErrorKind::StorageFull);
}

/// Runs a test that panics while it holds what `make` made, mounted where
/// `place` says; then neither mount nor folder is left.
fn leaves_nothing<T>(make: impl Fn() -> Result<T, Missing>, place: impl Fn(&T) -> PathBuf) {
    let mut seen = PathBuf::new();
    let mut missing = None;
    let result = catch_unwind(AssertUnwindSafe(|| match make() {
        Ok(mounted) => {
            seen = place(&mounted);
            assert!(mounted_at(&seen).is_some());
            panic!("as planned");
        }
        Err(what) => missing = Some(what),
    }));
    if let Some(missing) = missing {
        return skip(&missing.to_string());
    }
    assert!(result.is_err());
    assert_eq!(mounted_at(&seen), None);
    assert!(!seen.parent().expect("the scratch folder").exists());
}

#[test]
fn a_test_that_panics_leaves_no_filesystem() {
    leaves_nothing(
        || MountedFilesystem::new(FilesystemKind::Ext4, 16 << 20),
        |filesystem| filesystem.path().to_owned(),
    );
}

#[test]
fn a_test_that_panics_leaves_no_tmpfs() {
    leaves_nothing(|| Tmpfs::new(1 << 20), |tmpfs| tmpfs.path().to_owned());
}

#[test]
fn a_file_still_open_at_the_end_is_reported_and_out_of_sight() {
    let filesystem = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 16 << 20));
    let place = filesystem.path().to_owned();
    let open = fs::File::create(place.join("file")).expect("creating");
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(filesystem)));
    let message = *dropped
        .expect_err("the test must hear of it")
        .downcast::<String>()
        .expect("a message");
    assert!(message.contains("could not be taken down"), "{message}");
    assert_eq!(mounted_at(&place), None);
    drop(open);
}

#[test]
fn what_a_process_keeps_busy_for_a_moment_is_waited_for() {
    let tmpfs = or_skip!(Tmpfs::new(1 << 20));
    let place = tmpfs.path().to_owned();
    let mut process = Command::new("sleep")
        .arg("0.05")
        .current_dir(&place)
        .spawn()
        .expect("a process");
    drop(tmpfs);
    assert_eq!(mounted_at(&place), None);
    process.wait().expect("its end");
}
