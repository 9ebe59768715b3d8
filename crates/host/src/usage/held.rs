//! Swap, devices that stand on it, and a read-only switch.

use super::reach::Reach;
use super::{Obstacle, ObstacleKind};
use crate::error::Error;
use crate::parse::swaps::parse_swaps;
use crate::parse::sysfs_value::parse_dm_uuid;
use crate::roots::Roots;
use crate::stack::device_of_source;
use crate::sysfs::{DeviceDir, every_device};
use std::fs;
use std::io;

pub(super) fn check_swap(
    roots: &Roots,
    reach: &Reach,
    obstacles: &mut Vec<Obstacle>,
) -> Result<(), Error> {
    let path = roots.proc.join("swaps");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        // A kernel without swap has no such file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::on_path("reading", &path, error)),
    };
    let swaps = parse_swaps(&bytes).map_err(|source| Error::Form { path, source })?;
    for swap in swaps {
        // The kernel appends this when the node was removed.
        let source = swap.path.trim_end_matches(" (deleted)");
        if let Some(device) = device_of_source(roots, source)?
            && reach.find(device.major, device.minor).is_some()
        {
            obstacles.push(Obstacle {
                kind: ObstacleKind::Swap,
                device: device.name,
                what: "is used as swap".to_owned(),
                how_to_go_on: format!("swapoff {source}"),
            });
        }
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

pub(super) fn check_loops(
    roots: &Roots,
    reach: &Reach,
    obstacles: &mut Vec<Obstacle>,
) -> Result<(), Error> {
    for device in every_device(roots)? {
        let Some(file) = device.optional_text("loop/backing_file") else {
            continue;
        };
        let file = file.trim_end_matches(" (deleted)");
        if let Some(backing) = device_of_source(roots, file)?
            && reach.find(backing.major, backing.minor).is_some()
        {
            obstacles.push(Obstacle {
                kind: ObstacleKind::Loop,
                device: backing.name,
                what: format!("is the file of the loop device {}", device.name),
                how_to_go_on: format!("losetup --detach /dev/{}", device.name),
            });
        }
    }
    Ok(())
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
