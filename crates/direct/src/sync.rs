//! Bringing what was written down to the device and to its medium.
//!
//! The first three functions differ in what they wait for. What each system really
//! does stands in the table of the crate's documentation; in short: Linux and
//! Windows flush the drive's write cache in all three, FreeBSD does for some
//! filesystems, and macOS does only in [`sync_to_medium`].

use std::path::Path;

use crate::as_file::{AsFile, lend};
use crate::{Error, os};

/// Waits until the device has the file's data, and the metadata needed to
/// read them back.
///
/// `fdatasync` on Linux and FreeBSD, `fsync` on macOS (which has no documented
/// `fdatasync`), `FlushFileBuffers` on Windows.
///
/// # Errors
/// What the system reported. After an error the data may be lost although a
/// second call succeeds: Linux reports a failed write-back once per open file
/// and then marks its pages clean. Write the data again, or stop.
pub fn sync_data(file: &impl AsFile) -> Result<(), Error> {
    os::sync_data(&lend(file))
}

/// Waits until the device has the file's data and all of its metadata.
///
/// `fsync` on Linux, FreeBSD and macOS, `FlushFileBuffers` on Windows.
///
/// # Errors
/// As [`sync_data`].
pub fn sync_all(file: &impl AsFile) -> Result<(), Error> {
    os::sync_all(&lend(file))
}

/// Waits until the medium itself has the data: the device is told to empty its
/// write cache.
///
/// `F_FULLFSYNC` on macOS, `FlushFileBuffers` on Windows, `fsync` on Linux
/// (whose block layer sends the flush), and on FreeBSD `fsync`, for a disk
/// also `DIOCGFLUSH`.
///
/// No system can promise that a drive obeys: some acknowledge a flush before
/// they have done it.
///
/// # Errors
/// As [`sync_data`]; and on macOS `ENOTSUP` on filesystems without
/// `F_FULLFSYNC`, where [`sync_all`] is the most there is.
pub fn sync_to_medium(file: &impl AsFile) -> Result<(), Error> {
    os::sync_to_medium(&lend(file))
}

/// Waits until the device has the name of a file that was made, renamed or removed:
/// the folder of `path`, where it stands, is brought down as by [`sync_all`]. Without
/// that a crash may leave durable data under no name.
///
/// Windows opens no folder for that, and NTFS has names in its journal: there it does
/// nothing.
///
/// # Errors
/// As [`sync_all`], and as [`File::open`](std::fs::File::open) of the folder.
pub fn sync_name(path: impl AsRef<Path>) -> Result<(), Error> {
    os::sync_name(path.as_ref())
}
