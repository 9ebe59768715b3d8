//! One transfer between a range of a file and several buffers.
//!
//! `preadv(2)` and `pwritev(2)` of Linux and FreeBSD. macOS has them since 11
//! only, and Windows has something else (`ReadFileScatter`, pages alone): there
//! the first buffer is moved, which is a short transfer that the caller goes on
//! with.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};

/// The most buffers that one call takes: `IOV_MAX` of Linux and of FreeBSD.
pub(crate) const BUFFERS_MAX: usize = 1024;

/// Reads into the buffers, one after the other; the bytes read.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(crate) fn read_at(
    file: &File,
    buffers: &mut [IoSliceMut<'_>],
    position: u64,
) -> io::Result<usize> {
    Ok(rustix::io::preadv(file, buffers, position)?)
}

/// Writes the buffers, one after the other; the bytes written.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(crate) fn write_at(file: &File, buffers: &[IoSlice<'_>], position: u64) -> io::Result<usize> {
    Ok(rustix::io::pwritev(file, buffers, position)?)
}

#[cfg(target_os = "macos")]
pub(crate) fn read_at(
    file: &File,
    buffers: &mut [IoSliceMut<'_>],
    position: u64,
) -> io::Result<usize> {
    use std::os::unix::fs::FileExt;
    buffers
        .first_mut()
        .map_or(Ok(0), |first| file.read_at(first, position))
}

#[cfg(target_os = "macos")]
pub(crate) fn write_at(file: &File, buffers: &[IoSlice<'_>], position: u64) -> io::Result<usize> {
    use std::os::unix::fs::FileExt;
    buffers
        .first()
        .map_or(Ok(0), |first| file.write_at(first, position))
}

#[cfg(windows)]
pub(crate) fn read_at(
    file: &File,
    buffers: &mut [IoSliceMut<'_>],
    position: u64,
) -> io::Result<usize> {
    use std::os::windows::fs::FileExt;
    buffers
        .first_mut()
        .map_or(Ok(0), |first| file.seek_read(first, position))
}

#[cfg(windows)]
pub(crate) fn write_at(file: &File, buffers: &[IoSlice<'_>], position: u64) -> io::Result<usize> {
    use std::os::windows::fs::FileExt;
    buffers
        .first()
        .map_or(Ok(0), |first| file.seek_write(first, position))
}
