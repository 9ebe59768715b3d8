//! Locks, each as a guard that lets go when it is dropped.
//!
//! | guard | keeps out | system |
//! | --- | --- | --- |
//! | [`FileLock`] | those who ask for the same advisory lock | Linux, macOS, FreeBSD: `flock`; Windows: `LockFileEx`, which is mandatory there |
//! | [`VolumeLock`] | everyone, from a volume or disk | Windows: `FSCTL_LOCK_VOLUME` |
//! | [`Claim`] | exclusive opens; mounting, RAID and swap; on Windows everyone | as [`OpenOptions::exclusive`](crate::OpenOptions::exclusive) |
//!
//! A guard owns its file. A lock belongs to the open file and not to the guard:
//! two guards of one open file would share one lock, and the first to be dropped
//! would unlock for both.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use crate::as_file::{AsFile, lend, lends_its_file};
use crate::{Error, Exclusivity, OpenOptions, os};

/// With whom a [`FileLock`] may be shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// With other shared locks.
    Shared,
    /// With no one.
    Exclusive,
}

/// What to do when another one holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Patience {
    /// Fail at once, and say who holds it where that can be found out.
    Fail,
    /// Wait for it.
    Wait,
}

/// A lock that could not be taken, with the file that it was asked for.
///
/// `?` turns it into an [`Error`] or an [`io::Error`], and closes the file.
#[derive(Debug)]
#[non_exhaustive]
pub struct NotLocked {
    /// Why.
    pub error: Error,
    /// The file, open as before.
    pub file: File,
}

impl fmt::Display for NotLocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl std::error::Error for NotLocked {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl From<NotLocked> for Error {
    fn from(refused: NotLocked) -> Self {
        refused.error
    }
}

impl From<NotLocked> for io::Error {
    fn from(refused: NotLocked) -> Self {
        refused.error.into()
    }
}

/// An open file with an advisory lock on it, let go when dropped.
///
/// Advisory means: it keeps out only those who ask. On Unix the lock belongs
/// to the *open file description*: a duplicate of the file (`try_clone`, a
/// child process) shares it, while a second `open` of the same path, even in
/// this process, competes with it. Do not lock a duplicate: on Unix its lock
/// takes the place of the first one, and on Windows it waits for it for ever.
///
/// The guard stands for its file: it lends it ([`AsFile`]), and has its methods.
///
/// ```
/// use std::fs::File;
/// use directio::{FileLock, LockKind, Patience, write_at};
///
/// struct Journal {
///     file: FileLock, // the file, locked for as long as the journal lives
/// }
///
/// let path = std::env::temp_dir().join(format!("directio-lock-{}", std::process::id()));
/// let file = File::create(&path).expect("the temporary folder can be written");
/// let journal = Journal {
///     file: FileLock::acquire(file, LockKind::Exclusive, Patience::Fail)?,
/// };
/// write_at(&journal.file, b"entry", 0)?;
/// let other = File::open(&path).expect("the file was just made");
/// let refused = FileLock::acquire(other, LockKind::Exclusive, Patience::Fail);
/// let other = refused.expect_err("the journal has it").file;
/// journal.file.release()?;
/// FileLock::acquire(other, LockKind::Exclusive, Patience::Fail)?;
/// # std::fs::remove_file(&path).expect("the file was just made");
/// # Ok::<(), directio::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the lock is let go when the guard is dropped"]
pub struct FileLock {
    held: Held,
}

impl FileLock {
    /// Locks the whole file.
    ///
    /// # Errors
    /// `EWOULDBLOCK` when another one holds it and `patience` is
    /// [`Patience::Fail`]; what the system reported otherwise. The file comes
    /// back in either case.
    pub fn acquire(file: File, kind: LockKind, patience: Patience) -> Result<Self, NotLocked> {
        match os::lock_file(&file, kind, patience) {
            Ok(()) => Ok(Self {
                held: Held::new(file, os::unlock_file),
            }),
            Err(error) => Err(NotLocked { error, file }),
        }
    }

    /// Lets go, and gives the file back; reports what dropping would swallow.
    ///
    /// # Errors
    /// What the system reported.
    pub fn release(self) -> Result<File, Error> {
        self.held.release()
    }
}

/// A file and how it is unlocked.
#[derive(Debug)]
struct Held {
    /// `None` only within `release`.
    file: Option<File>,
    unlock: fn(&File) -> Result<(), Error>,
}

impl Held {
    fn new(file: File, unlock: fn(&File) -> Result<(), Error>) -> Self {
        Self {
            file: Some(file),
            unlock,
        }
    }

