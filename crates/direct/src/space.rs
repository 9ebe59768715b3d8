//! The length of a file, and the space that it takes on its device.

use std::fs::File;

use crate::as_file::{AsFile, lend};
use crate::{Error, os};

/// The length of a file in bytes; a device has none that changes.
pub(crate) fn length(file: &File) -> Result<Option<u64>, Error> {
    match file.metadata() {
        Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
        // Windows has no metadata of a disk or a volume.
        Err(_) if os::geometry(file).is_ok() => Ok(None),
        Err(error) => Err(Error::on_file("fstat", file, error)),
    }
}

/// Sets the length of a file in bytes: cuts it, or has zeros read behind its end,
/// which take no space.
///
/// It need not be a multiple of anything, also when the file is open for direct
/// I/O. The new length is durable after [`sync_data`](crate::sync_data).
///
/// # Errors
/// What the system reported, as for a file that is not open for writing.
pub fn set_len(file: &impl AsFile, length: u64) -> Result<(), Error> {
    let file = &*lend(file);
    file.set_len(length)
        .map_err(|error| Error::on_file("ftruncate", file, error))
}

/// Reserves space for `length` bytes from byte `offset` on, so that writing there
/// does not fail for lack of it; the file is as long as that afterwards at least,
/// and zeros are read where nothing was written.
///
/// A write into reserved space is cheaper to make durable: the length does not
/// change any more. The first one into each part still changes metadata (ext4 and
/// XFS mark it as written), which only writing zeros beforehand avoids.
///
/// Linux `fallocate`, FreeBSD `posix_fallocate`, macOS `F_PREALLOCATE`, Windows
/// `FileAllocationInfo`; on macOS and Windows the space is reserved from the end
/// of the file on, up to `offset + length`.
///
/// # Errors
/// [`Error::Unsupported`] where the system or the filesystem has no such call: no
/// zeros are written in its place. No space; what else the system reported.
pub fn preallocate(file: &impl AsFile, offset: u64, length: u64) -> Result<(), Error> {
    os::preallocate(&lend(file), offset, length)
}

/// Gives back the space of `length` bytes from byte `offset` on, which are read as
/// zeros then; the file keeps its length. On a block device the blocks are
/// discarded or written with zeros.
///
/// Linux `fallocate(FALLOC_FL_PUNCH_HOLE)`, macOS `F_PUNCHHOLE`, Windows
/// `FSCTL_SET_ZERO_DATA` in a file that is made sparse. Of blocks that are only
/// partly in the range this part is zeroed; macOS takes whole blocks of the
/// filesystem only.
///
/// # Errors
/// [`Error::Unsupported`] where the system or the filesystem has no such call;
/// what else the system reported.
pub fn punch_hole(file: &impl AsFile, offset: u64, length: u64) -> Result<(), Error> {
    os::punch_hole(&lend(file), offset, length)
}
