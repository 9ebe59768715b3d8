//! Files of an overlay, which are files of the folders that it joins: there they have
//! other numbers, and are the same bytes.

use super::stands_on::{FileId, Loop, StandsOn};
use crate::beside::what_lies_at;
use crate::error::Error;
use crate::parse::mountinfo::Mount;
use crate::roots::Roots;
use crate::stack::{mount_of_path, read_mounts};
use std::path::{Path, PathBuf};

/// The files that a file of an overlay may be in the folders that it joins.
#[derive(Default)]
pub(super) struct Layers {
    pub(super) files: Vec<FileId>,
    /// A folder cannot be seen from here.
    pub(super) hidden: bool,
}

impl Layers {
    /// Those of the file at this path; none where that is on no overlay.
    pub(super) fn of(roots: &Roots, path: &Path) -> Result<Self, Error> {
        Ok(Self::below(&read_mounts(roots)?, path))
    }

    fn below(mounts: &[Mount], path: &Path) -> Self {
        let mut layers = Self::default();
        let Some(mount) = mount_of_path(mounts, path).filter(|mount| mount.kind == "overlay")
        else {
            return layers;
        };
        // Behind a bind mount of a folder, the path in the overlay is longer.
        let Ok(inside) = path.strip_prefix(&mount.mount_point) else {
            return layers;
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
        layers
    }
}

/// A loop device over a file of an overlay, or of what may be one.
pub(super) struct LoopOnOverlay<'a> {
    pub(super) found: &'a Loop,
    /// The files that its file may be; `None` where that cannot be told.
    pub(super) below: Option<Vec<FileId>>,
}

/// Those of the loop devices. One that was made read-only has the lower file open, also
/// where the upper folder has a copy by now: the files of all folders count.
pub(super) fn of_loops<'a>(
    roots: &Roots,
    loops: &'a [Loop],
) -> Result<Vec<LoopOnOverlay<'a>>, Error> {
    let mounts = read_mounts(roots)?;
    let mut candidates = Vec::new();
    for found in loops.iter().filter(|_| roots.live()) {
        // An overlay has no device.
        if let Ok((StandsOn::File(FileId::Inode { filesystem, inode }), _)) = found.on
            && filesystem.0 == 0
        {
            candidates.push((found, filesystem, inode));
        }
    }
    let path = |found: &Loop| found.device.optional_text("loop/backing_file");
    let paths: Vec<PathBuf> = candidates
        .iter()
        .map(|(found, ..)| path(found).unwrap_or_default().into())
        .collect();
    let lies = what_lies_at(&paths);
    let candidates = candidates.into_iter().zip(paths.iter().zip(lies));
    Ok(candidates
        .filter_map(|((found, filesystem, inode), (path, lies))| {
            // A path proves something only where it still leads to what the driver has.
            let is_there =
                lies.is_ok_and(|lies| (lies.filesystem, lies.inode) == (filesystem, inode));
            let below = match mount_of_path(&mounts, path).filter(|_| is_there) {
                Some(mount) if mount.kind != "overlay" => return None,
                Some(_) => {
                    let layers = Layers::below(&mounts, path);
                    (!layers.hidden).then_some(layers.files)
                }
                None if may_be_overlay(&mounts, filesystem.1) => None,
                None => return None,
            };
            Some(LoopOnOverlay { found, below })
        })
        .collect())
}

/// Whether a filesystem without a device, of this minor number, may be an overlay: it is
/// not mounted here as something else. An overlay over several filesystems has numbers
/// that are in no mount table.
fn may_be_overlay(mounts: &[Mount], minor: u32) -> bool {
    let same = mounts
        .iter()
        .find(|mount| (mount.major, mount.minor) == (0, minor));
    same.is_none_or(|mount| mount.kind == "overlay")
}
