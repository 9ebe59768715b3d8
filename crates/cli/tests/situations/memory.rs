//! Memory that poses as a disk, or stands in front of one.

use crate::alone::alone;
use crate::beside::{DirtyLimit, Group, filled};
use crate::case::{Case, MIB, write_data};
use crate::said::of;
use diskfacts_testkit::{DelayedDisk, LoopDevice, Missing, Tmpfs, or_skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const DEEP: &str = "operation = \"read\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n\
                    queue_depth = 8\ntime = \"300ms\"";

/// Memory that holds files of tmpfs, bytes: `Shmem` of /proc/meminfo. Others may change it
/// meanwhile, by less than what is looked for.
fn shared_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").expect("/proc/meminfo");
    let mut lines = text.lines();
    let shared = lines.find_map(|line| line.strip_prefix("Shmem:")?.strip_suffix("kB"));
    1024 * shared
        .and_then(|n| n.trim().parse::<u64>().ok())
        .expect("a number")
}

/// Bytes that storage gave to this process, which reads all of a file: nothing where that lies in
/// the page cache.
fn fetched(file: &Path) -> u64 {
    let charged = || {
        let text = fs::read_to_string("/proc/self/io").expect("/proc/self/io");
        let mut lines = text.lines();
        let bytes = lines.find_map(|line| line.strip_prefix("read_bytes: "));
        bytes.and_then(|n| n.parse::<u64>().ok()).expect("a number")
    };
    let before = charged();
    fs::read(file).expect("the file");
    charged() - before
}

/// Part of a file that memory may have been asked to give back since, bytes.
const GIVEN_BACK: u64 = 2 * MIB;

#[test]
fn a_loop_device_over_a_file_in_memory() {
    let _alone = alone();
    let tmpfs = or_skip!(Tmpfs::new(128 * MIB));
    let file = tmpfs.path().join("disk");
    let before = shared_memory();
    write_data(&file, 32 * MIB);
    let more = shared_memory().saturating_sub(before);
    assert!(more > 24 * MIB, "{more} bytes of memory for the file");
    let device = or_skip!(LoopDevice::over_file(&file));
    let said = of(device.path(), DEEP).said();
    drop(device);
    said.names("memory-disk", "memory of this machine");
    let device = or_skip!(filled(32 * MIB));
    of(device.path(), DEEP).said().is_silent_of("memory-disk");
}

/// `TMPFS_MAGIC` (linux/magic.h).
const TMPFS: rustix::fs::FsWord = 0x0102_1994;

#[test]
fn a_folder_in_memory() {
    let _alone = alone();
    let tmpfs = or_skip!(Tmpfs::new(128 * MIB));
    let kind = |folder: &Path| rustix::fs::statfs(folder).expect("a folder").f_type;
    assert_eq!(kind(tmpfs.path()), TMPFS);
    let said = of(tmpfs.path(), DEEP).sized("32MiB").said();
    said.names("page-cache", "Memory served 100 %");
    let case = Case::new();
    assert_ne!(kind(case.scratch.path()), TMPFS);
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

    /// Bytes of data that it keeps (`mm_stat`, Documentation/admin-guide/blockdev/zram.rst).
    fn kept(&self) -> u64 {
        let text = fs::read_to_string(self.sysfs("mm_stat")).expect("what it keeps");
        let first = text.split_whitespace().next().expect("a number");
        first.parse().expect("a number")
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
    let kept = zram.kept();
    assert!(kept > MIB, "{kept} bytes are kept in memory");
    said.names("memory-disk", "memory of this machine");
    let said = of(&device, DEEP).said();
    said.names("memory-disk", "memory of this machine");
    let device = or_skip!(filled(64 * MIB));
    let said = of(device.path(), &stage).destroying().said();
    said.is_silent_of("memory-disk");
    of(device.path(), DEEP).said().is_silent_of("memory-disk");
}

#[test]
fn a_loop_device_whose_file_is_in_the_page_cache() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    write_data(device.backing_file(), 32 * MIB);
    let read = fetched(device.backing_file());
    assert!(read < GIVEN_BACK, "{read} bytes were not in memory");
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
    let read = fetched(&file);
    assert!(read < GIVEN_BACK, "{read} bytes were not in memory");
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
