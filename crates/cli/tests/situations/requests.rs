//! What is between operations and the device.

use crate::alone::alone;
use crate::beside::{Counter, Shells, counted, empty, filled};
use crate::case::MIB;
use crate::said::of;
use diskfacts_testkit::{
    DelayedDisk, FilesystemKind, LoopDevice, LoopOptions, Missing, MountedFilesystem, Served,
    or_skip, skip,
};
use rustix::fs::FallocateFlags;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

const DEEP: &str = "operation = \"read\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n\
                    queue_depth = 32\ntime = \"300ms\"";
const LARGE: &str = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"1MiB\"\n\
                     cache = \"direct\"\ntime = \"300ms\"";
const IN_ORDER: &str = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"64KiB\"\n\
                        cache = \"cold\"\nspan = \"8MiB\"\ntime = \"300ms\"";

#[test]
fn a_scheduler_that_sends_one_at_a_time() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(1)));
    let device = disk.device();
    or_skip!(device.set("scheduler", "bfq"));
    or_skip!(device.set("iosched/strict_guarantees", "1"));
    disk.served();
    let said = of(device.path(), DEEP).said();
    assert_eq!(most_at_once(&disk), 1);
    said.names("device-queue", "bfq, sends it 1 request at a time");
    or_skip!(device.set("scheduler", "none"));
    let said = of(device.path(), DEEP).said();
    assert!(most_at_once(&disk) > 8);
    said.is_silent_of("device-queue");
}

/// Most of the requests since it was last asked that the disk had at one time.
fn most_at_once(disk: &DelayedDisk) -> usize {
    let served = disk.served();
    let meanwhile = |one: &Served| {
        let there = |other: &&Served| other.arrived <= one.arrived && one.arrived < other.replied;
        served.iter().filter(there).count()
    };
    served.iter().map(meanwhile).max().unwrap_or(0)
}

#[test]
fn requests_that_are_cut_small() {
    let _alone = alone();
    let device = or_skip!(filled(64 * MIB));
    or_skip!(device.set("max_sectors_kb", "4"));
    let before = counted(&device, Counter::Reads);
    let bytes = counted(&device, Counter::ReadSectors);
    let said = of(device.path(), LARGE).said();
    let reads = counted(&device, Counter::Reads) - before;
    let bytes = 512 * (counted(&device, Counter::ReadSectors) - bytes);
    assert!(bytes / reads <= 4096, "{bytes} by {reads}");
    said.names("request-splitting", "256 requests of at most 4 KiB");
    or_skip!(device.set("max_sectors_kb", "1280"));
    let said = of(device.path(), LARGE).said();
    said.is_silent_of("request-splitting");
}

#[test]
fn no_read_ahead() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(1)));
    or_skip!(disk.device().set("read_ahead_kb", "0"));
    disk.served();
    let said = of(disk.device().path(), IN_ORDER).said();
    let largest = disk.served().iter().map(|one| one.bytes).max();
    assert_eq!(largest, Some(4096));
    said.names("read-ahead", "window");
    or_skip!(disk.device().set("read_ahead_kb", "8192"));
    let said = of(disk.device().path(), IN_ORDER).said();
    said.is_silent_of("read-ahead");
}

#[test]
fn few_places_in_the_scheduler() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(2)));
    let stage = DEEP.replace("read", "write").replace("300ms", "500ms");
    for few in [true, false] {
        // The scheduler anew, with settings of its own.
        or_skip!(disk.device().set("scheduler", "none"));
        or_skip!(disk.device().set("scheduler", "mq-deadline"));
        if few {
            or_skip!(disk.device().set("iosched/async_depth", "1"));
        }
        disk.served();
        let said = of(disk.device().path(), &stage).destroying().said();
        if few {
            assert!(disk.served().len() < 1200);
            said.names("device-queue", "wait for a place")
                .is_silent_of("device-parallelism");
        } else {
            said.is_silent_of("device-queue");
        }
    }
}

#[test]
fn few_places_in_the_queue() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(5)));
    or_skip!(disk.device().set("nr_requests", "4"));
    disk.served();
    let said = of(disk.device().path(), DEEP).said();
    assert_eq!(most_at_once(&disk), 4);
    said.names("device-queue", "lets 4 requests through at a time");
    or_skip!(disk.device().set("nr_requests", "128"));
    let said = of(disk.device().path(), DEEP).said();
    assert!(most_at_once(&disk) > 8);
    said.is_silent_of("device-queue");
}

/// A loop device over this one, past the page cache.
fn above(below: &LoopDevice) -> Result<LoopDevice, Missing> {
    let options = LoopOptions {
        direct_io: true,
        ..LoopOptions::default()
    };
    LoopDevice::over_file_with(below.path(), options)
}

