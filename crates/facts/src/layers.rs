//! Who served the bytes of a trial.
//!
//! # What is compared
//! The bytes that the engine issued, against what witnesses saw go by at each
//! level at which a page cache can lie: between the workload and the device
//! right under its filesystem (or the device it was pointed at), and between
//! each loop device and the devices under its backing file, because the
//! backing file has a page cache of its own. Levels in between, RAID or device
//! mapper, hold no page cache. They may multiply bytes (copies, parity), so more
//! below than above says nothing here. Fewer says that a device above the disks
//! answered by itself: a thin volume where nothing was ever written, a mapping
//! that keeps writes to itself (see `answered`). That share is `mapping`.
//!
//! # Witnesses of reads
//! 1. `read_bytes` of `/proc/self/io`: counted in `submit_bio` for each read
//!    that this process causes, read-ahead included (`task_io_account_read`,
//!    kernel `block/blk-core.c`), and not for what a loop device's worker then
//!    reads on its behalf.
//! 2. What the device right under counted; it includes the I/O of others.
//! 3. Residency of the span, where the first is missing: bytes that were in the
//!    page cache before and after were not fetched in between.
//!
//! Each can be too high, none too low but for what was still under way when the
//! window closed, so the smallest is believed. Read-ahead may fetch more than
//! was issued; a share ends at 1. Bytes that the filesystem made up without any
//! I/O (holes, unwritten extents) came from the memory of this host and count
//! as page cache.
//!
//! A device that counted nothing at all while the process caused as many bytes
//! as were issued does not count and is no witness. `queue/iostats` alone does not
//! decide that: bio-based devices (device mapper, zram, bcache) count where it is 0,
//! so a counter that moved is believed whatever it says.
//!
//! # Witnesses of writes
//! Direct writes: `write_bytes` of `/proc/self/io` and the device, as above.
//! Buffered writes: only the device, because `/proc/self/io` counts a buffered
//! write when its page is dirtied (`Documentation/filesystems/proc.rst`); and
//! pages still dirty in the end did not reach it.
//!
//! # What a device did with what reached it
//! Reads: its cache or its medium, nobody can tell from outside: `unknown`.
//! Writes: on the medium as far as the device tells the truth, if it says that
//! it has no volatile cache (`write through`), or if the data was synced and
//! the leaves counted flushes, or single writes were forced to the medium (FUA,
//! which the kernel uses for `O_DSYNC` and `O_SYNC` with direct I/O). A memory
//! that a controller declares non-volatile counts as medium here. Else the
//! drive acknowledged them, from whichever of the two: `unknown`. So are synced
//! writes of a disk that says it rotates and has a volatile cache, where they
//! take less than any revolution allows: not all of what it says can be so.
//!
//! # Network filesystems
//! What goes past the page cache of this machine goes to a server, whose memory is as much
//! a cache as ours: nothing here tells whether its disks took part, so that share is `server`
//! and none of it `device` or `media`, synced or not. Of NFS the client counts what the server
//! sent and took (`/proc/self/mountstats`), for whoever uses the mount: the witness in place of
//! devices. What it did not send came from the page cache, where another open has not made
//! the client forget it (close-to-open), unless a cache on a local disk lies between (`fsc`).
//! `/proc/self/io` counts with it for direct I/O only: some kernels do not charge reads of NFS
//! through the page cache.
//!
//! # A simulated disk
//! knows who served the bytes, and says so in the evidence. It is not asked:
//! the shares are worked out from the witnesses there too, and tests hold them
//! against what the disk says.
//!
//! # Files of a folder
//! What is created, looked up and deleted is names and attributes. A filesystem
//! keeps them in memory and writes them, together with others, when it likes:
//! `unknown`, but in memory filesystems.
//!
//! # What is not known
//! Missing bytes are laid to a page cache only where one certainly lies: not
//! between a loop device with direct I/O and its backing device (holes of the
//! backing file), and not on a filesystem that compresses, where the device
//! moves fewer bytes than the file holds. Such bytes are `unknown`, and the
//! device share is what was counted.

pub(crate) mod answered;
pub(crate) mod copies;
pub(crate) mod counted;
mod durability;
pub(crate) mod reach;
mod whereabouts;

use crate::share::{self, Known};
use counted::Direction;
use diskfacts_plan::Workload;
use diskfacts_record::{Evidence, Layers, Stack};
pub(crate) use durability::{
    REVOLUTION_NS_MIN, all_leaves, are_flushed, faster_than_revolutions, flush_counters,
    is_mounted_sync, misses_flushes,
};
use reach::Reach;
pub(crate) use whereabouts::{behind_memory, devices_of_memory, in_memory, is_unknown, remote};

/// Share of the bytes from which on it matters that memory or a device above the disks served
/// them: less is left to rounding, to pages that were read for other reasons and to I/O under way
/// when a window closed.
pub(crate) const SERVED_FROM_CACHE: f64 = 0.02;

/// Who served the bytes of a trial: shares that add up to exactly 1; how
/// they are found is said at the top of this module.
pub fn layers(workload: &Workload, evidence: &Evidence, stack: &Stack) -> Layers {
    if evidence.engine.name == "null" {
        return Layers::default();
    }
    if in_memory(stack) {
        return share::layers(Known {
            page_cache: 1.0,
            device: Some(0.0),
            ..Known::default()
        });
    }
    if workload.operation.on_files() {
        // Names and attributes: no byte of it is one of the bytes that witnesses
        // count.
        return Layers::default();
    }
    let read = Reach::of(Direction::Read, workload, evidence, stack);
    let write = Reach::of(Direction::Write, workload, evidence, stack);
    let kept = durability::on_medium(workload, evidence, stack);
    let is_remote = remote(stack).is_some();
    let part = |reach: &Reach, on_medium: bool| {
        if is_remote {
            return share::layers(Known {
                page_cache: reach.page_cache_share(),
                server: reach.device_share().unwrap_or(0.0),
                ..Known::default()
            });
        }
        let device = reach.device_share();
        let media = device.filter(|_| on_medium).unwrap_or(0.0);
        share::layers(Known {
            page_cache: reach.page_cache_share(),
            mapping: reach.mapping_share(),
            media,
            device,
            ..Known::default()
        })
    };
    let parts = [
        (part(&read, false), read.issued as f64),
        (part(&write, kept), write.issued as f64),
    ];
    share::weighted(parts.iter().map(|(part, bytes)| (part, *bytes)))
}

#[cfg(test)]
mod tests;
