//! Whole transfers, of calls that may stop short.
//!
//! A call that ends between two steps of direct I/O cannot be continued where it
//! ended: offset and address would be misaligned. So the next one begins at the
//! step before, and moves some bytes a second time. For example 12288 bytes in
//! steps of 512, of which the first call moved 1000: the second one begins at 512.

use std::fs::File;
use std::io::ErrorKind;

use super::{Transfer, read_one, write_one};
use crate::as_file::{AsFile, lend};
use crate::error::Subject;
use crate::{Durability, Error, os};

/// Reads from byte `offset` until `buffer` is full or the file ends; the bytes
/// read. Signals do not end it.
///
/// With direct I/O the buffer, its length and the offset must be aligned, as for
/// [`read_at`](crate::read_at); the end of the file may lie anywhere.
/// [`DirectFile::read_at`](crate::DirectFile::read_at) takes any.
///
/// # Errors
/// As [`read_at`](crate::read_at); what was read before is in the buffer.
pub fn read_full_at(file: &impl AsFile, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
    read_full(&lend(file), buffer, offset)
}

/// Fills `buffer` from byte `offset` of the file; otherwise as [`read_full_at`].
///
/// # Errors
/// As [`read_at`](crate::read_at), and `UnexpectedEof` where the file ends before
/// the buffer does.
pub fn read_exact_at(file: &impl AsFile, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
    let file = &*lend(file);
    let read = read_full(file, buffer, offset)?;
    all_was_read(file, read, buffer.len(), offset)
}

/// Writes all of `buffer` at byte `offset` of the file, in as many calls as it
/// takes. Signals do not end it.
///
/// With direct I/O the buffer, its length and the offset must be aligned, as for
/// [`write_at`](crate::write_at);
/// [`DirectFile::write_all_at`](crate::DirectFile::write_all_at) takes any.
///
/// # Errors
/// As [`write_at`](crate::write_at), and `WriteZero` where the system writes
/// nothing and reports nothing. Any part may have been written then.
pub fn write_all_at(file: &impl AsFile, buffer: &[u8], offset: u64) -> Result<(), Error> {
    write_all(&lend(file), buffer, offset, Durability::None)
}

/// As [`write_all_at`], and returns when all of it is as durable as `durability`
/// says; see [`write_at_durable`](crate::write_at_durable).
///
/// # Errors
/// As [`write_all_at`], and as [`sync_data`](crate::sync_data).
pub fn write_all_at_durable(
    file: &impl AsFile,
    buffer: &[u8],
    offset: u64,
    durability: Durability,
) -> Result<(), Error> {
    write_all(&lend(file), buffer, offset, durability)
}

/// As [`read_full_at`].
pub(crate) fn read_full(file: &File, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
    let mut progress = Progress::default();
    while progress.done < buffer.len() {
        let start = progress.start(|| step_of(file));
        match read_one(file, &mut buffer[start..], offset + start as u64) {
            Ok(read) if progress.reaches(start + read) => {}
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(progress.done)
}

/// As [`write_all_at_durable`].
pub(crate) fn write_all(
    file: &File,
    buffer: &[u8],
    offset: u64,
    durability: Durability,
) -> Result<(), Error> {
    let mut progress = Progress::default();
    while progress.done < buffer.len() {
        let start = progress.start(|| step_of(file));
        match write_one(file, &buffer[start..], offset + start as u64, durability) {
            Ok(written) if progress.reaches(start + written) => {}
            Ok(_) => {
                return Err(Error::os(
                    Transfer::Write.of(buffer.len(), offset),
                    Subject::of(file),
                    ErrorKind::WriteZero,
                    Some(format!(
                        "{} bytes were written; then the system wrote nothing and reported nothing",
                        progress.done
                    )),
                ));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// An error unless `read` bytes are all that were asked for.
pub(crate) fn all_was_read(
    file: &File,
    read: usize,
    length: usize,
    offset: u64,
) -> Result<(), Error> {
    if read == length {
        return Ok(());
    }
    Err(Error::os(
        Transfer::Read.of(length, offset),
        Subject::of(file),
        ErrorKind::UnexpectedEof,
        Some(format!("the file ends at byte {}", offset + read as u64)),
    ))
}

/// What a transfer on this file may be continued at. Asked only when a call has
/// stopped short, so that a transfer in one call pays nothing for it; where it
/// cannot be told there is no direct I/O, and any byte will do.
fn step_of(file: &File) -> usize {
    os::direct_alignment(file).map_or(1, |rule| rule.step() as usize)
}

/// How far a transfer is.
#[derive(Default)]
struct Progress {
    /// The bytes that have been moved.
    done: usize,
    step: Option<usize>,
}

impl Progress {
    /// Where the next call begins.
    fn start(&mut self, step: impl FnOnce() -> usize) -> usize {
        if self.done == 0 {
            return 0;
        }
        self.done - self.done % *self.step.get_or_insert_with(step)
    }

    /// Notes that all before `end` has been moved; whether that is more than
    /// before.
    fn reaches(&mut self, end: usize) -> bool {
        let further = end > self.done;
        self.done = self.done.max(end);
        further
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn a_call_that_stops_between_two_steps_is_continued_at_the_step_before() {
        let mut progress = Progress::default();
        let step = || 512;
        assert_eq!(progress.start(|| unreachable!("nothing was moved yet")), 0);
        assert!(progress.reaches(1000));
        assert_eq!(progress.start(step), 512);
        assert!(!progress.reaches(512 + 488), "the end of the file");
        assert_eq!(progress.done, 1000);
        assert!(progress.reaches(1024));
        assert_eq!(progress.start(step), 1024);
    }

    #[test]
    fn the_step_is_asked_for_once() {
        let mut progress = Progress::default();
        assert!(progress.reaches(7));
        assert_eq!(progress.start(|| 4), 4);
        assert!(progress.reaches(9));
        assert_eq!(progress.start(|| unreachable!("it is known")), 8);
    }
}
