//! Unix systems that nobody has looked into yet: illumos, `NetBSD`, Android and
//! others. Files are opened, read, written and synced as the standard library
//! does it, and buffers and pools are what they are elsewhere. Whatever would
//! need to be known of the system is [`Error::Unsupported`], and says so.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::Mapping;
pub(crate) use super::unix::hint::{hint, transfer_hint};
pub(crate) use super::unix::memory::{map, unmap};
pub(crate) use super::unix::{
    is_invalid_argument, kind_of, lock_volume, read_at, sync_all, sync_name, unlock_volume,
    write_at,
};
use crate::error::Subject;
use crate::{
    DeviceUnder, Direct, DirectAlignment, Durability, Error, Exclusivity, Geometry, Granted,
    Holder, LockKind, OpenOptions, Opened, Patience,
};

const UNKNOWN: &str = "directio does not know this system; it knows Linux, macOS, FreeBSD and \
     Windows";

fn unsupported(operation: &'static str, subject: Subject) -> Error {
    Error::unsupported(operation, subject, UNKNOWN)
}

fn of_file(operation: &'static str, file: &File) -> Error {
    unsupported(operation, Subject::of(file))
}

fn of_path(operation: &'static str, path: &Path) -> Error {
    unsupported(operation, Subject::Path(path.to_owned()))
}

pub(crate) fn open(options: &OpenOptions, path: &Path) -> Result<Opened, Error> {
    if options.direct == Direct::Required {
        return Err(of_path("direct I/O", path));
    }
    if options.durability != Durability::None {
        return Err(of_path("opening for durable writes", path));
    }
    if options.exclusive {
        return Err(of_path("an exclusive open", path));
    }
    let file = options
        .standard()
        .custom_flags(options.custom_flags)
        .open(path)
        .map_err(|error| Error::on_path(options.describe(&[]), path, error))?;
    Ok(Opened {
        file,
        granted: Granted {
            direct: false,
            direct_refused: (options.direct != Direct::No).then(|| UNKNOWN.to_owned()),
            direct_caveat: None,
            durability: Durability::None,
            exclusive: Exclusivity::None,
            write: options.write,
            write_refused: None,
        },
    })
}

pub(crate) fn sync_data(file: &File) -> Result<(), Error> {
    sync_all(file)
}

/// Whether the drive empties its cache is not known.
pub(crate) fn sync_to_medium(file: &File) -> Result<(), Error> {
    Err(of_file("a flush of the drive's cache", file))
}

pub(crate) fn preallocate(file: &File, _offset: u64, _length: u64) -> Result<(), Error> {
    Err(of_file("preallocate", file))
}

pub(crate) fn punch_hole(file: &File, _offset: u64, _length: u64) -> Result<(), Error> {
    Err(of_file("punch_hole", file))
}

/// Not known; so the write is followed by a sync.
pub(crate) fn write_at_durable(
    _file: &File,
    _buffer: &[u8],
    _offset: u64,
    _durability: Durability,
) -> Option<io::Result<usize>> {
    None
}

pub(crate) fn name_of(file: &File) -> (i64, Option<PathBuf>) {
    (i64::from(file.as_raw_fd()), None)
}

pub(crate) fn geometry(file: &File) -> Result<Geometry, Error> {
    Err(of_file("geometry", file))
}

pub(crate) fn geometry_under(path: &Path) -> Result<DeviceUnder, Error> {
    Err(of_path("geometry_under", path))
}

pub(crate) fn direct_alignment(file: &File) -> Result<DirectAlignment, Error> {
    Err(of_file("direct I/O", file))
}

pub(crate) fn holders(path: &Path) -> Result<Vec<Holder>, Error> {
    Err(of_path("looking for holders", path))
}

pub(crate) fn lock_file(file: &File, _kind: LockKind, _patience: Patience) -> Result<(), Error> {
    Err(of_file("a file lock", file))
}

pub(crate) fn unlock_file(file: &File) -> Result<(), Error> {
    Err(of_file("a file lock", file))
}

pub(crate) fn map_huge(_length: usize, _alignment: usize) -> Result<Mapping, String> {
    Err(UNKNOWN.to_owned())
}

pub(crate) fn advise_huge(_mapping: &Mapping) -> Result<(), String> {
    Err(UNKNOWN.to_owned())
}

pub(crate) fn resident_huge_bytes(_mapping: &Mapping) -> Option<u64> {
    None
}
