//! Windows. Documentation: Win32 `CreateFileW`, "File Buffering",
//! `FlushFileBuffers`, `DeviceIoControl`; `<winioctl.h>`.

mod alignment;
mod control;
mod geometry;
mod hint;
mod lock;
mod memory;
mod open;
mod overlapped;
mod space;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::FileExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{
    ERROR_INVALID_FUNCTION, ERROR_INVALID_PARAMETER, ERROR_LOCK_VIOLATION, ERROR_NOT_SUPPORTED,
    HANDLE, WIN32_ERROR,
};
use windows_sys::Win32::Storage::FileSystem::{FILE_NAME_NORMALIZED, GetFinalPathNameByHandleW};

pub(crate) use self::alignment::direct_alignment;
pub(crate) use self::geometry::{geometry, geometry_under};
pub(crate) use self::hint::{hint, transfer_hint};
pub(crate) use self::lock::{lock_file, lock_volume, unlock_file, unlock_volume};
pub(crate) use self::memory::{map, resident_huge_bytes, unmap};
pub(crate) use self::open::open;
pub(crate) use self::space::{preallocate, punch_hole};
use crate::{Durability, Error, Holder};

pub(crate) fn sync_all(file: &File) -> Result<(), Error> {
    file.sync_all()
        .map_err(|error| Error::on_file("FlushFileBuffers", file, error))
}

/// Windows has one call for all three.
pub(crate) fn sync_data(file: &File) -> Result<(), Error> {
    sync_all(file)
}

/// As [`sync_data`].
pub(crate) fn sync_to_medium(file: &File) -> Result<(), Error> {
    sync_all(file)
}

/// NTFS has names in its journal, and no folder is opened for a flush.
#[expect(
    clippy::unnecessary_wraps,
    reason = "on other systems the folder is opened"
)]
pub(crate) fn sync_name(_path: &Path) -> Result<(), Error> {
    Ok(())
}

pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

pub(crate) fn write_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<usize> {
    file.seek_write(buffer, offset)
}

/// Windows has write-through for a whole handle only.
pub(crate) fn write_at_durable(
    _file: &File,
    _buffer: &[u8],
    _offset: u64,
    _durability: Durability,
) -> Option<io::Result<usize>> {
    None
}

/// The error that misaligned direct I/O gives, among other things.
pub(crate) fn is_invalid_argument(error: &io::Error) -> bool {
    is(error, ERROR_INVALID_PARAMETER)
}

/// The kind of an error, which the standard library does not find for all.
pub(crate) fn kind_of(error: &io::Error) -> io::ErrorKind {
    match code_of(error) {
        Some(ERROR_LOCK_VIOLATION) => io::ErrorKind::WouldBlock,
        Some(ERROR_NOT_SUPPORTED | ERROR_INVALID_FUNCTION) => io::ErrorKind::Unsupported,
        _ => error.kind(),
    }
}

/// Whether this is the error of that number.
fn is(error: &io::Error, code: WIN32_ERROR) -> bool {
    code_of(error) == Some(code)
}

/// The number of an error, as the constants of its name are typed.
fn code_of(error: &io::Error) -> Option<WIN32_ERROR> {
    error.raw_os_error().map(|code| code as WIN32_ERROR)
}

/// The error of that number.
#[expect(clippy::cast_possible_wrap, reason = "error codes are small")]
fn error_of(code: WIN32_ERROR) -> io::Error {
    io::Error::from_raw_os_error(code as i32)
}

fn handle(file: &File) -> HANDLE {
    file.as_raw_handle()
}

pub(crate) fn name_of(file: &File) -> (i64, Option<PathBuf>) {
    // A longer name is left unnamed: this is for messages.
    let mut name = [0_u16; 1024];
    // SAFETY: the handle is open, and the buffer is as long as stated.
    let length = unsafe {
        GetFinalPathNameByHandleW(handle(file), name.as_mut_ptr(), 1024, FILE_NAME_NORMALIZED)
    };
    let path = usize::try_from(length)
        .ok()
        .filter(|&length| length > 0)
        .and_then(|length| name.get(..length))
        .map(|name| PathBuf::from(OsString::from_wide(name)));
    // Handles are small numbers, on 64 bits too.
    let number = i64::try_from(handle(file).addr()).unwrap_or(-1);
    (number, path)
}

/// Windows tells by no plain means who has a disk open.
#[expect(
    clippy::unnecessary_wraps,
    reason = "on other systems the path is looked up"
)]
pub(crate) fn holders(_path: &Path) -> Result<Vec<Holder>, Error> {
    Ok(Vec::new())
}
