//! Reads and writes on an open file.

use std::fs::File;
use std::io::ErrorKind;

use directio::{Durability, Error};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::fault::{Failure, failure};
use crate::memory::Kept;
use crate::outcome::{Promised, promise};
use crate::parts::{slices, slices_mut};
use crate::stop::Watch;
use crate::system::borrow;
use crate::whole::{read_whole, write_whole};

/// How much one system call moves where the work may be stopped in between, in
/// bytes: some milliseconds of a slow disk, and enough to be as fast as in one.
const PIECE: usize = 1 << 20;

/// How many buffers one system call takes at most: `IOV_MAX` of the systems.
const BUFFERS_MAX: usize = 1024;

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

/// Buffers, and the place in the file where the first of them begins.
pub(crate) struct Job {
    pub(crate) parts: Vec<Kept>,
    pub(crate) position: u64,
    /// What direct I/O asks of address, length and offset alike, in bytes.
    pub(crate) step: usize,
    pub(crate) watch: Watch,
}

impl Job {
    fn length(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// How much one call may move, in bytes.
    fn most(&self) -> usize {
        if self.watch.is_kept() {
            PIECE.max(self.step)
        } else {
            usize::MAX
        }
    }
}

/// Reads until the buffers are full or the file ends; the bytes read.
pub(crate) fn read(file: &File, job: &mut Job) -> Result<usize, Failure> {
    let (length, step, most) = (job.length(), job.step, job.most());
    let watch = job.watch.clone();
    read_whole(length, step, Halt::interrupted, |start| {
        watch.go_on()?;
        let at = job.position + start as u64;
        Ok(read_once(file, &mut job.parts, start, most, at)?)
    })
    .map_err(Failure::from)
}

fn read_once(
    file: &File,
    parts: &mut [Kept],
    start: usize,
    most: usize,
    at: u64,
) -> Result<usize, Error> {
    let mut slices = slices_mut(parts, start, most, BUFFERS_MAX);
    if let [only] = slices.as_mut_slice() {
        return directio::read_at(file, only, at);
    }
    directio::readv_at(file, &mut slices, at)
}

/// Writes all of the buffers, or fails and says how much was written.
///
/// All that is written is as durable as `durability` says when this returns, and
/// so is what a failure says was written.
pub(crate) fn write(file: &File, job: &Job, durability: Durability) -> Result<(), Failure> {
    let (length, most) = (job.length(), job.most());
    write_whole(length, job.step, Halt::interrupted, |start| {
        job.watch.go_on()?;
        let at = job.position + start as u64;
        Ok(write_once(file, &job.parts, start, most, at, durability)?)
    })
    .map_err(|stopped| {
        let mut failure = stopped.why.map_or_else(
            || {
                let at = job.position + stopped.done as u64;
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

fn write_once(
    file: &File,
    parts: &[Kept],
    start: usize,
    most: usize,
    at: u64,
    durability: Durability,
) -> Result<usize, Error> {
    let slices = slices(parts, start, most, BUFFERS_MAX);
    if let [only] = slices.as_slice() {
        return directio::write_at_durable(file, only, at, durability);
    }
    let written = directio::writev_at(file, &slices, at)?;
    match durability {
        Durability::None => {}
        Durability::Data => directio::sync_data(file)?,
        Durability::Full => directio::sync_all(file)?,
    }
    Ok(written)
}

/// Why a transfer does not go on.
enum Halt {
    Stopped(Failure),
    Failed(Error),
}

impl Halt {
    /// Whether to do nothing but to try again.
    fn interrupted(&self) -> bool {
        matches!(self, Self::Failed(error) if error.kind() == ErrorKind::Interrupted)
    }
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Stopped(failure)
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Stopped(failure) => failure,
            Halt::Failed(error) => error.into(),
        }
    }
}
