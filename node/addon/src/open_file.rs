//! An open file, whose descriptor JavaScript never sees.

use std::fs::File;
use std::io;
use std::sync::Arc;

use directio::{DirectAlignment, Error, Transfer, explain_misalignment, transfer_error};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::alignment::Alignment;
use crate::fault::{Failure, failure};
use crate::memory::Kept;
use crate::open::Grant;
use crate::outcome::{Promised, promise};
use crate::system::INVALID_ARGUMENT;
use crate::transfer::{self, Level};

/// A file or a disk that is open, and its rule.
///
/// Work in the pool shares the file, so it cannot be closed under it, and its
/// descriptor cannot come to mean another file.
#[napi]
pub struct OpenFile {
    file: Option<Arc<File>>,
    grant: Grant,
    /// `None` when the file goes through the page cache.
    rule: Option<DirectAlignment>,
}

/// How deep a sync goes.
#[napi(string_enum = "lowercase")]
pub enum Depth {
    /// The device has the data.
    Data,
    /// The device has the data and all metadata.
    All,
    /// The device was told to empty its cache onto the medium.
    Medium,
}

#[napi]
impl OpenFile {
    pub(crate) fn new(file: File, grant: Grant, rule: Option<DirectAlignment>) -> Self {
        Self {
            file: Some(Arc::new(file)),
            grant,
            rule,
        }
    }

    /// What the system granted.
    #[napi(getter)]
    pub fn granted(&self) -> Grant {
        self.grant.clone()
    }

    /// What direct I/O on this file asks for.
    #[napi(getter)]
    pub fn alignment(&self) -> Alignment {
        self.rule
            .clone()
            .map_or_else(Alignment::buffered, Into::into)
    }

    /// Reads until the buffer is full or the file ends; the bytes read.
    #[napi]
    pub fn read(&self, buffer: Uint8Array, position: f64) -> Promised<f64> {
        let (file, rule) = (self.file.clone(), self.rule.clone());
        let mut bytes = Kept::new(buffer);
        let position = position as u64;
        promise(move || {
            let file = still_open(file.as_ref())?;
            let step = step_for(file, rule.as_ref(), Transfer::Read, &bytes, position)?;
            Ok(transfer::read(file, &mut bytes, position, step)? as f64)
        })
    }

    /// Writes all of the buffer.
    #[napi]
    pub fn write(&self, buffer: Uint8Array, position: f64, level: Level) -> Promised<()> {
        let (file, rule) = (self.file.clone(), self.rule.clone());
        let position = position as u64;
        let bytes = Kept::new(buffer);
        let durability = level.into();
        promise(move || {
            let file = still_open(file.as_ref())?;
            let step = step_for(file, rule.as_ref(), Transfer::Write, &bytes, position)?;
            transfer::write(file, &bytes, position, step, durability)
        })
    }

    /// Brings down what was written.
    #[napi]
    pub fn sync(&self, depth: Depth) -> Promised<()> {
        let file = self.file.clone();
        promise(move || {
            let file = still_open(file.as_ref())?;
            match depth {
                Depth::Data => directio::sync_data(file)?,
                Depth::All => directio::sync_all(file)?,
                Depth::Medium => directio::sync_to_medium(file)?,
            }
            Ok(())
        })
    }

    /// The size in bytes now.
    #[napi]
    pub fn size(&self) -> Promised<f64> {
        let file = self.file.clone();
        promise(move || {
            let file = still_open(file.as_ref())?;
            // A disk's metadata knows no size, and on Windows it has none.
            let size = match file.metadata() {
                Ok(metadata) if metadata.is_file() => metadata.len(),
                _ => directio::geometry(file)?.size,
            };
            Ok(size as f64)
        })
    }

    /// Closes, when the last work on it is done.
    #[napi]
    pub fn close(&mut self) -> Promised<()> {
        let mut file = self.file.take();
        promise(move || {
            drop(file.take());
            Ok(())
        })
    }
}

fn still_open(file: Option<&Arc<File>>) -> Result<&File, Failure> {
    file.map(Arc::as_ref)
        .ok_or_else(|| failure("EBADF", "the file is closed"))
}

/// What a transfer may be cut at, or why it cannot be made.
///
/// The rule is held here and not left to the system, which may let a misaligned
/// transfer pass today, or serve it through the cache, and refuse it tomorrow.
fn step_for(
    file: &File,
    rule: Option<&DirectAlignment>,
    transfer: Transfer,
    buffer: &[u8],
    position: u64,
) -> Result<usize, Error> {
    let Some(rule) = rule else { return Ok(1) };
    let (address, length) = (buffer.as_ptr().addr(), buffer.len());
    if explain_misalignment(address, length, position, rule).is_some() {
        let refused = io::Error::from_raw_os_error(INVALID_ARGUMENT);
        return Err(transfer_error(
            file, transfer, address, length, position, refused,
        ));
    }
    Ok(rule.step() as usize)
}
