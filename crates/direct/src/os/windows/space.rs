//! The space of a file, by `FileAllocationInfo` and `FSCTL_SET_ZERO_DATA`.

use std::fs::File;
use std::io;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ALLOCATION_INFO, FileAllocationInfo, SetFileInformationByHandle,
};
use windows_sys::Win32::System::Ioctl::{
    FILE_ZERO_DATA_INFORMATION, FSCTL_SET_SPARSE, FSCTL_SET_ZERO_DATA,
};

use super::{control, handle};
use crate::os::{no_such_call, reserved_to};
use crate::{Error, set_len};

pub(crate) fn preallocate(file: &File, offset: u64, length: u64) -> Result<(), Error> {
    let to = reserved_to(file, offset, length)?;
    allocate(file, to).map_err(|error| no_such_call("FileAllocationInfo", file, error))?;
    set_len(file, to)
}

fn allocate(file: &File, to: u64) -> io::Result<()> {
    let information = FILE_ALLOCATION_INFO {
        AllocationSize: within_range(to)?,
    };
    let size = u32::try_from(size_of_val(&information)).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the handle is open; the class reads a FILE_ALLOCATION_INFO, and the
    // size says so.
    let result = unsafe {
        SetFileInformationByHandle(
            handle(file),
            FileAllocationInfo,
            (&raw const information).cast(),
            size,
        )
    };
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

pub(crate) fn punch_hole(file: &File, offset: u64, length: u64) -> Result<(), Error> {
    // A file that is not sparse keeps its space, and gets zeros.
    control::command(file, FSCTL_SET_SPARSE)
        .map_err(|error| no_such_call("FSCTL_SET_SPARSE", file, error))?;
    zero(file, offset, length).map_err(|error| no_such_call("FSCTL_SET_ZERO_DATA", file, error))
}

fn zero(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let range = FILE_ZERO_DATA_INFORMATION {
        FileOffset: within_range(offset)?,
        BeyondFinalZero: within_range(offset.saturating_add(length))?,
    };
    control::command_with(file, FSCTL_SET_ZERO_DATA, &range)
}

fn within_range(bytes: u64) -> io::Result<i64> {
    i64::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}
