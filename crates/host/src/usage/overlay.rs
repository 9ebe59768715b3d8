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

/// What a loop device over a file may have to do with the folders of an overlay.
pub(super) enum LoopOnOverlay {
    /// Its file lies on none.
    No,
    /// Its file may be any of these.
    Below(Vec<FileId>),
    /// Nobody can tell.
    Unknown,
}

/// Of each of the loop devices. One that was made read-only has the lower file open, also
/// where the upper folder has a copy by now: the files of all folders count.
pub(super) fn of_loops(roots: &Roots, loops: &[Loop]) -> Result<Vec<LoopOnOverlay>, Error> {
    if !roots.live() {
        return Ok(loops.iter().map(|_| LoopOnOverlay::No).collect());
    }
    let mounts = read_mounts(roots)?;
    let path = |found: &Loop| found.device.optional_text("loop/backing_file");
    let paths: Vec<PathBuf> = loops
        .iter()
        .map(|found| path(found).unwrap_or_default().into())
        .collect();
    let found = what_lies_at(&paths);
    let on = loops.iter().zip(&paths).zip(found);
    Ok(on
        .map(|((looped, path), found)| {
            let Ok((StandsOn::File(FileId::Inode { filesystem, inode }), _)) = looped.on else {
                return LoopOnOverlay::No;
            };
            // A path proves something only where it still leads to what the driver has.
            let is_there = found.is_ok_and(|found| {
                found.is_file && (found.filesystem, found.inode) == (filesystem, inode)
            });
            let mount = mount_of_path(&mounts, path).filter(|_| is_there);
            match mount {
                Some(mount) if mount.kind != "overlay" => LoopOnOverlay::No,
                Some(_) => match Layers::below(&mounts, path) {
                    Layers { hidden: true, .. } => LoopOnOverlay::Unknown,
                    Layers { files, .. } => LoopOnOverlay::Below(files),
                },
                None if may_be_overlay(&mounts, filesystem) => LoopOnOverlay::Unknown,
                None => LoopOnOverlay::No,
            }
        })
        .collect())
}

/// Whether a filesystem of this number may be an overlay: one without a device, and none
/// that is mounted here as something else. An overlay over several filesystems has numbers
/// that are in no mount table.
fn may_be_overlay(mounts: &[Mount], (major, minor): (u32, u32)) -> bool {
    let mut same = mounts
        .iter()
        .filter(|mount| (mount.major, mount.minor) == (major, minor));
    major == 0 && same.next().is_none_or(|mount| mount.kind == "overlay")
}
