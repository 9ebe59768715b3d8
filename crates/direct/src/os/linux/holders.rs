//! Who holds a block device: the mount tables, swap, sysfs and the processes.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use super::Roots;
use super::sysfs::{self, SysfsDevice};
use crate::error::Subject;
use crate::parse::mountinfo::{self, device_number};
use crate::parse::swaps;
use crate::{Error, Holder};

pub(crate) fn holders(path: &Path) -> Result<Vec<Holder>, Error> {
    let metadata = fs::metadata(path).map_err(|error| Error::on_path("stat", path, error))?;
    if !metadata.file_type().is_block_device() {
        return Err(Error::os(
            "looking for holders",
            Subject::Path(path.to_owned()),
            io::Error::from_raw_os_error(libc::ENOTBLK),
            Some("only a block device has holders".to_owned()),
        ));
    }
    let number = (major(metadata.rdev()), minor(metadata.rdev()));
    let device = SysfsDevice::find(Roots::system().sys, number).map_err(|error| {
        Error::os(
            "looking up in /sys/dev/block",
            Subject::Path(path.to_owned()),
            error,
            Some("is sysfs mounted? mount -t sysfs sysfs /sys".to_owned()),
        )
    })?;
    Ok(find(Roots::system(), &device))
}

/// Why an exclusive open of this device was refused.
pub(super) fn explain_busy(path: &Path) -> String {
    const UNSEEN: &str = "the device is in use by something that cannot be seen from here: \
         another exclusive open, or a mount in another namespace (run as root to see more)";
    let Ok(holders) = holders(path) else {
        return UNSEEN.to_owned();
    };
    // Processes come last, and count only when nothing surer is known: most
    // of them merely look.
    let (processes, sure): (Vec<Holder>, Vec<Holder>) = holders
        .into_iter()
        .partition(|holder| matches!(holder, Holder::Process { .. }));
    let join = |holders: &[Holder]| {
        holders
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    };
    if !sure.is_empty() {
        join(&sure)
    } else if processes.is_empty() {
        UNSEEN.to_owned()
    } else {
        format!("{}; one of them claims it", join(&processes))
    }
}

/// A device of the family, under all that is asked for below.
struct Member {
    number: (u32, u32),
    name: String,
    node: PathBuf,
    folder: PathBuf,
}

pub(super) fn find(roots: Roots<'_>, device: &SysfsDevice) -> Vec<Holder> {
    let family: Vec<Member> = device
        .family()
        .into_iter()
        .filter_map(|folder| {
            let number = fs::read(folder.join("dev")).ok()?;
            Some(Member {
                number: device_number(number.trim_ascii())?,
                name: sysfs::name(&folder),
                node: sysfs::node(&folder),
                folder,
            })
        })
        .collect();
    let mut found = mounts(roots, &family);
    found.extend(swap(roots, &family));
    found.extend(stacked(&family));
    found.extend(spanning(roots, &family));
    found.extend(loops(roots, &family));
    found.extend(processes(roots, &family));
    found
}

/// Mounts, of our own namespace first and then of others that may be read.
fn mounts(roots: Roots<'_>, family: &[Member]) -> Vec<Holder> {
    let mut found = Vec::new();
    let mut namespaces = HashSet::new();
    let namespace = |folder: &Path| fs::read_link(folder.join("ns/mnt")).ok();
    let own = roots.proc.join("self");
    namespaces.extend(namespace(&own));
    mounts_of(&own, None, family, &mut found);
    for process in process_numbers(roots) {
        let folder = roots.proc.join(process.to_string());
        if namespace(&folder).is_some_and(|namespace| namespaces.insert(namespace)) {
            mounts_of(&folder, Some(process), family, &mut found);
        }
    }
    found
}

