//! What direct I/O asks for: by `statx`, by the logical sector, or by guess.

use std::fs::File;
use std::os::fd::AsFd;

use rustix::fs::{
    AtFlags, FileType, Statx, StatxFlags, fstat, ioctl_blksszget, major, minor, statx,
};

use super::sysfs::SysfsDevice;
use super::{Roots, mounts};
use crate::error::Subject;
use crate::{AlignmentSource, AtomicWriteLimits, DirectAlignment, Error};

pub(crate) fn direct_alignment(file: &File) -> Result<DirectAlignment, Error> {
    let stat = fstat(file).map_err(|error| Error::on_file("fstat", file, error))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile && kind != FileType::BlockDevice {
        return Err(unsupported(
            file,
            "only regular files and block devices can be read and written directly",
        ));
    }
    match by_statx(file) {
        Some(Stated::Unsupported) => return Err(unsupported(file, STATX_SAYS_NO)),
        Some(Stated::Alignment { memory, offset }) => {
            return DirectAlignment::new(memory, offset, offset, AlignmentSource::Kernel);
        }
        None => {}
    }
    let device =
        if kind == FileType::BlockDevice {
            Ok(ioctl_blksszget(file)
                .map_err(|error| Error::on_file("ioctl BLKSSZGET", file, error))?)
        } else {
            let number = (major(stat.st_dev), minor(stat.st_dev));
            SysfsDevice::find(Roots::system().sys, number)
                .map_err(|_| number)
                .and_then(|device| device.disk_number("queue/logical_block_size").ok_or(number))
        };
    match device {
        Ok(sector) => DirectAlignment::new(sector, sector, sector, AlignmentSource::LogicalSector),
        Err(number) => {
            let file_system =
                mounts::of_file(file).map_or_else(|| "this".to_owned(), |mount| mount.file_system);
            let page = u32::try_from(rustix::param::page_size()).unwrap_or(4096);
            DirectAlignment::new(
                page,
                page,
                page,
                AlignmentSource::Assumed(format!(
                    "statx tells no STATX_DIOALIGN on {file_system} files, and device {}:{} is no \
                     block device whose sector could be asked for",
                    number.0, number.1
                )),
            )
        }
    }
}

pub(super) const STATX_SAYS_NO: &str = "statx reports STATX_DIOALIGN 0: this file cannot be read or written directly, for example \
     because it is encrypted, compressed or journalled with its data";

/// What `statx` states about direct I/O.
pub(super) enum Stated {
    Unsupported,
    Alignment { memory: u32, offset: u32 },
}

/// What `statx` states about this file; `None` when the kernel (before 6.1) or
/// the filesystem does not answer.
pub(super) fn by_statx(file: &File) -> Option<Stated> {
    let stat: Statx = statx(file.as_fd(), "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    if stat.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return None;
    }
    match (stat.stx_dio_mem_align, stat.stx_dio_offset_align) {
        (0, _) | (_, 0) => Some(Stated::Unsupported),
        (memory, offset) if memory.is_power_of_two() && offset.is_power_of_two() => {
            Some(Stated::Alignment { memory, offset })
        }
        // No kernel is known to state one.
        _ => None,
    }
}

/// `STATX_WRITE_ATOMIC` of `<linux/stat.h>` (since 6.11), which rustix 1.1 does
/// not have.
const WRITE_ATOMIC: StatxFlags = StatxFlags::from_bits_retain(0x0001_0000);

pub(crate) fn atomic_write_limits(file: &File) -> Result<AtomicWriteLimits, Error> {
    let none = |why: &str| Error::unsupported("an atomic write", Subject::of(file), why);
    let stat: Statx = statx(file.as_fd(), "", AtFlags::EMPTY_PATH, WRITE_ATOMIC)
        .map_err(|error| Error::on_file("statx", file, error))?;
    if stat.stx_mask & WRITE_ATOMIC.bits() == 0 {
        return Err(none(
            "statx tells no STATX_WRITE_ATOMIC: the kernel (before 6.11) or the filesystem does \
             not know atomic writes",
        ));
    }
    if stat.stx_atomic_write_unit_max == 0 {
        return Err(none(
            "statx reports a STATX_WRITE_ATOMIC unit of 0: the device or the filesystem on it does \
             not write atomically",
        ));
    }
    Ok(AtomicWriteLimits {
        unit_min: stat.stx_atomic_write_unit_min,
        unit_max: stat.stx_atomic_write_unit_max,
        segments_max: stat.stx_atomic_write_segments_max,
    })
}

fn unsupported(file: &File, why: &str) -> Error {
    Error::unsupported("direct I/O", Subject::of(file), why)
}
