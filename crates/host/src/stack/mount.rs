//! From a path to its line in the mount table.

use super::subject::Subject;
use crate::parse::mountinfo::Mount;
use crate::space::Space;
use diskfacts_record::Filesystem;
use std::path::Path;

/// The mount through which `subject` is seen.
///
/// By the number of the mount where the kernel tells it; else, among the mounts
/// of the same device number, or among all when none has it, the one whose
/// mount point is the longest beginning of the path. Of several on the same
/// mount point the last one covers the others.
pub(super) fn mount_of<'a>(mounts: &'a [Mount], subject: &Subject) -> Option<&'a Mount> {
    if let Some(id) = subject.mount_id
        && let Some(mount) = mounts.iter().find(|mount| mount.id == id)
    {
        return Some(mount);
    }
    let (major, minor) = subject.filesystem_number;
    longest(
        mounts
            .iter()
            .filter(|mount| (mount.major, mount.minor) == (major, minor)),
        &subject.path,
    )
    .or_else(|| mount_of_path(mounts, &subject.path))
}

/// The mount that a path without symbolic links lies on, by its text alone.
pub(crate) fn mount_of_path<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    longest(mounts.iter(), path)
}

fn longest<'a>(mounts: impl Iterator<Item = &'a Mount>, path: &Path) -> Option<&'a Mount> {
    mounts
        .filter(|mount| path.starts_with(&mount.mount_point))
        // The last of equals, which is what `max_by_key` gives.
        .max_by_key(|mount| Path::new(&mount.mount_point).components().count())
}

/// The record of a mount.
pub(super) fn filesystem(mount: &Mount, space: Option<&Space>) -> Filesystem {
    let mut options = mount.options.clone();
    for option in &mount.super_options {
        if !options.contains(option) {
            options.push(option.clone());
        }
    }
    Filesystem {
        kind: mount.kind.clone(),
        mount_point: mount.mount_point.clone(),
        source: mount.source.clone(),
        options,
        read_only: mount.read_only(),
        // What stores nothing (proc) has no size rather than one of 0.
        size_bytes: space
            .map(|space| space.total_bytes)
            .filter(|total| *total > 0),
        available_bytes: space
            .filter(|space| space.total_bytes > 0)
            .map(|space| space.available_bytes),
        ..Filesystem::default()
    }
}
