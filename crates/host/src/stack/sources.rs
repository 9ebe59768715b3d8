//! From a mount to the block devices that its filesystem stands on.

use super::mount::mount_of_path;
use crate::error::Error;
use crate::parse::mountinfo::Mount;
use crate::roots::Roots;
use crate::sysfs::{DeviceDir, sorted_entries};
use diskfacts_record::Unseen;
use std::path::{Path, PathBuf};

/// An overlay may stand on an overlay; the kernel allows two
/// (`FILESYSTEM_MAX_STACK_DEPTH`), so this is ample.
const MAX_OVERLAYS: usize = 8;

/// The devices right under `mount`. For a filesystem without any, a line in
/// `unseen` says what it stands on instead, or why that is not known.
pub(super) fn devices_of_mount(
    roots: &Roots,
    mounts: &[Mount],
    mount: &Mount,
    unseen: &mut Vec<Unseen>,
) -> Result<Vec<DeviceDir>, Error> {
    let mut devices = Vec::new();
    collect(roots, mounts, mount, 0, unseen, &mut devices)?;
    Ok(devices)
}

fn collect(
    roots: &Roots,
    mounts: &[Mount],
    mount: &Mount,
    depth: usize,
    unseen: &mut Vec<Unseen>,
    devices: &mut Vec<DeviceDir>,
) -> Result<(), Error> {
    let mut push = |device: DeviceDir| {
        if !devices.contains(&device) {
            devices.push(device);
        }
    };
    match mount.kind.as_str() {
        "btrfs" => {
            let (members, listed) = btrfs_members(roots, mount)?;
            if !listed {
                unseen.push(no_devices(
                    mount,
                    "its members are not listed in /sys/fs/btrfs: there may be more than are shown",
                ));
            }
            members.into_iter().for_each(push);
        }
        "bcachefs" => {
            // The source names all members, parted by colons.
            for source in mount.source.split(':') {
                match device_of_source(roots, source)? {
                    Some(device) => push(device),
                    None => unseen.push(no_devices(mount, "a member is not in sysfs")),
                }
            }
        }
        "overlay" => overlay(roots, mounts, mount, depth, unseen, devices)?,
        _ if mount.major != 0 => match DeviceDir::of_number(roots, mount.major, mount.minor)? {
            Some(device) => {
                push(device);
                // XFS may keep its log and its real-time data elsewhere.
                for option in ["logdev", "rtdev"] {
                    if let Some(source) = mount.super_option(option) {
                        match device_of_source(roots, source)? {
                            Some(device) => push(device),
                            None => unseen.push(no_devices(
                                mount,
                                "its log or real-time device is not in sysfs",
                            )),
                        }
                    }
                }
            }
            None => unseen.push(no_devices(mount, "its device number is not in sysfs")),
        },
        kind => unseen.push(no_devices(mount, why_none(kind))),
    }
    Ok(())
}

/// The members of a mounted btrfs, the one that the mount names first, and
/// whether that is all of them.
fn btrfs_members(roots: &Roots, mount: &Mount) -> Result<(Vec<DeviceDir>, bool), Error> {
    let Some(named) = device_of_source(roots, &mount.source)? else {
        return Ok((Vec::new(), false));
    };
    let Some((_, mut members)) = btrfs_with(roots, &named)? else {
        return Ok((vec![named], false));
    };
    if let Some(index) = members.iter().position(|member| *member == named) {
        let first = members.remove(index);
        members.insert(0, first);
    }
    Ok((members, true))
}

/// The folder of `/sys/fs/btrfs` of the filesystem that has this device, and all of its
/// devices that are there.
fn btrfs_with(
    roots: &Roots,
    device: &DeviceDir,
) -> Result<Option<(PathBuf, Vec<DeviceDir>)>, Error> {
    for filesystem in sorted_entries(&roots.sys.join("fs/btrfs"))? {
        let mut members = Vec::new();
        for link in sorted_entries(&filesystem.join("devices"))? {
            members.extend(DeviceDir::open(&link)?);
        }
        if members.contains(device) {
            return Ok(Some((filesystem, members)));
        }
    }
    Ok(None)
}

/// The folder of `/sys/fs/btrfs` of a mounted btrfs.
pub(super) fn btrfs_folder(roots: &Roots, mount: &Mount) -> Result<Option<PathBuf>, Error> {
    let Some(named) = device_of_source(roots, &mount.source)? else {
        return Ok(None);
    };
    Ok(btrfs_with(roots, &named)?.map(|(folder, _)| folder))
}

