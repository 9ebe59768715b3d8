//! Stacks of this machine.

use crate::alone::alone;
use diskfacts_host::{Error, Roots, all_devices, filesystem_read_only, space, stack_of};
use diskfacts_record::DeviceKind;
use diskfacts_testkit::{
    FilesystemKind, LoopDevice, LoopOptions, MountedFilesystem, Scratch, Tmpfs, or_skip,
};
use std::fs::{self, File};
use std::path::Path;

const MIB: u64 = 1 << 20;

#[test]
fn this_folder_has_a_stack_that_ends_at_leaves_or_says_why_not() {
    let stack = stack_of(&Roots::default(), Path::new(".")).expect("a stack");
    let filesystem = stack.filesystem.as_ref().expect("a filesystem");
    assert!(!filesystem.kind.is_empty());
    assert!(Path::new(&filesystem.mount_point).is_absolute());
    assert!(filesystem.available_bytes <= filesystem.size_bytes);
    assert!(stack.leaves().count() > 0 || !stack.unseen.is_empty());
    for device in &stack.devices {
        assert!(device.size_bytes.is_some(), "{device:?}");
    }
}

#[test]
fn a_path_that_does_not_exist_is_an_error_that_names_it() {
    let error = stack_of(&Roots::default(), Path::new("no/such/file")).expect_err("no file");
    let said = error.to_string();
    assert!(said.contains("no/such/file"), "{said}");
    assert!(said.contains("check the spelling"), "{said}");
}

#[test]
fn a_character_device_is_no_target() {
    let error = stack_of(&Roots::default(), Path::new("/dev/null")).expect_err("no storage");
    assert!(matches!(error, Error::NotATarget { .. }), "{error}");
    assert!(error.to_string().contains("a character device"), "{error}");
}

#[test]
fn a_loop_device_stands_on_the_devices_of_its_file() {
    let _alone = alone();
    let options = LoopOptions {
        sector_size: Some(4096),
        direct_io: true,
        ..LoopOptions::default()
    };
    let device = or_skip!(LoopDevice::with(16 * MIB, options));
    let roots = Roots::default();
    let stack = stack_of(&roots, device.path()).expect("a stack");
    assert_eq!(stack.filesystem, None);
    let top = stack.top().expect("the device itself");
    assert_eq!(top.name, device.name());
    assert_eq!(Path::new(&top.path), device.path());
    assert_eq!((top.major, top.minor), device.device_number());
    assert_eq!(top.kind, DeviceKind::Loop);
    assert_eq!(top.size_bytes, Some(16 * MIB));
    assert_eq!(top.logical_sector_bytes, Some(4096));
    assert_eq!(
        top.backing_file.as_deref().map(Path::new),
        Some(device.backing_file())
    );
    let below = stack_of(&roots, device.backing_file()).expect("a stack");
    let names: Vec<_> = below.devices.iter().map(|device| &device.name).collect();
    assert_eq!(
        stack.devices[1..]
            .iter()
            .map(|device| &device.name)
            .collect::<Vec<_>>(),
        names
    );
}

#[test]
fn a_loop_device_on_a_loop_device_is_followed_through_both() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let scratch = or_skip!(Scratch::inside(mounted.path()));
    let inner = scratch.join("inner");
    File::create(&inner)
        .and_then(|file| file.set_len(8 * MIB))
        .expect("a sparse file");
    let stack = stack_of(&Roots::default(), &inner).expect("a stack");
    let filesystem = stack.filesystem.as_ref().expect("a filesystem");
    assert_eq!(filesystem.kind, "ext4");
    assert_eq!(Path::new(&filesystem.mount_point), mounted.path());
    assert!(filesystem.size_bytes.is_some_and(|bytes| bytes < 64 * MIB));
    assert_eq!(stack.devices[0].name, mounted.device().name());
    assert!(stack.devices.len() > 1 || !stack.unseen.is_empty());
}

#[test]
fn a_loop_device_whose_file_was_removed_says_so() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(MIB));
    fs::remove_file(device.backing_file()).expect("removing the file");
    let stack = stack_of(&Roots::default(), device.path()).expect("a stack");
    assert_eq!(stack.devices.len(), 1);
    assert!(
        stack.unseen[0].why.contains("deleted"),
        "{:?}",
        stack.unseen
    );
}

