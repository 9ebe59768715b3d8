//! The stack under a path: mount, filesystem, and block devices down to the
//! leaves, with their settings.

mod again;
mod device;
mod filesystem_uuid;
mod mapper;
mod mapper_control;
mod md;
mod mount;
mod others;
mod paths;
#[cfg(target_os = "linux")]
mod place;
mod pools;
mod sources;
mod subject;
mod transport;
mod walk;
mod zones;

pub use again::health_after;
#[cfg(target_os = "linux")]
pub use place::{Pinned, Place};
pub use subject::{Subject, SubjectKind};

use crate::error::Error;
use crate::parse::mountinfo::{Mount, parse_mountinfo};
use crate::roots::Roots;
use crate::sysfs::{DeviceDir, every_device};
use diskfacts_record::{Stack, Unseen};
use std::fs;
use std::path::Path;
use walk::Walk;

pub(crate) use mount::mount_of_path;
pub(crate) use sources::{device_of_source, node_number};
#[cfg(unix)]
pub(crate) use subject::{split_number, words_for};
pub(crate) use zones::zoned;

/// What lies under `path`: a file, a folder or a block device.
///
/// # Errors
/// When the path does not exist or may not be looked at, when it is neither
/// file nor folder nor block device, or when it is a device that is not in the
/// kernel's tables. The filesystem of a path that is in no mount table, and what lies further down and cannot be found out is
/// no error: it is named in [`Stack::unseen`].
#[cfg(target_os = "linux")]
pub fn stack_of(roots: &Roots, path: &Path) -> Result<Stack, Error> {
    stack_of_subject(roots, &Place::look(path)?.subject)
}

/// What lies under `path`: not on this operating system yet.
///
/// # Errors
/// Always [`Error::NotHere`].
#[cfg(not(target_os = "linux"))]
pub fn stack_of(_roots: &Roots, _path: &Path) -> Result<Stack, Error> {
    Err(Error::NotHere {
        doing: "finding the devices under a path",
        why: "diskfacts has no code for it yet",
    })
}

/// What lies under something that was looked at already, here or on the
/// machine that `roots` was captured from.
///
/// # Errors
/// As [`stack_of`], without those of looking.
pub fn stack_of_subject(roots: &Roots, subject: &Subject) -> Result<Stack, Error> {
    let mut walk = Walk::new(roots);
    match subject.kind {
        SubjectKind::BlockDevice { major, minor } => {
            let device =
                DeviceDir::of_number(roots, major, minor)?.ok_or_else(|| Error::NotInSysfs {
                    path: subject.path.clone(),
                    major,
                    minor,
                    sys: roots.sys.clone(),
                })?;
            walk.below_devices(vec![device])?;
            Ok(walk.into_stack(None))
        }
        SubjectKind::File | SubjectKind::Folder => {
            let mounts = read_mounts(roots)?;
            let Some(mount) = mount::mount_of(&mounts, subject) else {
                outside_all_mounts(roots, subject, &mut walk)?;
                return Ok(walk.into_stack(None));
            };
            let mut filesystem = mount::filesystem(mount, subject.space.as_ref());
            filesystem.uuid.clone_from(&subject.filesystem_uuid);
            if let Err(error) = pools::look(roots, mount, &mut filesystem) {
                walk.unseen_mut().push(Unseen {
                    what: format!("whether {} has all of its devices", mount.mount_point),
                    why: error.to_string(),
                });
            }
            let tops = sources::devices_of_mount(roots, &mounts, mount, walk.unseen_mut())?;
            walk.below_devices(tops)?;
            Ok(walk.into_stack(Some(filesystem)))
        }
    }
}

/// What lies under a path that no line of the mount table is of, as in a chroot whose root is
/// no mount: the device by the number of the filesystem, where that is the number of one.
fn outside_all_mounts(roots: &Roots, subject: &Subject, walk: &mut Walk<'_>) -> Result<(), Error> {
    walk.unseen_mut().push(Unseen {
        what: format!("the filesystem of {}", subject.path.display()),
        why: format!(
            "no line of {} is of it, as in a chroot whose root is no mount: `mount --bind` it \
             onto itself before",
            mounts_path(roots).display()
        ),
    });
    let (major, minor) = subject.filesystem_number;
    match DeviceDir::of_number(roots, major, minor) {
        Ok(Some(device)) => walk.below_devices(vec![device]),
        // Not each filesystem has a device, and those that have none have major number 0.
        Ok(None) if major == 0 => Ok(()),
        Ok(None) => {
            walk.unseen_mut().push(Unseen {
                what: format!("block device {major}:{minor}"),
                why: format!("it is not in {}", roots.sys.display()),
            });
            Ok(())
        }
        Err(error) => {
            walk.unseen_mut().push(Unseen {
                what: format!("block device {major}:{minor}"),
                why: error.to_string(),
            });
            Ok(())
        }
    }
}

/// Every block device of the machine that holds or could hold data, each
/// before those it stands on.
///
/// Devices of size 0 that stand on nothing are left out: loop devices and
/// drives without a file or medium.
///
/// # Errors
/// When sysfs cannot be listed.
pub fn all_devices(roots: &Roots) -> Result<Stack, Error> {
    let mut walk = Walk::new(roots);
    let devices = every_device(roots)?
        .seen
        .into_iter()
        .filter(|device| device.number("size").ok() != Some(0))
        .collect();
    walk.below_devices(devices)?;
    Ok(walk.into_stack(None))
}

fn mounts_path(roots: &Roots) -> std::path::PathBuf {
    roots.proc.join("self/mountinfo")
}

/// The mount table of this mount namespace.
pub(crate) fn read_mounts(roots: &Roots) -> Result<Vec<Mount>, Error> {
    let path = mounts_path(roots);
    let bytes = fs::read(&path).map_err(|error| Error::on_path("reading", &path, error))?;
    parse_mountinfo(&bytes).map_err(|source| Error::Form { path, source })
}
