//! What direct I/O asks of addresses, lengths and offsets.

use std::path::Path;

use directio::{AlignmentSource, DirectAlignment, OpenOptions};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::fault::Failure;
use crate::outcome::{Promised, promise};
use crate::system::{borrow, path_from_bytes};
use crate::words::for_javascript;

/// The rule of one file, in bytes.
#[napi(object, use_nullable = true)]
pub struct Alignment {
    /// What the address of the memory must be a multiple of.
    pub memory: u32,
    /// What the offset in the file must be a multiple of.
    pub offset: u32,
    /// What the length must be a multiple of.
    pub length: u32,
    /// Who says so: `kernel`, `logical-sector`, `no-rule`, `assumed`, `unknown`,
    /// or `buffered` for a file that is not open for direct I/O.
    pub source: String,
    /// Why it had to be assumed.
    pub reason: Option<String>,
}

impl Alignment {
    /// Of a file that goes through the page cache: anything will do.
    pub(crate) fn buffered() -> Self {
        Self {
            memory: 1,
            offset: 1,
            length: 1,
            source: "buffered".to_owned(),
            reason: None,
        }
    }
}

impl From<DirectAlignment> for Alignment {
    fn from(rule: DirectAlignment) -> Self {
        let (source, reason) = match rule.source() {
            AlignmentSource::Kernel => ("kernel", None),
            AlignmentSource::LogicalSector => ("logical-sector", None),
            AlignmentSource::NoRule => ("no-rule", None),
            AlignmentSource::Assumed(reason) => ("assumed", Some(for_javascript(reason))),
            // The crate may learn of more.
            _ => ("unknown", None),
        };
        Self {
            memory: rule.memory(),
            offset: rule.offset(),
            length: rule.length(),
            source: source.to_owned(),
            reason,
        }
    }
}

/// The rule of the file or device at a path.
#[napi]
pub fn alignment_of_path(path: Uint8Array) -> Promised<Alignment> {
    promise(move || of_path(&path_from_bytes(&path)?))
}

/// The rule of an open file or device.
#[napi]
pub fn alignment_of_descriptor(descriptor: i32) -> Promised<Alignment> {
    promise(move || {
        let file = borrow(descriptor)?;
        Ok(directio::direct_alignment(&file)?.into())
    })
}

fn of_path(path: &Path) -> Result<Alignment, Failure> {
    let options = OpenOptions::new().read(true);
    // A pipe without a writer would be waited for, and is no file to ask about.
    #[cfg(unix)]
    let options = options.custom_flags(libc::O_NONBLOCK);
    let opened = options.open(path)?;
    Ok(directio::direct_alignment(&opened.file)?.into())
}