#[test]
fn few_places_in_the_queue_of_the_disk_below() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(2)));
    let device = or_skip!(above(disk.device()));
    for few in [true, false] {
        or_skip!(
            disk.device()
                .set("nr_requests", if few { "4" } else { "128" })
        );
        disk.served();
        let said = of(device.path(), DEEP).said();
        let served = disk.served();
        let since = served[0].arrived;
        let all = served[served.len() - 1].replied - since;
        let at_work: Duration = served.iter().map(Served::service).sum();
        if few {
            assert!(at_work < 5 * all, "{at_work:?} in {all:?}");
            let name = disk.device().name();
            let words = format!("The queue in front of {name} lets 4 requests through");
            said.names("device-queue", &words)
                .is_silent_of("device-parallelism");
        } else {
            said.is_silent_of("device-queue");
        }
    }
}

#[test]
fn requests_that_are_cut_small_on_the_disk_below() {
    let _alone = alone();
    let below = or_skip!(filled(64 * MIB));
    let device = or_skip!(above(&below));
    for small in [true, false] {
        let most = if small { "4" } else { "1280" };
        or_skip!(below.set("max_sectors_kb", most));
        let before = counted(&below, Counter::Reads);
        let bytes = counted(&below, Counter::ReadSectors);
        let said = of(device.path(), LARGE).said();
        let reads = counted(&below, Counter::Reads) - before;
        let bytes = 512 * (counted(&below, Counter::ReadSectors) - bytes);
        assert_eq!(bytes / reads <= 4096, small, "{bytes} by {reads}");
        if small {
            said.names("request-splitting", "256 requests of at most 4 KiB");
        } else {
            said.is_silent_of("request-splitting");
        }
    }
}

#[test]
fn one_in_flight() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(5)));
    let stage = DEEP.replace("32", "1");
    disk.served();
    let said = of(disk.device().path(), &stage).said();
    assert_eq!(most_at_once(&disk), 1);
    said.names("one-at-a-time", "QD1: rate = 1 / latency");
    // A device in this machine that answers all alike late is behind no network.
    said.is_silent_of("network");
    let said = of(disk.device().path(), DEEP).said();
    assert!(most_at_once(&disk) > 8);
    said.never_says("QD1: rate");
}

#[test]
fn a_device_that_stood_still() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(1)));
    let stage = DEEP.replace("32", "4");
    disk.stall_after(300, Duration::from_millis(900));
    let said = of(disk.device().path(), &stage).said();
    let longest = disk.served().iter().map(Served::service).max();
    assert!(longest >= Some(Duration::from_millis(900)), "{longest:?}");
    said.names("stall", "completed nothing");
    let said = of(disk.device().path(), &stage).said();
    said.is_silent_of("stall");
}

#[test]
fn a_device_that_is_slower_from_then_on() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(2)));
    let stage = DEEP.replace("32", "4").replace("300ms", "500ms");
    disk.slow_down_after(800, Duration::from_millis(14));
    let said = of(disk.device().path(), &stage).said();
    let served = disk.served();
    let slow = |one: &&Served| one.service() > Duration::from_millis(16);
    assert!(served.iter().filter(slow).count() > 50, "{}", served.len());
    said.names("changed-speed", "and stayed there");
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(2)));
    let said = of(disk.device().path(), &stage).said();
    said.is_silent_of("changed-speed");
}

#[test]
fn writes_of_parts_of_pages() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(1)));
    let stage = "operation = \"write\"\nblock_size = \"512\"\ncache = \"buffered\"\n\
                 time = \"300ms\"";
    let before = counted(disk.device(), Counter::Reads);
    let said = of(disk.device().path(), stage).destroying().said();
    assert!(counted(disk.device(), Counter::Reads) > before + 500);
    said.names("partial-pages", "parts of pages");
    let stage = stage.replace("512", "4KiB");
    let said = of(disk.device().path(), &stage).destroying().said();
    said.is_silent_of("partial-pages");
}

#[test]
fn somebody_reads_the_same_device() {
    let _alone = alone();
    let device = or_skip!(filled(64 * MIB));
    let path = device.path().display();
    let stage = DEEP.replace("32", "4");
    let beside = Shells::running(
        2,
        &format!("dd if={path} of=/dev/null bs=256k iflag=direct"),
    );
    let said = of(device.path(), &stage).said();
    drop(beside);
    said.names("other-process", &format!("Others used {}", device.name()));
    // By name: each dd, or the shell that has waited for those that ended.
    said.shows("Of other processes these moved most, on whatever device: ");
    let said = of(device.path(), &stage).said();
    said.is_silent_of("other-process");
}

