//! Locks: of a whole file by `LockFileEx`, of a volume by `FSCTL_LOCK_VOLUME`.

use std::fs::File;
use std::io;

use windows_sys::Win32::Storage::FileSystem::{
    LOCK_FILE_FLAGS, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::Ioctl::{FSCTL_LOCK_VOLUME, FSCTL_UNLOCK_VOLUME};

use super::{control, handle, hint};
use crate::error::Subject;
use crate::{Error, LockKind, Patience};

/// The longest range from byte 0: the whole file, however it grows. The two
/// halves of a 64-bit length.
const WHOLE: (u32, u32) = (u32::MAX, u32::MAX);

/// Locks the whole file. Unlike `flock` it keeps others from reading and
/// writing at all.
pub(crate) fn lock_file(file: &File, kind: LockKind, patience: Patience) -> Result<(), Error> {
    let mut flags: LOCK_FILE_FLAGS = 0;
    if kind == LockKind::Exclusive {
        flags |= LOCKFILE_EXCLUSIVE_LOCK;
    }
    if patience == Patience::Fail {
        flags |= LOCKFILE_FAIL_IMMEDIATELY;
    }
    let mut from_zero = OVERLAPPED::default();
    // SAFETY: the handle is open and synchronous (the standard library opens
    // them so), so that the call has ended when it returns.
    let result =
        unsafe { LockFileEx(handle(file), flags, 0, WHOLE.0, WHOLE.1, &raw mut from_zero) };
    answer("LockFileEx", file, result)
}

/// Undoes one [`lock_file`].
pub(crate) fn unlock_file(file: &File) -> Result<(), Error> {
    let mut from_zero = OVERLAPPED::default();
    // SAFETY: as in lock_file.
    let result = unsafe { UnlockFileEx(handle(file), 0, WHOLE.0, WHOLE.1, &raw mut from_zero) };
    answer("UnlockFileEx", file, result)
}

fn answer(operation: &'static str, file: &File, result: i32) -> Result<(), Error> {
    if result == 0 {
        let error = io::Error::last_os_error();
        return Err(Error::on_file(operation, file, error));
    }
    Ok(())
}

pub(crate) fn lock_volume(file: &File) -> Result<(), Error> {
    control::command(file, FSCTL_LOCK_VOLUME).map_err(|error| {
        let hint = hint::access_denied(
            &error,
            "a file on the volume is open, it holds the system or a page file, or it was opened \
             without the rights to read and write it as administrator",
        );
        Error::os("FSCTL_LOCK_VOLUME", Subject::of(file), error, hint)
    })
}

pub(crate) fn unlock_volume(file: &File) -> Result<(), Error> {
    control::command(file, FSCTL_UNLOCK_VOLUME)
        .map_err(|error| Error::on_file("FSCTL_UNLOCK_VOLUME", file, error))
}