/// The devices under the folders that an overlay joins: the one that takes the
/// writes first, then those that unchanged files are read from.
fn overlay(
    roots: &Roots,
    mounts: &[Mount],
    mount: &Mount,
    depth: usize,
    unseen: &mut Vec<Unseen>,
    devices: &mut Vec<DeviceDir>,
) -> Result<(), Error> {
    if depth >= MAX_OVERLAYS {
        unseen.push(no_devices(mount, "it stands on too many other overlays"));
        return Ok(());
    }
    let mut followed: Vec<u64> = Vec::new();
    let mut hidden = false;
    for folder in mount.overlay_folders() {
        let path = Path::new(folder);
        let below = (path.is_absolute() && visible(roots, path))
            .then(|| mount_of_path(mounts, path))
            .flatten()
            // In a container the folders are those of the host: what the same
            // path shows here is the overlay itself.
            .filter(|below| below.id != mount.id);
        match below {
            Some(below) if followed.contains(&below.id) => {}
            Some(below) => {
                followed.push(below.id);
                collect(roots, mounts, below, depth + 1, unseen, devices)?;
            }
            None => hidden = true,
        }
    }
    if hidden || followed.is_empty() {
        unseen.push(no_devices(
            mount,
            "the folders it joins lie outside this mount namespace (a container): measure a \
             volume that is mounted into it, or run on the host",
        ));
    }
    Ok(())
}

/// Whether a path that the kernel names can be seen from here. In a captured
/// tree nobody can tell, and the mount table has to do.
fn visible(roots: &Roots, path: &Path) -> bool {
    !roots.live() || path.exists()
}

/// The block device that a path like `/dev/sda2` or `/dev/mapper/vg-root`
/// names: by its node, else by the name in sysfs, else by the name of a
/// device-mapper device.
pub(crate) fn device_of_source(roots: &Roots, source: &str) -> Result<Option<DeviceDir>, Error> {
    let Some(name) = source.strip_prefix("/dev/") else {
        return Ok(None);
    };
    if let Some((major, minor)) = node_number(&roots.node(name))
        && let Some(device) = DeviceDir::of_number(roots, major, minor)?
    {
        return Ok(Some(device));
    }
    if let Some(device) = DeviceDir::of_name(roots, name)? {
        return Ok(Some(device));
    }
    let Some(mapping) = name.strip_prefix("mapper/") else {
        return Ok(None);
    };
    for path in sorted_entries(&roots.sys.join("class/block"))? {
        if let Some(device) = DeviceDir::open(&path)?
            && device.optional_text("dm/name").as_deref() == Some(mapping)
        {
            return Ok(Some(device));
        }
    }
    Ok(None)
}

/// Major and minor of the block device whose node is at `path`.
#[cfg(unix)]
pub(crate) fn node_number(path: &Path) -> Option<(u32, u32)> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let metadata = std::fs::metadata(path).ok()?;
    metadata
        .file_type()
        .is_block_device()
        .then(|| super::subject::split_number(metadata.rdev()))
}

#[cfg(not(unix))]
pub(crate) fn node_number(_path: &Path) -> Option<(u32, u32)> {
    None
}

fn no_devices(mount: &Mount, why: &str) -> Unseen {
    Unseen {
        what: format!("devices under {}", mount.mount_point),
        why: format!("{} ({}): {why}", mount.kind, mount.source),
    }
}

/// Why a kind of filesystem has no block device here.
fn why_none(kind: &str) -> &'static str {
    match kind {
        "tmpfs" | "ramfs" | "rootfs" | "devtmpfs" | "hugetlbfs" => {
            "it lives in memory; no device is involved, except swap"
        }
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "ceph" | "afs" | "lustre" | "glusterfs"
        | "ocfs2_dlmfs" | "beegfs" | "gpfs" | "orangefs" => {
            "another machine serves it, from its memory or its disks, which cannot be told from \
             here; run diskfacts there to see its devices"
        }
        "9p" | "virtiofs" | "vboxsf" | "prl_fs" | "hgfs" => {
            "the host of this virtual machine serves it; run diskfacts there to see its devices"
        }
        "zfs" => {
            "ZFS does not tell the kernel which devices it uses; `zpool status -LP` lists them, \
             and each can be looked at by its own path"
        }
        "fuse" => "a program serves it; what it stands on only that program knows",
        other if other.starts_with("fuse.") => {
            "a program serves it; what it stands on only that program knows"
        }
        "proc" | "sysfs" | "cgroup" | "cgroup2" | "debugfs" | "tracefs" | "securityfs"
        | "devpts" | "mqueue" | "bpf" | "configfs" | "pstore" | "efivarfs" | "fusectl"
        | "binfmt_misc" | "autofs" | "nsfs" | "selinuxfs" => {
            "the kernel makes it up; nothing is stored"
        }
        _ => "the kernel gives it no block device",
    }
}
