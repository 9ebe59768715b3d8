//! Devices that have bytes in common: loop devices over one file, and over devices.

use super::doors::Door;
use super::guards::{
    Attached, Elsewhere, MOUNT_EXT4, Mounted, Swap, ext4, mount_ext4, wipe, zeros,
};
use super::{Attempts, accepted};
use crate::support::{Case, MIB, run_tool};
use diskfacts_testkit::{DeviceClaim, Missing, or_skip};
use std::path::PathBuf;

/// A file of 32 MiB; a loop device over its first 12 MiB, one over 8 to 24 MiB, and one
/// from 24 MiB to its end.
struct Shared {
    image: PathBuf,
    target: Attached,
    other: Attached,
    apart: Attached,
    case: Case,
}

fn shared() -> Result<Shared, Missing> {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 32 * MIB);
    let at = |offset: u64, more: &[&str]| {
        let offset = format!("--offset={}", offset * MIB);
        let mut options = vec![offset.as_str()];
        options.extend(more);
        Attached::new(&image, &options)
    };
    Ok(Shared {
        target: at(0, &["--sizelimit=12582912"])?,
        other: at(8, &["--sizelimit=16777216", "--partscan"])?,
        apart: at(24, &[])?,
        image,
        case,
    })
}

#[test]
fn a_filesystem_on_another_loop_device_over_the_same_bytes_is_no_ones_to_overwrite() {
    let shared = or_skip!(shared());
    or_skip!(ext4(&shared.other.path));
    let at = shared.case.path("at");
    let mounted = or_skip!(mount_ext4(&shared.other.path, at));
    let said = format!("{} is mounted on", shared.other.name());
    let mut attempts = Attempts::new(&shared.case, "overlap mounted", [&shared.image]);
    attempts.refused_by_all(&shared.target.path, &[&said]);
    // Through a loop device over the loop device.
    let upper = or_skip!(Attached::new(&shared.target.path, &[]));
    attempts.refused_by_both(&upper.path, &[&said]);
    attempts.end();
    drop(upper);
    // The bytes beside it are free.
    accepted(&shared.apart.path, &shared.image);
    drop(mounted);

    // The mark is not among the bytes of the target, but the filesystem is.
    let carries = format!("{} carries data: ext4", shared.other.name());
    let mut attempts = Attempts::new(&shared.case, "overlap mark", [&shared.image]);
    attempts.refused_by_both(&shared.target.path, &[&carries]);
    attempts.end();
    wipe(&shared.other.path);
    accepted(&shared.target.path, &shared.image);
}

#[test]
fn who_claims_or_swaps_to_another_loop_device_over_the_same_bytes_is_seen() {
    let shared = or_skip!(shared());
    let holder = DeviceClaim::on(&shared.other.path).expect("nobody else holds it");
    let name = shared.other.name();
    let held = format!("{name} is held by someone");
    let mut attempts = Attempts::new(&shared.case, "overlap held", [&shared.image]);
    attempts.refused_by_both(&shared.target.path, &[&held]);
    attempts.end();
    holder.release();
    accepted(&shared.target.path, &shared.image);

    let swap = or_skip!(Swap::on(&shared.other.path));
    let swapped = format!("{name} is used as swap");
    let mut attempts = Attempts::new(&shared.case, "overlap swap", [&shared.image]);
    attempts.refused_by_both(&shared.target.path, &[&swapped]);
    attempts.end();
    drop(swap);
    wipe(&shared.other.path);
    accepted(&shared.target.path, &shared.image);
}

