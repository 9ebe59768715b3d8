//! Geometry: by `ioctl` of an open device, by sysfs of the device under a file.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{FileType, fstat, ioctl_blkpbszget, ioctl_blksszget, major, minor};
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};

use super::sysfs::SysfsDevice;
use super::{Roots, mounts, serial};
use crate::error::Subject;
use crate::{DeviceUnder, Error, Geometry, WriteCache, ZoneModel, Zones};

/// `BLKGETSIZE64` of `<linux/fs.h>`: `_IOR(0x12, 114, size_t)`. The kernel
/// writes 64 bits, whatever the size of `size_t`.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);

/// `BLKROGET` of `<linux/fs.h>`: `_IO(0x12, 94)`; writes an `int`.
const BLKROGET: Opcode = opcode::none(0x12, 94);

/// The unit of the file `size` in sysfs, in bytes, on every device.
const SYSFS_SECTOR: u64 = 512;

const NOT_A_DEVICE: &str = "this is no block device; for a file or a folder ask geometry_under";

pub(crate) fn geometry(file: &File) -> Result<Geometry, Error> {
    let stat = fstat(file).map_err(|error| Error::on_file("fstat", file, error))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
        return Err(not_a_device("geometry", Subject::of(file)));
    }
    let logical =
        ioctl_blksszget(file).map_err(|error| Error::on_file("ioctl BLKSSZGET", file, error))?;
    let physical =
        ioctl_blkpbszget(file).map_err(|error| Error::on_file("ioctl BLKPBSZGET", file, error))?;
    let size = device_size(file)?;
    let number = (major(stat.st_rdev), minor(stat.st_rdev));
    let device = SysfsDevice::find(Roots::system().sys, number);
    let mut geometry = described(&device, logical, physical, size);
    geometry.read_only = read_only(file).or(geometry.read_only);
    if geometry.serial_number.is_none() {
        if let Some(serial) = serial::by_inquiry(file) {
            geometry.serial_number = Some(serial);
            geometry.serial_number_absent = None;
        }
    }
    Ok(geometry)
}

pub(crate) fn geometry_under(path: &Path) -> Result<DeviceUnder, Error> {
    let metadata = std::fs::metadata(path).map_err(|error| Error::on_path("stat", path, error))?;
    if metadata.file_type().is_block_device() {
        let number = split(metadata.rdev());
        let device = SysfsDevice::find(Roots::system().sys, number)
            .map_err(|error| no_sysfs(path, number, error))?;
        return described_under(path, number, device, None);
    }
    let mount = mounts::of_path(path);
    let file_system = mount.as_ref().map(|mount| mount.file_system.clone());
    let number = split(metadata.dev());
    let sys = Roots::system().sys;
    if number.0 != 0 {
        let device =
            SysfsDevice::find(sys, number).map_err(|error| no_sysfs(path, number, error))?;
        return described_under(path, number, device, file_system);
    }
    // Major 0: a filesystem without a device (tmpfs, NFS), or one that numbers
    // its volumes itself (btrfs) and whose device stands in the mount table.
    let named = file_system.clone().unwrap_or_else(|| "its".to_owned());
    let no_device = |why: &str| {
        Error::unsupported(
            "finding the device",
            Subject::Path(path.to_owned()),
            format!("{named} filesystem: {why}"),
        )
    };
    let source = mount
        .map(|mount| mount.source)
        .filter(|source| source.is_absolute())
        .ok_or_else(|| no_device("it has no block device under it"))?;
    let source_metadata =
        std::fs::metadata(&source).map_err(|error| Error::on_path("stat", &source, error))?;
    if !source_metadata.file_type().is_block_device() {
        return Err(no_device("what is mounted is no block device"));
    }
    let number = split(source_metadata.rdev());
    let device =
        SysfsDevice::find(sys, number).map_err(|error| no_sysfs(&source, number, error))?;
    if let Some(count) = device_count(sys, &device.name()).filter(|&count| count > 1) {
        return Err(no_device(&format!(
            "it spans {count} devices, so there is no single one under this file"
        )));
    }
    described_under(path, number, device, file_system)
}

/// The size of the device in bytes.
pub(super) fn device_size(file: &File) -> Result<u64, Error> {
    // SAFETY: BLKGETSIZE64 writes one u64, which is the Getter's output.
    unsafe { ioctl(file.as_fd(), Getter::<BLKGETSIZE64, u64>::new()) }
        .map_err(|error| Error::on_file("ioctl BLKGETSIZE64", file, error))
}

/// Whether a device is set read-only.
pub(super) fn read_only(file: &File) -> Option<bool> {
    // SAFETY: BLKROGET writes one int, which is the Getter's output.
    let flag = unsafe { ioctl(file.as_fd(), Getter::<BLKROGET, i32>::new()) };
    Some(flag.ok()? != 0)
}

