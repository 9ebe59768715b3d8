//! What killed processes left in a folder, and its removal.

use rustix::fs::Dir;
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

/// What killed processes left in a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Names of what was removed.
    pub removed: Vec<String>,
    /// Names of what looks like ours and was left, and why.
    pub kept: Vec<(String, String)>,
}

/// What became of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swept {
    /// It is gone.
    Removed,
    /// A living process has it.
    InUse,
    /// It is not surely ours, for this reason, and stays.
    NotOurs(&'static str),
}

impl Leftovers {
    /// Has all in a folder that has a name of ours removed by `sweep`, in the order of
    /// the names. What cannot be removed is kept, with the reason.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn sweep(
        folder: &OwnedFd,
        is_name_of_ours: impl Fn(&CStr) -> bool,
        sweep: impl Fn(&OwnedFd, &CStr) -> Result<Swept, Errno>,
    ) -> Result<Self, Errno> {
        let mut names: Vec<CString> = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            if is_name_of_ours(entry.file_name()) {
                names.push(entry.file_name().to_owned());
            }
        }
        names.sort();
        let mut found = Self::default();
        for name in names {
            let said = name.to_string_lossy().into_owned();
            match sweep(folder, &name) {
                Ok(Swept::Removed) => found.removed.push(said),
                // Or its owner removed it in the meantime.
                Ok(Swept::InUse) | Err(Errno::NOENT) => {}
                Ok(Swept::NotOurs(why)) => found.kept.push((said, why.to_owned())),
                Err(Errno::NOTEMPTY) => found.kept.push((
                    said,
                    "there is something in it that diskfacts did not make".to_owned(),
                )),
                Err(errno) => {
                    let error = std::io::Error::from(errno);
                    found.kept.push((said, error.to_string()));
                }
            }
        }
        Ok(found)
    }
}
