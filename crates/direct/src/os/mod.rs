//! One file per operating system behind one interface.
//!
//! Each system's module provides these functions under these names; the public
//! modules of the crate document them and add nothing that differs by system.
//!
//! | concern | functions |
//! | --- | --- |
//! | opening | `open` |
//! | syncing | `sync_data`, `sync_all`, `sync_to_medium`, `sync_name` |
//! | transfers | `read_at`, `write_at`, `write_at_durable` (`None`: the system has no such call), `readv_at`, `writev_at`, `read_at_with`, `write_at_with`, `is_invalid_argument`, `kind_of`, `transfer_hint` |
//! | space | `preallocate`, `punch_hole` |
//! | devices | `geometry`, `geometry_under`, `direct_alignment`, `atomic_write_limits`, `holders` |
//! | locks | `lock_file`, `unlock_file`, `lock_volume`, `unlock_volume` |
//! | memory | `map`, `unmap`, `resident_huge_bytes`, `keep_from_children` |
//! | messages | `hint`, `name_of` |

use std::fs::File;
use std::io;
use std::ptr::NonNull;

use crate::Backing;
#[cfg(any(
    target_os = "linux",
    target_os = "macos",
    target_os = "freebsd",
    windows
))]
use crate::{Error, Subject};

#[cfg(unix)]
mod unix;

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod bsd;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;

#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "freebsd")]
pub(crate) use freebsd::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;

#[cfg(all(
    unix,
    not(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))
))]
mod other;
#[cfg(all(
    unix,
    not(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))
))]
pub(crate) use other::*;

#[cfg(not(target_os = "linux"))]
mod not_linux;
#[cfg(not(target_os = "linux"))]
pub(crate) use not_linux::*;

#[cfg(not(any(unix, windows)))]
compile_error!("directio needs files as Unix or Windows has them: add a file to src/os");

/// Zeroed, writable memory of the system's own, unmapped once.
pub(crate) struct Mapping {
    /// The first usable byte, aligned as asked.
    pub(crate) start: NonNull<u8>,
    /// The usable bytes from `start`.
    pub(crate) length: usize,
    pub(crate) backing: Backing,
    pub(crate) refused: Option<String>,
    /// What was reserved around it, to be given back: start and length.
    pub(crate) reserved: (NonNull<u8>, usize),
}

/// How many bytes to reserve so that `length` bytes at a multiple of
/// `alignment` lie in them, when the system aligns to `granularity` and maps
/// whole pages of `page_size`. `None` when the sum overflows.
///
/// The unused ends are never touched, and cost address space but no memory.
fn reservation(
    length: usize,
    alignment: usize,
    granularity: usize,
    page_size: usize,
) -> Option<usize> {
    length
        .checked_add(alignment.saturating_sub(granularity))?
        .checked_next_multiple_of(page_size)
}

/// The first buffer alone: a short transfer, where the system has none of many.
#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
pub(crate) fn readv_at(
    file: &File,
    buffers: &mut [io::IoSliceMut<'_>],
    offset: u64,
) -> io::Result<usize> {
    match buffers.iter_mut().find(|buffer| !buffer.is_empty()) {
        Some(buffer) => read_at(file, buffer, offset),
        None => Ok(0),
    }
}

/// As [`readv_at`].
#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
pub(crate) fn writev_at(
    file: &File,
    buffers: &[io::IoSlice<'_>],
    offset: u64,
) -> io::Result<usize> {
    match buffers.iter().find(|buffer| !buffer.is_empty()) {
        Some(buffer) => write_at(file, buffer, offset),
        None => Ok(0),
    }
}

/// The error of a call that not every filesystem has.
#[cfg(any(
    target_os = "linux",
    target_os = "macos",
    target_os = "freebsd",
    windows
))]
fn no_such_call(operation: &'static str, file: &File, error: io::Error) -> Error {
    if kind_of(&error) == io::ErrorKind::Unsupported {
        return Error::unsupported(
            operation,
            Subject::of(file),
            "the filesystem or the device has no such call",
        );
    }
    Error::on_file(operation, file, error)
}

/// Where the space that is asked for ends, on a system that reserves it behind the
/// end of a file only.
#[cfg(any(target_os = "macos", windows))]
fn reserved_to(file: &File, offset: u64, length: u64) -> Result<u64, Error> {
    let metadata = file
        .metadata()
        .map_err(|error| Error::on_file("fstat", file, error))?;
    let end = metadata.len();
    match offset.checked_add(length) {
        Some(to) if offset >= end && length > 0 => Ok(to),
        _ => Err(Error::unsupported(
            "preallocate",
            Subject::of(file),
            format!("this system reserves space behind the end of a file only, from byte {end} on"),
        )),
    }
}

impl Mapping {
    /// Places `length` bytes at a multiple of `alignment` in a reservation.
    ///
    /// # Safety
    /// `reserved` is live, zeroed and writable memory of the system's, and
    /// given to nobody else.
    unsafe fn place(
        reserved: (NonNull<u8>, usize),
        length: usize,
        alignment: usize,
        backing: Backing,
    ) -> Self {
        let base = reserved.0.as_ptr().addr();
        let skip = base.next_multiple_of(alignment) - base;
        assert!(
            skip + length <= reserved.1,
            "the reservation must leave room to align"
        );
        // SAFETY: skip lies within the reservation, as just asserted.
        let start = unsafe { reserved.0.add(skip) };
        Self {
            start,
            length,
            backing,
            refused: None,
            reserved,
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the reservation came from map(), nothing else unmaps it, and
        // drop runs once.
        unsafe { unmap(self.reserved) }
    }
}
