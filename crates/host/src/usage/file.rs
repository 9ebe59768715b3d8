//! What stands in the way of writing to a file: loop devices and swap that stand on it.
//!
//! A file cannot be claimed as a device can, and carries no marks that forbid anything:
//! who names an image as what may be destroyed means it. What uses it unseen, as a
//! loop device over the whole of a mounted filesystem does, is found by the file's
//! inode.

use super::lease::nobody_else_has_open;
use super::stands_on::{FileId, Loop, StandsOn, SwapArea, loops, swap_areas};
use super::{Obstacle, ObstacleKind, quoted, unchecked, unknown_devices};
use crate::error::Error;
use crate::roots::Roots;
use crate::stack::{mount_of_path, read_mounts};
use crate::sysfs::every_device;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

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
    let devices = every_device(roots)?;
    let loops = loops(roots, &devices.seen)?;
    let areas = swap_areas(roots)?;
    let layers = Layers::of(roots, path)?;
    let is_it = |on: &StandsOn| match on {
        StandsOn::File(other) => *other == id || layers.files.contains(other),
        StandsOn::Device(..) => false,
    };
    let mut obstacles = Vec::new();
    for found in &loops {
        if found.on.as_ref().is_ok_and(|(on, _)| is_it(on)) {
            obstacles.push(looped(path, found));
        }
    }
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
    // What did not say what it stands on stands on another file than one that nobody
    // else has open.
    if obstacles.is_empty() {
        let mut unsure: Vec<Obstacle> = unknown_devices(&loops, &devices.hidden).collect();
        unsure.extend(areas.iter().filter_map(unknown_swap));
        if !unsure.is_empty() && !nobody_else_has_open(file) {
            obstacles.append(&mut unsure);
        }
        if layers.hidden && anything_elsewhere(&loops, &areas, &id) {
            obstacles.push(unchecked(
                &path.display().to_string(),
                "lies on an overlay whose folders cannot be seen from here: a loop device or \
                 swap may stand on the file below it",
                "name a file on a volume that is mounted into this container, or run on the host",
            ));
        }
    }
    Ok(obstacles)
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

/// The files that a file of an overlay may be in the folders that it joins: there it
/// has other numbers, and is the same bytes.
#[derive(Default)]
struct Layers {
    files: Vec<FileId>,
    /// A folder cannot be seen from here.
    hidden: bool,
}

impl Layers {
    fn of(roots: &Roots, path: &Path) -> Result<Self, Error> {
        let mut layers = Self::default();
        let mounts = read_mounts(roots)?;
        let Some(mount) = mount_of_path(&mounts, path).filter(|mount| mount.kind == "overlay")
        else {
            return Ok(layers);
        };
        // Behind a bind mount of a folder, the path in the overlay is longer.
        let Ok(inside) = path.strip_prefix(&mount.mount_point) else {
            return Ok(layers);
        };
        let root = mount.root.trim_start_matches('/');
        for folder in mount.overlay_folders() {
            let folder = PathBuf::from(folder);
            if !folder.is_absolute() || !folder.is_dir() {
                layers.hidden = true;
                continue;
            }
            // The file need not be in every one.
            if let Ok(metadata) = std::fs::metadata(folder.join(root).join(inside))
                && let Some(StandsOn::File(file)) = StandsOn::of(&metadata)
            {
                layers.files.push(file);
            }
        }
        Ok(layers)
    }
}
