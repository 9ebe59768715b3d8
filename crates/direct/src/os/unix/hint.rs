//! What an `errno` means for someone who measures or stores on disks.

use std::fs::File;
use std::io;

use rustix::fs::{FileType, fstat, fstatvfs};

use crate::Transfer;

/// The likely cause of an error and what to do, from its code alone.
pub(crate) fn hint(error: &io::Error) -> Option<String> {
    let text = match error.raw_os_error()? {
        libc::EACCES => {
            "the permissions forbid it; run as the owner, or as root (sudo) for a device"
        }
        libc::EPERM => {
            "not permitted; the file may be immutable or in use as swap, the device set \
             read-only, or root is needed (sudo)"
        }
        libc::EROFS => {
            "the filesystem or this subvolume is read-only; choose another one, or open for reading"
        }
        libc::EISDIR => "this is a directory; name a file in it",
        libc::ENOTDIR => "a part of the path is a file where a directory was meant",
        libc::ENOENT => "nothing has this name; check the path, or ask for it to be created",
        libc::EEXIST => {
            "something has this name already; choose another, or open without create_new"
        }
        libc::ENOSPC => "no space is left; free some, or use less",
        libc::EDQUOT => "the quota is used up; free some space, or have it raised",
        libc::EFBIG => {
            "beyond the largest file that the filesystem or the limit (ulimit -f) allows"
        }
        libc::EIO => {
            "the device failed to do it; look into the system's log (dmesg) before trusting it"
        }
        libc::ENXIO | libc::ENODEV => "the device is gone or was never there",
        libc::ETXTBSY => "the file is being executed or used as swap; stop that first",
        libc::EMFILE => "this process has too many open files; raise the limit (ulimit -n)",
        libc::ENFILE => "the system has too many open files",
        libc::ELOOP => "too many symbolic links, or a link where none was allowed",
        libc::EINTR => "a signal interrupted it; try again",
        libc::EWOULDBLOCK => "another one holds the lock",
        libc::EOPNOTSUPP => "this filesystem or device does not support it",
        libc::ENOLCK => "the system has no memory for more locks",
        libc::ENOTTY => "this kind of file does not answer this question",
        _ => return None,
    };
    Some(text.to_owned())
}

/// As [`hint`], for a read or write on an open file, which can be asked.
pub(crate) fn transfer_hint(file: &File, transfer: Transfer, error: &io::Error) -> Option<String> {
    match error.raw_os_error()? {
        libc::EBADF => Some(
            match transfer {
                Transfer::Read => "the file was not opened for reading",
                Transfer::Write => "the file was not opened for writing",
            }
            .to_owned(),
        ),
        libc::ENOSPC => no_space(file).or_else(|| hint(error)),
        _ => hint(error),
    }
}

/// Two things are called ENOSPC: a full filesystem, and the end of a device.
fn no_space(file: &File) -> Option<String> {
    let kind = FileType::from_raw_mode(fstat(file).ok()?.st_mode);
    if kind == FileType::BlockDevice {
        let size = crate::geometry(file).ok()?.size;
        return Some(format!("the device ends at {size} bytes; write below that"));
    }
    let space = fstatvfs(file).ok()?;
    Some(format!(
        "the filesystem is full ({} bytes free); free some space, or write less",
        space.f_bavail.saturating_mul(space.f_frsize)
    ))
}
