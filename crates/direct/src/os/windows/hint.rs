//! What a Windows error code means for someone who measures or stores on disks.

use std::fs::File;
use std::io;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_CRC, ERROR_DISK_FULL, ERROR_FILE_EXISTS, ERROR_FILE_NOT_FOUND,
    ERROR_HANDLE_DISK_FULL, ERROR_INVALID_FUNCTION, ERROR_IO_DEVICE, ERROR_LOCK_VIOLATION,
    ERROR_NOT_LOCKED, ERROR_NOT_READY, ERROR_NOT_SUPPORTED, ERROR_PATH_NOT_FOUND,
    ERROR_SECTOR_NOT_FOUND, ERROR_SHARING_VIOLATION, ERROR_WRITE_PROTECT,
};

use super::{code_of, is};
use crate::Transfer;

/// The likely cause of an error and what to do, from its code alone.
pub(crate) fn hint(error: &io::Error) -> Option<String> {
    let text = match code_of(error)? {
        ERROR_ACCESS_DENIED => {
            "the permissions forbid it, this is a directory, or a device is written without being \
             locked; run as administrator for a device"
        }
        ERROR_SHARING_VIOLATION => {
            "another program has it open and does not share it; end that first (Resource Monitor \
             shows who)"
        }
        ERROR_LOCK_VIOLATION => "another one has locked it",
        ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND => {
            "nothing has this name; check the path, or ask for it to be created"
        }
        ERROR_FILE_EXISTS => {
            "something has this name already; choose another, or open without create_new"
        }
        ERROR_DISK_FULL | ERROR_HANDLE_DISK_FULL => "no space is left; free some, or use less",
        ERROR_WRITE_PROTECT => "the medium is write-protected",
        ERROR_NOT_READY => "there is no medium in the drive",
        ERROR_CRC | ERROR_IO_DEVICE => {
            "the device failed to do it; look into the system's event log before trusting it"
        }
        ERROR_SECTOR_NOT_FOUND => "the offset is beyond the end of the device",
        ERROR_NOT_LOCKED => "it was not locked",
        ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED => {
            "this kind of file or device does not support it"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// As [`hint`], for a read or write on an open file.
pub(crate) fn transfer_hint(_file: &File, transfer: Transfer, error: &io::Error) -> Option<String> {
    access_denied(
        error,
        match transfer {
            Transfer::Read => "the file was not opened for reading",
            Transfer::Write => {
                "the file was not opened for writing, or it is a mounted volume that must be \
                 locked first (VolumeLock)"
            }
        },
    )
}

/// `reason`, if access was denied; else what the code means.
pub(super) fn access_denied(error: &io::Error, reason: &str) -> Option<String> {
    if is(error, ERROR_ACCESS_DENIED) {
        Some(reason.to_owned())
    } else {
        hint(error)
    }
}
