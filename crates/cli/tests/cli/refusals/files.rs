//! Files that are under a loop device or swapped to, by whatever name.

use super::doors::Door;
use super::guards::{Attached, Elsewhere, Mounted, Swap, dd_where_hidden, zeros};
use super::{Attempts, accepted};
use crate::support::{Case, MIB, run_tool};
use diskfacts_testkit::{or_skip, require_root};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

#[test]
fn a_file_under_a_loop_device_is_refused_by_every_door_and_every_name() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 16 * MIB);
    let device = or_skip!(Attached::new(&image, &[]));
    let said = format!("is the file of the loop device {}", device.name());
    let how = format!("losetup --detach {}", device.path.display());
    let mut attempts = Attempts::new(&case, "looped file", [&image]);
    attempts.refused_by_all(&image, &[&said, &how]);
    let [link, hard, folder] = ["link", "hard", "folder"].map(|name| case.path(name));
    symlink("image", &link).expect("a link");
    fs::hard_link(&image, &hard).expect("a link");
    fs::create_dir(&folder).expect("a folder");
    for name in [&link, &hard, &folder.join("../image")] {
        attempts.refused(Door::Sequential, name, &[&said]);
    }
    attempts.end();
    drop(device);
    accepted(&hard, &image);
}

#[test]
fn a_file_whose_name_at_the_loop_device_is_gone_is_refused_by_every_door() {
    let case = Case::new();
    let (image, other) = (case.path("image"), case.path("other"));
    zeros(&image, 16 * MIB);
    fs::hard_link(&image, &other).expect("a link");
    let device = or_skip!(Attached::new(&image, &[]));
    fs::remove_file(&image).expect("removing a name");
    let said = format!("is the file of the loop device {}", device.name());
    let mut attempts = Attempts::new(&case, "looped deleted", [&other]);
    attempts.refused_by_all(&other, &[&said]);
    // By a bind mount of it.
    let at = case.path("bound");
    zeros(&at, 0);
    let bound = or_skip!(Mounted::new(&[OsStr::new("--bind"), other.as_os_str()], at));
    attempts.refused(Door::Dd, &bound.at, &[&said]);
    attempts.end();
    drop((bound, device));
    accepted(&other, &other);
}

#[test]
fn a_file_under_a_loop_device_of_another_mount_namespace_is_refused() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 16 * MIB);
    let at = case.folder("at");
    // There its path lies in a folder that is empty here.
    let elsewhere = or_skip!(Elsewhere::new(
        "mount --bind \"$1\" \"$2\"; touch \"$2\"; cd \"$2\"; \
         device=$(losetup --find --show \"$2/image\"); echo \"$device\"",
        &[case.path("").as_path(), &at]
    ));
    let device = Detached(PathBuf::from(&elsewhere.said));
    let said = format!("losetup --detach {}", elsewhere.said);
    let mut attempts = Attempts::new(&case, "looped elsewhere", [&image]);
    for door in [Door::Sequential, Door::Dd, Door::DdDirect] {
        attempts.refused(door, &image, &[&said]);
    }
    attempts.end();
    drop((device, elsewhere));
    accepted(&image, &image);
}

/// A loop device that a shell made.
struct Detached(PathBuf);

impl Drop for Detached {
    fn drop(&mut self) {
        // The guard of those made here does it.
        drop(Attached {
            path: self.0.clone(),
        });
    }
}

#[test]
fn a_file_under_a_loop_device_that_was_made_in_a_chroot_is_refused() {
    let case = Case::new();
    let root = case.folder("root");
    let image = root.join("image");
    zeros(&image, 16 * MIB);
    let elsewhere = or_skip!(Elsewhere::new(
        "for folder in bin sbin usr lib lib64 etc dev proc sys; do \
           if [ -e /$folder ]; then mkdir \"$1/$folder\"; mount --rbind /$folder \"$1/$folder\"; fi; \
         done; chroot \"$1\" losetup --find --show /image",
        &[&root]
    ));
    let device = Detached(PathBuf::from(&elsewhere.said));
    let said = format!("losetup --detach {}", elsewhere.said);
    let mut attempts = Attempts::new(&case, "looped chroot", [&image]);
    attempts.refused_by_both(&image, &[&said]);
    attempts.end();
    drop((device, elsewhere));
    accepted(&image, &image);
}

#[test]
fn another_file_at_the_path_of_the_loop_device_hides_nothing() {
    let case = Case::new();
    let (image, moved) = (case.path("image"), case.path("moved"));
    zeros(&image, 16 * MIB);
    fs::hard_link(&image, &moved).expect("a link");
    let device = or_skip!(Attached::new(&image, &[]));
    let decoy = case.path("decoy");
    zeros(&decoy, 16 * MIB);
    // Mounted over it, the path leads to another file, and sysfs says nothing of that.
    let over = or_skip!(Mounted::new(
        &[OsStr::new("--bind"), decoy.as_os_str()],
        image.clone()
    ));
    let said = format!("is the file of the loop device {}", device.name());
    let mut attempts = Attempts::new(&case, "looped decoy", [&moved, &decoy]);
    attempts.refused_by_both(&moved, &[&said]);
    attempts.end();
    // The other file is not under it.
    accepted(&image, &decoy);
    drop((over, device));
    accepted(&moved, &moved);
}

