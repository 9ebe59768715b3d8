//! Geometry by `DeviceIoControl`, and which volume lies under a path.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr;

use windows_sys::Win32::Foundation::ERROR_WRITE_PROTECT;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_SHARE_READ, FILE_SHARE_WRITE, GetVolumeInformationW, GetVolumeNameForVolumeMountPointW,
    GetVolumePathNameW,
};
use windows_sys::Win32::System::Ioctl::{
    DEVICE_SEEK_PENALTY_DESCRIPTOR, DISK_GEOMETRY_EX, GET_LENGTH_INFORMATION,
    IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, IOCTL_DISK_GET_LENGTH_INFO, IOCTL_DISK_GET_PARTITION_INFO_EX,
    IOCTL_DISK_IS_WRITABLE, PARTITION_INFORMATION_EX, STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR,
    STORAGE_WRITE_CACHE_PROPERTY, StorageAccessAlignmentProperty, StorageDeviceProperty,
    StorageDeviceSeekPenaltyProperty, StorageDeviceWriteCacheProperty, WriteCacheDisabled,
    WriteCacheEnabled, WriteCacheTypeNone, WriteCacheTypeWriteBack, WriteCacheTypeWriteThrough,
};

use super::control::{self, Answer};
use super::is;
use crate::error::Subject;
use crate::parse::storage_descriptor;
use crate::{DeviceUnder, Error, Geometry, WriteCache};

/// `DEVICE_SEEK_PENALTY_DESCRIPTOR`, with its BOOLEAN as a byte: what the
/// driver writes there need not be 0 or 1, as a Rust `bool` must.
#[repr(C)]
struct SeekPenalty {
    version: u32,
    size: u32,
    incurs_seek_penalty: u8,
}

/// `PARTITION_INFORMATION_EX` up to the length; behind it are BOOLEANs again.
#[repr(C)]
struct Partition {
    style: u32,
    starting_offset: i64,
    length: i64,
    rest: [u32; 30],
}

/// `STORAGE_WRITE_CACHE_PROPERTY`, with its enumerations as numbers and its
/// BOOLEANs as bytes.
#[repr(C)]
struct WriteCacheProperty {
    version: u32,
    size: u32,
    kind: i32,
    enabled: i32,
    changeable: i32,
    write_through_supported: i32,
    flags: [u8; 3],
}

impl WriteCacheProperty {
    fn answer(&self) -> Option<WriteCache> {
        let through = [WriteCacheTypeNone, WriteCacheTypeWriteThrough].contains(&self.kind);
        if through || self.enabled == WriteCacheDisabled {
            Some(WriteCache::WriteThrough)
        } else if self.kind == WriteCacheTypeWriteBack && self.enabled == WriteCacheEnabled {
            Some(WriteCache::WriteBack)
        } else {
            None
        }
    }
}

const _: () = {
    assert!(size_of::<WriteCacheProperty>() == size_of::<STORAGE_WRITE_CACHE_PROPERTY>());
    assert!(size_of::<SeekPenalty>() == size_of::<DEVICE_SEEK_PENALTY_DESCRIPTOR>());
    assert!(size_of::<Partition>() == size_of::<PARTITION_INFORMATION_EX>());
    assert!(offset_of!(Partition, length) == offset_of!(PARTITION_INFORMATION_EX, PartitionLength));
};

// SAFETY: integers, and one byte of data behind them.
unsafe impl Answer for DISK_GEOMETRY_EX {}
// SAFETY: one i64.
unsafe impl Answer for GET_LENGTH_INFORMATION {}
// SAFETY: integers and an array of them.
unsafe impl Answer for Partition {}
// SAFETY: integers.
unsafe impl Answer for STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR {}
// SAFETY: integers.
unsafe impl Answer for SeekPenalty {}
// SAFETY: integers.
unsafe impl Answer for WriteCacheProperty {}

/// The longest path that Windows knows, in 16-bit units.
const PATH_MAX: u32 = 32_768;