#[test]
fn somebody_reads_the_same_device_who_is_served_first() {
    let _alone = alone();
    let device = or_skip!(filled(64 * MIB));
    or_skip!(device.set("scheduler", "bfq"));
    let path = device.path().display();
    let beside = Shells::running(
        2,
        &format!("dd if={path} of=/dev/null bs=256k iflag=direct"),
    );
    let stage = DEEP.replace("32", "4").replace("300ms", "1s");
    let before = counted(&device, Counter::Reads);
    let said = of(device.path(), &stage).behind_others().said();
    assert!(counted(&device, Counter::Reads) > before + 1000);
    said.names("low-io-priority", "idle: bfq, the scheduler of");
    // The same neighbours, and nobody comes first.
    let said = of(device.path(), &stage).said();
    said.is_silent_of("low-io-priority");
    drop(beside);
    // Nobody to come first.
    let said = of(device.path(), &stage).behind_others().said();
    said.is_silent_of("low-io-priority");
}

#[test]
fn a_device_whose_requests_the_kernel_does_not_count() {
    let _alone = alone();
    let device = or_skip!(filled(64 * MIB));
    or_skip!(device.set("iostats", "0"));
    let stage = DEEP.replace("32", "4");
    let before = counted(&device, Counter::Reads);
    let said = of(device.path(), &stage).said();
    assert_eq!(counted(&device, Counter::Reads), before);
    said.finds("uncounted", "does not count");
    or_skip!(device.set("iostats", "1"));
    let said = of(device.path(), &stage).said();
    said.does_not_find("uncounted", "");
}

#[test]
fn somebody_trims_the_same_device() {
    let _alone = alone();
    let device = or_skip!(filled(192 * MIB));
    let path = device.path().display();
    let stage = format!("{}\nspan = \"64MiB\"", DEEP.replace("32", "4"));
    let before = counted(&device, Counter::Discards);
    // It ends at once where the file below cannot be punched.
    let trimming = format!("blkdiscard -f -o 128M -l 64M {path} || sleep 0.1");
    let beside = Shells::running(2, &trimming);
    let said = of(device.path(), &stage).said();
    drop(beside);
    if counted(&device, Counter::Discards) < before + 20 {
        return skip("discards of a loop device");
    }
    said.names("other-process", "Others discarded blocks");
    let said = of(device.path(), &stage).said();
    said.never_says("Others discarded blocks");
}

#[test]
fn a_loop_device_through_the_page_cache() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(2)));
    let below = disk.device();
    let stage = DEEP.replace("32", "8");
    let over = |direct_io| {
        let options = LoopOptions {
            direct_io,
            ..LoopOptions::default()
        };
        LoopDevice::over_file_with(below.path(), options)
    };
    let cached = or_skip!(over(false));
    let before = counted(below, Counter::Reads);
    let said = of(cached.path(), &stage).said();
    assert!(counted(below, Counter::Reads) > before + 100);
    said.names("serialised", "passes on one request at a time");
    said.shows("--direct-io=on");
    drop(cached);
    let direct = or_skip!(over(true));
    of(direct.path(), &stage).said().is_silent_of("serialised");
}

/// Bytes of a piece.
const BLOCK: u64 = 8192;

#[test]
fn a_file_in_many_pieces() {
    let _alone = alone();
    let device = or_skip!(empty(128 * MIB));
    let filesystem = or_skip!(MountedFilesystem::on(device, FilesystemKind::Ext4, ""));
    let file = |name: &str| filesystem.path().join(name);
    let (pieces, other) = (file("pieces"), file("other"));
    // Room for one block after the other, of two files in turn: ext4 takes as much as is asked
    // for there, and no more (`EXT4_GET_BLOCKS_NO_NORMALIZE`, fs/ext4/extents.c).
    let [one, two] = [&pieces, &other].map(|path| File::create(path).expect("a file"));
    for place in 0..1024 {
        for file in [&one, &two] {
            rustix::fs::fallocate(file, FallocateFlags::empty(), place * BLOCK, BLOCK)
                .expect("room");
        }
    }
    let data = vec![0x5a; 1024 * BLOCK as usize];
    one.write_all_at(&data, 0).expect("room that is there");
    one.sync_all().expect("a write that was kept");
    let before = counted(filesystem.device(), Counter::Reads);
    let bytes = counted(filesystem.device(), Counter::ReadSectors);
    let said = of(&pieces, LARGE).said();
    let reads = counted(filesystem.device(), Counter::Reads) - before;
    let bytes = 512 * (counted(filesystem.device(), Counter::ReadSectors) - bytes);
    assert!(bytes / reads <= 16384, "{bytes} by {reads}");
    said.names("request-splitting", "The file is fragmented");
    let whole = file("whole");
    crate::case::write_data(&whole, 8 * MIB);
    of(&whole, LARGE).said().is_silent_of("request-splitting");
}
