//! A folder for one test, and the promise that it goes away.

use crate::{Missing, sweep};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How the folders begin, so that those of dead processes can be found.
pub(crate) const PREFIX: &str = "diskfacts-test-";
/// The file in each that its process holds locked for as long as it lives.
pub(crate) const LOCK: &str = "lock";
/// The file in each that names the control groups made for it, one per line.
pub(crate) const GROUPS: &str = "groups";

/// A temporary folder. It is removed, with everything in it, when this value is
/// dropped; if the process is killed before, by the next process that makes
/// one, together with the mounts, loop devices and control groups that hang
/// on it.
///
/// A lock that dies with the process tells the living from the dead: a process
/// id could be in use again, or belong to another container.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// Fields are dropped in order: unlocked after the folder is gone.
    _lock: File,
}

impl Scratch {
    /// Makes a folder where the system has its temporary files.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<Self, Missing> {
        let parent = std::env::temp_dir();
        sweep::once(&parent);
        Self::inside(&parent)
    }

    /// Makes a folder inside another, for a test that must be on that
    /// filesystem.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn inside(parent: &Path) -> Result<Self, Missing> {
        Self::make(parent).map_err(|error| {
            Missing::new(
                format_args!("a temporary folder in {}: {error}", parent.display()),
                "set TMPDIR to a folder that can be written",
            )
        })
    }

    fn make(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        // Locked before it has its name: a sweep that finds the file unlocked
        // may take the owner for dead.
        let new = folder.path().join("lock.new");
        let lock = File::create(&new)?;
        lock.try_lock()?;
        fs::rename(&new, folder.path().join(LOCK))?;
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A path inside it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_folder_is_gone_after_a_panic() {
        let mut seen = PathBuf::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let scratch = Scratch::new().expect("a temporary folder");
            seen = scratch.join("file");
            fs::write(&seen, b"content").expect("writing into it");
            panic!("as planned");
        }));
        assert!(result.is_err());
        assert!(seen.starts_with(std::env::temp_dir()));
        assert!(!seen.parent().expect("its folder").exists());
    }
}
