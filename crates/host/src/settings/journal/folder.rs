//! Where journals are kept, and whose they are.
//!
//! Who changes settings holds a lock (`flock`) on its journal, and its watchdog
//! inherits it: the kernel lets go of it when both are dead. So a journal that is
//! locked is somebody's, and one that is not was left behind.

use super::open::{NEW, OpenJournal, refused};
use super::owner::{Owner, boot_id};
use super::safe_folder::Entry;
use super::{Journal, SafeFolder, Unreadable};
use crate::look;
use crate::roots::Roots;
use crate::settings::error::SettingsError;
use crate::settings::process::lives;
use crate::settings::steps::Steps;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the journal of a dead process is waited for.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(10);

/// Longer than a journal of a thousand devices.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// How journals are called: `settings-PROCESS-TICKS.journal`.
const PREFIX: &str = "settings-";
const SUFFIX: &str = ".journal";
/// Where root keeps them, so that every user of the machine can see whose settings
/// are being changed.
const OF_ROOT: &str = "/var/lib/diskfacts";

/// The folder of the journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

/// A journal that was found.
#[derive(Debug)]
pub enum Found {
    /// Its process, or its watchdog, is alive.
    Live {
        /// Where it is.
        path: PathBuf,
        /// What it says; `None` while it is being written.
        journal: Option<Journal>,
    },
    /// Its process is dead, and so is its watchdog.
    Stale {
        /// What it says.
        journal: Journal,
        /// Taken, so that nobody else restores it.
        taken: OpenJournal,
    },
    /// The machine was started anew since: the settings went with the boot.
    OfEarlierBoot {
        /// Taken.
        taken: OpenJournal,
    },
    /// It was not written to its end: nothing had been changed.
    Torn {
        /// Taken.
        taken: OpenJournal,
    },
    /// It is damaged, or no journal, or of a newer diskfacts: it stays as it is.
    Kept {
        /// Where it is.
        path: PathBuf,
        /// Why it is not used.
        why: String,
    },
    /// It could not be looked at, or not found out whether it is of this boot.
    Unseen {
        /// Where it is.
        path: PathBuf,
        /// What it says, where that could be read.
        journal: Option<Journal>,
        /// Why not.
        why: String,
    },
    /// Of another user, who has to care for it; this one is not root.
    OfAnother {
        /// Where it is.
        path: PathBuf,
        /// The user's number.
        user: u32,
    },
}

