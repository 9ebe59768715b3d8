//! Whether what lies under a target is still sound when a run ends: an array loses a
//! member, or is done with rebuilding, while it is measured.

use super::device::describe;
use super::{mount, paths, pools, read_mounts};
use crate::error::Error;
use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use diskfacts_record::{
    BlockDevice, Filesystem, HealthAfter, ImpairedAfter, Impairment, ImpairmentKind, Stack, Unseen,
};

/// Looks again at the filesystem and the devices of a stack, and says what of them is not
/// sound now. The walk is not done again: a target may be gone, and with it the way to
/// what it stood on.
///
/// What cannot be looked at is named, never taken for sound.
pub fn health_after(roots: &Roots, before: &Stack) -> HealthAfter {
    let mut unseen = Vec::new();
    let mut now = Stack::default();
    let mut look = |what: &str, looked: Result<(), String>| {
        if let Err(why) = looked {
            unseen.push(Unseen {
                what: format!("{what} health"),
                why: format!("when the run ended: {why}"),
            });
        }
    };
    if let Some(known) = &before.filesystem {
        let looked = filesystem(roots, known).map(|found| now.filesystem = Some(found));
        look(&known.mount_point, looked);
    }
    for known in &before.devices {
        let mut told = Vec::new();
        let looked = device(roots, known, &mut told).map(|found| now.devices.push(found));
        look(&known.name, looked);
        now.unseen.append(&mut told);
    }
    paths::fill(&mut now);
    // What was not to be seen before is with the stack already.
    let is_new = |unseen: &Unseen| before.unseen.iter().all(|known| known.what != unseen.what);
    unseen.extend(now.unseen.iter().filter(|unseen| is_new(unseen)).cloned());
    let impaired = now.impairments().map(|(name, found)| ImpairedAfter {
        name: name.to_owned(),
        found: found.clone(),
    });
    HealthAfter {
        impaired: impaired.collect(),
        unseen,
    }
}

fn device(
    roots: &Roots,
    known: &BlockDevice,
    unseen: &mut Vec<Unseen>,
) -> Result<BlockDevice, String> {
    let words = |error: Error| error.to_string();
    let number = format!("dev/block/{}:{}", known.major, known.minor);
    let Some(dir) = DeviceDir::of_number(roots, known.major, known.minor).map_err(words)? else {
        is_absent(roots, known)?;
        let source = format!("{number} of sysfs is missing");
        return Ok(gone(known, "the kernel does not show it any more", source));
    };
    // A number is given again to whatever comes next.
    if dir.name != known.name {
        let what = "the kernel has another device of its number";
        return Ok(gone(known, what, format!("{number} is {}", dir.name)));
    }
    let mut found = describe(roots, &dir, unseen).map_err(words)?;
    if !dir.has("dev") {
        return Err("it was removed while it was looked at".to_owned());
    }
    found.below.clone_from(&known.below);
    // A disk that is being removed loses its size first, and then answers nothing
    // (`blk_mark_disk_dead` in `block/genhd.c`).
    if found.size_bytes == Some(0) && known.size_bytes != Some(0) {
        return Ok(gone(
            &found,
            "it has no bytes any more",
            "size is 0".to_owned(),
        ));
    }
    Ok(found)
}

/// That the kernel has no device of this number; why that cannot be told.
#[cfg(target_os = "linux")]
fn is_absent(roots: &Roots, known: &BlockDevice) -> Result<(), String> {
    crate::absence::Absent::prove(roots, (known.major, known.minor)).map(|_| ())
}

#[cfg(not(target_os = "linux"))]
fn is_absent(_: &Roots, _: &BlockDevice) -> Result<(), String> {
    Err("this system does not tell".to_owned())
}

/// A device as it was, and gone.
fn gone(known: &BlockDevice, what: &str, source: String) -> BlockDevice {
    let found = Impairment {
        kind: ImpairmentKind::Gone,
        what: what.to_owned(),
        source,
    };
    BlockDevice {
        impaired: vec![found],
        ..known.clone()
    }
}

fn filesystem(roots: &Roots, known: &Filesystem) -> Result<Filesystem, String> {
    let mounts = read_mounts(roots).map_err(|error| error.to_string())?;
    // Of several on one mount point the last covers the others.
    let mount = mounts
        .iter()
        .rfind(|mount| {
            mount.mount_point == known.mount_point
                && mount.source == known.source
                && mount.kind == known.kind
        })
        .ok_or("it is not mounted there any more")?;
    let mut found = mount::filesystem(mount, None);
    found.uuid.clone_from(&known.uuid);
    pools::look(roots, mount, &mut found).map_err(|error| error.to_string())?;
    Ok(found)
}
