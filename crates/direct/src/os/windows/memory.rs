//! Memory of the system's own: `VirtualAlloc`, with large pages on request.

use std::io;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use windows_sys::Win32::System::Memory::{
    GetLargePageMinimum, MEM_COMMIT, MEM_LARGE_PAGES, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE,
    VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};

use crate::os::{Mapping, reservation};
use crate::{Backing, Pages};

pub(crate) fn map(length: usize, alignment: usize, pages: Pages) -> io::Result<Mapping> {
    let mut refused = None;
    if pages == Pages::Huge {
        match map_huge(length, alignment) {
            Ok(mapping) => return Ok(mapping),
            Err(why) => refused = Some(why),
        }
    }
    let (page_size, granularity) = page_sizes();
    let mut mapping = reserve(
        length,
        alignment,
        granularity,
        page_size,
        0,
        Backing::Base { page_size },
    )?;
    mapping.refused = refused;
    Ok(mapping)
}

fn map_huge(length: usize, alignment: usize) -> Result<Mapping, String> {
    // SAFETY: the call has no conditions.
    let page_size = unsafe { GetLargePageMinimum() };
    if page_size == 0 {
        return Err("this processor has no large pages (GetLargePageMinimum)".to_owned());
    }
    reserve(
        length,
        alignment,
        page_size,
        page_size,
        MEM_LARGE_PAGES,
        Backing::Huge { page_size },
    )
    .map_err(|error| {
        format!(
            "MEM_LARGE_PAGES: {error}; the user needs the right \"Lock pages in memory\", and the \
             program must enable SeLockMemoryPrivilege"
        )
    })
}

fn reserve(
    length: usize,
    alignment: usize,
    granularity: usize,
    page_size: usize,
    kind: u32,
    backing: Backing,
) -> io::Result<Mapping> {
    let reserved_length =
        reservation(length, alignment, granularity, page_size).ok_or(io::ErrorKind::OutOfMemory)?;
    // SAFETY: an allocation at an address of the system's choice touches no
    // existing memory.
    let base = unsafe {
        VirtualAlloc(
            ptr::null(),
            reserved_length,
            MEM_RESERVE | MEM_COMMIT | kind,
            PAGE_READWRITE,
        )
    };
    let base = NonNull::new(base.cast::<u8>()).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: it has just been allocated for us, and VirtualAlloc zeroes it.
    Ok(unsafe { Mapping::place((base, reserved_length), length, alignment, backing) })
}

/// The page, and what `VirtualAlloc` aligns to, in bytes.
fn page_sizes() -> (usize, usize) {
    let mut info = MaybeUninit::<SYSTEM_INFO>::zeroed();
    // SAFETY: the call fills the structure, which is plain integers and
    // pointers and valid when zeroed, too.
    let info = unsafe {
        GetSystemInfo(info.as_mut_ptr());
        info.assume_init()
    };
    (
        info.dwPageSize as usize,
        info.dwAllocationGranularity as usize,
    )
}

/// Gives a reservation back.
///
/// # Safety
/// It came from [`map`], has not been given back, and nothing uses it.
pub(crate) unsafe fn unmap((start, _length): (NonNull<u8>, usize)) {
    // SAFETY: the caller's promise; MEM_RELEASE takes the length 0 and frees
    // the whole reservation.
    let result = unsafe { VirtualFree(start.as_ptr().cast(), 0, MEM_RELEASE) };
    debug_assert!(result != 0, "VirtualFree of our own reservation");
}

/// Windows tells by no plain means on which pages memory lies.
pub(crate) fn resident_huge_bytes(_mapping: &Mapping) -> Option<u64> {
    None
}
