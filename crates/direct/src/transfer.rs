//! Single reads and writes at an offset, whose errors are explained.
//!
//! The kernel answers a misaligned direct transfer with a bare `EINVAL`
//! ("Invalid argument"). Here the error says which argument, and what would be
//! right.

mod flags;
mod vectored;
mod whole;

use std::fs::File;
use std::io;

use crate::alignment::explain_misalignment;
use crate::as_file::{AsFile, lend};
use crate::error::Subject;
use crate::{DirectAlignment, Durability, Error, os};

pub use flags::{TransferFlags, read_at_with, write_at_with};
pub use vectored::{readv_at, writev_at};
pub(crate) use whole::{all_was_read, read_full, write_all};
pub use whole::{read_exact_at, read_full_at, write_all_at, write_all_at_durable};

/// Which way the bytes of a transfer go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// From the file into memory.
    Read,
    /// From memory into the file.
    Write,
}

impl Transfer {
    /// How it is called in messages.
    pub(crate) fn of(self, length: usize, offset: u64) -> String {
        let name = match self {
            Self::Read => "read",
            Self::Write => "write",
        };
        format!("{name} of {length} bytes at offset {offset}")
    }
}

/// The most that one system call is asked to move, in bytes: 1 GiB.
///
/// Each system cuts a longer transfer, and none of them where a block ends: Linux at
/// 2 GiB less a page (`MAX_RW_COUNT`), macOS at 2 GiB less 2 bytes, and the standard
/// library asks Windows for at most 4 GiB less 1 byte. What is left is refused then,
/// by a device whose blocks are larger than a page, on Windows by every one: `EINVAL`
/// for a transfer that was aligned.
const CALL_MAX: usize = 1 << 30;

/// Reads into `buffer` from byte `offset` of the file, in one system call.
///
/// Returns the bytes read: fewer than asked near the end of the file, 0 at or
/// after it, and never more than 1 GiB; [`read_full_at`] goes on. On Windows the
/// file's cursor moves.
///
/// # Errors
/// What the system reported; [`transfer_error`] says how it is explained. An
/// offset above `i64::MAX` is invalid input on every system.
pub fn read_at(file: &impl AsFile, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
    read_one(&lend(file), buffer, offset)
}

/// Writes `buffer` at byte `offset` of the file, in one system call.
///
/// Returns the bytes written, which may be fewer than asked, and are never more than
/// 1 GiB: [`write_all_at`] goes on. On Windows the file's cursor moves.
///
/// # Errors
/// As [`read_at`].
pub fn write_at(file: &impl AsFile, buffer: &[u8], offset: u64) -> Result<usize, Error> {
    write_one(&lend(file), buffer, offset, Durability::None)
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
    write_one(&lend(file), buffer, offset, durability)
}

/// As [`read_at`].
fn read_one(file: &File, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
    let (address, length) = (buffer.as_ptr().addr(), buffer.len());
    let part = &mut buffer[..length.min(CALL_MAX)];
    within_range(offset)
        .and_then(|()| os::read_at(file, part, offset))
        .map_err(|error| explain(file, Transfer::Read, address, length, offset, error))
}

/// As [`write_at_durable`].
fn write_one(
    file: &File,
    buffer: &[u8],
    offset: u64,
    durability: Durability,
) -> Result<usize, Error> {
    let explained = |error| {
        let (address, length) = (buffer.as_ptr().addr(), buffer.len());
        explain(file, Transfer::Write, address, length, offset, error)
    };
    within_range(offset).map_err(explained)?;
    let part = &buffer[..buffer.len().min(CALL_MAX)];
    if durability != Durability::None {
        if let Some(result) = os::write_at_durable(file, part, offset, durability) {
            return result.map_err(explained);
        }
    }
    let written = os::write_at(file, part, offset).map_err(explained)?;
    sync(file, durability)?;
    Ok(written)
}

/// Waits until what was written is as durable as `durability` says.
pub(crate) fn sync(file: &File, durability: Durability) -> Result<(), Error> {
    match durability {
        Durability::None => Ok(()),
        Durability::Data => os::sync_data(file),
        Durability::Full => os::sync_all(file),
    }
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
    let hint = reason_of(file, transfer, offset, &source, |rule| {
        explain_misalignment(address, length, offset, rule)
    });
    Error::os(transfer.of(length, offset), Subject::of(file), source, hint)
}

/// Why a transfer failed: its offset, what `misaligned` finds by the file's rule
/// where the system took an argument for invalid, or what the error's number means.
fn reason_of(
    file: &File,
    transfer: Transfer,
    offset: u64,
    source: &io::Error,
    misaligned: impl FnOnce(&DirectAlignment) -> Option<String>,
) -> Option<String> {
    if source.kind() != io::ErrorKind::InvalidInput && !os::is_invalid_argument(source) {
        return os::transfer_hint(file, transfer, source);
    }
    if i64::try_from(offset).is_err() {
        return Some(format!(
            "offset {offset} is beyond what a file offset can hold ({})",
            i64::MAX
        ));
    }
    // Asked only after the failure, so that transfers pay nothing for it. If
    // even the question fails there is no hint, and the error itself stands.
    misaligned(&os::direct_alignment(file).ok()?)
}
