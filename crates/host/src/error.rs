//! What can go wrong while looking at this machine.

use crate::parse::ParseError;
use std::io;
use std::path::{Path, PathBuf};

/// Why something about this machine could not be found out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused a call.
    #[error("{doing} {on}: {source}; {hint}")]
    System {
        /// What was tried, `reading`.
        doing: &'static str,
        /// On what: a path, or the words for it.
        on: String,
        /// The likely cause, and what to do.
        hint: String,
        /// What came back.
        source: io::Error,
    },
    /// A file of the kernel has a form that is not known here.
    #[error(
        "reading {}: {source}; this kernel may be newer than this program: \
         please report it with the content of that file", path.display()
    )]
    Form {
        /// The file.
        path: PathBuf,
        /// What was wrong with it.
        source: ParseError,
    },
    /// A path that is neither a file, nor a folder, nor a block device.
    #[error(
        "{} is {is}, which holds no data that could be measured; \
         name a file, a folder or a block device", path.display()
    )]
    NotATarget {
        /// The path.
        path: PathBuf,
        /// What it is, with its article.
        is: &'static str,
    },
    /// A link whose end does not exist.
    #[error(
        "{} is a link to {}, which does not exist; name what it should lead to, or make the \
         link anew", path.display(), to.display()
    )]
    LinkToNothing {
        /// The link.
        path: PathBuf,
        /// What it says.
        to: PathBuf,
    },
    /// Something that is there, and that its own path does not lead to.
    #[error(
        "{} leads to {is} that has no path here: the kernel's path of it is {}, where \
         {lies_there}. It was removed or exchanged, something is mounted over it, or it lies in \
         another mount namespace, as that of a container. Name it by a path that leads to it; \
         in a container, run diskfacts there: `nsenter --target PID --mount diskfacts ...`",
        path.display(), name.display()
    )]
    NoPathHere {
        /// The path that led to it.
        path: PathBuf,
        /// What it is, with its article.
        is: &'static str,
        /// The kernel's path of it.
        name: PathBuf,
        /// What is at that path instead.
        lies_there: &'static str,
    },
    /// A block device was needed.
    #[error(
        "{} is {is}, not a block device; `diskfacts devices` lists those of \
         this machine", path.display()
    )]
    NotABlockDevice {
        /// The path.
        path: PathBuf,
        /// What it is, with its article.
        is: &'static str,
    },
    /// A device number that the kernel does not show in sysfs.
    #[error(
        "block device {major}:{minor} ({}) is not in {}; sysfs may be hidden \
         by a container, or the device was removed: run diskfacts on the host",
        path.display(), sys.display()
    )]
    NotInSysfs {
        /// The path that led to it.
        path: PathBuf,
        /// Major device number.
        major: u32,
        /// Minor device number.
        minor: u32,
        /// Where it was looked for.
        sys: PathBuf,
    },
    /// The kernel would not tell the truth to this user.
    #[error("{doing} {on}: {why}")]
    NotAllowed {
        /// What was tried.
        doing: &'static str,
        /// On what.
        on: String,
        /// Why not, and what would make it possible.
        why: String,
    },
    /// This operating system has no such question.
    #[error("{doing} is not possible on {}: {why}", std::env::consts::OS)]
    NotHere {
        /// What was tried.
        doing: &'static str,
        /// Why not.
        why: &'static str,
    },
}

impl Error {
    /// Whether nothing of this name exists; a link is something.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// A refused call on a path, with the likely cause by the kind of refusal.
    pub(crate) fn on_path(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let hint = hint(&source).to_owned();
        Self::System {
            doing,
            on: path.display().to_string(),
            hint,
            source,
        }
    }

    /// A refused call on an open file.
    #[cfg(unix)]
    pub(crate) fn on_file(
        doing: &'static str,
        hint: impl Into<String>,
        source: impl Into<io::Error>,
    ) -> Self {
        Self::System {
            doing,
            on: "the open file".to_owned(),
            hint: hint.into(),
            source: source.into(),
        }
    }
}

/// The likely cause of a refusal, and what to do about it.
pub(crate) fn hint(source: &io::Error) -> &'static str {
    // EPERM, as opposed to EACCES: it is not a matter of the file's own rights.
    if source.raw_os_error() == Some(1) {
        return "the system forbids it, to root too where a container's device rules or a \
                security module say so: run where it is allowed";
    }
    #[cfg(unix)]
    if source.raw_os_error() == Some(libc::ELOOP) {
        return "symbolic links lead in a circle: `namei PATH` shows them";
    }
    match source.kind() {
        io::ErrorKind::NotFound => "check the spelling; nothing of that name exists",
        io::ErrorKind::PermissionDenied => {
            "this user may not do that: try again as root, or as the owner"
        }
        io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder",
        io::ErrorKind::StaleNetworkFileHandle => "the network filesystem lost it: mount it again",
        _ => match source.raw_os_error() {
            // ENXIO, ENODEV and EIO have these numbers on every Unix.
            Some(6 | 19) => "the device is gone or has no medium",
            Some(5) => "the device reports a fault: see the kernel log (`dmesg`)",
            _ => "see the kernel log (`dmesg`) for the cause",
        },
    }
}
