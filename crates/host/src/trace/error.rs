//! What can go wrong with trace events.

use crate::parse::ParseError;
use std::io;
use std::path::{Path, PathBuf};

/// Why root may not either.
pub(super) const FORBIDDEN_TO_ROOT: &str = "root may not do that here: a container without \
     CAP_SYS_ADMIN, or a kernel that is locked down (`cat /sys/kernel/security/lockdown`); run it \
     on the host";

/// Whether it is no question of who runs it.
#[cfg(unix)]
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
pub(super) fn is_root() -> bool {
    false
}

/// Why the kernel's trace events cannot be seen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// This user may not.
    #[error("{doing} {on}: {source}; trace events need root: run it with `sudo`")]
    NotRoot {
        /// What was tried, `opening`.
        doing: &'static str,
        /// On what.
        on: String,
        /// What came back.
        source: io::Error,
    },
    /// The kernel has none.
    #[error(
        "tracefs is not mounted in {}, and mounting it gave: {source}; {hint}",
        tried.display()
    )]
    NoTracefs {
        /// Where a mounted one was looked for.
        tried: PathBuf,
        /// What mounting it gave.
        source: io::Error,
        /// The likely cause, and what to do.
        hint: &'static str,
    },
    /// Nothing can be made in it.
    #[error(
        "making {}: {source}; tracefs is mounted read-only here: \
         `mount -o remount,rw {}` as root makes it writable", folder.display(), root.display()
    )]
    ReadOnly {
        /// What was to be made.
        folder: PathBuf,
        /// Where tracefs is.
        root: PathBuf,
        /// What came back.
        source: io::Error,
    },
    /// This kernel lacks events.
    #[error(
        "this kernel has no trace event {}; events of block devices need \
         CONFIG_BLK_DEV_IO_TRACE, those of read-ahead Linux 6.18", names.join(", ")
    )]
    NoEvent {
        /// Their names, `block/block_io_start`.
        names: Vec<String>,
    },
    /// An event lacks a field that is needed.
    #[error("the trace event {event} of this kernel has no field {field} that can be read")]
    NoField {
        /// The event, `block_rq_issue`.
        event: String,
        /// The field, `sector`.
        field: String,
    },
    /// The kernel did not take a filter.
    #[error("the kernel refused the filter `{filter}` for the trace event {event}: {why}")]
    Filter {
        /// The event, `block/block_rq_issue`.
        event: String,
        /// The filter.
        filter: String,
        /// What it said of it.
        why: String,
    },
    /// The system refused a call.
    #[error("{doing} {}: {source}; {hint}", path.display())]
    System {
        /// What was tried, `reading`.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What came back.
        source: io::Error,
        /// The likely cause, and what to do.
        hint: &'static str,
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
    /// Something else than trace events failed.
    #[error("the thread that reads trace events {0}")]
    Thread(String),
}

impl TraceError {
    /// A refused call on a path.
    pub(super) fn on(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let forbidden = source.kind() == io::ErrorKind::PermissionDenied;
        if forbidden && !is_root() {
            return Self::NotRoot {
                doing,
                on: path.display().to_string(),
                source,
            };
        }
        Self::System {
            doing,
            path: path.to_owned(),
            hint: if forbidden {
                FORBIDDEN_TO_ROOT
            } else {
                crate::error::hint(&source)
            },
            source,
        }
    }
}
