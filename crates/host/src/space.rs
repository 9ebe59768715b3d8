//! Room in a filesystem.

use crate::error::Error;
use std::path::Path;

/// Room in a filesystem, as statvfs(3) tells it.
///
/// Quotas are not part of it, and a filesystem that allocates in ways it cannot
/// foresee (btrfs, ZFS, thin volumes) gives an estimate: a write may be refused
/// before `available_bytes` have been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Space {
    /// Bytes in all.
    pub total_bytes: u64,
    /// Bytes free for an ordinary user.
    pub available_bytes: u64,
    /// Further bytes that are free but kept for root (`tune2fs -m`).
    pub reserved_for_root_bytes: u64,
    /// Mounted for reading only.
    pub read_only: bool,
}

/// Room in the filesystem that holds `path`.
///
/// # Errors
/// When the path does not exist or the filesystem does not answer.
#[cfg(unix)]
pub fn space(path: &Path) -> Result<Space, Error> {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    let seen = statvfs(path)
        .map_err(|error| Error::on_path("asking for the free space of", path, error.into()))?;
    // Blocks are counted in fragments, by POSIX; Linux gives both alike.
    let bytes = |blocks: u64| blocks.saturating_mul(seen.f_frsize);
    Ok(Space {
        total_bytes: bytes(seen.f_blocks),
        available_bytes: bytes(seen.f_bavail),
        reserved_for_root_bytes: bytes(seen.f_bfree.saturating_sub(seen.f_bavail)),
        read_only: seen.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}

/// Room in a filesystem: not on this operating system yet.
///
/// # Errors
/// Always [`Error::NotHere`].
#[cfg(not(unix))]
pub fn space(_path: &Path) -> Result<Space, Error> {
    Err(Error::NotHere {
        doing: "asking for free space",
        why: "diskfacts has no code for it yet",
    })
}

/// Whether the filesystem that holds `path` is mounted for reading only.
///
/// # Errors
/// As [`space`].
pub fn filesystem_read_only(path: &Path) -> Result<bool, Error> {
    Ok(space(path)?.read_only)
}
