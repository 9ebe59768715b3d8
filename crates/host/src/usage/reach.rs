//! The devices whose use forbids a write to the target: those that have a byte of it,
//! and all that stands on them.

use super::layout::{Base, Layout, MAX_DEPTH, Place};
use super::stands_on::StandsOn;
use crate::error::Error;
use crate::sysfs::DeviceDir;

/// The devices whose use forbids a write to the target.
pub(super) struct Reach {
    /// The target first; all that have a byte in common with it (its partitions, its
    /// disk, parts of that which overlap it, loop devices over the same file, other
    /// paths to the same disk), and all that stands on any of them.
    pub(super) devices: Vec<DeviceDir>,
    /// Which stand on which.
    pub(super) holders: Vec<Holder>,
    /// Loop devices over one of these devices.
    pub(super) loops: Vec<LoopOver>,
    /// The devices that have bytes of the target, itself first.
    pub(super) shares: Vec<Share>,
    /// Where the bytes of the target are.
    pub(super) place: Place,
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

/// A loop device over a block device, by their names.
pub(super) struct LoopOver {
    pub(super) held: String,
    pub(super) device: String,
}

/// A device that has bytes of the target.
#[derive(Clone)]
pub(super) struct Share {
    pub(super) device: DeviceDir,
    /// How it has them.
    pub(super) how: How,
}

/// How a device comes by bytes of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It is the target.
    Target,
    /// It is a part of the target, which an exclusive open of that is refused for.
    Part,
    /// The target is a part of it: it carries more than the target, so that its marks
    /// and, where it has parts, its other openers may be about the rest.
    Whole {
        /// An exclusive open of it fails for nobody but who holds all of it.
        undivided: bool,
    },
    /// Another part of the same disk, or another loop device.
    Beside {
        /// It has more bytes than the target, so that a partition table on it is
        /// about more.
        more: bool,
        /// It has parts that overlap the target, which are looked at themselves.
        parted: bool,
    },
    /// Another path to the same disk: what it carries is what the target carries.
    OtherPath {
        /// The target stands on it, and holds it.
        held_by_target: bool,
    },
}

pub(super) fn of(layout: &Layout, target: &DeviceDir) -> Result<Reach, Error> {
    let below = layout.below(target)?;
    let mut reach = Reach {
        devices: Vec::new(),
        holders: Vec::new(),
        loops: Vec::new(),
        shares: Vec::new(),
        place: layout.place(target)?,
    };
    reach.add(layout, target, 0, &|holder| {
        holder == target || below.contains(holder)
    })?;
    reach.add_other_paths(layout, target)?;
    let sharing = sharing(layout, target, &reach.place);
    for (device, place) in &sharing {
        let how = how(
            layout,
            target,
            &below,
            (device, place),
            &reach.place,
            &sharing,
        )?;
        reach.shares.push(Share {
            device: device.clone(),
            how,
        });
    }
    // The target stands beside other loop devices over the same device: not they, only
    // their users forbid anything.
    let own_bases: Vec<&DeviceDir> = std::iter::once(target)
        .chain(&below)
        .filter_map(|device| match layout.stands_on(device)?.0 {
            StandsOn::Device(major, minor) => layout.of_number(*major, *minor),
            StandsOn::File(_) => None,
        })
        .collect();
    for found in &layout.loops {
        let Ok((StandsOn::Device(major, minor), _)) = found.on else {
            continue;
        };
        if let Some(held) = reach.find(major, minor)
            && reach.devices.contains(&found.device)
            && found.device != *target
            && !below.contains(&found.device)
            && !own_bases.contains(&held)
        {
            reach.loops.push(LoopOver {
                held: held.name.clone(),
                device: found.device.name.clone(),
            });
        }
    }
    Ok(reach)
}

/// The devices with a byte of this place, `device` first, which has it even where its
/// size is 0.
fn sharing(layout: &Layout, device: &DeviceDir, place: &Place) -> Vec<(DeviceDir, Place)> {
    let mut sharing = vec![(device.clone(), place.clone())];
    let others = layout
        .all()
        .filter(|(other, others)| *other != device && others.overlaps(place));
    sharing.extend(others.map(|(other, others)| (other.clone(), others.clone())));
    sharing
}

