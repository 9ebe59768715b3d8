//! Linux. Man pages: open(2), statx(2), pwritev2(2), flock(2), proc(5);
//! kernel documentation: ABI/stable/sysfs-block.

mod alignment;
#[cfg(test)]
mod captured;
mod geometry;
mod holders;
mod memory;
mod mounts;
mod open;
mod serial;
mod space;
mod sysfs;

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{fdatasync, fstat, major, minor};
use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};

pub(crate) use self::alignment::{atomic_write_limits, direct_alignment};
pub(crate) use self::geometry::{geometry, geometry_under};
pub(crate) use self::holders::holders;
pub(crate) use self::memory::{advise_huge, keep_from_children, map_huge, resident_huge_bytes};
pub(crate) use self::open::open;
pub(crate) use self::space::{preallocate, punch_hole};
pub(crate) use super::unix::hint::{hint, transfer_hint};
pub(crate) use super::unix::lock::{lock_file, unlock_file};
pub(crate) use super::unix::memory::{map, unmap};
pub(crate) use super::unix::{
    is_invalid_argument, kind_of, lock_volume, read_at, readv_at, sync_all, sync_name,
    unlock_volume, write_at, writev_at,
};
use crate::parse::file_locks;
use crate::{Durability, Error, TransferFlags};

/// Where the kernel's file trees are mounted; parameters, so that captured
/// trees of other machines can be test data.
#[derive(Debug, Clone, Copy)]
struct Roots<'a> {
    proc: &'a Path,
    sys: &'a Path,
}

impl Roots<'static> {
    /// Those of the running system.
    fn system() -> Self {
        Self {
            proc: Path::new("/proc"),
            sys: Path::new("/sys"),
        }
    }
}

pub(crate) fn sync_data(file: &File) -> Result<(), Error> {
    fdatasync(file).map_err(|error| Error::on_file("fdatasync", file, error))
}

/// `fsync` makes the block layer send the flush; there is nothing beyond it.
pub(crate) fn sync_to_medium(file: &File) -> Result<(), Error> {
    sync_all(file)
}

/// One write with `RWF_DSYNC` or `RWF_SYNC`; `None` where the kernel (before
/// 4.7) or the filesystem does not know them.
pub(crate) fn write_at_durable(
    file: &File,
    buffer: &[u8],
    offset: u64,
    durability: Durability,
) -> Option<io::Result<usize>> {
    let flags = TransferFlags::new().durability(durability);
    match pwritev2(
        file,
        &[IoSlice::new(buffer)],
        offset,
        read_write_flags(flags),
    ) {
        Err(Errno::NOSYS | Errno::OPNOTSUPP) => None,
        result => Some(result.map_err(io::Error::from)),
    }
}

/// One read with the flags of preadv2(2).
pub(crate) fn read_at_with(
    file: &File,
    buffer: &mut [u8],
    offset: u64,
    flags: TransferFlags,
) -> io::Result<usize> {
    let buffers = &mut [IoSliceMut::new(buffer)];
    Ok(preadv2(file, buffers, offset, read_write_flags(flags))?)
}

/// One write with the flags of pwritev2(2).
pub(crate) fn write_at_with(
    file: &File,
    buffer: &[u8],
    offset: u64,
    flags: TransferFlags,
) -> io::Result<usize> {
    let buffers = &[IoSlice::new(buffer)];
    Ok(pwritev2(file, buffers, offset, read_write_flags(flags))?)
}

fn read_write_flags(flags: TransferFlags) -> ReadWriteFlags {
    /// `RWF_ATOMIC` of `<linux/fs.h>`, which rustix 1.1 does not have.
    const ATOMIC: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x40);
    let durability = match flags.durability {
        Durability::None => ReadWriteFlags::empty(),
        Durability::Data => ReadWriteFlags::DSYNC,
        Durability::Full => ReadWriteFlags::SYNC,
    };
    let mut set = durability;
    set.set(ReadWriteFlags::NOWAIT, flags.no_wait);
    set.set(ReadWriteFlags::HIPRI, flags.high_priority);
    set.set(ATOMIC, flags.atomic);
    set
}

pub(crate) fn name_of(file: &File) -> (i64, Option<PathBuf>) {
    let descriptor = file.as_raw_fd();
    // Links to what is no file in the tree read "socket:[123]" and the like.
    let path = std::fs::read_link(format!("/proc/self/fd/{descriptor}"))
        .ok()
        .filter(|path| path.is_absolute());
    (i64::from(descriptor), path)
}

/// Who holds the `flock` of this file, as a sentence.
pub(crate) fn lock_holder(file: &File) -> Option<String> {
    let stat = fstat(file).ok()?;
    let device = (major(stat.st_dev), minor(stat.st_dev));
    let text = std::fs::read("/proc/locks").ok()?;
    let holders: Vec<String> = file_locks::parse(&text)
        .into_iter()
        .filter(|lock| lock.is_flock_of(device, stat.st_ino))
        .map(|lock| match lock.process {
            Some(process) => match holders::process_name(Roots::system(), process) {
                Some(name) => format!("process {process} ({name})"),
                None => format!("process {process}"),
            },
            None => "a process that cannot be seen from here".to_owned(),
        })
        .collect();
    if holders.is_empty() {
        return None;
    }
    Some(format!(
        "the lock is held by {}; wait for it (Patience::Wait), or end that first",
        holders.join(", ")
    ))
}
