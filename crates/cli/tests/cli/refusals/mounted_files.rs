//! Files that are mounted without a loop device, and files below an overlay that a loop
//! device stands on.

use super::guards::{Attached, Mounted, answer, ext4, mount_ext4, zeros};
use super::{Attempts, accepted};
use crate::support::{Case, MIB};
use diskfacts_testkit::{Missing, or_skip, require_root, require_tool};
use rustix::mount::{MountFlags, mount};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// A file with an erofs, which the kernel mounts by itself.
fn erofs(case: &Case) -> Result<(PathBuf, Mounted), Missing> {
    require_root()?;
    let mkfs = require_tool("mkfs.erofs", "erofs-utils")?;
    let (image, folder) = (case.path("image"), case.folder("content"));
    let data = case.data_file("data", MIB);
    fs::rename(data, folder.join("data")).expect("its content");
    answer(&mkfs, [&image, &folder])?;
    let at = case.folder("at");
    // mount(8) would make a loop device.
    mount(&image, &at, "erofs", MountFlags::RDONLY, None)
        .map_err(|errno| Missing::new(format!("erofs over a file: {errno}"), "Linux 6.12"))?;
    Ok((image, Mounted { at }))
}

#[test]
fn a_file_that_the_kernel_has_mounted_is_refused_by_every_door() {
    let case = Case::new();
    let (image, mounted) = or_skip!(erofs(&case));
    let said = format!("is mounted on {} (erofs)", mounted.at.display());
    let how = format!("umount {}", mounted.at.display());
    let mut attempts = Attempts::new(&case, "mounted file", [&image]);
    attempts.refused_by_all(&image, &[&said, &how]);
    attempts.end();
    drop(mounted);
    accepted(&image, &image);
}

#[test]
fn a_file_that_only_the_kernel_has_open_is_refused() {
    let case = Case::new();
    let (image, mounted) = or_skip!(erofs(&case));
    // The mount table has a name that is gone.
    let other = case.path("other");
    fs::rename(&image, &other).expect("another name");
    let mut attempts = Attempts::new(&case, "open in the kernel", [&other]);
    attempts.refused_by_both(&other, &["is open, and no process has it open"]);
    attempts.end();
    drop(mounted);
    // What a process has open is seen, and is its own matter.
    let open = fs::File::open(&other).expect("the file");
    accepted(&other, &other);
    drop(open);
}

#[test]
fn a_file_that_a_program_has_mounted_is_refused_by_every_door() {
    or_skip!(require_root());
    let case = Case::new();
    let mkfs = or_skip!(require_tool("mkfs.ntfs", "ntfs-3g"));
    let program = or_skip!(require_tool("ntfs-3g", "ntfs-3g"));
    let (image, at) = (case.path("image"), case.folder("at"));
    zeros(&image, 32 * MIB);
    let options = ["-F", "-q", "-Q"].map(OsStr::new);
    or_skip!(answer(&mkfs, [&options[..], &[image.as_os_str()]].concat()));
    or_skip!(answer(&program, [&image, &at]));
    let mounted = Mounted { at };
    let said = format!("is mounted on {} (fuse", mounted.at.display());
    let mut attempts = Attempts::new(&case, "mounted by a program", [&image]);
    attempts.refused_by_all(&image, &[&said]);
    attempts.end();
    drop(mounted);
    accepted(&image, &image);
}

/// An overlay whose lower folder has this file.
fn overlay(case: &Case, file: &Path) -> Result<Mounted, Missing> {
    require_root()?;
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| case.folder(name));
    fs::rename(file, lower.join("image")).expect("a file");
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    );
    let arguments = ["-t", "overlay", "-o", &options, "overlay"].map(OsStr::new);
    Mounted::new(&arguments, case.path("merged"))
}

#[test]
fn a_file_below_an_overlay_is_refused_when_a_loop_device_stands_on_the_file_above_it() {
    let case = Case::new();
    let merged = or_skip!(overlay(&case, &case.data_file("file", 16 * MIB)));
    let above = merged.at.join("image");
    let (lower, upper) = (case.path("lower/image"), case.path("upper/image"));
    // The lower file is the one that it has open.
    let device = or_skip!(Attached::new(&above, &["--read-only"]));
    let said = format!("is the file of the loop device {}", device.name());
    let mut attempts = Attempts::new(&case, "below an overlay", [&lower]);
    attempts.refused_by_both(&lower, &[&said]);
    drop(device);
    // For writing it is copied.
    let device = or_skip!(Attached::new(&above, &[]));
    or_skip!(ext4(&device.path));
    let mounted = or_skip!(mount_ext4(&device.path, case.path("at")));
    let said = format!("is the file of the loop device {}", device.name());
    attempts.watch(&upper);
    attempts.refused_by_both(&upper, &[&said]);
    attempts.end();
    drop((mounted, device));
    accepted(&upper, &upper);
    accepted(&lower, &lower);
}