/// What is known from the sizes alone, and from sysfs if it is there.
pub(super) fn described(
    device: &io::Result<SysfsDevice>,
    logical: u32,
    physical: u32,
    size: u64,
) -> Geometry {
    let mut geometry = Geometry::sized(logical, physical, size);
    match device {
        Err(error) => {
            geometry.serial_number_absent =
                Some(format!("sysfs does not show the device: {error}"));
        }
        Ok(device) => {
            let size_or_none = |attribute: &str| {
                device
                    .disk_number::<u32>(attribute)
                    .filter(|&bytes| bytes > 0)
            };
            geometry.minimum_io_size = size_or_none("queue/minimum_io_size");
            geometry.optimal_io_size = size_or_none("queue/optimal_io_size");
            // -1 means that the device's parts disagree.
            geometry.alignment_offset = device.own_number("alignment_offset");
            geometry.rotational = device
                .disk_number::<u8>("queue/rotational")
                .map(|flag| flag != 0);
            geometry.read_only = device.own_number::<u8>("ro").map(|flag| flag != 0);
            geometry.write_cache = match device.disk_text("queue/write_cache").as_deref() {
                Some("write back") => Some(WriteCache::WriteBack),
                Some("write through") => Some(WriteCache::WriteThrough),
                _ => None,
            };
            geometry.force_unit_access =
                device.disk_number::<u8>("queue/fua").map(|flag| flag != 0);
            geometry.zones = zones(device);
            geometry.model = serial::model(device);
            match serial::from_sysfs(device) {
                Ok(serial) => geometry.serial_number = Some(serial),
                Err(why) => geometry.serial_number_absent = Some(why),
            }
        }
    }
    geometry
}

/// The zones of a zoned device.
fn zones(device: &SysfsDevice) -> Option<Zones> {
    let model = match device.disk_text("queue/zoned")?.as_str() {
        "host-managed" => ZoneModel::HostManaged,
        "host-aware" => ZoneModel::HostAware,
        _ => return None,
    };
    let sectors: u64 = device.disk_number("queue/chunk_sectors")?;
    // 0 stands for no limit.
    let limit = |attribute: &str| device.disk_number(attribute).filter(|&zones| zones > 0);
    Some(Zones {
        model,
        size: sectors.checked_mul(SYSFS_SECTOR)?,
        count: device.disk_number("queue/nr_zones"),
        write_granularity: limit("queue/zone_write_granularity"),
        max_open: limit("queue/max_open_zones"),
        max_active: limit("queue/max_active_zones"),
    })
}

fn described_under(
    path: &Path,
    number: (u32, u32),
    device: SysfsDevice,
    file_system: Option<String>,
) -> Result<DeviceUnder, Error> {
    let missing = |attribute: &str| {
        Error::unsupported(
            "geometry_under",
            Subject::Path(path.to_owned()),
            format!(
                "sysfs has no {attribute} for device {}; open {} and ask geometry",
                device.name(),
                device.node().display()
            ),
        )
    };
    let logical: u32 = device
        .disk_number("queue/logical_block_size")
        .ok_or_else(|| missing("queue/logical_block_size"))?;
    let physical = device
        .disk_number("queue/physical_block_size")
        .unwrap_or(logical);
    let size = device
        .own_number::<u64>("size")
        .and_then(|sectors| sectors.checked_mul(SYSFS_SECTOR))
        .ok_or_else(|| missing("size"))?;
    let node = device.node();
    let geometry = described(&Ok(device), logical, physical, size);
    Ok(DeviceUnder {
        device: node,
        number: Some(number),
        file_system,
        geometry,
    })
}

/// How many devices the btrfs filesystem has that the device `name` is of.
fn device_count(sys: &Path, name: &str) -> Option<usize> {
    let file_systems = std::fs::read_dir(sys.join("fs/btrfs")).ok()?;
    file_systems.flatten().find_map(|file_system| {
        let devices = file_system.path().join("devices");
        devices
            .join(name)
            .exists()
            .then(|| std::fs::read_dir(&devices).map_or(0, Iterator::count))
    })
}

fn split(device: u64) -> (u32, u32) {
    (major(device), minor(device))
}

fn no_sysfs(path: &Path, number: (u32, u32), error: io::Error) -> Error {
    Error::os(
        format!(
            "looking up device {}:{} in /sys/dev/block",
            number.0, number.1
        ),
        Subject::Path(path.to_owned()),
        error,
        Some("is sysfs mounted? mount -t sysfs sysfs /sys".to_owned()),
    )
}

fn not_a_device(operation: &'static str, subject: Subject) -> Error {
    Error::os(
        operation,
        subject,
        io::Error::from_raw_os_error(libc::ENOTBLK),
        Some(NOT_A_DEVICE.to_owned()),
    )
}
