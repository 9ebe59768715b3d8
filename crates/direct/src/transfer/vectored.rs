//! Many buffers in one transfer.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::ops::Deref;

use super::{CALL_MAX, Transfer, reason_of, within_range};
use crate::as_file::{AsFile, lend};
use crate::error::Subject;
use crate::{Error, explain_misalignment, os};

/// Reads from byte `offset` of the file into one buffer after the other, in one
/// system call (`preadv`).
///
/// Returns the bytes read, as [`read_at`](crate::read_at). With direct I/O each
/// buffer must be aligned, and its length; a system takes at most 1024 buffers
/// (`IOV_MAX`). Windows and systems that are not known here have no such call for
/// files as the standard library opens them: there the first buffer alone is
/// filled, a short transfer.
///
/// # Errors
/// As [`read_at`](crate::read_at).
pub fn readv_at(
    file: &impl AsFile,
    buffers: &mut [IoSliceMut<'_>],
    offset: u64,
) -> Result<usize, Error> {
    let file = &*lend(file);
    let result = within_range(offset).and_then(|()| {
        if let Some(first) = larger_than_a_call(buffers) {
            return os::read_at(file, &mut buffers[first][..CALL_MAX], offset);
        }
        let count = in_one_call(buffers);
        os::readv_at(file, &mut buffers[..count], offset)
    });
    result.map_err(|error| explain(file, Transfer::Read, &parts(buffers), offset, error))
}

/// The first buffer that has bytes, if a part of it fills a call.
fn larger_than_a_call(buffers: &[impl Deref<Target = [u8]>]) -> Option<usize> {
    let first = buffers.iter().position(|part| !part.is_empty())?;
    (buffers[first].len() > CALL_MAX).then_some(first)
}

/// How many of the buffers, from the first on, are together no longer than
/// [`CALL_MAX`].
fn in_one_call(buffers: &[impl Deref<Target = [u8]>]) -> usize {
    let ends = buffers.iter().scan(0_usize, |end, part| {
        *end = end.saturating_add(part.len());
        Some(*end)
    });
    ends.take_while(|&end| end <= CALL_MAX).count()
}

/// Where each buffer lies and how long it is.
fn parts(buffers: &[impl Deref<Target = [u8]>]) -> Vec<(usize, usize)> {
    let places = buffers
        .iter()
        .map(|part| (part.as_ptr().addr(), part.len()));
    places.collect()
}

/// Writes one buffer after the other at byte `offset` of the file, in one system
/// call (`pwritev`).
///
/// Returns the bytes written, as [`write_at`](crate::write_at); otherwise as
/// [`readv_at`].
///
/// # Errors
/// As [`write_at`](crate::write_at).
pub fn writev_at(file: &impl AsFile, buffers: &[IoSlice<'_>], offset: u64) -> Result<usize, Error> {
    let file = &*lend(file);
    let result = within_range(offset).and_then(|()| {
        if let Some(first) = larger_than_a_call(buffers) {
            return os::write_at(file, &buffers[first][..CALL_MAX], offset);
        }
        os::writev_at(file, &buffers[..in_one_call(buffers)], offset)
    });
    result.map_err(|error| explain(file, Transfer::Write, &parts(buffers), offset, error))
}

/// Which of the buffers, each an address and a length, was wrong.
fn explain(
    file: &File,
    transfer: Transfer,
    buffers: &[(usize, usize)],
    offset: u64,
    source: io::Error,
) -> Error {
    let length = buffers.iter().map(|(_, length)| length).sum();
    let hint = reason_of(file, transfer, offset, &source, |rule| {
        // The offset of each follows from the lengths before it.
        buffers
            .iter()
            .enumerate()
            .find_map(|(index, &(address, length))| {
                let why = explain_misalignment(address, length, offset, rule)?;
                Some(format!("buffer {} of {}: {why}", index + 1, buffers.len()))
            })
    });
    let operation = format!(
        "{} in {} buffers",
        transfer.of(length, offset),
        buffers.len()
    );
    Error::os(operation, Subject::of(file), source, hint)
}
