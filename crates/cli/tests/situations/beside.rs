//! What is beside a measurement: programs, and control groups that are not of storage.

use crate::case::MIB;
pub(crate) use diskfacts_testkit::{ControlGroup as Group, DirtyLimit, Shells};
use diskfacts_testkit::{LoopDevice, LoopOptions, Missing};
use std::fs;

/// A loop device of random data that passes the page cache of its file.
pub(crate) fn filled(size: u64) -> Result<LoopDevice, Missing> {
    let device = empty(size)?;
    crate::case::write_data(device.backing_file(), size);
    Ok(device)
}

/// The same without data.
pub(crate) fn empty(size: u64) -> Result<LoopDevice, Missing> {
    let options = LoopOptions {
        direct_io: true,
        ..LoopOptions::default()
    };
    LoopDevice::with(size.max(MIB), options)
}

/// A counter of `/sys/block/*/stat` (`Documentation/block/stat.rst`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counter {
    Reads = 0,
    ReadSectors = 2,
    Writes = 4,
    Discards = 11,
    Flushes = 15,
}

/// What a device counted so far.
pub(crate) fn counted(device: &LoopDevice, counter: Counter) -> u64 {
    let path = format!("/sys/block/{}/stat", device.name());
    let text = fs::read_to_string(&path).expect(&path);
    let mut fields = text.split_whitespace();
    let field = fields.nth(counter as usize).expect("a field");
    field.parse().expect("a number")
}