impl StateFolder {
    /// This folder.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder that the environment names: `DISKFACTS_STATE`; else
    /// `/var/lib/diskfacts` for root; else `diskfacts` in `XDG_STATE_HOME` or in
    /// `HOME/.local/state`.
    ///
    /// # Errors
    /// When none of these is an absolute path, or `DISKFACTS_STATE` is another one.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<OsString>,
        root: bool,
    ) -> Result<Self, SettingsError> {
        let absolute = |name: &str| {
            let path = variable(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let named = variable("DISKFACTS_STATE").filter(|named| !named.is_empty());
        if let Some(path) = named.map(PathBuf::from) {
            return if path.is_absolute() {
                Ok(Self { path })
            } else {
                Err(SettingsError::RelativeFolder { path })
            };
        }
        if root {
            return Ok(Self::of_root());
        }
        let state = absolute("XDG_STATE_HOME")
            .or_else(|| Some(absolute("HOME")?.join(".local/state")))
            .ok_or(SettingsError::NoFolder)?;
        Ok(Self {
            path: state.join("diskfacts"),
        })
    }

    /// That of root.
    pub fn of_root() -> Self {
        Self::at(OF_ROOT)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An empty journal, locked, under a name that says that it is not finished.
    pub(in crate::settings) fn create(
        &self,
        owner: &Owner,
        steps: &mut Steps,
    ) -> Result<OpenJournal, SettingsError> {
        steps.reach("making the folder of the journal");
        let folder = SafeFolder::make(&self.path)?;
        let name = format!(
            "{PREFIX}{}-{}{SUFFIX}{NEW}",
            owner.process, owner.start_ticks
        );
        let path = self.path.join(&name);
        loop {
            steps.reach("making the journal");
            let file = folder
                .create(&name)
                .map_err(|source| refused("making the journal", &path, source))?;
            file.set_permissions(Permissions::from_mode(0o644))
                .map_err(|source| refused("opening to all the journal", &path, source))?;
            flock(&file, FlockOperation::LockExclusive)
                .map_err(|errno| refused("locking the journal", &path, errno.into()))?;
            // Who swept between the two took it for one that was left behind.
            let links = file.metadata().map(|metadata| metadata.nlink());
            if links.map_err(|source| refused("looking at the journal", &path, source))? > 0 {
                return Ok(OpenJournal::of(file, folder, name));
            }
        }
    }

    /// All journals in it, in the order of their names; none where there is no
    /// folder.
    ///
    /// # Errors
    /// When it cannot be listed, or when another user could change what is in it and this
    /// one is root.
    pub fn list(&self, roots: &Roots) -> Result<Vec<Found>, SettingsError> {
        let folder = match SafeFolder::open(&self.path) {
            Ok(folder) => folder,
            Err(SettingsError::StateUnseen { source, .. })
                if source.kind() == io::ErrorKind::NotFound || self.is_closed_to_us(&source) =>
            {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let names = folder.names();
        let names =
            names.map_err(|source| SettingsError::state_unseen("listing", &self.path, source))?;
        let of_ours = |name: &String| {
            let whole = name.strip_suffix(NEW).unwrap_or(name);
            whole.starts_with(PREFIX) && whole.ends_with(SUFFIX)
        };
        let names = names.into_iter().filter(of_ours);
        Ok(names
            .filter_map(|name| {
                let path = self.path.join(&name);
                look_at(roots, &folder, name).unwrap_or_else(|why| {
                    Some(Found::Unseen {
                        path,
                        journal: None,
                        why,
                    })
                })
            })
            .collect())
    }

    /// That of root may be closed to others, who have nothing there.
    fn is_closed_to_us(&self, error: &io::Error) -> bool {
        let root = rustix::process::geteuid().is_root();
        error.kind() == io::ErrorKind::PermissionDenied && !root && *self == Self::of_root()
    }

    /// Removes what [`Found::Kept`] names, without looking at it.
    ///
    /// # Errors
    /// When the folder cannot be opened or written.
    pub(in crate::settings) fn remove(&self, path: &Path) -> Result<(), SettingsError> {
        let folder = SafeFolder::open(&self.path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let removed = folder.remove(&name);
        removed.map_err(|source| refused("removing the journal", path, source))?;
        folder.sync()
    }
}

/// A journal of the folder; `None` when it is gone meanwhile.
fn look_at(roots: &Roots, folder: &SafeFolder, name: String) -> Result<Option<Found>, String> {
    let path = folder.path().join(&name);
    let file = match folder.open_file(&name) {
        Ok(Entry::Open(file)) => file,
        Ok(Entry::Missing) => return Ok(None),
        Ok(Entry::Refused(why)) => return Ok(Some(Found::Kept { path, why })),
        Ok(Entry::OfAnother(user)) => return Ok(Some(Found::OfAnother { path, user })),
        Err(error) => return Err(format!("it could not be opened: {error}")),
    };
    let locked = lock(roots, &file, &path);
    let locked = locked.map_err(|error| format!("its lock could not be tried: {error}"))?;
    let metadata = file.metadata();
    let metadata = metadata.map_err(|error| format!("it could not be looked at: {error}"))?;
    if metadata.nlink() == 0 {
        return Ok(None);
    }
    let bytes = content(&file).map_err(|error| format!("it could not be read: {error}"))?;
    let read = Journal::parse(&bytes);
    if !locked {
        return Ok(Some(Found::Live {
            path,
            journal: read.ok(),
        }));
    }
    let taken = OpenJournal::of(file, folder.clone(), name);
    Ok(Some(match read {
        Ok(journal) => match boot_id(roots) {
            Ok(boot_id) if boot_id != journal.boot_id => Found::OfEarlierBoot { taken },
            Ok(_) => Found::Stale { journal, taken },
            Err(error) => Found::Unseen {
                path,
                journal: Some(journal),
                why: format!("whether it is of this boot could not be found out: {error}"),
            },
        },
        Err(Unreadable::Torn) => Found::Torn { taken },
        Err(Unreadable::Damaged(error)) => Found::Kept {
            path,
            why: format!("{error}; it may be damaged, or be the work of a newer diskfacts"),
        },
    }))
}

/// What is in a journal, whose length was checked when it was opened.
pub(in crate::settings) fn content(mut file: &File) -> io::Result<Vec<u8>> {
    look::may_fail()?;
    let mut bytes = Vec::new();
    file.by_ref().take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether the journal is nobody's. That of a dead process is waited for: its
/// watchdog is at work, or another process looks at it as we do.
fn lock(roots: &Roots, file: &File, path: &Path) -> io::Result<bool> {
    let until = Instant::now() + PATIENCE;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => {
                if Instant::now() >= until || owner_lives(roots, path) {
                    return Ok(false);
                }
                sleep(PAUSE);
            }
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Whether the process lives that a journal is named after.
fn owner_lives(roots: &Roots, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let numbers = name
        .trim_end_matches(NEW)
        .strip_prefix(PREFIX)
        .and_then(|name| name.strip_suffix(SUFFIX))
        .and_then(|numbers| numbers.split_once('-'));
    let numbers =
        numbers.and_then(|(process, ticks)| Some((process.parse().ok()?, ticks.parse().ok()?)));
    numbers.is_some_and(|(process, ticks)| lives(roots, process, Some(ticks)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_its_folder_where_all_can_see_it_and_others_have_their_own() {
        let of = |set: &[(&str, &str)], root| {
            let get = |name: &str| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let folder = StateFolder::of_environment(get, root).ok()?;
            Some(folder.path().to_string_lossy().into_owned())
        };
        let home = ("HOME", "/home/ada");
        let xdg = ("XDG_STATE_HOME", "/state");
        assert_eq!(
            of(&[home, xdg], true).as_deref(),
            Some("/var/lib/diskfacts")
        );
        assert_eq!(of(&[home, xdg], false).as_deref(), Some("/state/diskfacts"));
        assert_eq!(
            of(&[home, ("XDG_STATE_HOME", "here")], false).as_deref(),
            Some("/home/ada/.local/state/diskfacts")
        );
        for root in [true, false] {
            let set = [home, ("DISKFACTS_STATE", "/tmp/x")];
            assert_eq!(of(&set, root).as_deref(), Some("/tmp/x"));
        }
        assert_eq!(of(&[], false), None);
        assert_eq!(of(&[home, ("DISKFACTS_STATE", "here")], true), None);
        assert_eq!(
            of(&[home, ("DISKFACTS_STATE", "")], true).as_deref(),
            Some("/var/lib/diskfacts")
        );
    }
}
