//! Single reads and writes at an offset, whose errors are explained.
//!
//! The kernel answers a misaligned direct transfer with a bare `EINVAL`
//! ("Invalid argument"). Here the error says which argument, and what would be
//! right.

use std::fs::File;
use std::io;

use crate::alignment::explain_misalignment;
use crate::as_file::{AsFile, lend};
use crate::error::Subject;
use crate::{Durability, Error, os};

/// Which way the bytes of a transfer go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// From the file into memory.
    Read,
    /// From memory into the file.
    Write,
}

/// Reads into `buffer` from byte `offset` of the file, in one system call.
///
/// Returns the bytes read: fewer than asked near the end of the file, 0 at or
/// after it. On Windows the file's cursor moves.
///
/// # Errors
/// What the system reported; [`transfer_error`] says how it is explained. An
/// offset above `i64::MAX` is invalid input on every system.
pub fn read_at(file: &impl AsFile, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
    let file = &*lend(file);
    let (address, length) = (buffer.as_ptr().addr(), buffer.len());
    within_range(offset)
        .and_then(|()| os::read_at(file, buffer, offset))
        .map_err(|error| explain(file, Transfer::Read, address, length, offset, error))
}

/// Writes `buffer` at byte `offset` of the file, in one system call.
///
/// Returns the bytes written, which may be fewer than asked. On Windows the
/// file's cursor moves.
///
/// # Errors
/// As [`read_at`].
pub fn write_at(file: &impl AsFile, buffer: &[u8], offset: u64) -> Result<usize, Error> {
    let file = &*lend(file);
    within_range(offset)
        .and_then(|()| os::write_at(file, buffer, offset))
        .map_err(|error| write_error(file, buffer, offset, error))
}

/// Refuses an offset that no file has, before a system takes it for something
/// else: the offset -1 is the file's cursor to `pwritev2` of Linux, and the end
/// of the file to `WriteFile` of Windows.
fn within_range(offset: u64) -> io::Result<()> {
    match i64::try_from(offset) {
        Ok(_) => Ok(()),
        Err(_) => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Writes `buffer` at byte `offset` of the file, and returns when these bytes
/// are as durable as `durability` says: the promise of `O_DSYNC` or `O_SYNC`
/// for one write alone.
///
/// Linux does this in one call (`pwritev2` with `RWF_DSYNC` or `RWF_SYNC`,
/// since 4.7), and a device with FUA then writes through its cache without
/// flushing the rest of it. Elsewhere, and on kernels and filesystems without
/// it, the write is followed by [`sync_data`](crate::sync_data) or
/// [`sync_all`](crate::sync_all), which promises as much, and costs more.
///
/// Returns the bytes written, which may be fewer than asked; those are durable.
///
/// # Errors
/// As [`read_at`], and as [`sync_data`](crate::sync_data).
pub fn write_at_durable(
    file: &impl AsFile,
    buffer: &[u8],
    offset: u64,
    durability: Durability,
) -> Result<usize, Error> {
    let file = &*lend(file);
    if durability == Durability::None {
        return write_at(file, buffer, offset);
    }
    within_range(offset).map_err(|error| write_error(file, buffer, offset, error))?;
    match os::write_at_durable(file, buffer, offset, durability) {
        Some(Ok(written)) => Ok(written),
        Some(Err(error)) => Err(write_error(file, buffer, offset, error)),
        None => {
            let written = write_at(file, buffer, offset)?;
            match durability {
                Durability::None => {}
                Durability::Data => os::sync_data(file)?,
                Durability::Full => os::sync_all(file)?,
            }
            Ok(written)
        }
    }
}

/// Explains the error of a transfer that another part of a program made, with
/// `io_uring` for example.
///
/// `address` and `length` are those of the memory in bytes, `offset` is the
/// byte in the file. If `source` is the error that misaligned direct I/O gives
/// (`EINVAL`; `ERROR_INVALID_PARAMETER` on Windows), the hint says which of
/// the three was wrong and what would be right.
pub fn transfer_error(
    file: &impl AsFile,
    transfer: Transfer,
    address: usize,
    length: usize,
    offset: u64,
    source: io::Error,
) -> Error {
    explain(&lend(file), transfer, address, length, offset, source)
}

/// As [`transfer_error`].
fn explain(
    file: &File,
    transfer: Transfer,
    address: usize,
    length: usize,
    offset: u64,
    source: io::Error,
) -> Error {
    let invalid = source.kind() == io::ErrorKind::InvalidInput;
    let hint = if invalid || os::is_invalid_argument(&source) {
        explain_invalid(file, address, length, offset)
    } else {
        os::transfer_hint(file, transfer, &source)
    };
    let operation = format!(
        "{} of {length} bytes at offset {offset}",
        match transfer {
            Transfer::Read => "read",
            Transfer::Write => "write",
        }
    );
    Error::os(operation, Subject::of(file), source, hint)
}

fn write_error(file: &File, buffer: &[u8], offset: u64, error: io::Error) -> Error {
    let (address, length) = (buffer.as_ptr().addr(), buffer.len());
    explain(file, Transfer::Write, address, length, offset, error)
}

/// What was invalid about a transfer: the offset's range or, with direct I/O,
/// an alignment.
fn explain_invalid(file: &File, address: usize, length: usize, offset: u64) -> Option<String> {
    if i64::try_from(offset).is_err() {
        return Some(format!(
            "offset {offset} is beyond what a file offset can hold ({})",
            i64::MAX
        ));
    }
    // Asked only after the failure, so that transfers pay nothing for it. If
    // even the question fails there is no hint, and the error itself stands.
    let rule = os::direct_alignment(file).ok()?;
    explain_misalignment(address, length, offset, &rule)
}
