//! Devices that somebody uses, by every door and by every name.

use super::doors::Door;
use super::guards::{
    Attached, Elsewhere, MOUNT_EXT4, Swap, dd_where_hidden, ext4, mount_ext4, wipe, zeros,
};
use super::{Attempts, accepted};
use crate::support::{Case, MIB, run_tool};
use diskfacts_testkit::{DeviceClaim, or_skip, require_root, require_tool};
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn a_mounted_device_is_refused_by_every_door_and_every_name() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 16 * MIB);
    let device = or_skip!(Attached::new(&image, &[]));
    or_skip!(ext4(&device.path));
    let mounted = or_skip!(mount_ext4(&device.path, case.path("at")));
    let said = format!("{} is mounted on", device.name());

    let mut attempts = Attempts::new(&case, "mounted", [&image, &device.path]);
    attempts.refused_by_all(&device.path, &[&said, "umount"]);
    // As in /dev/disk/by-id.
    let link = case.path("by-id");
    symlink(&device.path, &link).expect("a link");
    let links = case.path("link-to-link");
    symlink("by-id", &links).expect("a link");
    let roundabout = format!("/dev/../dev/./{}", device.name());
    let node = case.path("node");
    or_skip!(run_tool(
        "cp",
        "coreutils",
        &[
            "-a",
            &device.path.to_string_lossy(),
            &node.to_string_lossy()
        ]
    ));
    for name in [&link, &links, Path::new(&roundabout), &node] {
        attempts.refused(Door::Sequential, name, &[&said]);
        attempts.refused(Door::Dd, name, &[&said]);
    }
    attempts.end();

    drop(mounted);
    wipe(&device.path);
    accepted(&node, &image);
}

#[test]
fn swap_on_a_device_is_refused_by_every_door() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 16 * MIB);
    let device = or_skip!(Attached::new(&image, &[]));
    let swap = or_skip!(Swap::on(&device.path));
    let mut attempts = Attempts::new(&case, "swap", [&image]);
    attempts.refused_by_all(&device.path, &["is used as swap", "swapoff"]);
    attempts.end();
    drop(swap);
    wipe(&device.path);
    accepted(&device.path, &image);
}

#[test]
fn a_claimed_device_is_refused_by_every_door() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 16 * MIB);
    let device = or_skip!(Attached::new(&image, &[]));
    let holder = DeviceClaim::on(&device.path).expect("nobody else holds it");
    let mut attempts = Attempts::new(&case, "held", [&image]);
    attempts.refused_by_all(&device.path, &["is held by someone"]);
    attempts.end();
    holder.release();
    accepted(&device.path, &image);
}

#[test]
fn a_mounted_partition_is_refused_as_itself_and_as_its_disk() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 64 * MIB);
    let device = or_skip!(Attached::new(&image, &["--partscan"]));
    let disk = device.path.to_string_lossy();
    or_skip!(run_tool(
        "addpart",
        "util-linux",
        &[&disk, "1", "2048", "60000"]
    ));
    or_skip!(run_tool(
        "addpart",
        "util-linux",
        &[&disk, "2", "65536", "32768"]
    ));
    let partition = format!("{disk}p1");
    or_skip!(ext4(Path::new(&partition)));
    let mounted = or_skip!(mount_ext4(Path::new(&partition), case.path("at")));
    let said = format!("{}p1 is mounted on", device.name());
    let mut attempts = Attempts::new(&case, "partition", [&image]);
    attempts.refused_by_all(&device.path, &[&said]);
    for door in [Door::Survey, Door::Sequential, Door::Dd, Door::DdDirect] {
        attempts.refused(door, Path::new(&partition), &[&said]);
    }
    attempts.end();
    // The other partition is nobody's.
    accepted(Path::new(&format!("{disk}p2")), &image);
    drop(mounted);
    wipe(Path::new(&partition));
    accepted(Path::new(&partition), &image);
}

#[test]
fn a_read_only_device_is_refused_by_every_door() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 16 * MIB);
    let device = or_skip!(Attached::new(&image, &["--read-only"]));
    let mut attempts = Attempts::new(&case, "read-only", [&image]);
    attempts.refused_by_all(&device.path, &["is read-only"]);
    attempts.end();
    drop(device);
    let device = or_skip!(Attached::new(&image, &[]));
    accepted(&device.path, &image);
}

#[test]
fn a_device_that_is_mounted_in_another_mount_namespace_is_refused() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 16 * MIB);
    let device = or_skip!(Attached::new(&image, &[]));
    or_skip!(ext4(&device.path));
    let at = case.folder("at");
    let mounted = or_skip!(Elsewhere::new(MOUNT_EXT4, &[&device.path, &at]));
    assert_eq!(mounted.said, "mounted");
    let mut attempts = Attempts::new(&case, "other namespace", [&image]);
    attempts.refused_by_both(&device.path, &["not in this mount namespace"]);
    attempts.end();
    drop(mounted);
    wipe(&device.path);
    accepted(&device.path, &image);
}

#[test]
fn a_loop_device_that_nobody_can_ask_is_an_obstacle_to_every_write() {
    or_skip!(require_root());
    or_skip!(require_tool("unshare", "util-linux"));
    let case = Case::new();
    let [image, other, file] = ["image", "other", "file"].map(|name| case.path(name));
    for path in [&image, &other, &file] {
        zeros(path, 16 * MIB);
    }
    let unasked = or_skip!(Attached::new(&other, &[]));
    let target = or_skip!(Attached::new(&image, &[]));
    // Something else lies over the node of one.
    let dd = |target: &Path| {
        dd_where_hidden(&case, Path::new("/dev/null"), &unasked.path, target)
            .unwrap_or_else(|missing| panic!("{missing}"))
    };
    let mut attempts = Attempts::new(&case, "unasked loop", [&image, &other, &file]);
    let why = format!(
        "{} has something attached, and cannot be opened",
        unasked.name()
    );
    // The file under it, a file that somebody has open as a loop device might, and a
    // device.
    let open = std::fs::File::open(&file).expect("the file");
    for target in [&other, &file, &target.path] {
        let (code, said) = dd(target);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(&why), "{said}");
        attempts.unchanged();
    }
    attempts.end();
    // Nobody has the file open, so that no loop device stands on it, asked or not.
    drop(open);
    // A process that another test starts has a copy of it for a moment.
    let before = super::sum(&file);
    assert!((0..100).any(|_| dd(&file).0 == Some(0)), "{:?}", dd(&file));
    assert_ne!(super::sum(&file), before);
    drop(unasked);
    accepted(&target.path, &image);
}
