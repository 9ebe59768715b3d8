//! `lseek(SEEK_HOLE)` and `lseek(SEEK_DATA)`, for filesystems without `FIEMAP`.
//!
//! Source: lseek(2); POSIX.1-2024.

use super::{Extents, ExtentsMethod};
use crate::error::Error;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::File;

pub(super) fn extents(file: &File, size: u64) -> Result<Extents, Error> {
    let fail = |error: Errno| {
        Error::on_file(
            "asking with SEEK_HOLE for the holes of",
            "this filesystem does not tell where its files have holes",
            error,
        )
    };
    // Seeking moves the position that this open file shares with others.
    let here = seek(file, SeekFrom::Current(0)).map_err(fail)?;
    let outcome = walk(file, size);
    seek(file, SeekFrom::Start(here)).map_err(fail)?;
    let (data, count) = outcome.map_err(fail)?;
    Ok(Extents {
        size_bytes: size,
        method: ExtentsMethod::SeekHole,
        count,
        hole_bytes: size.saturating_sub(data),
        unwritten_bytes: None,
        delayed_bytes: None,
        encoded_bytes: None,
        inline_bytes: None,
        shared_bytes: None,
    })
}

/// Bytes of data, and the number of stretches they lie in.
fn walk(file: &File, size: u64) -> Result<(u64, u64), Errno> {
    let mut data = 0_u64;
    let mut count = 0;
    let mut from = 0;
    while from < size {
        let start = match seek(file, SeekFrom::Data(from)) {
            Ok(start) => start,
            // No data from here to the end.
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error),
        };
        let end = match seek(file, SeekFrom::Hole(start)) {
            Ok(end) => end,
            // The file was cut short meanwhile.
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error),
        };
        if end <= from {
            break;
        }
        data = data.saturating_add(end.min(size).saturating_sub(start.min(size)));
        count += 1;
        from = end;
    }
    Ok((data, count))
}
