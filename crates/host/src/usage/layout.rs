//! Which bytes each block device of the machine is: a part of a disk, or of a file.
//!
//! A partition is a range of its disk, a loop device one of the file or device that it
//! stands on, and the paths to one disk are that disk. Two devices that have a byte in
//! common are then found by their ranges alone, however they come by it.

use super::identity::disk_identity;
use super::stands_on::{FileId, Loop, StandsOn, loops};
use crate::error::Error;
use crate::parse::diskstats::SECTOR_BYTES;
use crate::roots::Roots;
use crate::sysfs::{DeviceDir, Devices, Hidden, every_device};

/// Longest chain of devices that is followed: loop devices over loop devices, or
/// holders over holders.
pub(super) const MAX_DEPTH: usize = 64;

/// Whose bytes a device has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Base {
    /// Those of the disk of this number.
    Disk(u32, u32),
    /// Those of the disk with this identity, whatever path leads to it.
    SameDisk(String),
    /// Those of a file.
    File(FileId),
}

/// A range of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) base: Base,
    start: u64,
    end: u64,
}

impl Place {
    /// Whether they have a byte in common. An unknown length reaches to the end.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let first = self.start.max(other.start);
        let end = self.end.min(other.end);
        self.base == other.base && first < end
    }

    /// Whether all bytes of the other are among these, and there are more.
    pub(super) fn is_more_than(&self, other: &Self) -> bool {
        self.base == other.base
            && self.start <= other.start
            && other.end <= self.end
            && self != other
    }
}

/// The block devices of the machine, and where their bytes are.
pub(super) struct Layout {
    pub(super) loops: Vec<Loop>,
    /// Devices that sysfs does not show.
    pub(super) hidden: Vec<Hidden>,
    devices: Vec<DeviceDir>,
    /// Of each device, in the same order.
    places: Vec<Place>,
}

impl Layout {
    pub(super) fn read(roots: &Roots) -> Result<Self, Error> {
        let Devices { seen, hidden } = every_device(roots)?;
        let mut layout = Self {
            loops: loops(roots, &seen)?,
            hidden,
            devices: seen,
            places: Vec::new(),
        };
        layout.places = layout
            .devices
            .iter()
            .map(|device| layout.place_at(device, 0))
            .collect::<Result<_, _>>()?;
        Ok(layout)
    }

    /// Where the bytes of this device are.
    pub(super) fn place(&self, device: &DeviceDir) -> Result<Place, Error> {
        match self.all().find(|(known, _)| *known == device) {
            Some((_, place)) => Ok(place.clone()),
            // It came after the others were read.
            None => self.place_at(device, 0),
        }
    }

    /// All devices, and where their bytes are.
    pub(super) fn all(&self) -> impl Iterator<Item = (&DeviceDir, &Place)> {
        self.devices.iter().zip(&self.places)
    }

    fn place_at(&self, device: &DeviceDir, depth: usize) -> Result<Place, Error> {
        let bytes = |attribute: &str| {
            let sectors = device.number(attribute).ok()?;
            sectors.checked_mul(SECTOR_BYTES)
        };
        let size = bytes("size").unwrap_or(u64::MAX);
        let own = Base::Disk(device.major, device.minor);
        let at = |base: Base, start: u64| Place {
            base,
            start,
            end: start.saturating_add(size),
        };
        if depth > MAX_DEPTH {
            return Ok(at(own, 0));
        }
        if let Some(disk) = device.whole_disk()? {
            let disk = self.place_at(&disk, depth + 1)?;
            return Ok(match bytes("start") {
                Some(start) => at(disk.base, disk.start.saturating_add(start)),
                // It may be anywhere on its disk.
                None => disk,
            });
        }
        match self.stands_on(device) {
            Some((StandsOn::File(file), offset)) => Ok(at(Base::File(file.clone()), offset)),
            Some((&StandsOn::Device(major, minor), offset)) => match self.of_number(major, minor) {
                Some(below) => {
                    let below = self.place_at(below, depth + 1)?;
                    Ok(at(below.base, below.start.saturating_add(offset)))
                }
                None => Ok(at(Base::Disk(major, minor), offset)),
            },
            None => Ok(at(disk_identity(device)?.map_or(own, Base::SameDisk), 0)),
        }
    }

    /// What a loop device stands on, and where it begins there.
    pub(super) fn stands_on(&self, device: &DeviceDir) -> Option<(&StandsOn, u64)> {
        let found = self.loops.iter().find(|found| found.device == *device)?;
        let (on, offset) = found.on.as_ref().ok()?;
        Some((on, *offset))
    }

    pub(super) fn of_number(&self, major: u32, minor: u32) -> Option<&DeviceDir> {
        self.devices
            .iter()
            .find(|device| (device.major, device.minor) == (major, minor))
    }

    /// The devices that this one is a part of or stands on by itself: its disk, the
    /// device under a loop device, and theirs.
    pub(super) fn below(&self, device: &DeviceDir) -> Result<Vec<DeviceDir>, Error> {
        let mut below: Vec<DeviceDir> = Vec::new();
        let mut at = device.clone();
        loop {
            let next = match at.whole_disk()? {
                Some(disk) => Some(disk),
                None => match self.stands_on(&at) {
                    Some((&StandsOn::Device(major, minor), _)) => {
                        self.of_number(major, minor).cloned()
                    }
                    _ => None,
                },
            };
            match next {
                Some(next) if !below.contains(&next) && next != *device => {
                    below.push(next.clone());
                    at = next;
                }
                _ => return Ok(below),
            }
        }
    }
}
