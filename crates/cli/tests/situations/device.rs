//! What the device does, or one of several devices: a disk of known delay that has a flaw.

use crate::alone::alone;
use crate::case::MIB;
use crate::said::of;
use diskfacts_testkit::{DelayedDisk, Missing, OnDisks, Served, or_skip, skip};
use std::time::Duration;

const ALONE: &str =
    "operation = \"read\"\nblock_size = \"4KiB\"\ncache = \"direct\"\ntime = \"1s\"";

fn disk() -> Result<DelayedDisk, Missing> {
    DelayedDisk::new(64 * MIB, Duration::from_millis(1))
}

/// Those that the disk itself answered later than this.
fn slow(disk: &DelayedDisk, than: Duration) -> Vec<Served> {
    let served = disk.served().into_iter();
    served.filter(|one| one.service() > than).collect()
}

#[test]
fn one_place_of_the_device_that_is_slow() {
    let _alone = alone();
    let disk = or_skip!(disk());
    let place = 32 * MIB..36 * MIB;
    disk.slow_place(place.clone(), Duration::from_millis(20));
    let said = of(disk.device().path(), ALONE).said();
    let slow = slow(&disk, Duration::from_millis(20));
    // Others are as late where this process, which serves them, has no processor.
    let inside = slow.iter().filter(|one| place.contains(&one.offset));
    let inside = inside.count();
    assert!(inside > 10, "{inside} of {}", slow.len());
    said.names("slow-requests", "is slow from 3")
        .is_silent_of("stall");
    let sound = or_skip!(self::disk());
    let said = of(sound.device().path(), ALONE).said();
    said.is_silent_of("slow-requests");
}

#[test]
fn half_of_the_device_that_is_slow() {
    let _alone = alone();
    let disk = or_skip!(disk());
    let half = 32 * MIB..64 * MIB;
    disk.slow_place(half.clone(), Duration::from_millis(6));
    let said = of(disk.device().path(), ALONE).said();
    let slow = slow(&disk, Duration::from_millis(6));
    let inside = slow.iter().filter(|one| half.contains(&one.offset)).count();
    assert!(inside > 10, "{inside} of {}", slow.len());
    said.names("slow-requests", "is slow from 3");
    let sound = or_skip!(self::disk());
    let said = of(sound.device().path(), ALONE).said();
    said.is_silent_of("slow-requests");
}

#[test]
fn a_few_requests_that_take_long() {
    let _alone = alone();
    let disk = or_skip!(disk());
    disk.slow_blocks(31, Duration::from_millis(60));
    let said = of(disk.device().path(), ALONE).said();
    let slow = slow(&disk, Duration::from_millis(60));
    assert!(slow.len() > 10, "{}", slow.len());
    said.names("slow-requests", "Tail latency")
        .is_silent_of("stall");
    let sound = or_skip!(self::disk());
    let said = of(sound.device().path(), ALONE).said();
    said.is_silent_of("slow-requests");
}

#[test]
fn a_device_that_serves_one_at_a_time() {
    let _alone = alone();
    let disk = or_skip!(disk());
    disk.one_at_a_time();
    let stage = format!("{ALONE}\nqueue_depth = 16");
    let said = of(disk.device().path(), &stage).said();
    let served = disk.served();
    let served: Vec<_> = served
        .windows(2)
        .map(|two| two[1].replied - two[0].replied)
        .collect();
    let together = served
        .iter()
        .filter(|apart| **apart < Duration::from_micros(900));
    assert!(10 * together.count() < served.len(), "{}", served.len());
    said.names("device-parallelism", "serves one at a time")
        .is_silent_of("credit-throttle");
    let sound = or_skip!(self::disk());
    let said = of(sound.device().path(), &stage).said();
    said.never_says("serves one at a time");
}

/// It does the same as a volume that lets so many operations pass, whatever they are, from whose
/// figures it cannot be told.
#[test]
fn a_device_that_serves_reads_and_writes_one_at_a_time() {
    let _alone = alone();
    let disk = or_skip!(disk());
    disk.one_at_a_time();
    let reads = format!("{ALONE}\nqueue_depth = 16");
    let writes = reads.replace("read", "write");
    let stages = format!("{reads}\n[[stage]]\nname = \"writes\"\n{writes}");
    let said = of(disk.device().path(), &stages).destroying().said();
    said.is_not_sure_of("credit-throttle");
    let served = disk.served();
    assert!(served.len() > 1000, "{}", served.len());
}