fn mounts_of(
    process: &Path,
    namespace_of: Option<u32>,
    family: &[Member],
    found: &mut Vec<Holder>,
) {
    let text = fs::read(process.join("mountinfo")).unwrap_or_default();
    for mount in mountinfo::parse(&text) {
        // A filesystem that numbers its volumes itself shows its device only
        // as the source, by name.
        let member = family
            .iter()
            .find(|member| mount.device == member.number || mount.source == member.node);
        if let Some(member) = member {
            found.push(Holder::Mount {
                device: member.node.clone(),
                mount_point: mount.mount_point,
                namespace_of,
            });
        }
    }
}

fn swap(roots: Roots<'_>, family: &[Member]) -> Vec<Holder> {
    let text = fs::read(roots.proc.join("swaps")).unwrap_or_default();
    let areas = swaps::parse(&text);
    family
        .iter()
        .filter(|member| areas.contains(&member.node))
        .map(|member| Holder::Swap {
            device: member.node.clone(),
        })
        .collect()
}

/// Devices built on these: the links in `holders`.
fn stacked(family: &[Member]) -> Vec<Holder> {
    let mut found = Vec::new();
    for member in family {
        for by in children(&member.folder.join("holders")) {
            found.push(Holder::Device {
                device: member.node.clone(),
                by: sysfs::node(&by),
            });
        }
    }
    found
}

/// Filesystems of several devices, which the mount table shows under one.
fn spanning(roots: Roots<'_>, family: &[Member]) -> Vec<Holder> {
    let mut found = Vec::new();
    for file_system in children(&roots.sys.join("fs/btrfs")) {
        for member in family {
            if file_system.join("devices").join(&member.name).exists() {
                found.push(Holder::FileSystem {
                    device: member.node.clone(),
                    file_system: "btrfs".to_owned(),
                });
            }
        }
    }
    found
}

/// Loop devices whose backing file is one of these devices.
fn loops(roots: Roots<'_>, family: &[Member]) -> Vec<Holder> {
    let mut found = Vec::new();
    for disk in children(&roots.sys.join("block")) {
        let Ok(backing) = fs::read_to_string(disk.join("loop/backing_file")) else {
            continue;
        };
        for member in family {
            if Path::new(backing.trim_end_matches('\n')) == member.node {
                found.push(Holder::Loop {
                    device: member.node.clone(),
                    by: sysfs::node(&disk),
                });
            }
        }
    }
    found
}

/// Processes that have one of these open, each once per device.
fn processes(roots: Roots<'_>, family: &[Member]) -> Vec<Holder> {
    let mut found = Vec::new();
    for process in process_numbers(roots) {
        let mut seen = HashSet::new();
        for descriptor in children(&roots.proc.join(process.to_string()).join("fd")) {
            // Follows the link to the open file itself, whatever its name is now.
            let Ok(metadata) = fs::metadata(&descriptor) else {
                continue;
            };
            if !metadata.file_type().is_block_device() {
                continue;
            }
            let number = (major(metadata.rdev()), minor(metadata.rdev()));
            let member = family.iter().find(|member| member.number == number);
            if let Some(member) = member.filter(|_| seen.insert(number)) {
                found.push(Holder::Process {
                    device: member.node.clone(),
                    process,
                    name: process_name(roots, process),
                });
            }
        }
    }
    found
}

/// The name of a process, when it can be read.
pub(super) fn process_name(roots: Roots<'_>, process: u32) -> Option<String> {
    let text = fs::read(roots.proc.join(process.to_string()).join("comm")).ok()?;
    crate::parse::device_text(&text)
}

fn process_numbers(roots: Roots<'_>) -> Vec<u32> {
    let mut numbers: Vec<u32> = children(roots.proc)
        .iter()
        .filter_map(|path| path.file_name()?.to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
}

/// What a folder holds; nothing, if it is not there or may not be read: an
/// explanation is given as far as one may see.
fn children(folder: &Path) -> Vec<PathBuf> {
    let mut children: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    children.sort();
    children
}
