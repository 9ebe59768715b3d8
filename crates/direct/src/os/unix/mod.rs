//! What the Unix systems share.

pub(super) mod hint;
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
pub(super) mod lock;
pub(super) mod memory;

use std::fs::File;
use std::io;
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
use std::io::{IoSlice, IoSliceMut};
use std::path::Path;

use crate::Error;

pub(crate) fn sync_all(file: &File) -> Result<(), Error> {
    rustix::fs::fsync(file).map_err(|error| Error::on_file("fsync", file, error))
}

/// Brings down the folder that a path stands in.
pub(crate) fn sync_name(path: &Path) -> Result<(), Error> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        // The root stands in itself.
        None => path,
        Some(_) => Path::new("."),
    };
    let open = File::open(folder).map_err(|error| Error::on_path("open", folder, error))?;
    sync_all(&open)
}

pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::pread(file, buffer, offset)?)
}

pub(crate) fn write_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::pwrite(file, buffer, offset)?)
}

#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
pub(crate) fn readv_at(
    file: &File,
    buffers: &mut [IoSliceMut<'_>],
    offset: u64,
) -> io::Result<usize> {
    Ok(rustix::io::preadv(file, buffers, offset)?)
}

#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
pub(crate) fn writev_at(file: &File, buffers: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::pwritev(file, buffers, offset)?)
}

/// The kind of an error, which older standard libraries do not find for all.
pub(crate) fn kind_of(error: &io::Error) -> io::ErrorKind {
    // On Linux the first two are one number.
    const MISSING: [i32; 3] = [libc::EOPNOTSUPP, libc::ENOTSUP, libc::ENOSYS];
    match error.raw_os_error() {
        Some(code) if MISSING.contains(&code) => io::ErrorKind::Unsupported,
        _ => error.kind(),
    }
}

/// The error that misaligned direct I/O gives, among other things.
pub(crate) fn is_invalid_argument(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EINVAL)
}

pub(crate) fn lock_volume(file: &File) -> Result<(), Error> {
    Err(no_volume_lock("FSCTL_LOCK_VOLUME", file))
}

pub(crate) fn unlock_volume(file: &File) -> Result<(), Error> {
    Err(no_volume_lock("FSCTL_UNLOCK_VOLUME", file))
}

fn no_volume_lock(operation: &'static str, file: &File) -> Error {
    Error::unsupported(
        operation,
        crate::Subject::of(file),
        "only Windows locks volumes; here, open the device with OpenOptions::exclusive",
    )
}
