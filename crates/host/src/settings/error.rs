//! What can go wrong while settings are changed and put back.

use super::setting::Setting;
use crate::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Why settings could not be changed, or not be put back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// There is no such setting here.
    #[error("`{name} = {value}` cannot be set: known are {known} and iosched/NAME")]
    Unknown {
        /// The name.
        name: String,
        /// What was asked for.
        value: String,
        /// The names that are known.
        known: String,
    },
    /// No device of the stack takes it.
    #[error(
        "`{setting}` cannot be set on this target: {passed}; drop it, or measure a \
         device that has it (`diskfacts devices` shows them)"
    )]
    NoPlace {
        /// The setting.
        setting: Setting,
        /// What each device lacks.
        passed: String,
    },
    /// A value that the kernel does not take.
    #[error("`{setting} = {value}` cannot be set on {on}: it takes {accepted}")]
    NotAccepted {
        /// The setting.
        setting: Setting,
        /// What was asked for.
        value: String,
        /// The device, or `this machine`.
        on: String,
        /// What would be accepted.
        accepted: String,
    },
    /// The kernel or this device has no such setting.
    #[error("{on} has no setting `{setting}` ({} is not there): {why}", path.display())]
    NotThere {
        /// The setting.
        setting: Setting,
        /// The device, or `this machine`.
        on: String,
        /// Where it was looked for.
        path: PathBuf,
        /// Why it may be missing, and what there is instead.
        why: String,
    },
    /// This user may not change it.
    #[error(
        "changing `{setting}` of {on} by writing {} is refused: {source}; {hint}",
        path.display()
    )]
    NotAllowed {
        /// The setting.
        setting: Setting,
        /// The device, or `this machine`.
        on: String,
        /// Where it stands.
        path: PathBuf,
        /// What came back.
        source: io::Error,
        /// What to type.
        hint: &'static str,
    },
    /// The kernel refused what was written, or a file of it could not be read.
    #[error("{doing} `{setting}` of {place} failed: {source}{hint}")]
    Failed {
        /// What was tried: `writing 512 to`, `reading`.
        doing: String,
        /// The setting.
        setting: Setting,
        /// The device, or `this machine`, and the file: `sda (/sys/...)`.
        place: String,
        /// What came back.
        source: io::Error,
        /// The likely cause, after `; `; may be empty.
        hint: String,
    },
    /// The device was removed, or another one has its number.
    #[error("{name} ({major}:{minor}) {what}; none of its settings is touched any more")]
    Gone {
        /// Its name in the kernel.
        name: String,
        /// Major device number.
        major: u32,
        /// Minor device number.
        minor: u32,
        /// What happened to it.
        what: String,
    },
    /// A device could not be looked at, so that nothing is known of it.
    #[error("{name} ({major}:{minor}) cannot be looked at: {why}")]
    Unseen {
        /// Its name in the kernel.
        name: String,
        /// Major device number.
        major: u32,
        /// Minor device number.
        minor: u32,
        /// Why not.
        why: String,
    },
    /// Another user could change what is in the folder of the journals.
    #[error(
        "the folder of the journals of changed settings, {}, is not used by root: {why}; set \
         DISKFACTS_STATE to a folder that only root can write, or leave it unset for \
         /var/lib/diskfacts",
        path.display()
    )]
    UnsafeFolder {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A journal, or the folder of the journals, could not be looked at.
    #[error("{doing} {} failed: {source}{hint}", path.display())]
    StateUnseen {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What came back.
        source: io::Error,
        /// What to do, after `; `; may be empty.
        hint: &'static str,
    },
    /// Somebody else has it.
    #[error("{what} {by}; {hint}")]
    Busy {
        /// What was to be had: `the settings of sdb are being changed by`.
        what: String,
        /// By whom.
        by: String,
        /// What to do.
        hint: String,
    },
    /// Old values could not be written down, so nothing was changed.
    #[error("{doing} {} failed: {source}; {hint}", path.display())]
    Journal {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What came back.
        source: io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// Nobody knows where to keep the journal.
    #[error(
        "the folder for the journal of changed settings is not known: neither DISKFACTS_STATE, \
         XDG_STATE_HOME nor HOME names an absolute path; set DISKFACTS_STATE to a folder that \
         survives a crash"
    )]
    NoFolder,
    /// It would be another folder for each folder that a command is typed in.
    #[error(
        "DISKFACTS_STATE must be an absolute path, and is {}; type the whole of it, as in \
         DISKFACTS_STATE=\"$PWD\"/state",
        path.display()
    )]
    RelativeFolder {
        /// What it is.
        path: PathBuf,
    },
    /// The process that would put everything back could not be started.
    #[error(
        "the watchdog that puts settings back could not be started: {doing}: {source}; nothing \
         was changed"
    )]
    Watchdog {
        /// What was tried.
        doing: &'static str,
        /// What came back.
        source: io::Error,
    },
    /// Something else about this machine.
    #[error(transparent)]
    Host(#[from] Error),
}

impl SettingsError {
    /// A look at a journal, or at the folder of the journals, that failed.
    pub(super) fn state_unseen(doing: &'static str, path: &Path, source: io::Error) -> Self {
        /// No descriptors are left to the process, or to the machine.
        const EMFILE: i32 = 24;
        const ENFILE: i32 = 23;
        let hint = match source.raw_os_error() {
            Some(EMFILE | ENFILE) => "; raise `ulimit -n`, and type the same again",
            _ => "",
        };
        Self::StateUnseen {
            doing,
            path: path.to_owned(),
            source,
            hint,
        }
    }

    /// A call on the file of a setting that failed.
    pub(super) fn failed(
        doing: impl Into<String>,
        (setting, on, path): (&Setting, &str, &Path),
        source: io::Error,
        hint: String,
    ) -> Self {
        Self::Failed {
            doing: doing.into(),
            setting: setting.clone(),
            place: format!("{on} ({})", path.display()),
            source,
            hint,
        }
    }
}
