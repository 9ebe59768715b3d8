//! Where a file's bytes lie, as its filesystem tells: data, holes, space that
//! is only set aside, and what is compressed, inline or shared.
//!
//! Reading a hole or an unwritten extent touches no device: the kernel fills
//! the page with zeros. A read benchmark over such a file measures memory.

#[cfg(target_os = "linux")]
mod fiemap;
#[cfg(unix)]
mod seek_hole;

use crate::error::Error;
use std::fs::File;

/// How it was found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtentsMethod {
    /// The `FIEMAP` ioctl, which tells all that is here.
    Fiemap,
    /// `lseek(SEEK_HOLE)`, which only tells data from holes. Most filesystems
    /// count unwritten extents as holes there; one that knows nothing of holes
    /// says that all is data.
    SeekHole,
}

/// How a file is laid out, bytes within its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extents {
    /// Size of the file.
    pub size_bytes: u64,
    /// How it was found out.
    pub method: ExtentsMethod,
    /// Number of extents or, by `SEEK_HOLE`, of stretches of data.
    pub count: u64,
    /// Holes: nothing is set aside for them.
    pub hole_bytes: u64,
    /// Set aside (`fallocate`) but never written. Part of `hole_bytes` and
    /// `None` here when only `SEEK_HOLE` answered.
    pub unwritten_bytes: Option<u64>,
    /// Written, but not yet given a place: still in the page cache only.
    pub delayed_bytes: Option<u64>,
    /// Stored compressed or encrypted: what a read fetches has another length.
    pub encoded_bytes: Option<u64>,
    /// Stored among the metadata, or packed with other files' ends.
    pub inline_bytes: Option<u64>,
    /// Shared with other files or snapshots: writing them copies first.
    pub shared_bytes: Option<u64>,
}

impl Extents {
    /// Bytes that a read gets without any device: holes, and unwritten ones.
    pub fn zero_bytes(&self) -> u64 {
        self.hole_bytes
            .saturating_add(self.unwritten_bytes.unwrap_or(0))
            .min(self.size_bytes)
    }
}

/// How `file` is laid out, by `FIEMAP` where the filesystem has it, else by
/// `SEEK_HOLE`.
///
/// Nothing is written back for it: bytes that have no place yet are counted as
/// [`Extents::delayed_bytes`]. Memory used is constant.
///
/// # Errors
/// When neither answers, as for a block device, which has no extents.
#[cfg(target_os = "linux")]
pub fn extents(file: &File) -> Result<Extents, Error> {
    let size = regular_size(file)?;
    match fiemap::extents(file, size)? {
        Some(extents) => Ok(extents),
        None => seek_hole::extents(file, size),
    }
}

/// How `file` is laid out, by `SEEK_HOLE`.
///
/// # Errors
/// When the system does not answer.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn extents(file: &File) -> Result<Extents, Error> {
    let size = regular_size(file)?;
    seek_hole::extents(file, size)
}

/// How `file` is laid out: not on this operating system yet.
///
/// # Errors
/// Always [`Error::NotHere`].
#[cfg(not(unix))]
pub fn extents(_file: &File) -> Result<Extents, Error> {
    Err(Error::NotHere {
        doing: "asking how a file is laid out",
        why: "diskfacts has no code for it yet",
    })
}

#[cfg(unix)]
fn regular_size(file: &File) -> Result<u64, Error> {
    let metadata = file
        .metadata()
        .map_err(|error| Error::on_file("looking at", "the file may be gone", error))?;
    if metadata.is_file() {
        Ok(metadata.len())
    } else {
        Err(Error::NotAllowed {
            doing: "asking how the bytes are laid out of",
            on: "the open file".to_owned(),
            why: format!(
                "it is {}; only regular files have extents",
                crate::stack::words_for(metadata.file_type())
            ),
        })
    }
}