#[test]
fn only_the_parts_that_overlap_forbid_anything() {
    let shared = or_skip!(shared());
    let other = shared.other.path.to_string_lossy();
    // 8 to 12 MiB of the file, and 16 to 24.
    or_skip!(run_tool(
        "addpart",
        "util-linux",
        &[&other, "1", "0", "8192"]
    ));
    or_skip!(run_tool(
        "addpart",
        "util-linux",
        &[&other, "2", "16384", "16384"]
    ));
    let part = |number: u32| PathBuf::from(format!("{other}p{number}"));
    let mount = |number: u32| -> Result<Mounted, Missing> {
        ext4(&part(number))?;
        let at = shared.case.path(&format!("at{number}"));
        mount_ext4(&part(number), at)
    };
    let apart = or_skip!(mount(2));
    accepted(&shared.target.path, &shared.image);
    let mounted = or_skip!(mount(1));
    let said = format!("{}p1 is mounted on", shared.other.name());
    let mut attempts = Attempts::new(&shared.case, "overlap partition", [&shared.image]);
    attempts.refused_by_both(&shared.target.path, &[&said]);
    attempts.end();
    drop((apart, mounted));
}

#[test]
fn a_mount_in_another_namespace_of_the_same_bytes_is_seen() {
    let shared = or_skip!(shared());
    or_skip!(ext4(&shared.other.path));
    let at = shared.case.folder("at");
    let mounted = or_skip!(Elsewhere::new(MOUNT_EXT4, &[&shared.other.path, &at]));
    let said = format!("{} is mounted (ext4), but not in this", shared.other.name());
    let mut attempts = Attempts::new(&shared.case, "overlap other namespace", [&shared.image]);
    attempts.refused_by_both(&shared.target.path, &[&said]);
    attempts.end();
    drop(mounted);
    wipe(&shared.other.path);
    accepted(&shared.target.path, &shared.image);
}

#[test]
fn a_loop_device_over_a_device_forbids_that_by_whatever_name_it_was_made() {
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, 32 * MIB);
    let device = or_skip!(Attached::new(&image, &["--partscan"]));
    let disk = device.path.to_string_lossy();
    or_skip!(run_tool(
        "addpart",
        "util-linux",
        &[&disk, "1", "2048", "16384"]
    ));
    or_skip!(run_tool(
        "addpart",
        "util-linux",
        &[&disk, "2", "18432", "16384"]
    ));
    let part = |number: u32| PathBuf::from(format!("{disk}p{number}"));
    // Neither the name nor the file behind it is there any longer.
    let node = case.path("node");
    let copied = run_tool(
        "cp",
        "coreutils",
        &["-a", &part(1).to_string_lossy(), &node.to_string_lossy()],
    );
    or_skip!(copied);
    let upper = or_skip!(Attached::new(&node, &["--offset=1048576"]));
    std::fs::remove_file(&node).expect("removing the node");
    let said = format!("is the file of the loop device {}", upper.name());
    let mut attempts = Attempts::new(&case, "loop on device", [&image]);
    for door in [Door::Survey, Door::Sequential, Door::Dd, Door::DdDirect] {
        attempts.refused(door, &part(1), &[&said]);
    }
    attempts.end();
    let mut attempts = Attempts::new(&case, "loop on disk", [&image]);
    for door in [Door::Survey, Door::Sequential, Door::Dd, Door::DdDirect] {
        attempts.refused(door, &device.path, &[&said]);
    }
    attempts.end();
    accepted(&part(2), &image);
    // What stands on the device is free itself.
    accepted(&upper.path, &part(1));
    drop(upper);
    accepted(&part(1), &image);
}

#[test]
fn a_swap_file_is_not_written_through_a_loop_device_over_it() {
    let case = Case::new();
    let image = case.data_file("image", 16 * MIB);
    // Swap wants the bytes of the file to itself from then on.
    run_tool("chmod", "coreutils", &["600", &image.to_string_lossy()]).expect("chmod");
    let device = or_skip!(Attached::new(&image, &[]));
    let swap = or_skip!(Swap::on(&image));
    let mut attempts = Attempts::new(&case, "looped swap file", [&image]);
    attempts.refused_by_both(&device.path, &["is used as swap", "swapoff"]);
    attempts.end();
    drop(swap);
    wipe(&device.path);
    accepted(&device.path, &image);
}
