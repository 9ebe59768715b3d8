//! Memory that poses as a disk, or stands in front of one.

use crate::alone::alone;
use crate::beside::{DirtyLimit, Group, filled};
use crate::case::{Case, MIB, write_data};
use crate::said::of;
use diskfacts_testkit::{DelayedDisk, LoopDevice, Missing, Tmpfs, or_skip};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

const DEEP: &str = "operation = \"read\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n\
                    queue_depth = 8\ntime = \"300ms\"";

#[test]
fn a_loop_device_over_a_file_in_memory() {
    let _alone = alone();
    let tmpfs = or_skip!(Tmpfs::new(128 * MIB));
    let file = tmpfs.path().join("disk");
    write_data(&file, 32 * MIB);
    let device = or_skip!(LoopDevice::over_file(&file));
    let said = of(device.path(), DEEP).said();
    drop(device);
    said.names("memory-disk", "memory of this machine");
    let device = or_skip!(filled(32 * MIB));
    of(device.path(), DEEP).said().is_silent_of("memory-disk");
}

#[test]
fn a_folder_in_memory() {
    let _alone = alone();
    let tmpfs = or_skip!(Tmpfs::new(128 * MIB));
    let said = of(tmpfs.path(), DEEP).sized("32MiB").said();
    said.names("page-cache", "Memory served 100 %");
    let case = Case::new();
    let said = of(case.scratch.path(), DEEP).sized("32MiB").said();
    said.is_silent_of("page-cache");
}

/// Compressed memory as a device.
struct Zram(String);

impl Zram {
    fn new(size: &str) -> Result<Self, Missing> {
        let add = "/sys/class/zram-control/hot_add";
        let number = fs::read_to_string(add).map_err(|error| Missing::new(add, error))?;
        let zram = Self(number.trim().to_owned());
        let set = zram.sysfs("disksize");
        fs::write(&set, size).map_err(|error| Missing::new(set.display(), error))?;
        Ok(zram)
    }

    fn sysfs(&self, attribute: &str) -> PathBuf {
        PathBuf::from(format!("/sys/block/zram{}/{attribute}", self.0))
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let reset = fs::write(self.sysfs("reset"), "1");
        let gone = reset.and_then(|()| fs::write("/sys/class/zram-control/hot_remove", &self.0));
        if let Err(error) = gone {
            eprintln!("zram{} is left: {error}", self.0);
        }
    }
}

#[test]
fn compressed_memory() {
    let _alone = alone();
    let zram = or_skip!(Zram::new("64M"));
    let device = PathBuf::from(format!("/dev/zram{}", zram.0));
    let stage = DEEP.replace("read", "write");
    let said = of(&device, &stage).destroying().said();
    said.names("memory-disk", "memory of this machine");
    let said = of(&device, DEEP).said();
    said.names("memory-disk", "memory of this machine");
}

#[test]
fn a_loop_device_whose_file_is_in_the_page_cache() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    write_data(device.backing_file(), 32 * MIB);
    let said = of(device.path(), DEEP).said();
    said.names("page-cache", "Memory served");
    let device = or_skip!(filled(32 * MIB));
    of(device.path(), DEEP).said().is_silent_of("page-cache");
}

#[test]
fn a_file_that_was_just_written() {
    let _alone = alone();
    let case = Case::new();
    let file = case.data_file("data", 32 * MIB);
    let stage = DEEP
        .replace("direct", "buffered")
        .replace("depth = 8", "depth = 1");
    let said = of(&file, &stage).said();
    // The kernel may have taken a page of it back since.
    said.names("page-cache", "Memory served");
    of(&file, DEEP).said().is_silent_of("page-cache");
}

#[test]
fn more_dirty_pages_than_are_let() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(4)));
    let stage = "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"64KiB\"\n\
                 cache = \"buffered\"\ntime = \"800ms\"";
    let measured = || of(disk.device().path(), stage).destroying().said();
    let limit = or_skip!(DirtyLimit::new(16 * MIB));
    assert!(DirtyLimit::in_force() <= 16 * MIB);
    measured().names("dirty-throttling", "write-back");
    drop(limit);
    let _wide = or_skip!(DirtyLimit::new(1024 * MIB));
    measured().is_silent_of("dirty-throttling");
}

#[test]
fn a_group_with_too_little_memory_for_what_is_written() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(20)));
    let stage = "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"64KiB\"\n\
                 cache = \"buffered\"\ntime = \"800ms\"";
    let measured = || of(disk.device().path(), stage).destroying();
    let limit = [("memory.limit_in_bytes", "48M")];
    let small = or_skip!(Group::new("memory", "written", &limit));
    let said = measured().inside(small.path()).said();
    assert!(small.number("memory.failcnt", "") > 100);
    said.names("dirty-throttling", "memory of a control group, 48 MiB");
    let said = measured().said();
    said.never_says("memory of a control group");
}
