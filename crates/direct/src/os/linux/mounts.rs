//! Which mount a file lies on.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, statx};

use super::Roots;
use crate::parse::mountinfo::{self, Mount};

/// The mount that an open file lies on.
pub(super) fn of_file(file: &File) -> Option<Mount> {
    find(&statx(file.as_fd(), "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?)
}

/// The mount that a path, or if there is nothing yet its folder, lies on.
pub(super) fn of_path(path: &Path) -> Option<Mount> {
    let look = |path: &Path| statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok();
    let folder = || {
        let parent = path.parent()?;
        look(if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        })
    };
    find(&look(path).or_else(folder)?)
}

/// Finds the mount by its number, which kernels tell since 5.8; before that by
/// the device's number, which several mounts may share.
fn find(stat: &Statx) -> Option<Mount> {
    let text = std::fs::read(Roots::system().proc.join("self/mountinfo")).ok()?;
    let known = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    mountinfo::parse(&text).into_iter().find(|mount| {
        if known {
            mount.id == stat.stx_mnt_id
        } else {
            mount.device == (stat.stx_dev_major, stat.stx_dev_minor)
        }
    })
}