#[test]
fn a_device_that_gets_slower_all_the_time() {
    let _alone = alone();
    let disk = or_skip!(disk());
    disk.drift(Duration::from_millis(3));
    let stage = format!("{ALONE}\nqueue_depth = 4");
    let said = of(disk.device().path(), &stage).said();
    assert!(slow(&disk, Duration::from_millis(2)).len() > 100);
    said.names("changed-speed", "fell all the time");
    let sound = or_skip!(self::disk());
    of(sound.device().path(), &stage)
        .said()
        .is_silent_of("changed-speed");
}

#[test]
fn a_device_that_is_slow_by_turns() {
    let _alone = alone();
    let disk = or_skip!(disk());
    disk.slow_by_turns(Duration::from_millis(250), Duration::from_millis(4));
    let stage = ALONE.replace("1s", "2s");
    let said = of(disk.device().path(), &stage).said();
    let served = disk.served();
    let late = |one: &&Served| one.service() > Duration::from_millis(4);
    let late = served.iter().filter(late).count();
    let quick = served.len() - late;
    assert!(late.min(quick) > 50, "{late} and {quick}");
    said.names("changed-speed", "to and fro between");
    let sound = or_skip!(self::disk());
    of(sound.device().path(), &stage)
        .said()
        .is_silent_of("changed-speed");
}

#[test]
fn writes_that_are_slower_once_a_cache_is_full() {
    let _alone = alone();
    let stage = ALONE.replace("read", "write");
    let disk = or_skip!(disk());
    disk.slow_down_after(700, Duration::from_millis(6));
    let said = of(disk.device().path(), &stage).destroying().said();
    assert!(slow(&disk, Duration::from_millis(6)).len() > 100);
    said.names("changed-speed", "and stayed there");
    let sound = or_skip!(self::disk());
    let said = of(sound.device().path(), &stage).destroying().said();
    said.is_silent_of("changed-speed");
}

#[test]
fn one_of_two_devices_that_is_slow() {
    let _alone = alone();
    let stage = format!("{ALONE}\nqueue_depth = 8");
    for slower in [Duration::from_millis(9), Duration::ZERO] {
        let disk = || DelayedDisk::new(160 * MIB, Duration::from_millis(1));
        let (one, other) = (or_skip!(disk()), or_skip!(disk()));
        let devices = [one.device().path(), other.device().path()];
        let option = format!("device={}", devices[1].display());
        let striped = or_skip!(OnDisks::btrfs(&devices, &option));
        let file = striped.file();
        other.slow_down_after(0, slower);
        other.served();
        let said = of(&file, &stage).said();
        let late = slow(&other, Duration::from_millis(9)).len();
        if slower.is_zero() {
            said.is_silent_of("slow-member");
        } else {
            assert!(late > 100, "{late}");
            let name = other.device().name();
            said.names("slow-member", &format!("{name} is slower than the device"));
        }
    }
}

#[test]
fn direct_writes_that_a_filesystem_does_one_at_a_time() {
    let _alone = alone();
    let stage = format!("{ALONE}\nqueue_depth = 8").replace("read", "write");
    for (option, sums) in [("datasum", true), ("nodatasum", false)] {
        let disk = or_skip!(DelayedDisk::new(200 * MIB, Duration::from_millis(1)));
        let filesystem = or_skip!(OnDisks::btrfs(&[disk.device().path()], option));
        let file = filesystem.file();
        disk.served();
        let said = of(&file, &stage).destroying().said();
        let served = disk.served();
        let together = served
            .windows(2)
            .filter(|two| two[1].arrived < two[0].replied);
        let together = together.count() as f64 / served.len() as f64;
        if !sums {
            assert!(together > 0.5, "{together}");
            said.is_silent_of("serialised");
            said.is_silent_of("direct-as-buffered");
        } else if together > 0.5 {
            return skip("a kernel whose btrfs buffers direct writes, as since 6.15");
        } else {
            said.names(
                "direct-as-buffered",
                "through the page cache, one after the other",
            );
            said.is_silent_of("serialised");
        }
    }
}
