//! The devices whose data a write to one device would reach.

use crate::error::Error;
use crate::sysfs::DeviceDir;

/// Longest chain of holders that is followed.
const MAX_DEPTH: usize = 64;

/// The devices whose use forbids a write to the target.
pub(super) struct Reach {
    /// The target, its partitions, other parts of the same disk that overlap
    /// it, the disk it is a part of, and all that stands on any of them.
    pub(super) devices: Vec<DeviceDir>,
    /// Which stand on which.
    pub(super) holders: Vec<Holder>,
}

/// A device that stands on another.
pub(super) struct Holder {
    /// The name that the kernel gives it.
    pub(super) name: String,
    /// The device itself; none when the kernel names it but does not show it,
    /// which holds no less.
    pub(super) device: Option<DeviceDir>,
    /// Name of the device that it stands on.
    pub(super) held: String,
}

pub(super) fn of(target: &DeviceDir) -> Result<Reach, Error> {
    let mut reach = Reach {
        devices: Vec::new(),
        holders: Vec::new(),
    };
    reach.add(target, true, 0)?;
    if let Some(disk) = target.whole_disk()? {
        for sibling in disk.partitions()? {
            if sibling != *target && overlap(&sibling, target) {
                reach.add(&sibling, true, 0)?;
            }
        }
        // Whoever uses the whole disk uses this part of it. Its other parts are
        // not concerned.
        reach.add(&disk, false, 0)?;
    }
    Ok(reach)
}

impl Reach {
    fn add(
        &mut self,
        device: &DeviceDir,
        with_partitions: bool,
        depth: usize,
    ) -> Result<(), Error> {
        if self.devices.contains(device) || depth > MAX_DEPTH {
            return Ok(());
        }
        self.devices.push(device.clone());
        if with_partitions {
            for partition in device.partitions()? {
                self.add(&partition, true, depth + 1)?;
            }
        }
        for (name, holder) in device.linked("holders")? {
            if let Some(holder) = &holder {
                self.add(holder, true, depth + 1)?;
            }
            self.holders.push(Holder {
                name,
                device: holder,
                held: device.name.clone(),
            });
        }
        Ok(())
    }

    pub(super) fn find(&self, major: u32, minor: u32) -> Option<&DeviceDir> {
        self.devices
            .iter()
            .find(|device| (device.major, device.minor) == (major, minor))
    }
}

/// Whether two parts of a disk have a sector in common, as an extended
/// partition has with those inside it. What cannot be read overlaps.
fn overlap(one: &DeviceDir, other: &DeviceDir) -> bool {
    let span = |device: &DeviceDir| {
        let start = device.number("start").ok()?;
        let sectors = device.number("size").ok()?;
        Some((start, start.saturating_add(sectors)))
    };
    match (span(one), span(other)) {
        (Some((start, end)), Some((other_start, other_end))) => {
            start < other_end && other_start < end
        }
        _ => true,
    }
}
