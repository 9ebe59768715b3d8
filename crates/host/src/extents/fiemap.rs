//! The `FIEMAP` ioctl.
//!
//! Source: kernel, `Documentation/filesystems/fiemap.rst`,
//! `include/uapi/linux/fiemap.h`.

use super::{Extents, ExtentsMethod};
use crate::error::Error;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};
use std::fs::File;

/// `_IOWR('f', 11, struct fiemap)`; the structure has 32 bytes.
const FS_IOC_FIEMAP: Opcode = 0xC020_660B;

/// Extents asked for at once: 14 KiB of them.
const BATCH: usize = 256;

const LAST: u32 = 0x1;
const DELALLOC: u32 = 0x4;
const ENCODED: u32 = 0x8;
const DATA_ENCRYPTED: u32 = 0x80;
const DATA_INLINE: u32 = 0x200;
const DATA_TAIL: u32 = 0x400;
const UNWRITTEN: u32 = 0x800;
const SHARED: u32 = 0x2000;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with room for a batch behind it.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// `None` when the filesystem has no `FIEMAP`.
pub(super) fn extents(file: &File, size: u64) -> Result<Option<Extents>, Error> {
    let mut tally = Tally::default();
    let mut start = 0;
    let mut request = Request {
        start: 0,
        length: 0,
        flags: 0,
        mapped_extents: 0,
        extent_count: BATCH as u32,
        reserved: 0,
        extents: [Extent::default(); BATCH],
    };
    while start < size {
        request.start = start;
        request.length = size - start;
        request.mapped_extents = 0;
        // SAFETY: the opcode is that of this structure, which says truly how
        // many extents fit behind its head; the kernel keeps no pointer to it.
        let asked = unsafe { ioctl(file, Updater::<FS_IOC_FIEMAP, _>::new(&mut request)) };
        match asked {
            Ok(()) => {}
            Err(Errno::NOTTY | Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM) => return Ok(None),
            Err(error) => {
                let error = error.into();
                return Err(Error::on_file(
                    "asking with FIEMAP for the extents of",
                    crate::error::hint(&error),
                    error,
                ));
            }
        }
        let mapped = (request.mapped_extents as usize).min(BATCH);
        let batch = &request.extents[..mapped];
        for extent in batch {
            tally.add(extent, size);
        }
        match batch.last() {
            // Without progress this would go on for ever.
            Some(last) if last.flags & LAST == 0 && end_of(last) > start => start = end_of(last),
            _ => break,
        }
    }
    Ok(Some(tally.into_extents(size)))
}

fn end_of(extent: &Extent) -> u64 {
    extent.logical.saturating_add(extent.length)
}

#[derive(Default)]
struct Tally {
    count: u64,
    mapped: u64,
    unwritten: u64,
    delayed: u64,
    encoded: u64,
    inline: u64,
    shared: u64,
}

impl Tally {
    /// Counts the part of an extent that lies within the file's size: space
    /// may be set aside behind its end.
    fn add(&mut self, extent: &Extent, size: u64) {
        let bytes = end_of(extent)
            .min(size)
            .saturating_sub(extent.logical.min(size));
        if bytes == 0 {
            return;
        }
        self.count += 1;
        self.mapped = self.mapped.saturating_add(bytes);
        let add = |mask: u32, sum: &mut u64| {
            if extent.flags & mask != 0 {
                *sum = sum.saturating_add(bytes);
            }
        };
        add(UNWRITTEN, &mut self.unwritten);
        add(DELALLOC, &mut self.delayed);
        add(ENCODED | DATA_ENCRYPTED, &mut self.encoded);
        add(DATA_INLINE | DATA_TAIL, &mut self.inline);
        add(SHARED, &mut self.shared);
    }

    fn into_extents(self, size: u64) -> Extents {
        Extents {
            size_bytes: size,
            method: ExtentsMethod::Fiemap,
            count: self.count,
            hole_bytes: size.saturating_sub(self.mapped),
            unwritten_bytes: Some(self.unwritten),
            delayed_bytes: Some(self.delayed),
            encoded_bytes: Some(self.encoded),
            inline_bytes: Some(self.inline),
            shared_bytes: Some(self.shared),
        }
    }
}
