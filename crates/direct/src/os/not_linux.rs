//! What Linux alone has, as the other systems answer for it.

use std::fs::File;
use std::io;

use super::Mapping;
use crate::error::Subject;
use crate::{AtomicWriteLimits, Error, TransferFlags};

pub(crate) fn keep_from_children(_mapping: &Mapping) -> Result<(), Error> {
    Err(Error::unsupported(
        "madvise(MADV_DONTFORK)",
        Subject::System,
        "only Linux warns of a fork during direct I/O (open(2)), and has this advice",
    ))
}

pub(crate) fn atomic_write_limits(file: &File) -> Result<AtomicWriteLimits, Error> {
    Err(Error::unsupported(
        "an atomic write",
        Subject::of(file),
        "only Linux tells what a device writes atomically",
    ))
}

/// Called for the flags only.
pub(crate) fn read_at_with(
    _file: &File,
    _buffer: &mut [u8],
    _offset: u64,
    _flags: TransferFlags,
) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// As [`read_at_with`].
pub(crate) fn write_at_with(
    _file: &File,
    _buffer: &[u8],
    _offset: u64,
    _flags: TransferFlags,
) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
