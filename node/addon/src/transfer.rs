//! Reads and writes on an open file.

use std::fs::File;
use std::io::ErrorKind;

use directio::{Durability, Error};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::fault::{Failure, failure};
use crate::memory::Kept;
use crate::outcome::{Promised, promise};
use crate::system::borrow;
use crate::whole::{read_whole, write_whole};

/// What a write promises when it returns.
#[napi(string_enum = "lowercase")]
#[derive(Clone, Copy)]
pub enum Level {
    /// The system has the data.
    None,
    /// The device has the data and what is needed to read them back.
    Data,
    /// The device has the data and all metadata.
    Full,
}

impl From<Level> for Durability {
    fn from(level: Level) -> Self {
        match level {
            Level::None => Self::None,
            Level::Data => Self::Data,
            Level::Full => Self::Full,
        }
    }
}

/// One write at a position that is durable by itself; the bytes written, which
/// may be fewer than asked.
#[napi]
pub fn write_durable(
    descriptor: i32,
    buffer: Uint8Array,
    position: f64,
    level: Level,
) -> Promised<f64> {
    let bytes = Kept::new(buffer);
    let durability = level.into();
    promise(move || {
        let file = borrow(descriptor)?;
        let written = directio::write_at_durable(&file, &bytes, position as u64, durability)?;
        Ok(written as f64)
    })
}

/// Reads until the buffer is full or the file ends; the bytes read.
pub(crate) fn read(
    file: &File,
    buffer: &mut [u8],
    position: u64,
    step: usize,
) -> Result<usize, Error> {
    read_whole(buffer.len(), step, interrupted, |start| {
        directio::read_at(file, &mut buffer[start..], position + start as u64)
    })
}

/// Writes all of the buffer, or fails and says how much was written.
///
/// Each system call is as durable as `durability` says, so all of it is.
pub(crate) fn write(
    file: &File,
    buffer: &[u8],
    position: u64,
    step: usize,
    durability: Durability,
) -> Result<(), Failure> {
    write_whole(buffer.len(), step, interrupted, |start| {
        directio::write_at_durable(file, &buffer[start..], position + start as u64, durability)
    })
    .map_err(|stopped| {
        let mut failure = stopped.why.map_or_else(
            || {
                let at = position + stopped.done as u64;
                failure(
                    "EIO",
                    format!("write at offset {at}: the system wrote nothing and reported nothing"),
                )
            },
            Failure::from,
        );
        failure.bytes_written = Some(stopped.done as f64);
        failure
    })
}

fn interrupted(error: &Error) -> bool {
    error.kind() == ErrorKind::Interrupted
}
