//! Sectors, size and identity of disks.

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::outcome::{Promised, promise};
use crate::system::{borrow, path_from_bytes};
use crate::words::for_javascript;

/// What a block device says about itself; sizes in bytes. What it does not say
/// is `null`.
#[napi(object, use_nullable = true)]
pub struct Geometry {
    /// The unit of addressing.
    pub logical_sector_size: u32,
    /// The unit of writing.
    pub physical_sector_size: u32,
    /// The size of the device.
    pub size: f64,
    /// The serial number, without surrounding blanks.
    pub serial_number: Option<String>,
    /// Why there is no serial number.
    pub serial_number_absent: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The smallest transfer without a penalty.
    pub minimum_io_size: Option<u32>,
    /// The transfer that the device likes best.
    pub optimal_io_size: Option<u32>,
    /// How far the first logical sector lies behind a physical one's start.
    pub alignment_offset: Option<u32>,
    /// Whether the medium turns.
    pub rotational: Option<bool>,
    /// Whether the device is set read-only.
    pub read_only: Option<bool>,
}

impl From<directio::Geometry> for Geometry {
    fn from(geometry: directio::Geometry) -> Self {
        Self {
            logical_sector_size: geometry.logical_sector_size,
            physical_sector_size: geometry.physical_sector_size,
            // Exact up to 8 PiB, the safe integers of JavaScript.
            size: geometry.size as f64,
            serial_number: geometry.serial_number,
            serial_number_absent: geometry.serial_number_absent.as_deref().map(for_javascript),
            model: geometry.model,
            minimum_io_size: geometry.minimum_io_size,
            optimal_io_size: geometry.optimal_io_size,
            alignment_offset: geometry.alignment_offset,
            rotational: geometry.rotational,
            read_only: geometry.read_only,
        }
    }
}

/// The device under a file or a folder.
#[napi(object, use_nullable = true)]
pub struct DeviceUnder {
    /// `/dev/sda2`, `\\?\Volume{...}`.
    pub device: String,
    /// Its major number (Unix).
    pub major: Option<u32>,
    /// Its minor number (Unix).
    pub minor: Option<u32>,
    /// The type of the filesystem.
    pub file_system: Option<String>,
    /// What the device says about itself.
    pub geometry: Geometry,
}

/// Asks an open disk.
#[napi]
pub fn geometry(descriptor: i32) -> Promised<Geometry> {
    promise(move || {
        let file = borrow(descriptor)?;
        Ok(directio::geometry(&file)?.into())
    })
}

/// Asks the disk under a path.
#[napi]
pub fn geometry_under(path: Uint8Array) -> Promised<DeviceUnder> {
    promise(move || {
        let under = directio::geometry_under(path_from_bytes(&path)?)?;
        Ok(DeviceUnder {
            device: under.device.to_string_lossy().into_owned(),
            major: under.number.map(|(major, _)| major),
            minor: under.number.map(|(_, minor)| minor),
            file_system: under.file_system,
            geometry: under.geometry.into(),
        })
    })
}
