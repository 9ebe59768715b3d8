//! Mounted filesystems.

use super::reach::Reach;
use super::{Obstacle, ObstacleKind, quoted};
use crate::error::Error;
use crate::roots::Roots;
use crate::stack::{device_of_source, read_mounts};
use crate::sysfs::{DeviceDir, sorted_entries};

pub(super) fn check(
    roots: &Roots,
    reach: &Reach,
    obstacles: &mut Vec<Obstacle>,
) -> Result<(), Error> {
    let mut mounted: Vec<String> = Vec::new();
    for mount in read_mounts(roots)? {
        // Filesystems without a device number of their own name a member.
        let device = match reach.find(mount.major, mount.minor) {
            Some(device) => Some(device.clone()),
            None if mount.major == 0 => first_member(roots, reach, &mount.source)?,
            None => None,
        };
        let Some(device) = device else { continue };
        obstacles.push(obstacle(
            &device,
            format!("is mounted on {} ({})", mount.mount_point, mount.kind),
            match mount.mount_point.as_str() {
                "/" => "this system runs from it; choose another device".to_owned(),
                point => format!("umount {}", quoted(point)),
            },
        ));
        mounted.push(device.name);
    }
    // Filesystems show a folder per mounted device, whatever namespace mounted
    // it: /sys/fs/ext4/sda1, /sys/fs/xfs/sda1.
    for folder in sorted_entries(&roots.sys.join("fs"))? {
        let kind = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for device in &reach.devices {
            if !mounted.contains(&device.name)
                && folder.join(device.name.replace('/', "!")).is_dir()
            {
                obstacles.push(elsewhere(device, &kind));
                mounted.push(device.name.clone());
            }
        }
    }
    // A member of a btrfs that is mounted by way of another member.
    for filesystem in sorted_entries(&roots.sys.join("fs/btrfs"))? {
        for link in sorted_entries(&filesystem.join("devices"))? {
            if let Some(member) = DeviceDir::open(&link)?
                && reach.find(member.major, member.minor).is_some()
                && !mounted.contains(&member.name)
            {
                obstacles.push(obstacle(
                    &member,
                    "is a member of a mounted btrfs".to_owned(),
                    "`findmnt -t btrfs` shows where; unmount it there, or `btrfs device remove`"
                        .to_owned(),
                ));
                mounted.push(member.name);
            }
        }
    }
    Ok(())
}

/// The device that the source of a mount names, if a write would reach it.
/// Sources like `tmpfs` or `host:/path` name none; bcachefs names several.
fn first_member(roots: &Roots, reach: &Reach, sources: &str) -> Result<Option<DeviceDir>, Error> {
    for source in sources.split(':') {
        if let Some(device) = device_of_source(roots, source)?
            && reach.find(device.major, device.minor).is_some()
        {
            return Ok(Some(device));
        }
    }
    Ok(None)
}

fn elsewhere(device: &DeviceDir, kind: &str) -> Obstacle {
    obstacle(
        device,
        format!("is mounted ({kind}), but not in this mount namespace"),
        format!(
            "`grep {}:{} /proc/*/mountinfo` shows by whom; unmount it there",
            device.major, device.minor
        ),
    )
}

fn obstacle(device: &DeviceDir, what: String, how_to_go_on: String) -> Obstacle {
    Obstacle {
        kind: ObstacleKind::Mounted,
        device: device.name.clone(),
        what,
        how_to_go_on,
    }
}
