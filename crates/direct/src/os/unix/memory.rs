//! Anonymous mappings, aligned as asked.

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::os::Mapping;
use crate::{Backing, Pages};

/// From this size on a pool is worth advice about huge pages, and is laid at a
/// multiple of it: the huge page of x86-64, and of arm64 with 4 KiB pages.
const ADVISE_FROM: usize = 2 << 20;

pub(crate) fn map(length: usize, alignment: usize, pages: Pages) -> io::Result<Mapping> {
    let mut refused = None;
    if pages == Pages::Huge {
        match crate::os::map_huge(length, alignment) {
            Ok(mapping) => return Ok(mapping),
            Err(why) => refused = Some(why),
        }
    }
    let page_size = rustix::param::page_size();
    let advise = pages != Pages::Base && length >= ADVISE_FROM;
    let alignment = if advise {
        alignment.max(ADVISE_FROM)
    } else {
        alignment
    };
    let mut mapping = reserve(
        length,
        alignment,
        page_size,
        MapFlags::empty(),
        Backing::Base { page_size },
    )?;
    if advise {
        match crate::os::advise_huge(&mapping) {
            Ok(()) => mapping.backing = Backing::Advised { page_size },
            // Only the first refusal is told: it answers what was asked for.
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    mapping.refused = refused;
    Ok(mapping)
}

/// Maps `length` bytes at a multiple of `alignment`, on pages of `page_size`.
pub(crate) fn reserve(
    length: usize,
    alignment: usize,
    page_size: usize,
    flags: MapFlags,
    backing: Backing,
) -> io::Result<Mapping> {
    let reserved_length = crate::os::reservation(length, alignment, page_size, page_size)
        .ok_or(io::ErrorKind::OutOfMemory)?;
    // SAFETY: an anonymous mapping at an address of the kernel's choice
    // touches no existing memory.
    let base = unsafe {
        mmap_anonymous(
            ptr::null_mut(),
            reserved_length,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | flags,
        )?
    };
    let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
    // SAFETY: it has just been mapped for us, and is zeroed as all anonymous
    // memory.
    Ok(unsafe { Mapping::place((base, reserved_length), length, alignment, backing) })
}

/// Gives a reservation back.
///
/// # Safety
/// It came from [`reserve`], has not been given back, and nothing uses it.
pub(crate) unsafe fn unmap((start, length): (NonNull<u8>, usize)) {
    // SAFETY: the caller's promise. munmap fails only for a range that is no
    // mapping of ours, which would be a bug of this module.
    let result = unsafe { munmap(start.as_ptr().cast(), length) };
    debug_assert!(result.is_ok(), "munmap of our own mapping: {result:?}");
}
