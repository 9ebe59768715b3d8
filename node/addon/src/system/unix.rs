//! Linux, macOS and FreeBSD.

use std::ffi::OsStr;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::Borrowed;
use crate::fault::Failure;

#[cfg(target_os = "macos")]
pub(crate) const O_DIRECT: i32 = 0;
#[cfg(not(target_os = "macos"))]
pub(crate) const O_DIRECT: i32 = libc::O_DIRECT;

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub(crate) const O_EXLOCK: i32 = libc::O_EXLOCK;
#[cfg(not(any(target_os = "macos", target_os = "freebsd")))]
pub(crate) const O_EXLOCK: i32 = 0;

pub(crate) const O_DSYNC: i32 = libc::O_DSYNC;
pub(crate) const O_EXCL: i32 = libc::O_EXCL;
pub(crate) const O_SYNC: i32 = libc::O_SYNC;

/// The error that the system gives for a misaligned transfer.
pub(crate) const INVALID_ARGUMENT: i32 = libc::EINVAL;

/// The file that Node knows by this number; it is not closed here.
///
/// The number need not be open: then the system refuses what is done with it
/// (`EBADF`). As with Node's own `fs`, the caller must not close it before what
/// is done with it is done.
#[expect(
    clippy::unnecessary_wraps,
    reason = "on Windows a number without a file is found out here"
)]
pub(crate) fn borrow(descriptor: i32) -> Result<Borrowed, Failure> {
    // SAFETY: never dropped, so the descriptor is used and not owned. It is at
    // least 0, as the JavaScript half has checked, so it is not the -1 that a
    // File must not hold.
    let file = unsafe { File::from_raw_fd(descriptor) };
    Ok(Borrowed(ManuallyDrop::new(file)))
}

/// A path need not be text.
#[expect(
    clippy::unnecessary_wraps,
    reason = "on Windows bytes that are no text are found out here"
)]
pub(crate) fn path_from_bytes(bytes: &[u8]) -> Result<PathBuf, Failure> {
    Ok(OsStr::from_bytes(bytes).into())
}

/// The number by which the system knows an open file.
#[expect(
    clippy::unnecessary_wraps,
    reason = "on Windows a file has a handle, and no number"
)]
pub(crate) fn descriptor(file: &File) -> Option<i32> {
    Some(file.as_raw_fd())
}

/// Whether others may use this as a disk: mount it, swap to it.
pub(crate) fn is_disk(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| {
        let kind = metadata.file_type();
        // macOS and FreeBSD show disks as character devices.
        kind.is_block_device() || (cfg!(not(target_os = "linux")) && kind.is_char_device())
    })
}

/// `fcntl(F_NOCACHE)`.
#[cfg(target_os = "macos")]
pub(crate) fn set_no_cache(descriptor: i32, no_cache: bool) -> Result<(), Failure> {
    let file = borrow(descriptor)?;
    rustix::fs::fcntl_nocache(&*file, no_cache)
        .map_err(|error| crate::fault::system_failure("fcntl(F_NOCACHE)", &error.into()))
}

#[cfg(not(target_os = "macos"))]
pub(crate) fn set_no_cache(_descriptor: i32, _no_cache: bool) -> Result<(), Failure> {
    Err(crate::fault::macos_only())
}

/// An `errno` as libuv numbers it.
pub(crate) fn libuv_error(code: i32) -> i32 {
    -code
}

/// The name of an `errno` where libuv's own does not do: it knows no `ENOTBLK`,
/// and calls `EAGAIN` what the manual of flock(2) calls `EWOULDBLOCK`.
pub(crate) fn name_unlike_libuv(operation: &str, code: i32) -> Option<&'static str> {
    match code {
        libc::ENOTBLK => Some("ENOTBLK"),
        libc::EWOULDBLOCK if operation.starts_with("flock") => Some("EWOULDBLOCK"),
        _ => None,
    }
}
