//! What unbuffered I/O asks for ("File Buffering", Win32): offset and length
//! are multiples of the logical sector, the address as the device wants it.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ALIGNMENT_INFO, FILE_INFO_BY_HANDLE_CLASS, FILE_STORAGE_INFO, FileAlignmentInfo,
    FileStorageInfo, GetFileInformationByHandleEx,
};

use super::handle;
use crate::{AlignmentSource, DirectAlignment, Error};

/// The sector that is assumed when nobody tells: the largest of real disks.
const ASSUMED_SECTOR: u32 = 4096;

pub(crate) fn direct_alignment(file: &File) -> Result<DirectAlignment, Error> {
    // SAFETY: both classes fill the structure of their name, of u32s only.
    let (storage, memory) = unsafe {
        (
            information::<FILE_STORAGE_INFO>(file, FileStorageInfo),
            information::<FILE_ALIGNMENT_INFO>(file, FileAlignmentInfo),
        )
    };
    let stated = storage
        .map(|storage| storage.LogicalBytesPerSector)
        .ok()
        .filter(|sector| sector.is_power_of_two());
    if let Some(sector) = stated {
        // A mask (511), as in FILE_ALIGNMENT_INFORMATION; at least a sector is
        // what the manual asks of all programs.
        let memory = memory.map_or(sector, |memory| {
            let multiple = memory.AlignmentRequirement.saturating_add(1);
            multiple
                .checked_next_power_of_two()
                .unwrap_or(sector)
                .max(sector)
        });
        return DirectAlignment::new(memory, sector, sector, AlignmentSource::Kernel);
    }
    // A disk or a volume has no FileStorageInfo, but a geometry.
    let (sector, source) = match super::geometry(file) {
        Ok(geometry) => (geometry.logical_sector_size, AlignmentSource::LogicalSector),
        Err(error) => (
            ASSUMED_SECTOR,
            AlignmentSource::Assumed(format!(
                "neither FileStorageInfo nor the geometry of the device could be had: {error}"
            )),
        ),
    };
    DirectAlignment::new(sector, sector, sector, source)
}

/// Asks the file for one class of information.
///
/// # Safety
/// The class fills a `T`, and any bytes are a valid `T`.
unsafe fn information<T>(file: &File, class: FILE_INFO_BY_HANDLE_CLASS) -> io::Result<T> {
    let size = u32::try_from(size_of::<T>()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut answer = MaybeUninit::<T>::zeroed();
    // SAFETY: the handle is open, and the buffer has the stated size.
    let result = unsafe {
        GetFileInformationByHandleEx(handle(file), class, answer.as_mut_ptr().cast(), size)
    };
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all bytes are set, and the caller promises that they are valid.
    Ok(unsafe { answer.assume_init() })
}
