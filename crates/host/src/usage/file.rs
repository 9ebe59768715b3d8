//! What stands in the way of writing to a file: loop devices, swap and mounts that stand
//! on it, and whoever has it open in the kernel.
//!
//! A file cannot be claimed as a device can, and carries no marks that forbid anything:
//! who names an image as what may be destroyed means it. What uses it unseen, as a
//! loop device over the whole of a mounted filesystem does, is found by the file's
//! inode.

use super::lease::{Others, others};
use super::mounted_file::{FileMount, file_mounts};
use super::openers::any_process;
use super::overlay::{Layers, LoopOnOverlay, of_loops};
use super::stands_on::{FileId, Loop, StandsOn, SwapArea, loops, swap_areas};
use super::{Obstacle, ObstacleKind, kernel_setting, quoted, unchecked, unknown_devices};
use crate::error::Error;
use crate::roots::Roots;
use crate::sysfs::every_device;
use std::fs::{File, Metadata};
use std::path::Path;

/// All that was found of the open file, which is seen at `path`.
pub(super) fn obstacles(
    roots: &Roots,
    path: &Path,
    file: &File,
    metadata: &Metadata,
) -> Result<Vec<Obstacle>, Error> {
    let Some(StandsOn::File(id)) = StandsOn::of(metadata) else {
        return Err(Error::NotABlockDevice {
            path: path.to_owned(),
            is: "neither a file nor a device by now",
        });
    };
    if let Some(setting) = kernel_setting::of(path, file) {
        return Ok(vec![setting]);
    }
    let devices = every_device(roots)?;
    let loops = loops(roots, &devices.seen)?;
    let on_overlays = of_loops(roots, &loops)?;
    let areas = swap_areas(roots)?;
    let mounts = file_mounts(roots)?;
    let layers = Layers::of(roots, path)?;
    let is_file = |other: &FileId| *other == id || layers.files.contains(other);
    let is_it = |on: &StandsOn| match on {
        StandsOn::File(other) => is_file(other),
        StandsOn::Device(..) => false,
    };
    let mut obstacles = Vec::new();
    let stands_on_it = |found: &&Loop| {
        let above = |on: &LoopOnOverlay<'_>| {
            on.found.device == found.device && on.below.iter().flatten().any(is_file)
        };
        found.on.as_ref().is_ok_and(|(on, _)| is_it(on)) || on_overlays.iter().any(above)
    };
    let standing = loops.iter().filter(stands_on_it);
    obstacles.extend(standing.map(|found| looped(path, found)));
    for area in &areas {
        if area.on.as_ref().is_ok_and(is_it) {
            obstacles.push(Obstacle {
                kind: ObstacleKind::Swap,
                device: path.display().to_string(),
                what: "is used as swap".to_owned(),
                how_to_go_on: format!("swapoff {}", quoted(&path.to_string_lossy())),
            });
        }
    }
    let mounted = |mount: &&FileMount| matches!(&mount.on, Ok(Some(on)) if is_it(on));
    let mounted = mounts.iter().filter(mounted);
    obstacles.extend(mounted.map(|mount| mount.obstacle(path)));
    if !obstacles.is_empty() {
        return Ok(obstacles);
    }
    let others = if roots.live() {
        others(file)
    } else {
        Others::Unknown
    };
    // What did not say what it stands on stands on another file than one that nobody
    // else has open.
    if others != Others::Nobody {
        obstacles.extend(unknown_devices(&loops, &devices.hidden));
        obstacles.extend(areas.iter().filter_map(unknown_swap));
        obstacles.extend(mounts.iter().filter_map(FileMount::unknown));
        let unknown = on_overlays.iter().filter(|on| on.below.is_none());
        obstacles.extend(unknown.map(|on| on_hidden_overlay(on.found)));
    }
    if others == Others::Somebody && only_the_kernel_has_open(roots, file) {
        obstacles.push(open_in_the_kernel(path));
    }
    if obstacles.is_empty() && layers.hidden && anything_elsewhere(&loops, &areas, &id) {
        obstacles.push(unchecked(
            &path.display().to_string(),
            "lies on an overlay whose folders cannot be seen from here: a loop device or \
             swap may stand on the file below it",
            "name a file on a volume that is mounted into this container, or run on the host",
        ));
    }
    Ok(obstacles)
}

/// Who had it open may have ended while the processes were looked at, so that it is asked
/// again whether anybody has.
fn only_the_kernel_has_open(roots: &Roots, file: &File) -> bool {
    any_process(&roots.proc, file) == Some(false) && others(file) == Others::Somebody
}

/// No process has it open, and it is open all the same.
fn open_in_the_kernel(path: &Path) -> Obstacle {
    Obstacle {
        kind: ObstacleKind::Held,
        device: path.display().to_string(),
        what: "is open, and no process has it open: the kernel has, as for a filesystem that \
               is mounted from it, an overlay above it, an NFS server, or a target of iSCSI or \
               NVMe that exports it"
            .to_owned(),
        how_to_go_on: "`findmnt`, `losetup --list`, `targetcli ls` and `nvmetcli ls` show such \
                       users; end the one that has it"
            .to_owned(),
    }
}

fn on_hidden_overlay(found: &Loop) -> Obstacle {
    let name = &found.device.name;
    unchecked(
        name,
        "stands on a file of another mount namespace or of an overlay, and which file lies \
         below that cannot be told",
        &format!("losetup --detach /dev/{name}"),
    )
}

fn looped(path: &Path, found: &Loop) -> Obstacle {
    let name = &found.device.name;
    Obstacle {
        kind: ObstacleKind::Loop,
        device: path.display().to_string(),
        what: format!("is the file of the loop device {name}"),
        how_to_go_on: format!("losetup --detach /dev/{name}"),
    }
}

fn unknown_swap(area: &SwapArea) -> Option<Obstacle> {
    let unknown = area.on.as_ref().err().filter(|_| !area.is_device)?;
    Some(unchecked(
        &area.path.display().to_string(),
        &format!("is used as swap, and {}", unknown.why),
        &unknown.how_to_go_on,
    ))
}

/// Whether any loop device or swap area stands on a file of another filesystem than
/// this one's, which the folders below an overlay lie on.
fn anything_elsewhere(loops: &[Loop], areas: &[SwapArea], file: &FileId) -> bool {
    let elsewhere = |on: &StandsOn| match (on, file) {
        (
            StandsOn::File(FileId::Inode { filesystem, .. }),
            FileId::Inode {
                filesystem: own, ..
            },
        ) => filesystem != own,
        (StandsOn::File(FileId::Path(_)), _) | (StandsOn::File(_), FileId::Path(_)) => true,
        (StandsOn::Device(..), _) => false,
    };
    let looped = loops.iter().filter_map(|found| found.on.as_ref().ok());
    let swapped = areas.iter().filter_map(|area| area.on.as_ref().ok());
    looped.map(|(on, _)| on).chain(swapped).any(elsewhere)
}
