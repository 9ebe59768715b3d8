//! macOS. Man pages: open(2), fcntl(2) (`F_NOCACHE`, `F_FULLFSYNC`), fsync(2),
//! flock(2); `<sys/disk.h>`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    FallocateFlags, FileType, fallocate, fcntl_fullfsync, fcntl_nocache, fstat, getpath,
};
use rustix::ioctl::{Getter, Opcode, ioctl};

use super::Mapping;
use super::bsd::{describe, durability, is_device, kind, open_with, status_flags};
pub(crate) use super::bsd::{
    geometry_under, holders, lock_holder, resident_huge_bytes, write_at_durable,
};
pub(crate) use super::unix::hint::{hint, transfer_hint};
pub(crate) use super::unix::lock::{lock_file, unlock_file};
pub(crate) use super::unix::memory::{map, unmap};
pub(crate) use super::unix::{
    is_invalid_argument, kind_of, lock_volume, read_at, readv_at, sync_all, sync_name,
    unlock_volume, write_at, writev_at,
};
use crate::error::Subject;
use crate::ioctl::macos::{
    DKIOCGETBLOCKCOUNT, DKIOCGETBLOCKSIZE, DKIOCGETPHYSICALBLOCKSIZE, DKIOCISWRITABLE,
};
use crate::{
    AlignmentSource, Direct, DirectAlignment, Error, Exclusivity, Geometry, Granted, OpenOptions,
    Opened,
};

/// macOS has no `O_DIRECT`: caching is turned off for the open file.
pub(crate) fn open(options: &OpenOptions, path: &Path) -> Result<Opened, Error> {
    let file = open_with(options, path, 0)?;
    let mut direct_refused = None;
    if options.direct != Direct::No {
        match fcntl_nocache(&file, true) {
            Ok(()) => {}
            Err(error) if options.direct == Direct::Required => {
                if options.create_new {
                    // This very call has made it; the error below matters more.
                    let _ = std::fs::remove_file(path);
                }
                return Err(Error::on_path("fcntl(F_NOCACHE)", path, error));
            }
            Err(error) => direct_refused = Some(format!("fcntl(F_NOCACHE): {error}")),
        }
    }
    let flags = status_flags(&file, path)?;
    let device = is_device(kind(&file, path)?);
    let direct = options.direct != Direct::No && direct_refused.is_none();
    let read_only_device =
        options.write && device && get::<DKIOCISWRITABLE, u32>(&file).is_ok_and(|flag| flag == 0);
    Ok(Opened {
        granted: Granted {
            direct,
            direct_refused,
            direct_caveat: (direct && !device).then(|| {
                "F_NOCACHE cannot be read back, drops nothing that is cached already, and other \
                 open files of the same path still fill the cache"
                    .to_owned()
            }),
            durability: durability(flags),
            exclusive: match (options.exclusive, device) {
                (false, _) => Exclusivity::None,
                (true, false) => Exclusivity::Advisory,
                (true, true) => Exclusivity::Claim,
            },
            write: flags & libc::O_ACCMODE != libc::O_RDONLY && !read_only_device,
            write_refused: read_only_device
                .then(|| format!("{}: the medium cannot be written", describe(options))),
        },
        file,
    })
}

/// macOS documents no `fdatasync`.
pub(crate) fn sync_data(file: &File) -> Result<(), Error> {
    sync_all(file)
}

/// `fsync` on macOS hands the data to the drive and leaves them in its cache;
/// `F_FULLFSYNC` has the drive empty it.
pub(crate) fn sync_to_medium(file: &File) -> Result<(), Error> {
    fcntl_fullfsync(file).map_err(|error| {
        let error = io::Error::from(error);
        let hint = match error.raw_os_error() {
            Some(libc::ENOTSUP | libc::ENOTTY | libc::EINVAL) => Some(
                "this filesystem has no F_FULLFSYNC; sync_all (fsync) is the most there is, and \
                 leaves the data in the drive's cache"
                    .to_owned(),
            ),
            _ => hint(&error),
        };
        Error::os("fcntl(F_FULLFSYNC)", Subject::of(file), error, hint)
    })
}

