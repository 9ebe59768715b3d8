//! FreeBSD. Man pages: open(2), fsync(2), flock(2), disk(9); `<sys/disk.h>`.
//!
//! Disks are character devices here, and have no page cache: I/O on one is
//! direct with or without `O_DIRECT`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FileType, fallocate, fdatasync, fstat};
use rustix::ioctl::{Getter, NoArg, Opcode, ioctl};

use super::Mapping;
use super::bsd::{durability, file_system, is_device, kind, open_with, status_flags};
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
use crate::ioctl::freebsd::{
    DIOCGFLUSH, DIOCGIDENT, DIOCGMEDIASIZE, DIOCGSECTORSIZE, DIOCGSTRIPEOFFSET, DIOCGSTRIPESIZE,
    DISK_IDENT_SIZE,
};
use crate::parse::device_text;
use crate::{
    AlignmentSource, Direct, DirectAlignment, Error, Exclusivity, Geometry, Granted, OpenOptions,
    Opened,
};

pub(crate) fn open(options: &OpenOptions, path: &Path) -> Result<Opened, Error> {
    let wanted = if options.direct == Direct::No {
        0
    } else {
        libc::O_DIRECT
    };
    let file = open_with(options, path, wanted)?;
    let flags = status_flags(&file, path)?;
    let device = is_device(kind(&file, path)?);
    let direct = options.direct != Direct::No && (device || flags & libc::O_DIRECT != 0);
    if options.direct == Direct::Required && !direct {
        if options.create_new {
            // This very call has made it; the error below matters more.
            let _ = std::fs::remove_file(path);
        }
        return Err(Error::os(
            "open with O_DIRECT",
            Subject::Path(path.to_owned()),
            io::Error::from_raw_os_error(libc::EOPNOTSUPP),
            Some("the system did not keep the flag; go on with Direct::IfPossible".to_owned()),
        ));
    }
    Ok(Opened {
        granted: Granted {
            direct,
            direct_refused: (options.direct != Direct::No && !direct)
                .then(|| "the system did not keep O_DIRECT".to_owned()),
            direct_caveat: (direct && !device).then(|| caveat(path)),
            durability: durability(flags),
            exclusive: if options.exclusive {
                Exclusivity::Advisory
            } else {
                Exclusivity::None
            },
            write: flags & libc::O_ACCMODE != libc::O_RDONLY,
            write_refused: None,
        },
        file,
    })
}

/// The flag is a wish on this system (open(2)): it may be kept and ignored.
fn caveat(path: &Path) -> String {
    match file_system(path).as_deref() {
        Some("zfs") => "ZFS before OpenZFS 2.3, and with the property direct=disabled, accepts \
             O_DIRECT and caches all the same"
            .to_owned(),
        Some("tmpfs") => "tmpfs keeps its files in memory: there is no device to go to".to_owned(),
        _ => {
            "FreeBSD only tries to avoid the cache: misaligned transfers, and on UFS most writes, \
             still go through it"
                .to_owned()
        }
    }
}

pub(crate) fn sync_data(file: &File) -> Result<(), Error> {
    fdatasync(file).map_err(|error| Error::on_file("fdatasync", file, error))
}

/// A disk is told to empty its cache. For a file `fsync` is all there is, and
/// whether it does so is the filesystem's matter: ZFS does.
pub(crate) fn sync_to_medium(file: &File) -> Result<(), Error> {
    sync_all(file)?;
    let stat = fstat(file).map_err(|error| Error::on_file("fstat", file, error))?;
    if is_device(FileType::from_raw_mode(stat.st_mode)) {
        // SAFETY: DIOCGFLUSH has no parameter.
        unsafe { ioctl(file.as_fd(), NoArg::<DIOCGFLUSH>::new()) }
            .map_err(|error| Error::on_file("ioctl DIOCGFLUSH", file, error))?;
    }
    Ok(())
}

pub(crate) fn preallocate(file: &File, offset: u64, length: u64) -> Result<(), Error> {
    fallocate(file, FallocateFlags::empty(), offset, length).map_err(|error| {
        // ZFS, which copies on write, says so with EINVAL.
        match io::Error::from(error) {
            error if error.raw_os_error() == Some(libc::EINVAL) => Error::os(
                "posix_fallocate",
                Subject::of(file),
                error,
                Some("ZFS cannot reserve space; or the range is none".to_owned()),
            ),
            error => super::no_such_call("posix_fallocate", file, error),
        }
    })
}

pub(crate) fn punch_hole(file: &File, _offset: u64, _length: u64) -> Result<(), Error> {
    Err(Error::unsupported(
        "punch_hole",
        Subject::of(file),
        "FreeBSD has fspacectl since 14, which this crate does not call",
    ))
}

/// FreeBSD tells no path of an open file by plain means.
pub(crate) fn name_of(file: &File) -> (i64, Option<PathBuf>) {
    (i64::from(file.as_raw_fd()), None)
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
    let logical = get::<DIOCGSECTORSIZE, u32>(file).map_err(asked("ioctl DIOCGSECTORSIZE"))?;
    let size = get::<DIOCGMEDIASIZE, i64>(file).map_err(asked("ioctl DIOCGMEDIASIZE"))?;
    let stripe = get::<DIOCGSTRIPESIZE, i64>(file)
        .ok()
        .and_then(|bytes| u32::try_from(bytes).ok())
        .filter(|&bytes| bytes > 0);
    let (serial_number, serial_number_absent) = match get::<DIOCGIDENT, [u8; DISK_IDENT_SIZE]>(file)
    {
        Ok(ident) => match device_text(&ident) {
            Some(ident) => (Some(ident), None),
            None => (None, Some("the device's ident is empty".to_owned())),
        },
        Err(error) => (None, Some(format!("ioctl DIOCGIDENT: {error}"))),
    };
    let size = u64::try_from(size).unwrap_or(0);
    Ok(Geometry {
        serial_number,
        serial_number_absent,
        optimal_io_size: stripe,
        alignment_offset: get::<DIOCGSTRIPEOFFSET, i64>(file)
            .ok()
            .and_then(|bytes| u32::try_from(bytes).ok()),
        ..Geometry::sized(logical, stripe.unwrap_or(logical), size)
    })
}

/// Files have no rule: what is misaligned goes through the cache. A disk wants
/// whole sectors, at any address.
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
    Err("FreeBSD reserves no huge pages for programs; it joins pages by itself".to_owned())
}

/// FreeBSD promotes aligned runs of pages by itself, and a large mapping has
/// been aligned for that (`vm.pmap.superpages_enabled`).
#[expect(
    clippy::unnecessary_wraps,
    reason = "on other systems the advice can be refused"
)]
pub(crate) fn advise_huge(_mapping: &Mapping) -> Result<(), String> {
    Ok(())
}

/// Asks a disk one thing.
fn get<const REQUEST: Opcode, T>(file: &File) -> io::Result<T> {
    // SAFETY: each request is used here with the type that its header gives it
    // (crate::ioctl::freebsd), and the kernel writes exactly one of that type.
    unsafe { ioctl(file.as_fd(), Getter::<REQUEST, T>::new()) }.map_err(io::Error::from)
}
