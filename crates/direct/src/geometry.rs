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
    /// What becomes of a write that the device has taken, when its power fails.
    pub write_cache: Option<WriteCache>,
    /// Whether the device makes a single write durable by itself (FUA), so that
    /// the rest of its cache need not be flushed for it.
    pub force_unit_access: Option<bool>,
    /// The zones of a device that is written zone by zone; `None` for all others,
    /// and where the system does not tell.
    pub zones: Option<Zones>,
}

/// What a device does with a write before it says that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteCache {
    /// It may keep it in memory that loses it with the power, until a flush.
    WriteBack,
    /// It has it on its medium, or in memory that keeps it; a flush has nothing to
    /// do. This is what the device or its driver says, and some are wrong.
    WriteThrough,
}

/// How a zoned device is divided (ZBC, ZAC, `NVMe` ZNS).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Zones {
    /// What is asked of writes.
    pub model: ZoneModel,
    /// The size of a zone in bytes; the last one may be smaller.
    pub size: u64,
    /// How many there are.
    pub count: Option<u32>,
    /// What the offset and length of a write into a sequential zone must be a
    /// multiple of, in bytes.
    pub write_granularity: Option<u32>,
    /// How many zones may be open for writing at a time; `None` for no limit, or
    /// not told.
    pub max_open: Option<u32>,
    /// How many zones may be written in part at a time; `None` for no limit, or
    /// not told.
    pub max_active: Option<u32>,
}

/// What a zoned device asks of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZoneModel {
    /// Each sequential zone is written from its start on, in order, or not at all.
    HostManaged,
    /// Out of order it is only slow.
    HostAware,
}

impl Geometry {
    /// What is known from the sizes alone, in bytes.
    #[cfg(any(
        target_os = "linux",
        target_os = "macos",
        target_os = "freebsd",
        windows
    ))]
    pub(crate) fn sized(logical: u32, physical: u32, size: u64) -> Self {
        Self {
            logical_sector_size: logical,
            physical_sector_size: physical,
            size,
            serial_number: None,
            serial_number_absent: None,
            model: None,
            minimum_io_size: None,
            optimal_io_size: None,
            alignment_offset: None,
            rotational: None,
            read_only: None,
            write_cache: None,
            force_unit_access: None,
            zones: None,
        }
    }
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
