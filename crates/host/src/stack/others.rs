//! Who else uses the devices of a stack: what they do meanwhile is in the
//! counters too.

use super::sources::{device_of_source, devices_of_mount};
use crate::error::Error;
use crate::parse::mountinfo::Mount;
use crate::parse::swaps::parse_swaps;
use crate::roots::Roots;
use crate::sysfs::{DeviceDir, Hidden, every_device};
use diskfacts_record::{Stack, Unseen};
use std::collections::HashMap;
use std::fs;
use std::io;

/// Most users that are named of one device; containers mount the same
/// filesystem dozens of times.
const MAX_NAMED: usize = 8;

/// A use of a device, by the device's name.
struct Use {
    device: String,
    words: String,
}

/// Fills in the other users of each device, those of its partitions too.
pub(super) fn fill(roots: &Roots, stack: &mut Stack) {
    match uses(roots, stack) {
        Ok((uses, hidden)) => {
            put(roots, stack, uses);
            let unseen = hidden.into_iter().map(|Hidden { name, why }| Unseen {
                what: name,
                why: format!("it {why}"),
            });
            stack.unseen.extend(unseen);
        }
        Err(error) => stack.unseen.push(Unseen {
            what: "other users of the devices".to_owned(),
            why: error.to_string(),
        }),
    }
}

/// The uses that can be seen, and the devices that cannot.
fn uses(roots: &Roots, stack: &Stack) -> Result<(Vec<Use>, Vec<Hidden>), Error> {
    let mut uses = Vec::new();
    let mounts = super::read_mounts(roots)?;
    let own = stack
        .filesystem
        .as_ref()
        .map(|filesystem| filesystem.mount_point.as_str());
    for mount in mounts
        .iter()
        .filter(|mount| Some(mount.mount_point.as_str()) != own)
    {
        for device in mounted_on(roots, &mounts, mount)? {
            uses.push(Use {
                device: device.name,
                words: format!("mounted at {}", mount.mount_point),
            });
        }
    }
    for device in swapped_to(roots)? {
        uses.push(Use {
            device: device.name,
            words: "swap".to_owned(),
        });
    }
    let devices = every_device(roots)?;
    for device in devices.seen {
        if stack.device(&device.name).is_some() {
            continue;
        }
        let words = match device.optional_text("dm/name") {
            Some(name) => format!("below {} ({name})", device.name),
            None if device.has("md") => format!("member of {}", device.name),
            None => format!("below {}", device.name),
        };
        for (below, _) in device.linked("slaves")? {
            uses.push(Use {
                device: below,
                words: words.clone(),
            });
        }
        if let Some(file) = device.optional_text("loop/backing_file")
            && let Some(below) = device_of_source(roots, &file)?
        {
            uses.push(Use {
                device: below.name,
                words,
            });
        }
    }
    Ok((uses, devices.hidden))
}

/// The devices of a mount. Overlays are left out: what they stand on is mounted
/// in its own name.
fn mounted_on(roots: &Roots, mounts: &[Mount], mount: &Mount) -> Result<Vec<DeviceDir>, Error> {
    if mount.kind == "overlay" {
        return Ok(Vec::new());
    }
    // Why a mount of something else has no devices is not asked here.
    let mut unasked = Vec::new();
    devices_of_mount(roots, mounts, mount, &mut unasked)
}

fn swapped_to(roots: &Roots) -> Result<Vec<DeviceDir>, Error> {
    let path = roots.proc.join("swaps");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        // A kernel without swap has no such file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::on_path("reading", &path, error)),
    };
    let swaps = parse_swaps(&bytes).map_err(|source| Error::Form { path, source })?;
    let mut devices = Vec::new();
    for swap in swaps {
        devices.extend(device_of_source(roots, &swap.path.to_string_lossy())?);
    }
    Ok(devices)
}

/// Gives each use to its device, or to the disk whose partition it is where the
/// partition itself is not in the stack.
fn put(roots: &Roots, stack: &mut Stack, uses: Vec<Use>) {
    let mut disks: HashMap<String, Option<String>> = HashMap::new();
    for Use { device, words } in uses {
        let (name, words) = if stack.device(&device).is_some() {
            (device, words)
        } else {
            let disk = disks
                .entry(device.clone())
                .or_insert_with(|| disk_of(roots, &device));
            match disk {
                Some(disk) => (disk.clone(), format!("{device}: {words}")),
                None => continue,
            }
        };
        if let Some(found) = stack.devices.iter_mut().find(|device| device.name == name)
            && !found.holders.contains(&words)
        {
            found.holders.push(words);
        }
    }
    for device in &mut stack.devices {
        let more = device.holders.len().saturating_sub(MAX_NAMED);
        if more > 0 {
            device.holders.truncate(MAX_NAMED);
            device.holders.push(format!("{more} more"));
        }
    }
}

fn disk_of(roots: &Roots, name: &str) -> Option<String> {
    let device = DeviceDir::of_name(roots, name).ok()??;
    Some(device.whole_disk().ok()??.name)
}
