//! Where journals are kept, and whose they are.
//!
//! Who changes settings holds a lock (`flock`) on its journal, and its watchdog
//! inherits it: the kernel lets go of it when both are dead. So a journal that is
//! locked is somebody's, and one that is not was left behind.

use super::open::{OpenJournal, refused};
use super::owner::{Owner, boot_id};
use super::{Journal, Unreadable};
use crate::roots::Roots;
use crate::settings::error::SettingsError;
use crate::settings::process::lives;
use crate::settings::steps::Steps;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the journal of a dead process is waited for.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(10);

/// How journals are called: `settings-PROCESS-TICKS.journal`.
const PREFIX: &str = "settings-";
const SUFFIX: &str = ".journal";
/// What is behind that while one is being written.
const NEW: &str = ".new";
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
    /// It is not understood, or is not this user's: it stays as it is.
    Kept {
        /// Where it is.
        path: PathBuf,
        /// Why it is not used.
        why: String,
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
    /// When none of these is an absolute path.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<OsString>,
        root: bool,
    ) -> Result<Self, SettingsError> {
        let absolute = |name: &str| {
            let path = variable(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        if let Some(path) = absolute("DISKFACTS_STATE") {
            return Ok(Self { path });
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
        let new = !self.path.exists();
        DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(&self.path)
            .and_then(|()| {
                // Everybody may see whose settings are changed, whatever the umask is.
                if new {
                    fs::set_permissions(&self.path, Permissions::from_mode(0o755))
                } else {
                    Ok(())
                }
            })
            .map_err(|source| refused("making the folder", &self.path, source))?;
        let name = format!("{PREFIX}{}-{}{SUFFIX}", owner.process, owner.start_ticks);
        let path = self.path.join(format!("{name}{NEW}"));
        loop {
            steps.reach("making the journal");
            let file = File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(0o644)
                .open(&path)
                .map_err(|source| refused("making the journal", &path, source))?;
            file.set_permissions(Permissions::from_mode(0o644))
                .map_err(|source| refused("opening to all the journal", &path, source))?;
            flock(&file, FlockOperation::LockExclusive)
                .map_err(|errno| refused("locking the journal", &path, errno.into()))?;
            // Who swept between the two took it for one that was left behind.
            let links = file.metadata().map(|metadata| metadata.nlink());
            if links.map_err(|source| refused("looking at the journal", &path, source))? > 0 {
                return Ok(OpenJournal {
                    file,
                    path,
                    folder: self.path.clone(),
                });
            }
        }
    }

    /// All journals in it, in the order of their names; none where there is no
    /// folder.
    ///
    /// # Errors
    /// When it cannot be listed, or a journal not be read.
    pub fn list(&self, roots: &Roots) -> Result<Vec<Found>, SettingsError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            // Who may not look there has left nothing there.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                ) =>
            {
                return Ok(Vec::new());
            }
            Err(source) => return Err(refused("listing", &self.path, source)),
        };
        let names = entries
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>();
        let mut names = names.map_err(|source| refused("listing", &self.path, source))?;
        names.retain(|name| {
            let of_ours = name.strip_suffix(NEW).unwrap_or(name);
            of_ours.starts_with(PREFIX) && of_ours.ends_with(SUFFIX)
        });
        names.sort();
        let mut found = Vec::new();
        for name in names {
            found.extend(self.look(roots, &self.path.join(name))?);
        }
        Ok(found)
    }

    /// `None` when it is gone meanwhile.
    fn look(&self, roots: &Roots, path: &Path) -> Result<Option<Found>, SettingsError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(refused("opening the journal", path, source)),
        };
        let locked = lock(roots, &file, path)
            .map_err(|source| refused("locking the journal", path, source))?;
        let metadata = file.metadata();
        let metadata = metadata.map_err(|source| refused("looking at", path, source))?;
        if metadata.nlink() == 0 {
            return Ok(None);
        }
        let bytes = fs::read(path).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(Vec::new()),
            _ => Err(refused("reading the journal", path, error)),
        })?;
        let read = Journal::parse(&bytes);
        if !locked {
            return Ok(Some(Found::Live {
                path: path.to_owned(),
                journal: read.ok(),
            }));
        }
        let own = metadata.uid() == rustix::process::geteuid().as_raw();
        let keep = |why: String| Found::Kept {
            path: path.to_owned(),
            why,
        };
        if !own {
            // Of an earlier boot, or torn: nothing is left to be put back.
            if !read.is_ok_and(|journal| boot_id(roots).is_ok_and(|boot| boot == journal.boot_id)) {
                return Ok(None);
            }
            return Ok(Some(keep(format!(
                "it belongs to the user with number {}, who has to run `diskfacts restore`",
                metadata.uid()
            ))));
        }
        let taken = OpenJournal {
            file,
            path: path.to_owned(),
            folder: self.path.clone(),
        };
        Ok(Some(match read {
            Ok(journal) if journal.boot_id != boot_id(roots)? => Found::OfEarlierBoot { taken },
            Ok(journal) => Found::Stale { journal, taken },
            Err(Unreadable::Torn) => Found::Torn { taken },
            Err(Unreadable::Damaged(error)) => keep(format!(
                "{error}; it may be damaged, or be the work of a newer diskfacts"
            )),
        }))
    }
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
    }
}
