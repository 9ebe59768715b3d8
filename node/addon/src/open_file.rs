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
use crate::stop::{Stop, Watch};
use crate::system::{INVALID_ARGUMENT, descriptor};
use crate::transfer::{self, Job, Level};

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

    /// Reads until the buffers are full or the file ends; the bytes read.
    #[napi]
    pub fn read(
        &self,
        buffers: Vec<Uint8Array>,
        position: f64,
        stop: Option<&Stop>,
    ) -> Promised<f64> {
        let (file, rule) = (self.file.clone(), self.rule.clone());
        let mut job = job(buffers, position, stop);
        promise(move || {
            let file = still_open(file.as_ref())?;
            job.step = step_for(file, rule.as_ref(), Transfer::Read, &job)?;
            Ok(transfer::read(file, &mut job)? as f64)
        })
    }

    /// Writes all of the buffers.
    #[napi]
    pub fn write(
        &self,
        buffers: Vec<Uint8Array>,
        position: f64,
        level: Level,
        stop: Option<&Stop>,
    ) -> Promised<()> {
        let (file, rule) = (self.file.clone(), self.rule.clone());
        let mut job = job(buffers, position, stop);
        let durability = level.into();
        promise(move || {
            let file = still_open(file.as_ref())?;
            job.step = step_for(file, rule.as_ref(), Transfer::Write, &job)?;
            transfer::write(file, &job, durability)
        })
    }

    /// Makes the file so many bytes long: cut, or longer by zeros.
    #[napi]
    pub fn truncate(&self, length: f64, stop: Option<&Stop>) -> Promised<()> {
        let file = self.file.clone();
        let watch = Watch::new(stop);
        promise(move || {
            let file = still_open(file.as_ref())?;
            watch.go_on()?;
            Ok(directio::set_len(file, length as u64)?)
        })
    }

    /// The number of its descriptor, which is there until it is closed; `None` on
    /// Windows, and when it is closed.
    #[napi(getter)]
    pub fn descriptor(&self) -> Option<i32> {
        descriptor(self.file.as_ref()?)
    }

    /// Brings down what was written.
    #[napi]
    pub fn sync(&self, depth: Depth, stop: Option<&Stop>) -> Promised<()> {
        let file = self.file.clone();
        let watch = Watch::new(stop);
        promise(move || {
            let file = still_open(file.as_ref())?;
            watch.go_on()?;
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

fn job(buffers: Vec<Uint8Array>, position: f64, stop: Option<&Stop>) -> Job {
    Job {
        parts: buffers.into_iter().map(Kept::new).collect(),
        position: position as u64,
        step: 1,
        watch: Watch::new(stop),
    }
}

/// What a transfer may be cut at, or why it cannot be made.
///
/// The rule is held here and not left to the system, which may let a misaligned
/// transfer pass today, or serve it through the cache, and refuse it tomorrow.
fn step_for(
    file: &File,
    rule: Option<&DirectAlignment>,
    transfer: Transfer,
    job: &Job,
) -> Result<usize, Error> {
    let Some(rule) = rule else { return Ok(1) };
    let mut position = job.position;
    for part in &job.parts {
        let (address, length) = (part.as_ptr().addr(), part.len());
        if explain_misalignment(address, length, position, rule).is_some() {
            let refused = io::Error::from_raw_os_error(INVALID_ARGUMENT);
            return Err(transfer_error(
                file, transfer, address, length, position, refused,
            ));
        }
        position += length as u64;
    }
    Ok(rule.step() as usize)
}
