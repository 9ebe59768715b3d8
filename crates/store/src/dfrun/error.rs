//! Why a file is not taken.

use super::VERSION;
use std::error::Error as StdError;
use std::fmt;
use std::io::{self, ErrorKind};

/// Why runs cannot be read from a file, or written to one. Each is told as the second half of a
/// sentence that begins with the name of the file.
#[derive(Debug)]
pub enum Error {
    /// It is something else.
    NotOurs,
    /// A newer diskfacts wrote it.
    Newer {
        /// Version of its form.
        found: u64,
    },
    /// A newer diskfacts made a run in it.
    NewerRun {
        /// Its id.
        id: String,
        /// Version of its documents.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// Its end is missing.
    CutShort,
    /// It is ours, and not as it was written.
    Damaged {
        /// What of it is wrong.
        what: String,
        /// What was said of that.
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
    /// More than is taken into memory, or written for others to take.
    TooLarge {
        /// What of it.
        what: String,
        /// The limit, bytes.
        bytes_max: u64,
    },
    /// Its runs together are more than is taken into memory at once.
    TooMany {
        /// The limit, bytes, unpacked.
        bytes_max: u64,
    },
    /// The system could not read or write it.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs => write!(
                f,
                "it is no file of runs, as `diskfacts runs export` writes them"
            ),
            Self::Newer { found } => write!(
                f,
                "it has version {found} of its form, and this diskfacts knows versions up to \
                 {VERSION}; a newer diskfacts reads it"
            ),
            Self::NewerRun { id, found, known } => write!(
                f,
                "the run {id} in it has schema version {found}, and this diskfacts knows versions \
                 up to {known}; a newer diskfacts reads it"
            ),
            Self::CutShort => write!(
                f,
                "it is cut short: its end is missing. Copy it again, or export the runs again"
            ),
            Self::Damaged { what, .. } => write!(
                f,
                "it is damaged: {what}. Copy it again, or export the runs again"
            ),
            Self::TooLarge { what, bytes_max } => write!(
                f,
                "{what} has more than {} MiB, which is more than a file of runs may hold",
                bytes_max >> 20
            ),
            Self::TooMany { bytes_max } => write!(
                f,
                "its runs have more than {} MiB together, unpacked, which is more than is taken \
                 into memory at once; take fewer runs at a time, as `diskfacts runs export` \
                 writes them",
                bytes_max >> 20
            ),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Damaged {
                source: Some(source),
                ..
            } => Some(source.as_ref()),
            _ => None,
        }
    }
}

impl Error {
    /// What the decoder of gzip says, or the file under it.
    pub(super) fn unpacking(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof => Self::CutShort,
            ErrorKind::InvalidInput | ErrorKind::InvalidData => Self::Damaged {
                what: "its packed bytes, or their checksum, are wrong".to_owned(),
                source: Some(error.into()),
            },
            _ => Self::Io(error),
        }
    }

    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged {
            what: what.into(),
            source: None,
        }
    }

    pub(super) fn because(
        what: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self::Damaged {
            what: what.into(),
            source: Some(source.into()),
        }
    }
}
