//! Errors that say what was tried, on what, what came back and what to do.
//!
//! [`Error`]'s `Display` names the operation, its subject and the likely
//! cause; the operating system's own error is the [`source`] of the chain, so
//! that a printer which walks the chain shows it once. The alternate form,
//! `{error:#}`, is one complete sentence for those who do not walk it.
//!
//! [`source`]: std::error::Error::source

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::buffer::BufferError;

/// What can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A buffer's size or alignment breaks a rule, or there is no memory for it.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// The operating system refused an operation.
    #[error(transparent)]
    Os(#[from] OsError),
    /// This operating system, filesystem or device has no such thing.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// The operating system refused `operation` on `subject`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub struct OsError {
    /// What was tried, as the system's manual calls it: `"fdatasync"`,
    /// `"open(O_RDWR|O_DIRECT|O_EXCL)"`, `"ioctl BLKSSZGET"`.
    pub operation: Cow<'static, str>,
    /// What it was tried on.
    pub subject: Subject,
    /// What came back.
    pub source: io::Error,
    /// The likely cause and what to do about it, when they can be told.
    pub hint: Option<String>,
}

/// This operating system, filesystem or device has no such thing.
#[derive(Debug, thiserror::Error)]
#[error("{operation} is not possible on {subject}: {reason}")]
#[non_exhaustive]
pub struct Unsupported {
    /// What was asked for.
    pub operation: Cow<'static, str>,
    /// What it was asked of.
    pub subject: Subject,
    /// Why it cannot be had, and what there is instead.
    pub reason: String,
}

/// What an operation was tried on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A path, as the caller gave it.
    Path(PathBuf),
    /// An open file.
    Open {
        /// The file descriptor, or on Windows the handle.
        descriptor: i64,
        /// Where the system says the open file lies, when it says so.
        path: Option<PathBuf>,
    },
    /// This machine, where no file is meant.
    System,
}

impl Error {
    /// What was tried, when it was an operation and not a rule of buffers.
    pub fn operation(&self) -> Option<&str> {
        match self {
            Self::Buffer(_) => None,
            Self::Os(error) => Some(&error.operation),
            Self::Unsupported(error) => Some(&error.operation),
        }
    }

    /// What it was tried on.
    pub fn subject(&self) -> Option<&Subject> {
        match self {
            Self::Buffer(_) => None,
            Self::Os(error) => Some(&error.subject),
            Self::Unsupported(error) => Some(&error.subject),
        }
    }

    /// The likely cause and what to do about it, when they can be told.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Buffer(_) => None,
            Self::Os(error) => error.hint.as_deref(),
            Self::Unsupported(error) => Some(&error.reason),
        }
    }

    /// The operating system's own error, when one came back.
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Os(error) => Some(&error.source),
            Self::Buffer(_) | Self::Unsupported(_) => None,
        }
    }

    /// The `errno`, or on Windows the `GetLastError` code.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.io_error().and_then(io::Error::raw_os_error)
    }

    /// The kind of error, in the words of the standard library; the same on all
    /// systems, also where the library finds none: `WouldBlock` for a lock that
    /// another one holds, `Unsupported` for a call that is not there.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Buffer(BufferError::OutOfMemory { .. }) => io::ErrorKind::OutOfMemory,
            Self::Buffer(_) => io::ErrorKind::InvalidInput,
            Self::Os(error) => crate::os::kind_of(&error.source),
            Self::Unsupported(_) => io::ErrorKind::Unsupported,
        }
    }

    /// An error of the standard library that has this one's kind, prints as
    /// `{error:#}` does, and has it as its source. It has no number:
    /// `raw_os_error` is `None`.
    pub fn into_explained(self) -> io::Error {
        io::Error::new(self.kind(), Explained(self))
    }

    pub(crate) fn os(
        operation: impl Into<Cow<'static, str>>,
        subject: Subject,
        source: impl Into<io::Error>,
        hint: Option<String>,
    ) -> Self {
        Self::Os(OsError {
            operation: operation.into(),
            subject,
            source: source.into(),
            hint,
        })
    }

    /// An operation that failed on an open file, with the hint that its error
    /// code alone allows.
    pub(crate) fn on_file(
        operation: impl Into<Cow<'static, str>>,
        file: &File,
        source: impl Into<io::Error>,
    ) -> Self {
        let source = source.into();
        let hint = crate::os::hint(&source);
        Self::os(operation, Subject::of(file), source, hint)
    }

    /// An operation that failed on a path, with the hint that its error code
    /// alone allows.
    pub(crate) fn on_path(
        operation: impl Into<Cow<'static, str>>,
        path: &Path,
        source: impl Into<io::Error>,
    ) -> Self {
        let source = source.into();
        let hint = crate::os::hint(&source);
        Self::os(operation, Subject::Path(path.to_owned()), source, hint)
    }

    pub(crate) fn unsupported(
        operation: impl Into<Cow<'static, str>>,
        subject: Subject,
        reason: impl Into<String>,
    ) -> Self {
        Self::Unsupported(Unsupported {
            operation: operation.into(),
            subject,
            reason: reason.into(),
        })
    }
}

impl From<Error> for io::Error {
    /// The system's own error where one came back, so that its number
    /// ([`io::Error::raw_os_error`]) is kept; the standard library's error has no
    /// room for the explanation beside it, which
    /// [`into_explained`](Error::into_explained) keeps instead.
    fn from(error: Error) -> Self {
        match error {
            Error::Os(error) if error.source.raw_os_error().is_some() => error.source,
            error => error.into_explained(),
        }
    }
}

/// Prints in full: an `io::Error` is seldom asked for its sources.
#[derive(Debug)]
struct Explained(Error);

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for Explained {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl fmt::Display for OsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed on {}", self.operation, self.subject)?;
        if f.alternate() {
            write!(f, ": {}", self.source)?;
        }
        match &self.hint {
            Some(hint) => write!(f, ": {hint}"),
            None => Ok(()),
        }
    }
}

impl Subject {
    /// Names an open file by its descriptor and, where the system tells it,
    /// its path. Costs a system call: for errors only.
    pub(crate) fn of(file: &File) -> Self {
        let (descriptor, path) = crate::os::name_of(file);
        Self::Open { descriptor, path }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path)
            | Self::Open {
                path: Some(path), ..
            } => write!(f, "{}", path.display()),
            Self::Open {
                descriptor,
                path: None,
            } => write!(f, "descriptor {descriptor}"),
            Self::System => f.write_str("this machine"),
        }
    }
}
