//! The sectors, the size and the identity of a block device, and of the device
//! under a regular file.

use std::path::{Path, PathBuf};

use crate::as_file::{AsFile, lend};
use crate::{Error, os};

/// What a block device says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Geometry {
    /// The unit in which the device is addressed, in bytes; 512 or 4096 on
    /// nearly all. Direct I/O must be a multiple of it.
    pub logical_sector_size: u32,
    /// The unit in which the device writes, in bytes; a smaller write may cost
    /// it a read first. A device that does not say (many virtual ones) shows
    /// its logical sector size here, on some systems 0.
    pub physical_sector_size: u32,
    /// The size of the device in bytes.
    pub size: u64,
    /// The serial number, without surrounding blanks.
    pub serial_number: Option<String>,
    /// Why there is no serial number, when there is none.
    pub serial_number_absent: Option<String>,
    /// The model's name, as the device or its driver tells it.
    pub model: Option<String>,
    /// The smallest transfer without a penalty, in bytes (a RAID's chunk).
    pub minimum_io_size: Option<u32>,
    /// The transfer that the device likes best, in bytes (a RAID's stripe).
    pub optimal_io_size: Option<u32>,
    /// How far the first logical sector lies behind the start of a physical
    /// one, in bytes; not 0 for a misaligned partition.
    pub alignment_offset: Option<u32>,
    /// Whether the medium turns. Virtual devices often do not know.
    pub rotational: Option<bool>,
    /// Whether the device is set read-only.
    pub read_only: Option<bool>,
}

/// The device under a regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceUnder {
    /// The device that holds the file's filesystem: `/dev/sda2`,
    /// `\\?\Volume{...}`.
    pub device: PathBuf,
    /// Its major and minor number (Unix).
    pub number: Option<(u32, u32)>,
    /// The type of the filesystem, when the system tells it.
    pub file_system: Option<String>,
    /// What the device says about itself.
    pub geometry: Geometry,
}

/// Asks an open block device about itself (on macOS and FreeBSD also a disk's
/// character device).
///
/// A serial number that cannot be had is no error: it is `None`, and
/// [`Geometry::serial_number_absent`] says why.
///
/// # Errors
/// When the file is no disk ([`geometry_under`] answers for regular files), or
/// when the device does not tell its sector size or its size.
pub fn geometry(file: &impl AsFile) -> Result<Geometry, Error> {
    os::geometry(&lend(file))
}

/// Asks the device under a regular file or a directory about itself.
///
/// On Linux this needs no right to open the device: the kernel's sysfs tells
/// all of it. macOS and FreeBSD need that right, Windows does not.
///
/// # Errors
/// [`Error::Unsupported`] when there is no single device under the file: in
/// memory (tmpfs), over the network (NFS), pooled (ZFS). The path cannot be
/// looked up; the device cannot be asked.
pub fn geometry_under(path: impl AsRef<Path>) -> Result<DeviceUnder, Error> {
    os::geometry_under(path.as_ref())
}
