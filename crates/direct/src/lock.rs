//! Locks, each as a guard that lets go when it is dropped.
//!
//! | guard | keeps out | system |
//! | --- | --- | --- |
//! | [`FileLock`] | those who ask for the same advisory lock | Linux, macOS, FreeBSD: `flock`; Windows: `LockFileEx`, which is mandatory there |
//! | [`VolumeLock`] | everyone, from a volume or disk | Windows: `FSCTL_LOCK_VOLUME` |
//! | [`Claim`] | exclusive opens; mounting, RAID and swap; on Windows everyone | as [`OpenOptions::exclusive`](crate::OpenOptions::exclusive) |

use std::fs::File;
use std::path::Path;

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
pub enum Patience {
    /// Fail at once, and say who holds it where that can be found out.
    Fail,
    /// Wait for it.
    Wait,
}

/// An advisory lock on an open file, let go when dropped.
///
/// Advisory means: it keeps out only those who ask. On Unix the lock belongs
/// to the *open file description*: a duplicate of the file (`try_clone`, a
/// child process) shares it, while a second `open` of the same path, even in
/// this process, competes with it. A second lock of the same open file takes
/// the place of the first on Unix, and on Windows waits for it for ever: hold
/// one guard per open file.
///
/// ```
/// use directio::{FileLock, LockKind, Patience};
///
/// let path = std::env::temp_dir().join(format!("directio-lock-{}", std::process::id()));
/// let file = std::fs::File::create(&path).expect("the temporary folder can be written");
/// let other = std::fs::File::open(&path).expect("the file was just made");
/// let lock = FileLock::acquire(&file, LockKind::Exclusive, Patience::Fail)?;
/// assert!(FileLock::acquire(&other, LockKind::Exclusive, Patience::Fail).is_err());
/// lock.release()?;
/// assert!(FileLock::acquire(&other, LockKind::Exclusive, Patience::Fail).is_ok());
/// # std::fs::remove_file(&path).expect("the file was just made");
/// # Ok::<(), directio::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the lock is let go when the guard is dropped"]
pub struct FileLock<'file> {
    file: &'file File,
}

impl<'file> FileLock<'file> {
    /// Locks the whole file.
    ///
    /// # Errors
    /// `EWOULDBLOCK` when another one holds it and `patience` is
    /// [`Patience::Fail`]; what the system reported otherwise.
    pub fn acquire(file: &'file File, kind: LockKind, patience: Patience) -> Result<Self, Error> {
        lock_file(file, kind, patience)?;
        Ok(Self { file })
    }

    /// Lets go, and reports what dropping would swallow.
    ///
    /// # Errors
    /// What the system reported.
    pub fn release(self) -> Result<(), Error> {
        let file = self.file;
        std::mem::forget(self);
        unlock_file(file)
    }
}

impl Drop for FileLock<'_> {
    fn drop(&mut self) {
        // An error cannot be told from here, and means that the descriptor is
        // no longer locked anyway; release() is for those who want to know.
        let _ = unlock_file(self.file);
    }
}

/// Locks the whole file without a guard, for callers who keep track themselves.
///
/// # Errors
/// As [`FileLock::acquire`].
pub fn lock_file(file: &File, kind: LockKind, patience: Patience) -> Result<(), Error> {
    os::lock_file(file, kind, patience)
}

/// Undoes [`lock_file`]. Unlocking what is not locked is no error on Unix.
///
/// # Errors
/// What the system reported.
pub fn unlock_file(file: &File) -> Result<(), Error> {
    os::unlock_file(file)
}

/// A mandatory lock on an open volume or disk (Windows), let go when dropped.
///
/// Windows refuses raw writes into a mounted volume's sectors unless the
/// volume is locked or dismounted. Locking writes the volume's cached data
/// first, and fails when any file on it is open.
#[derive(Debug)]
#[must_use = "the lock is let go when the guard is dropped"]
pub struct VolumeLock<'file> {
    file: &'file File,
}

impl<'file> VolumeLock<'file> {
    /// Locks the volume that `file` has open.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on other systems than Windows, with what to use
    /// there; else what the system reported.
    pub fn acquire(file: &'file File) -> Result<Self, Error> {
        lock_volume(file)?;
        Ok(Self { file })
    }

    /// Lets go, and reports what dropping would swallow.
    ///
    /// # Errors
    /// What the system reported.
    pub fn release(self) -> Result<(), Error> {
        let file = self.file;
        std::mem::forget(self);
        unlock_volume(file)
    }
}

impl Drop for VolumeLock<'_> {
    fn drop(&mut self) {
        // As for FileLock: closing the handle lets go in any case.
        let _ = unlock_volume(self.file);
    }
}

/// Locks a volume without a guard (`FSCTL_LOCK_VOLUME`).
///
/// # Errors
/// As [`VolumeLock::acquire`].
pub fn lock_volume(file: &File) -> Result<(), Error> {
    os::lock_volume(file)
}

/// Undoes [`lock_volume`] (`FSCTL_UNLOCK_VOLUME`).
///
/// # Errors
/// What the system reported, for example that the volume was not locked.
pub fn unlock_volume(file: &File) -> Result<(), Error> {
    os::unlock_volume(file)
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