#[test]
fn a_subvolume_of_btrfs_is_found_in_spite_of_its_own_device_number() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Btrfs, 128 * MIB));
    let subvolume = mounted.path().join("subvolume");
    let btrfs = or_skip!(diskfacts_testkit::require_tool("btrfs", "btrfs-progs"));
    let made = std::process::Command::new(btrfs)
        .args(["-q", "subvolume", "create"])
        .arg(&subvolume)
        .status()
        .expect("running btrfs");
    assert!(made.success());
    let stack = stack_of(&Roots::default(), &subvolume).expect("a stack");
    assert_eq!(stack.filesystem.as_ref().expect("one").kind, "btrfs");
    assert_eq!(stack.top().expect("a device").name, mounted.device().name());
}

#[test]
fn the_uuid_of_a_filesystem_is_what_blkid_says_and_another_one_once_it_is_made_anew() {
    let _alone = alone();
    let blkid = or_skip!(diskfacts_testkit::require_tool("blkid", "util-linux"));
    let mut device = or_skip!(LoopDevice::new(320 * MIB));
    let mut seen: Vec<String> = Vec::new();
    for kind in [
        FilesystemKind::Ext4,
        FilesystemKind::Ext4,
        FilesystemKind::Xfs,
        FilesystemKind::Btrfs,
    ] {
        let mounted = or_skip!(MountedFilesystem::on(device, kind, ""));
        let file = mounted.path().join("file");
        fs::write(&file, b"content").expect("a file in it");
        let said = std::process::Command::new(&blkid)
            .args(["--probe", "--match-tag", "UUID", "--output", "value"])
            .arg(mounted.device().path())
            .output()
            .expect("running blkid");
        let said = String::from_utf8(said.stdout)
            .expect("text")
            .trim()
            .to_owned();
        assert_eq!(said.len(), 36, "{kind:?}: {said}");
        for path in [mounted.path(), file.as_path()] {
            let stack = stack_of(&Roots::default(), path).expect("a stack");
            let uuid = stack.filesystem.expect("one").uuid;
            assert_eq!(uuid.as_ref(), Some(&said), "{kind:?} of {path:?}");
        }
        assert!(!seen.contains(&said), "{kind:?}: {said}");
        seen.push(said);
        device = mounted.unmount();
    }
}

#[test]
fn a_filesystem_in_memory_has_no_devices_and_says_why() {
    let _alone = alone();
    let tmpfs = or_skip!(Tmpfs::new(MIB));
    let stack = stack_of(&Roots::default(), tmpfs.path()).expect("a stack");
    assert_eq!(stack.filesystem.as_ref().expect("one").kind, "tmpfs");
    assert!(stack.devices.is_empty());
    assert!(stack.unseen[0].why.contains("memory"), "{:?}", stack.unseen);
}

#[test]
fn every_device_of_this_machine_is_described() {
    let Ok(all) = all_devices(&Roots::default()) else {
        diskfacts_testkit::skip("block devices in sysfs: run outside the container");
        return;
    };
    for device in &all.devices {
        assert!(device.size_bytes.is_some(), "{device:?}");
    }
}

#[test]
fn room_is_counted_as_the_filesystem_counts_it() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let before = space(mounted.path()).expect("room");
    // mkfs.ext4 keeps five percent for root.
    assert!(before.reserved_for_root_bytes > MIB, "{before:?}");
    assert!(before.total_bytes < 64 * MIB);
    fs::write(mounted.path().join("file"), vec![1; 8 << 20]).expect("a file");
    rustix::fs::syncfs(File::open(mounted.path()).expect("the folder")).expect("writing back");
    let after = space(mounted.path()).expect("room");
    let used = before.available_bytes - after.available_bytes;
    assert!((8 * MIB..9 * MIB).contains(&used), "{used}");
    assert!(!filesystem_read_only(mounted.path()).expect("an answer"));
    mounted.remount_read_only().expect("remounting");
    assert!(filesystem_read_only(mounted.path()).expect("an answer"));
    let stack = stack_of(&Roots::default(), mounted.path()).expect("a stack");
    assert!(stack.filesystem.expect("one").read_only);
}
