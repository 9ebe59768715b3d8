//! The device that somebody means.

use crate::error::Error;
use crate::roots::Roots;
use crate::sysfs::{DeviceDir, every_device};
use std::path::Path;

/// The kernel's names of all block devices, partitions too.
///
/// # Errors
/// When sysfs cannot be listed.
pub fn device_names(roots: &Roots) -> Result<Vec<String>, Error> {
    let devices = every_device(roots)?.seen;
    Ok(devices.into_iter().map(|device| device.name).collect())
}

/// The kernel's name of the device that is called `given`: that name itself
/// (`sda`, `sda1`, `cciss/c0d0`), or a path that leads to its node, such as
/// `/dev/sda` or a link in `/dev/disk/by-id`. `None` when nothing of that name
/// exists.
///
/// # Errors
/// When there is something of that name and it is no block device, or sysfs does
/// not show it.
pub fn named_device(roots: &Roots, given: &Path) -> Result<Option<String>, Error> {
    if let Some(device) = DeviceDir::of_name(roots, &given.to_string_lossy())? {
        return Ok(Some(device.name));
    }
    let in_dev = roots.dev.join(given);
    let Some(path) = [given, &in_dev].into_iter().find(|path| path.exists()) else {
        return Ok(None);
    };
    let (major, minor) = number_of(path)?;
    match DeviceDir::of_number(roots, major, minor)? {
        Some(device) => Ok(Some(device.name)),
        None => Err(Error::NotInSysfs {
            path: path.to_owned(),
            major,
            minor,
            sys: roots.sys.clone(),
        }),
    }
}

/// The number of the block device whose node is at `path`, behind links.
#[cfg(unix)]
fn number_of(path: &Path) -> Result<(u32, u32), Error> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let metadata =
        std::fs::metadata(path).map_err(|error| Error::on_path("looking at", path, error))?;
    let kind = metadata.file_type();
    if kind.is_block_device() {
        let number = metadata.rdev();
        return Ok((rustix::fs::major(number), rustix::fs::minor(number)));
    }
    Err(Error::NotABlockDevice {
        path: path.to_owned(),
        is: if kind.is_dir() {
            "a folder"
        } else if kind.is_file() {
            "a file"
        } else {
            "something else"
        },
    })
}

#[cfg(not(unix))]
fn number_of(_: &Path) -> Result<(u32, u32), Error> {
    Err(Error::NotHere {
        doing: "finding a device by its path",
        why: "block devices have numbers on Unix only",
    })
}
