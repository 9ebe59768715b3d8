//! Opening a file for the class `DirectFile`.

use std::path::Path;

use directio::{Direct, Durability, Exclusivity, Granted, OpenOptions, direct_alignment};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::fault::Failure;
use crate::open_file::OpenFile;
use crate::outcome::{Promised, promise};
use crate::system::{is_disk, path_from_bytes};
use crate::transfer::Level;
use crate::words::for_javascript;

/// Whether to bypass the page cache.
#[napi(string_enum = "lowercase")]
pub enum DirectWish {
    /// Or fail.
    Required,
    /// Or go through the cache, and say why.
    Preferred,
    /// Go through the cache.
    Off,
}

/// What is asked for.
#[napi(object)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent options, as in directio::OpenOptions"
)]
pub struct Request {
    /// Open for reading.
    pub read: bool,
    /// Open for writing.
    pub write: bool,
    /// Make the file if it is missing.
    pub create: bool,
    /// Make the file, and fail if it is there.
    pub create_new: bool,
    /// Empty the file.
    pub truncate: bool,
    /// Bypass the page cache.
    pub direct: DirectWish,
    /// What each write promises.
    pub durability: Level,
    /// Keep others out; when not said: if it is a disk to be written.
    pub exclusive: Option<bool>,
}

/// What the system granted.
#[napi(object, use_nullable = true)]
#[derive(Clone)]
pub struct Grant {
    /// I/O bypasses the page cache.
    pub direct: bool,
    /// Why it does not, though it was asked for.
    pub direct_refused: Option<String>,
    /// What bypassing does not mean here.
    pub direct_caveat: Option<String>,
    /// What each write promises: `none`, `data` or `full`.
    pub durability: String,
    /// Whom the open file keeps out: `none`, `advisory`, `claim` or
    /// `mandatory`.
    pub exclusive: String,
    /// The file can be written.
    pub write: bool,
    /// Why it cannot, though it was asked for.
    pub write_refused: Option<String>,
}

impl From<Granted> for Grant {
    fn from(granted: Granted) -> Self {
        let said = |text: Option<String>| text.as_deref().map(for_javascript);
        let durability = match granted.durability {
            Durability::None => "none",
            Durability::Data => "data",
            Durability::Full => "full",
        };
        let exclusive = match granted.exclusive {
            Exclusivity::None => "none",
            Exclusivity::Advisory => "advisory",
            Exclusivity::Claim => "claim",
            Exclusivity::Mandatory => "mandatory",
            // The crate may learn more; "none" would then be a lie.
            _ => "unknown",
        };
        Self {
            direct: granted.direct,
            direct_refused: said(granted.direct_refused),
            direct_caveat: said(granted.direct_caveat),
            durability: durability.to_owned(),
            exclusive: exclusive.to_owned(),
            write: granted.write,
            write_refused: said(granted.write_refused),
        }
    }
}

/// Opens a file or a disk.
#[napi]
pub fn open(path: Uint8Array, request: Request) -> Promised<OpenFile> {
    promise(move || open_at(&path_from_bytes(&path)?, &request))
}

fn open_at(path: &Path, request: &Request) -> Result<OpenFile, Failure> {
    let exclusive = request
        .exclusive
        .unwrap_or_else(|| request.write && is_disk(path));
    let opened = OpenOptions::new()
        .read(request.read)
        .write(request.write)
        .create(request.create)
        .create_new(request.create_new)
        .truncate(request.truncate)
        .direct(match request.direct {
            DirectWish::Required => Direct::Required,
            DirectWish::Preferred => Direct::IfPossible,
            DirectWish::Off => Direct::No,
        })
        .durability(request.durability.into())
        .exclusive(exclusive)
        .open(path)?;
    let rule = if opened.granted.direct {
        Some(direct_alignment(&opened.file)?)
    } else {
        None
    };
    Ok(OpenFile::new(opened.file, opened.granted.into(), rule))
}