fn how(
    layout: &Layout,
    target: &DeviceDir,
    below: &[DeviceDir],
    (device, place): (&DeviceDir, &Place),
    of_target: &Place,
    sharing: &[(DeviceDir, Place)],
) -> Result<How, Error> {
    if device == target {
        return Ok(How::Target);
    }
    let disk = device.whole_disk()?;
    if disk.as_ref() == Some(target) {
        return Ok(How::Part);
    }
    let disk_of_target = target.whole_disk()?;
    if below.contains(device) {
        // That of its own disk is a part of an exclusive open of a partition.
        let undivided = disk_of_target.as_ref() != Some(device) && device.partitions()?.is_empty();
        return Ok(How::Whole { undivided });
    }
    let one_disk = disk.is_some() && disk == disk_of_target;
    let is_loop = |device: &DeviceDir| layout.stands_on(device).is_some();
    let root = disk.as_ref().unwrap_or(device);
    if matches!(place.base, Base::SameDisk(_)) && !one_disk && !is_loop(root) {
        if disk.is_none() && place.is_more_than(of_target) {
            return Ok(How::Whole { undivided: false });
        }
        let mut held_by_target = false;
        for held in std::iter::once(device).chain(&disk) {
            held_by_target |= held
                .linked("holders")?
                .iter()
                .any(|(_, holder)| holder.as_ref() == Some(target));
        }
        return Ok(How::OtherPath { held_by_target });
    }
    let mut parted = false;
    for (part, _) in sharing {
        parted |= part.whole_disk()?.as_ref() == Some(device);
    }
    Ok(How::Beside {
        more: place.is_more_than(of_target),
        parted,
    })
}

/// All that a device stands on, through mappings, partitions and loop devices, added to
/// what is known; of these, what a mapping stands on.
fn all_below(
    layout: &Layout,
    device: &DeviceDir,
    known: &mut Vec<DeviceDir>,
    mapped: &mut Vec<DeviceDir>,
) -> Result<(), Error> {
    let slaves = device.linked("slaves")?.into_iter();
    let mut below: Vec<DeviceDir> = slaves.filter_map(|(_, slave)| slave).collect();
    mapped.extend(below.iter().cloned());
    below.extend(layout.below(device)?);
    for device in below {
        if !known.contains(&device) {
            known.push(device.clone());
            all_below(layout, &device, known, mapped)?;
        }
    }
    Ok(())
}

impl Reach {
    /// A device, those that share bytes with it, and what stands on any of them; but
    /// for holders that the target itself is or stands on.
    fn add(
        &mut self,
        layout: &Layout,
        device: &DeviceDir,
        depth: usize,
        own: &dyn Fn(&DeviceDir) -> bool,
    ) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        let place = layout.place(device)?;
        for (device, _) in sharing(layout, device, &place) {
            if self.devices.contains(&device) {
                continue;
            }
            self.devices.push(device.clone());
            self.add_holders(layout, &device, depth, own)?;
        }
        Ok(())
    }

    /// What stands on a device, but for what the target is or stands on.
    fn add_holders(
        &mut self,
        layout: &Layout,
        device: &DeviceDir,
        depth: usize,
        own: &dyn Fn(&DeviceDir) -> bool,
    ) -> Result<(), Error> {
        for (name, holder) in device.linked("holders")? {
            if holder.as_ref().is_some_and(own) {
                continue;
            }
            if let Some(holder) = &holder {
                self.add(layout, holder, depth + 1, own)?;
            }
            self.holders.push(Holder {
                name,
                device: holder,
                held: device.name.clone(),
            });
        }
        Ok(())
    }

    /// What leads by another path to the disks that a mapping stands on. Where in them its
    /// bytes are is not known, so all of a path counts: a partition of a multipath device
    /// and that of one of its paths are the same bytes, and neither holds the other.
    fn add_other_paths(&mut self, layout: &Layout, target: &DeviceDir) -> Result<(), Error> {
        let (mut stack, mut mapped) = (vec![target.clone()], Vec::new());
        all_below(layout, target, &mut stack, &mut mapped)?;
        for device in &mapped {
            let place = layout.place(device)?;
            if !matches!(place.base, Base::SameDisk(_)) {
                continue;
            }
            for (other, _) in sharing(layout, device, &place) {
                let by_the_same_path = |below: &DeviceDir| stack.contains(below);
                if by_the_same_path(&other)
                    || layout.below(&other)?.iter().any(by_the_same_path)
                    || self.devices.contains(&other)
                {
                    continue;
                }
                self.devices.push(other.clone());
                self.add_holders(layout, &other, 0, &|holder| stack.contains(holder))?;
            }
        }
        Ok(())
    }

    pub(super) fn find(&self, major: u32, minor: u32) -> Option<&DeviceDir> {
        self.devices
            .iter()
            .find(|device| (device.major, device.minor) == (major, minor))
    }
}