pub(crate) fn geometry(file: &File) -> Result<Geometry, Error> {
    let basic: DISK_GEOMETRY_EX =
        control::get(file, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX).map_err(|error| {
            Error::os(
                "IOCTL_DISK_GET_DRIVE_GEOMETRY_EX",
                Subject::of(file),
                error,
                Some(
                    "is this a disk or volume, such as \\\\.\\PhysicalDrive0? For a file or a \
                     folder ask geometry_under"
                        .to_owned(),
                ),
            )
        })?;
    let logical = basic.Geometry.BytesPerSector;
    let alignment: Option<STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR> =
        control::property(file, StorageAccessAlignmentProperty).ok();
    let penalty: Option<SeekPenalty> =
        control::property(file, StorageDeviceSeekPenaltyProperty).ok();
    let (descriptor, absent) = match control::property_bytes(file, StorageDeviceProperty) {
        Ok(bytes) => (
            storage_descriptor::parse(&bytes),
            "the device's descriptor has no serial number".to_owned(),
        ),
        Err(error) => (
            storage_descriptor::StorageDescriptor::default(),
            format!("IOCTL_STORAGE_QUERY_PROPERTY: {error}"),
        ),
    };
    let physical = alignment
        .as_ref()
        .map_or(logical, |alignment| alignment.BytesPerPhysicalSector);
    let cache: Option<WriteCacheProperty> =
        control::property(file, StorageDeviceWriteCacheProperty).ok();
    Ok(Geometry {
        serial_number_absent: descriptor.serial_number.is_none().then_some(absent),
        serial_number: descriptor.serial_number,
        model: descriptor.model,
        alignment_offset: alignment.map(|alignment| alignment.BytesOffsetForSectorAlignment),
        rotational: penalty.map(|penalty| penalty.incurs_seek_penalty != 0),
        read_only: match control::command(file, IOCTL_DISK_IS_WRITABLE) {
            Ok(()) => Some(false),
            Err(error) if is(&error, ERROR_WRITE_PROTECT) => Some(true),
            Err(_) => None,
        },
        write_cache: cache.and_then(|cache| cache.answer()),
        ..Geometry::sized(logical, physical, size(file, basic.DiskSize))
    })
}

/// The size of what is open: a volume's own, where the geometry tells the size
/// of its whole disk. The first question needs the right to read, the second
/// none.
fn size(file: &File, disk_size: i64) -> u64 {
    let length = control::get::<GET_LENGTH_INFORMATION>(file, IOCTL_DISK_GET_LENGTH_INFO)
        .map(|answer| answer.Length);
    let partition = || {
        control::get::<Partition>(file, IOCTL_DISK_GET_PARTITION_INFO_EX)
            .map(|answer| answer.length)
    };
    let bytes = length.or_else(|_| partition()).unwrap_or(disk_size);
    u64::try_from(bytes).unwrap_or(0)
}

pub(crate) fn geometry_under(path: &Path) -> Result<DeviceUnder, Error> {
    let failed =
        |operation: &'static str| move |error: io::Error| Error::on_path(operation, path, error);
    // The volume of a path that is not there would be that of its folder;
    // the caller asked about this path.
    std::fs::metadata(path).map_err(failed("GetFileAttributes"))?;
    let root = volume_root(path).map_err(failed("GetVolumePathName"))?;
    let file_system = file_system(&root);
    let volume = volume_name(&root).map_err(|error| {
        Error::unsupported(
            "finding the device",
            Subject::Path(path.to_owned()),
            format!("GetVolumeNameForVolumeMountPoint: {error}; is it a network drive?"),
        )
    })?;
    let device = PathBuf::from(volume);
    let open = std::fs::OpenOptions::new()
        // No right to the content is needed to ask about the device.
        .access_mode(0)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
        .open(&device)
        .map_err(|error| Error::on_path("CreateFile", &device, error))?;
    Ok(DeviceUnder {
        geometry: geometry(&open)?,
        device,
        number: None,
        file_system,
    })
}

/// `C:\` of `C:\folder\file`, with a NUL.
fn volume_root(path: &Path) -> io::Result<Vec<u16>> {
    let path: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    let mut root = vec![0_u16; PATH_MAX as usize];
    // SAFETY: the path ends with a NUL, and the buffer is as long as stated.
    let result = unsafe { GetVolumePathNameW(path.as_ptr(), root.as_mut_ptr(), PATH_MAX) };
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(root)
}

/// `\\?\Volume{...}` of `C:\`: the device, without the backslash that would
/// mean its root folder.
fn volume_name(root: &[u16]) -> io::Result<OsString> {
    let mut name = [0_u16; 64];
    // SAFETY: the root ends with a NUL, and the buffer is as long as stated.
    let result = unsafe { GetVolumeNameForVolumeMountPointW(root.as_ptr(), name.as_mut_ptr(), 64) };
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    let name = until_nul(&name);
    Ok(OsString::from_wide(
        name.strip_suffix(&[u16::from(b'\\')]).unwrap_or(name),
    ))
}

/// `NTFS`.
fn file_system(root: &[u16]) -> Option<String> {
    let mut name = [0_u16; 64];
    // SAFETY: the root ends with a NUL, the buffer is as long as stated, and
    // the null pointers ask for nothing.
    let result = unsafe {
        GetVolumeInformationW(
            root.as_ptr(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            name.as_mut_ptr(),
            64,
        )
    };
    (result != 0).then(|| String::from_utf16_lossy(until_nul(&name)))
}

fn until_nul(text: &[u16]) -> &[u16] {
    let end = text
        .iter()
        .position(|&unit| unit == 0)
        .unwrap_or(text.len());
    &text[..end]
}
