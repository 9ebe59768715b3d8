//! What of the machine a target stands for.

use diskfacts_host::read_ahead::{FileId, Named, Scope, kernel_device};
use diskfacts_host::{Roots, parse::mountinfo::parse_mountinfo};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// How deep devices may stand on one another: what is deeper is a circle.
const DEPTH: usize = 8;

/// The files that are watched for a target, and what to call it.
pub(super) fn of(named: Named, target: &Path, roots: &Roots) -> (Scope, String) {
    let shown = target.display();
    match named {
        Named::File(_) => (named.scope(), shown.to_string()),
        Named::Filesystem(_) => (named.scope(), format!("{shown} and all of its filesystem")),
        Named::Device(device) => {
            let mut devices = BTreeSet::new();
            above(device, roots, DEPTH, &mut devices);
            let mut scope = Scope::default();
            for device in &devices {
                scope = scope.with_device(*device).with_filesystem(*device);
            }
            for filesystem in mounted_from(&devices, roots) {
                scope = scope.with_filesystem(filesystem);
            }
            (scope, format!("{shown} and what is mounted from it"))
        }
    }
}

/// A device, its partitions, and what stands on them.
fn above(device: u32, roots: &Roots, depth: usize, found: &mut BTreeSet<u32>) {
    if depth == 0 || !found.insert(device) {
        return;
    }
    let (major, minor) = (device >> 20, device & 0xf_ffff);
    let folder = roots.sys.join(format!("dev/block/{major}:{minor}"));
    let inside = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let partitions = inside(&folder);
    let partitions = partitions
        .iter()
        .filter(|path| path.join("partition").exists());
    let holders = inside(&folder.join("holders"));
    for path in partitions.chain(&holders) {
        if let Some(next) = number_in(&path.join("dev")) {
            above(next, roots, depth - 1, found);
        }
    }
}

/// `8:1`, as in a file `dev`.
fn number_in(path: &Path) -> Option<u32> {
    let text = fs::read_to_string(path).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(kernel_device(major.parse().ok()?, minor.parse().ok()?))
}

/// Filesystems with a number of their own that are mounted from one of the devices,
/// by its path: btrfs has one, because it may lie on several.
fn mounted_from(devices: &BTreeSet<u32>, roots: &Roots) -> Vec<u32> {
    let Ok(bytes) = fs::read(roots.proc.join("self/mountinfo")) else {
        return Vec::new();
    };
    let mounts = parse_mountinfo(&bytes).unwrap_or_default();
    let of_device = |source: &str| {
        let name = source.strip_prefix("/dev/")?;
        number_in(&roots.sys.join("class/block").join(name).join("dev"))
    };
    let mounts = mounts
        .iter()
        .filter(|mount| of_device(&mount.source).is_some_and(|device| devices.contains(&device)));
    mounts
        .map(|mount| kernel_device(mount.major, mount.minor))
        .collect()
}

/// What the kernel calls the device of a file's filesystem, as the patch of 2009
/// printed it: `bdev` for block devices themselves.
pub(super) fn device_name(file: FileId) -> String {
    let (major, minor) = (file.major(), file.minor());
    let path = format!("/sys/dev/block/{major}:{minor}");
    let link = fs::read_link(path).ok();
    let name = link.as_ref().and_then(|link| link.file_name());
    match name {
        Some(name) => name.to_string_lossy().replace(['(', ')'], "_"),
        None if is_block_device(file) => "bdev".to_owned(),
        None => format!("{major}:{minor}"),
    }
}

/// Whether it is a block device of this machine that is read itself.
fn is_block_device(file: FileId) -> bool {
    let Ok(number) = u32::try_from(file.inode) else {
        return false;
    };
    let (major, minor) = (number >> 20, number & 0xf_ffff);
    file.major() == 0 && Path::new(&format!("/sys/dev/block/{major}:{minor}")).exists()
}