pub(crate) fn preallocate(file: &File, offset: u64, length: u64) -> Result<(), Error> {
    let to = super::reserved_to(file, offset, length)?;
    // As long as the file will be: rustix cuts a longer one, which this is not.
    fallocate(file, FallocateFlags::empty(), 0, to)
        .map_err(|error| super::no_such_call("fcntl(F_PREALLOCATE)", file, error.into()))
}

pub(crate) fn punch_hole(file: &File, offset: u64, length: u64) -> Result<(), Error> {
    let invalid = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let hole = |bytes: u64| libc::off_t::try_from(bytes).map_err(invalid);
    let punch = || -> io::Result<()> {
        let hole = libc::fpunchhole_t {
            fp_flags: 0,
            reserved: 0,
            fp_offset: hole(offset)?,
            fp_length: hole(length)?,
        };
        // SAFETY: F_PUNCHHOLE reads one fpunchhole_t, which lives until the call
        // returns.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PUNCHHOLE, &raw const hole) };
        if result == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    };
    punch().map_err(|error| super::no_such_call("fcntl(F_PUNCHHOLE)", file, error))
}

pub(crate) fn name_of(file: &File) -> (i64, Option<PathBuf>) {
    let path = getpath(file)
        .ok()
        .map(|path| PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())));
    (i64::from(file.as_raw_fd()), path)
}

pub(crate) fn geometry(file: &File) -> Result<Geometry, Error> {
    let asked = |request: &'static str| {
        move |error: io::Error| {
            let hint = (error.raw_os_error() == Some(libc::ENOTTY)).then(|| {
                "this is not a disk device; for a file or a folder ask geometry_under".to_owned()
            });
            Error::os(request, Subject::of(file), error, hint)
        }
    };
    let logical = get::<DKIOCGETBLOCKSIZE, u32>(file).map_err(asked("ioctl DKIOCGETBLOCKSIZE"))?;
    let count = get::<DKIOCGETBLOCKCOUNT, u64>(file).map_err(asked("ioctl DKIOCGETBLOCKCOUNT"))?;
    // Only newer drivers answer; the logical sector is what is then known.
    let physical = get::<DKIOCGETPHYSICALBLOCKSIZE, u32>(file).unwrap_or(logical);
    let size = count.saturating_mul(u64::from(logical));
    Ok(Geometry {
        serial_number_absent: Some(
            "macOS tells serial numbers through IOKit only (ioreg -l), not through the open device"
                .to_owned(),
        ),
        read_only: get::<DKIOCISWRITABLE, u32>(file)
            .ok()
            .map(|writable| writable == 0),
        ..Geometry::sized(logical, physical, size)
    })
}

/// Files have no rule: a misaligned transfer goes through the cache. A disk's
/// character device wants whole sectors, at any address.
pub(crate) fn direct_alignment(file: &File) -> Result<DirectAlignment, Error> {
    let stat = fstat(file).map_err(|error| Error::on_file("fstat", file, error))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(DirectAlignment::none()),
        kind if is_device(kind) => {
            let sector = geometry(file)?.logical_sector_size;
            DirectAlignment::new(1, sector, sector, AlignmentSource::LogicalSector)
        }
        _ => Err(Error::unsupported(
            "direct I/O",
            Subject::of(file),
            "only regular files and disks can be read and written directly",
        )),
    }
}

pub(crate) fn map_huge(_length: usize, _alignment: usize) -> Result<Mapping, String> {
    Err("macOS reserves no huge pages for programs".to_owned())
}

pub(crate) fn advise_huge(_mapping: &Mapping) -> Result<(), String> {
    Err("macOS takes no advice about huge pages".to_owned())
}

/// Asks a disk one thing.
fn get<const REQUEST: Opcode, T>(file: &File) -> io::Result<T> {
    // SAFETY: each request is used here with the type that its header gives it
    // (crate::ioctl::macos), and the kernel writes exactly one of that type.
    unsafe { ioctl(file.as_fd(), Getter::<REQUEST, T>::new()) }.map_err(io::Error::from)
}
