//! Who holds a block device, so that `EBUSY` can be explained.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::{Error, os};

/// Someone who uses a block device, one of its partitions, or the disk that it
/// is a partition of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// A mounted filesystem.
    Mount {
        /// The device that is mounted.
        device: PathBuf,
        /// Where.
        mount_point: PathBuf,
        /// A process in whose mount namespace it is mounted, when it is not
        /// ours (a container).
        namespace_of: Option<u32>,
    },
    /// Swap space.
    Swap {
        /// The device that is swapped to.
        device: PathBuf,
    },
    /// A device built on it: device mapper, LVM, RAID, bcache.
    Device {
        /// The device that is built upon.
        device: PathBuf,
        /// The one built on it: `/dev/dm-0`, `/dev/md127`.
        by: PathBuf,
    },
    /// A filesystem that spans several devices, of which this is one.
    FileSystem {
        /// The device that is a part of it.
        device: PathBuf,
        /// The type of the filesystem.
        file_system: String,
    },
    /// A loop device whose backing file is this device.
    Loop {
        /// The device that backs it.
        device: PathBuf,
        /// The loop device.
        by: PathBuf,
    },
    /// A process that has it open. Having it open does not by itself keep
    /// others out: only an exclusive open does, and no system tells which is.
    Process {
        /// The device that is open.
        device: PathBuf,
        /// The process' number.
        process: u32,
        /// The process' name, when it can be read.
        name: Option<String>,
    },
}

/// Who holds the block device at `path`, as far as this process may see.
///
/// Linux: mounts (of all mount namespaces that can be read), swap, devices
/// built on it, btrfs, loop devices and processes. macOS and FreeBSD: mounts.
/// Windows: nothing can be told. An empty answer is no promise that the device
/// is free; opening it [exclusively](crate::OpenOptions::exclusive) is the
/// test.
///
/// # Errors
/// `path` cannot be looked up, or is no block device (Linux).
pub fn holders(path: impl AsRef<Path>) -> Result<Vec<Holder>, Error> {
    os::holders(path.as_ref())
}

impl fmt::Display for Holder {
    /// One clause, with what to do: `/dev/sda1 is mounted on /mnt (umount /mnt)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mount {
                device,
                mount_point,
                namespace_of: None,
            } => write!(
                f,
                "{} is mounted on {mount_point} (umount {mount_point})",
                device.display(),
                mount_point = mount_point.display(),
            ),
            Self::Mount {
                device,
                mount_point,
                namespace_of: Some(process),
            } => write!(
                f,
                "{} is mounted on {} in the mount namespace of process {process}",
                device.display(),
                mount_point.display()
            ),
            Self::Swap { device } => write!(
                f,
                "{device} is swap space (swapoff {device})",
                device = device.display()
            ),
            Self::Device { device, by } => {
                write!(f, "{} is part of {}", device.display(), by.display())
            }
            Self::FileSystem {
                device,
                file_system,
            } => write!(
                f,
                "{} is part of a mounted {file_system} filesystem",
                device.display()
            ),
            Self::Loop { device, by } => write!(
                f,
                "{} is the backing of {by} (losetup -d {by})",
                device.display(),
                by = by.display()
            ),
            Self::Process {
                device,
                process,
                name,
            } => {
                write!(f, "{} is open in process {process}", device.display())?;
                match name {
                    Some(name) => write!(f, " ({name})"),
                    None => Ok(()),
                }
            }
        }
    }
}
