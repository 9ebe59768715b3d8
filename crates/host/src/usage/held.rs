//! Swap, devices that stand on it, and a read-only switch.

use super::layout::{Base, Layout};
use super::reach::Reach;
use super::stands_on::{StandsOn, swap_areas};
use super::{Obstacle, ObstacleKind, quoted, unknown_devices};
use crate::error::Error;
use crate::parse::sysfs_value::parse_dm_uuid;
use crate::roots::Roots;
use crate::sysfs::DeviceDir;

pub(super) fn check_swap(
    roots: &Roots,
    reach: &Reach,
    obstacles: &mut Vec<Obstacle>,
) -> Result<(), Error> {
    for area in swap_areas(roots)? {
        let swapoff = format!("swapoff {}", quoted(&area.path.to_string_lossy()));
        let (kind, device, what, how_to_go_on) = match area.on {
            Ok(StandsOn::Device(major, minor)) => match reach.find(major, minor) {
                Some(device) => (
                    ObstacleKind::Swap,
                    device.name.clone(),
                    "is used as swap".to_owned(),
                    swapoff,
                ),
                None => continue,
            },
            Ok(StandsOn::File(file)) if reach.place.base == Base::File(file.clone()) => (
                ObstacleKind::Swap,
                area.path.display().to_string(),
                "has the same bytes, and is used as swap".to_owned(),
                swapoff,
            ),
            Ok(StandsOn::File(_)) => continue,
            // A swapped file can only be the one under a loop device.
            Err(_) if !area.is_device && !matches!(reach.place.base, Base::File(_)) => continue,
            Err(unknown) => (
                ObstacleKind::Unchecked,
                area.path.display().to_string(),
                format!("is used as swap, and {}", unknown.why),
                unknown.how_to_go_on,
            ),
        };
        obstacles.push(Obstacle {
            kind,
            device,
            what,
            how_to_go_on,
        });
    }
    Ok(())
}

pub(super) fn check_holders(reach: &Reach, obstacles: &mut Vec<Obstacle>) {
    for holder in &reach.holders {
        let (what, how_to_go_on) = match &holder.device {
            Some(device) => describe(device),
            None => unknown(&holder.name),
        };
        obstacles.push(Obstacle {
            kind: ObstacleKind::Held,
            device: holder.held.clone(),
            what: format!("is held by {what}"),
            how_to_go_on,
        });
    }
}

/// What a holder is, and how to make it let go.
fn describe(holder: &DeviceDir) -> (String, String) {
    if let Some(level) = holder.optional_text("md/level") {
        return (
            format!("the software RAID {} ({level})", holder.name),
            format!("mdadm --stop /dev/{}", holder.name),
        );
    }
    if let Some(name) = holder.optional_text("dm/name") {
        let kind = holder
            .optional_text("dm/uuid")
            .and_then(|uuid| parse_dm_uuid(&uuid));
        return match kind.as_deref() {
            Some("lvm") => (
                format!("the LVM volume {name}"),
                format!("lvchange --activate n /dev/mapper/{name}"),
            ),
            Some("crypt") => (
                format!("the encrypted volume {name}"),
                format!("cryptsetup close {name}"),
            ),
            Some("mpath") => (
                format!("the multipath device {name}, of which it is one path"),
                format!("use /dev/mapper/{name}, or `multipath -f {name}`"),
            ),
            _ => (
                format!("the device-mapper device {name}"),
                format!("dmsetup remove {name}"),
            ),
        };
    }
    if holder.has("bcache") {
        return (
            format!("the bcache device {}", holder.name),
            format!("echo 1 > /sys/block/{}/bcache/stop", holder.name),
        );
    }
    unknown(&holder.name)
}

fn unknown(name: &str) -> (String, String) {
    (
        format!("the device {name}"),
        format!("stop /dev/{name} first"),
    )
}

pub(super) fn check_loops(layout: &Layout, reach: &Reach, obstacles: &mut Vec<Obstacle>) {
    for over in &reach.loops {
        obstacles.push(Obstacle {
            kind: ObstacleKind::Loop,
            device: over.held.clone(),
            what: format!("is the file of the loop device {}", over.device),
            how_to_go_on: format!("losetup --detach /dev/{}", over.device),
        });
    }
    obstacles.extend(unknown_devices(&layout.loops, &layout.hidden));
}

pub(super) fn check_read_only(device: &DeviceDir, obstacles: &mut Vec<Obstacle>) {
    if device.number("ro").ok() == Some(0) {
        return;
    }
    let known = device.number("ro").is_ok();
    obstacles.push(Obstacle {
        kind: if known {
            ObstacleKind::ReadOnly
        } else {
            ObstacleKind::Unchecked
        },
        device: device.name.clone(),
        what: if known {
            "is read-only".to_owned()
        } else {
            "does not say whether it is read-only".to_owned()
        },
        how_to_go_on: format!(
            "`blockdev --setrw /dev/{}`, or the switch on the medium itself",
            device.name
        ),
    });
}
