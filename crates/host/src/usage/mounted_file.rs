//! Mounts of a file, without a loop device: erofs mounts one by itself (since Linux 6.12),
//! and so do programs that serve a filesystem (FUSE: ntfs-3g, fuse2fs, squashfuse).
//!
//! The mount table has the path that was given then, in the mount namespace of who
//! mounted it. What lies there now is asked for, by a process beside this one.

use super::stands_on::{FileId, StandsOn, Unknown};
use super::{Obstacle, ObstacleKind, quoted, unchecked};
use crate::beside::what_lies_at;
use crate::error::Error;
use crate::parse::mountinfo::{Mount, parse_mountinfo};
use crate::roots::Roots;
use crate::stack::read_mounts;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A filesystem that is mounted from what lies at a path.
pub(super) struct FileMount {
    mount_point: String,
    kind: String,
    /// A process of its mount namespace, where that is another than ours.
    process: Option<u32>,
    /// What lies at its source; none where there is nothing any more.
    pub(super) on: Result<Option<StandsOn>, Unknown>,
}

impl FileMount {
    /// What stands in the way of writing to its source, which is seen at `path`.
    pub(super) fn obstacle(&self, path: &Path) -> Obstacle {
        let (point, kind) = (&self.mount_point, &self.kind);
        let umount = format!("umount {}", quoted(point));
        let (elsewhere, how_to_go_on) = match self.process {
            None => (String::new(), umount),
            Some(process) => (
                format!(", in the mount namespace of process {process}"),
                format!("nsenter --mount --target {process} {umount}"),
            ),
        };
        Obstacle {
            kind: ObstacleKind::Mounted,
            device: path.display().to_string(),
            what: format!("is mounted on {point} ({kind}){elsewhere}"),
            how_to_go_on,
        }
    }

    /// The obstacle, if it may be mounted from any file.
    pub(super) fn unknown(&self) -> Option<Obstacle> {
        let unknown = self.on.as_ref().err()?;
        Some(unchecked(
            &self.mount_point,
            &unknown.why,
            &unknown.how_to_go_on,
        ))
    }
}

/// All mounts whose source is a path, of all mount namespaces that can be read.
pub(super) fn file_mounts(roots: &Roots) -> Result<Vec<FileMount>, Error> {
    let mut mounts = of_namespace(read_mounts(roots)?, None);
    if !roots.live() {
        return Ok(Vec::new());
    }
    let namespace = |process: &Path| fs::read_link(process.join("ns/mnt")).ok();
    let mut seen: HashSet<Option<PathBuf>> = HashSet::from([namespace(&roots.proc.join("self"))]);
    for process in processes(roots) {
        let folder = roots.proc.join(process.to_string());
        let namespace = namespace(&folder);
        if namespace.is_some()
            && seen.insert(namespace)
            && let Ok(bytes) = fs::read(folder.join("mountinfo"))
            && let Ok(more) = parse_mountinfo(&bytes)
        {
            mounts.extend(of_namespace(more, Some(process)));
        }
    }
    let sources: Vec<PathBuf> = mounts
        .iter()
        .map(|(mount, process)| match process {
            None => PathBuf::from(&mount.source),
            Some(process) => {
                let root = roots.proc.join(process.to_string()).join("root");
                root.join(mount.source.trim_start_matches('/'))
            }
        })
        .collect();
    let found = what_lies_at(&sources);
    let with_found = mounts.into_iter().zip(found);
    Ok(with_found
        .map(|((mount, process), found)| FileMount {
            on: match found {
                Ok(found) if found.is_file => Ok(Some(StandsOn::File(FileId::Inode {
                    filesystem: found.filesystem,
                    inode: found.inode,
                }))),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Unknown {
                    why: format!(
                        "is mounted from {}, which does not say what it is",
                        mount.source
                    ),
                    how_to_go_on: format!("umount {}", quoted(&mount.mount_point)),
                }),
                // Nothing is known of what was removed; that it is open is.
                _ => Ok(None),
            },
            mount_point: mount.mount_point,
            kind: mount.kind,
            process,
        })
        .collect())
}

/// Those without a block device of their own whose source is a path, each source once.
fn of_namespace(mounts: Vec<Mount>, process: Option<u32>) -> Vec<(Mount, Option<u32>)> {
    let mut sources = HashSet::new();
    mounts
        .into_iter()
        .filter(|mount| mount.major == 0 && mount.source.starts_with('/'))
        .filter(|mount| sources.insert(mount.source.clone()))
        .map(|mount| (mount, process))
        .collect()
}

fn processes(roots: &Roots) -> Vec<u32> {
    let entries = fs::read_dir(&roots.proc).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
}
