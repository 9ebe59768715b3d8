//! The name that a file of our own has, and how it is taken away: never with the file of
//! somebody else that has this name by then.

use crate::exit::say;
use rustix::fs::{AtFlags, fstat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A name that was given to a file of ours.
pub(super) struct Name {
    parent: OwnedFd,
    name: CString,
    path: PathBuf,
    /// Its filesystem and inode.
    file: (u64, u64),
}

/// What became of a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// It is gone, by us or by somebody else.
    Gone,
    /// It is another file's by now, and stays.
    Anothers,
}

impl Name {
    /// `name` in `parent`, which is that of `file`; `path` is what messages say.
    pub(super) fn of(
        file: &File,
        parent: OwnedFd,
        name: CString,
        path: PathBuf,
    ) -> Result<Self, Errno> {
        let seen = fstat(file)?;
        Ok(Self {
            parent,
            name,
            path,
            file: (seen.st_dev, seen.st_ino),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the name. No call of the kernel removes it only if it is that of a file, so
    /// it is looked at just before.
    pub(super) fn remove(&self) -> Result<Removed, Errno> {
        match statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(seen) if (seen.st_dev, seen.st_ino) != self.file => return Ok(Removed::Anothers),
            Err(Errno::NOENT) => return Ok(Removed::Gone),
            Ok(_) | Err(_) => {}
        }
        match unlinkat(&self.parent, &self.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(Removed::Gone),
            Err(errno) => Err(errno),
        }
    }
}

/// The name of a file that is measured; dropping it removes the name, and with it the file
/// when it is closed.
pub(crate) struct OwnName(pub(super) Name);

impl Drop for OwnName {
    fn drop(&mut self) {
        let path = self.0.path().display();
        match self.0.remove() {
            Ok(Removed::Gone) => {}
            Ok(Removed::Anothers) => say(&format!(
                "diskfacts: left {path} alone: it is another file than the one that was measured, \
                 which somebody moved or removed; if that was moved, remove it where it is now"
            )),
            Err(errno) => say(&format!(
                "diskfacts: removing {path}, the file that was measured, failed: {}; remove it \
                 yourself: rm {path}",
                std::io::Error::from(errno)
            )),
        }
    }
}
