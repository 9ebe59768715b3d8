//! Locks: of a whole file by `LockFileEx`, of a volume by `FSCTL_LOCK_VOLUME`.

use std::fs::File;

use windows_sys::Win32::Storage::FileSystem::{
    LOCK_FILE_FLAGS, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::Ioctl::{FSCTL_LOCK_VOLUME, FSCTL_UNLOCK_VOLUME};

use super::overlapped::completed;
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
    // SAFETY: the handle is open, and the structure stays until the call has ended.
    let lock =
        |from_zero| unsafe { LockFileEx(handle(file), flags, 0, WHOLE.0, WHOLE.1, from_zero) };
    answer("LockFileEx", file, lock)
}

/// Undoes one [`lock_file`].
pub(crate) fn unlock_file(file: &File) -> Result<(), Error> {
    // SAFETY: as in lock_file.
    let unlock = |from_zero| unsafe { UnlockFileEx(handle(file), 0, WHOLE.0, WHOLE.1, from_zero) };
    answer("UnlockFileEx", file, unlock)
}

fn answer(
    operation: &'static str,
    file: &File,
    call: impl FnOnce(*mut OVERLAPPED) -> i32,
) -> Result<(), Error> {
    match completed(file, call) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::on_file(operation, file, error)),
    }
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