    fn file(&self) -> &File {
        self.file
            .as_ref()
            .expect("only release() takes it, and self with it")
    }

    fn release(mut self) -> Result<File, Error> {
        let file = self.file.take().expect("only release() takes it");
        (self.unlock)(&file)?;
        Ok(file)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // An error cannot be told from here, and closing, which comes next,
            // lets go in any case unless there is a duplicate; release() is for
            // those who want to know.
            let _ = (self.unlock)(file);
        }
    }
}

/// Locks the whole file without a guard, for callers who keep track themselves.
///
/// # Errors
/// As [`FileLock::acquire`].
pub fn lock_file(file: &impl AsFile, kind: LockKind, patience: Patience) -> Result<(), Error> {
    os::lock_file(&lend(file), kind, patience)
}

/// Undoes [`lock_file`]. Unlocking what is not locked is no error on Unix.
///
/// # Errors
/// What the system reported.
pub fn unlock_file(file: &impl AsFile) -> Result<(), Error> {
    os::unlock_file(&lend(file))
}

/// An open volume or disk with a mandatory lock on it (Windows), let go when
/// dropped.
///
/// Windows refuses raw writes into a mounted volume's sectors unless the
/// volume is locked or dismounted. Locking writes the volume's cached data
/// first, and fails when any file on it is open.
#[derive(Debug)]
#[must_use = "the lock is let go when the guard is dropped"]
pub struct VolumeLock {
    held: Held,
}

impl VolumeLock {
    /// Locks the volume that `file` has open.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on other systems than Windows, with what to use
    /// there; else what the system reported. The file comes back.
    pub fn acquire(file: File) -> Result<Self, NotLocked> {
        match os::lock_volume(&file) {
            Ok(()) => Ok(Self {
                held: Held::new(file, os::unlock_volume),
            }),
            Err(error) => Err(NotLocked { error, file }),
        }
    }

    /// Lets go, and gives the file back; reports what dropping would swallow.
    ///
    /// # Errors
    /// What the system reported.
    pub fn release(self) -> Result<File, Error> {
        self.held.release()
    }
}

/// Locks a volume without a guard (`FSCTL_LOCK_VOLUME`).
///
/// # Errors
/// As [`VolumeLock::acquire`].
pub fn lock_volume(file: &impl AsFile) -> Result<(), Error> {
    os::lock_volume(&lend(file))
}

/// Undoes [`lock_volume`] (`FSCTL_UNLOCK_VOLUME`).
///
/// # Errors
/// What the system reported, for example that the volume was not locked.
pub fn unlock_volume(file: &impl AsFile) -> Result<(), Error> {
    os::unlock_volume(&lend(file))
}

/// A device or file that is held so that others are kept out, let go when
/// dropped.
///
/// Holding a claim beside the file that is worked on keeps a block device from
/// being mounted meanwhile (Linux). On Windows a claim keeps out this
/// process's other opens as well: there, work on [`Claim::file`].
#[derive(Debug)]
#[must_use = "the claim is given up when the guard is dropped"]
pub struct Claim {
    file: File,
    exclusivity: Exclusivity,
}

impl Claim {
    /// Opens `path` for reading, exclusively, and holds it.
    ///
    /// # Errors
    /// As [`OpenOptions::open`]: `EBUSY` says who holds the device, where that
    /// can be found out.
    pub fn acquire(path: impl AsRef<Path>) -> Result<Self, Error> {
        let opened = OpenOptions::new().read(true).exclusive(true).open(path)?;
        Ok(Self {
            file: opened.file,
            exclusivity: opened.granted.exclusive,
        })
    }

    /// Whom the claim keeps out.
    pub fn exclusivity(&self) -> Exclusivity {
        self.exclusivity
    }

    /// The open file that holds the claim.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Deref for FileLock {
    type Target = File;

    fn deref(&self) -> &File {
        self.held.file()
    }
}

impl Deref for VolumeLock {
    type Target = File;

    fn deref(&self) -> &File {
        self.held.file()
    }
}

lends_its_file!(FileLock, |lock| lock.held.file());
lends_its_file!(VolumeLock, |lock| lock.held.file());
lends_its_file!(Claim, |claim| &claim.file);