#[test]
fn a_file_under_a_loop_device_that_sysfs_hides_is_refused() {
    or_skip!(require_root());
    let case = Case::new();
    let [image, free] = ["image", "free"].map(|name| case.data_file(name, MIB));
    let over = case.folder("over");
    let device = or_skip!(Attached::new(&image, &[]));
    let all = Path::new("/sys/devices/virtual/block");
    let own = all.join(device.name());
    let mut attempts = Attempts::new(&case, "looped hidden", [&image]);
    for hidden in [&own, all, Path::new("/sys/class/block")] {
        let (code, said) = or_skip!(dd_where_hidden(&case, &over, hidden, &image));
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains("another filesystem is mounted over it"),
            "{said}"
        );
        assert!(said.contains("Nothing was written"), "{said}");
        attempts.unchanged();
    }
    attempts.end();
    // Nobody has the other file open, so that no device stands on it, seen or not.
    let before = super::sum(&free);
    let (code, said) = or_skip!(dd_where_hidden(&case, &over, &own, &free));
    assert_eq!(code, Some(0), "{said}");
    assert_ne!(super::sum(&free), before);
    drop(device);
    accepted(&image, &image);
}

#[test]
fn a_file_with_an_odd_name_under_a_loop_device_is_refused() {
    let case = Case::new();
    let images = [
        "new\nline",
        "with blank",
        "back\\slash\\040",
        "ends (deleted)",
    ]
    .map(|name| case.path(name));
    for image in &images {
        zeros(image, 16 * MIB);
    }
    let watched = images.each_ref().map(PathBuf::as_path);
    let mut attempts = Attempts::new(&case, "looped odd names", watched);
    for image in &images {
        let device = or_skip!(Attached::new(image, &[]));
        let said = format!("is the file of the loop device {}", device.name());
        attempts.refused_by_both(image, &[&said]);
    }
    attempts.end();
    accepted(&images[0], &images[0]);
}

#[test]
fn a_file_of_an_overlay_is_refused_when_a_loop_device_stands_on_the_file_below_it() {
    let case = Case::new();
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| case.folder(name));
    zeros(&upper.join("image"), 16 * MIB);
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    );
    let arguments = ["-t", "overlay", "-o", &options, "overlay"].map(OsStr::new);
    let mounted = or_skip!(Mounted::new(&arguments, case.path("merged")));
    let image = mounted.at.join("image");
    let device = or_skip!(Attached::new(&upper.join("image"), &[]));
    let said = format!("is the file of the loop device {}", device.name());
    let mut attempts = Attempts::new(&case, "looped overlay", [&image]);
    attempts.refused_by_both(&image, &[&said]);
    attempts.end();
    drop(device);
    accepted(&image, &image);
}

#[test]
fn a_file_of_which_a_part_is_under_a_loop_device_is_refused() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 16 * MIB);
    let device = or_skip!(Attached::new(
        &image,
        &["--offset=8388608", "--sizelimit=1048576"]
    ));
    let said = format!("is the file of the loop device {}", device.name());
    let mut attempts = Attempts::new(&case, "looped part", [&image]);
    attempts.refused_by_both(&image, &[&said]);
    attempts.end();
    drop(device);
    accepted(&image, &image);
}

/// A file that memory can be swapped to.
fn swappable(case: &Case, name: &str) -> PathBuf {
    let file = case.data_file(name, 16 * MIB);
    run_tool("chmod", "coreutils", &["600", &file.to_string_lossy()]).expect("chmod");
    file
}

#[test]
fn a_swap_file_is_refused_by_every_door_and_every_name() {
    or_skip!(require_root());
    let case = Case::new();
    let file = swappable(&case, "swap file");
    let hard = case.path("hard");
    fs::hard_link(&file, &hard).expect("a link");
    let swap = or_skip!(Swap::on(&file));
    let mut attempts = Attempts::new(&case, "swap file", [&file]);
    attempts.refused_by_all(&file, &["is used as swap", "swapoff '"]);
    attempts.refused_by_both(&hard, &["is used as swap", "swapoff"]);
    attempts.end();
    drop(swap);
    accepted(&file, &file);
}

#[test]
fn a_swap_file_with_an_odd_name_is_refused() {
    or_skip!(require_root());
    let case = Case::new();
    let files = ["tab\tand\nnewline", "back\\slash", "octal\\040"];
    let files = files.map(|name| swappable(&case, name));
    // All are in use before the first sum: what makes a swap area writes to it.
    let mut swaps = Vec::new();
    for file in &files {
        swaps.push(or_skip!(Swap::on(file)));
    }
    let watched = files.each_ref().map(PathBuf::as_path);
    let mut attempts = Attempts::new(&case, "swap odd names", watched);
    for file in &files {
        attempts.refused_by_both(file, &["is used as swap"]);
    }
    attempts.end();
    drop(swaps);
    for file in &files {
        accepted(file, file);
    }
}

#[test]
fn a_swap_file_whose_path_leads_to_another_file_is_refused_by_its_other_name() {
    or_skip!(require_root());
    let case = Case::new();
    let (file, hard) = (swappable(&case, "swap"), case.path("hard"));
    fs::hard_link(&file, &hard).expect("a link");
    let decoy = case.data_file("decoy", 16 * MIB);
    let swap = or_skip!(Swap::on(&file));
    let mut attempts = Attempts::new(&case, "swap hidden", [&hard, &decoy]);
    let (code, said) = or_skip!(dd_where_hidden(&case, &decoy, &file, &hard));
    assert_eq!(code, Some(2), "{said}");
    let why = "is used as swap, and its path leads to something else";
    assert!(said.contains(why), "{said}");
    attempts.unchanged();
    attempts.end();
    // No other file is refused for it: nobody has this one open.
    let before = super::sum(&decoy);
    let (code, said) = or_skip!(dd_where_hidden(&case, &decoy, &file, &decoy));
    assert_eq!(code, Some(0), "{said}");
    assert_ne!(super::sum(&decoy), before);
    drop(swap);
    accepted(&hard, &hard);
}
