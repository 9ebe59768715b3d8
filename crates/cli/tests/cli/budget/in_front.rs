//! What is planted between operations and a disk: a limit, few places, a scheduler, requests
//! that are cut or not read ahead. What the disk wrote down says how much of it there is.

use super::compared::{Measured, Planted};
use super::disk_log::DiskLog;
use super::{DIRECT, measured};
use crate::support::MIB;
use crate::trace_support::events;
use diskfacts_testkit::{DelayedDisk, Missing, Throttle, ThrottleGroup, or_skip};
use std::time::Duration;

/// A disk that takes its time, and takes many at once: on one that answers at once, what the
/// processors do between it and the operations is a large share of so little.
fn disk() -> Result<DelayedDisk, Missing> {
    let disk = DelayedDisk::new(32 * MIB, Duration::from_millis(5))?;
    // Each operation is a request of its own.
    disk.device().set("nomerges", "2")?;
    Ok(disk)
}

/// Direct reads within a limit and without it.
fn within_and_without(throttle: Throttle, bytes: u64, operations: usize) -> Result<(), Missing> {
    events()?;
    let disk = disk()?;
    let group = ThrottleGroup::new(disk.device(), throttle)?;
    let stage = format!(
        "operation = \"read\"\nblock_size = \"{bytes}B\"\ncache = \"direct\"\n\
         operations = {operations}"
    );
    Planted::only(&["admission"]).compare(|planted| {
        drop(disk.served());
        let budget = measured(disk.device(), &stage, planted.then_some(&group));
        let log = DiskLog::of(&disk, operations, 1, bytes);
        Ok(Measured {
            budget,
            truth_ns: log.outside_ns,
        })
    })
}

#[test]
fn what_a_control_group_holds_back_is_not_the_device() {
    let throttle = Throttle {
        reads_per_s: Some(25),
        ..Throttle::default()
    };
    or_skip!(within_and_without(throttle, 4096, 40));
}

#[test]
fn bytes_that_a_control_group_holds_back_are_not_the_device() {
    let throttle = Throttle {
        read_bytes_per_s: Some(2 * MIB),
        ..Throttle::default()
    };
    or_skip!(within_and_without(throttle, 128 << 10, 30));
}

/// Deep reads of a disk with what is planted in its queue, and of one without.
fn in_a_queue(
    part: &'static [&'static str],
    operations: usize,
    settings: &[(&str, &str)],
) -> Result<(), Missing> {
    const DEEP: usize = 32;
    events()?;
    // Two of them: a queue that was short once stays so on some kernels (6.18 without a
    // scheduler), whatever is written to it and shown.
    let (short, free) = (disk()?, disk()?);
    for (attribute, value) in settings {
        short.device().set(attribute, value)?;
    }
    let stage = format!("{DIRECT}queue_depth = {DEEP}\noperations = {operations}");
    Planted::only(part).compare(|planted| {
        let disk = if planted { &short } else { &free };
        drop(disk.served());
        let budget = measured(disk.device(), &stage, None);
        let log = DiskLog::of(disk, operations, DEEP, 4096);
        Ok(Measured {
            budget,
            truth_ns: log.outside_ns,
        })
    })
}

#[test]
fn what_waits_for_a_place_in_a_short_queue_is_not_the_device() {
    or_skip!(in_a_queue(&["admission"], 400, &[("nr_requests", "4")]));
}

#[test]
fn what_a_scheduler_holds_back_is_not_the_device() {
    let strict = [("scheduler", "bfq"), ("iosched/strict_guarantees", "1")];
    or_skip!(in_a_queue(&["scheduler"], 200, &strict));
}

#[test]
fn a_disk_that_takes_longer_is_the_device() {
    const OPERATIONS: usize = 60;
    or_skip!(events());
    let delays = [Duration::from_millis(1), Duration::from_millis(20)];
    let disks = delays.map(|delay| DelayedDisk::new(32 * MIB, delay));
    let [fast, slow] = disks;
    let (fast, slow) = (or_skip!(fast), or_skip!(slow));
    let stage = format!("{DIRECT}operations = {OPERATIONS}");
    or_skip!(Planted::only(&["device"]).compare(|planted| {
        let disk = if planted { &slow } else { &fast };
        drop(disk.served());
        let budget = measured(disk.device(), &stage, None);
        let log = DiskLog::of(disk, OPERATIONS, 1, 4096);
        Ok(Measured {
            budget,
            truth_ns: log.service_ns,
        })
    }));
}

/// Reads of a disk of which the queue is set so and so, without and with what is planted: with
/// it an operation is so many requests of a page, side by side or one after the other.
fn in_pieces(
    parts: &'static [&'static str],
    (stage, operations, pieces): (&str, usize, usize),
    (attribute, planted_kib, usual_kib): (&str, &str, &str),
) -> Result<(), Missing> {
    const PAGE: u64 = 4096;
    events()?;
    // So slow that the way of some hundred requests to it is little of it.
    let disk = DelayedDisk::new(32 * MIB, Duration::from_millis(20))?;
    Planted::only(parts).compare(|planted| {
        let kib = if planted { planted_kib } else { usual_kib };
        disk.device().set(attribute, kib)?;
        drop(disk.served());
        let budget = measured(disk.device(), stage, None);
        let mut served = disk.served();
        // What looks at a device before a trial reads pages of it, too.
        served.retain(|one| (one.bytes <= PAGE) == planted);
        if planted {
            served.drain(..served.len() - operations * pieces);
        }
        let log = DiskLog::of_requests(&served, operations, 1);
        Ok(Measured {
            budget,
            truth_ns: log.any_ns,
        })
    })
}

#[test]
fn requests_that_are_cut_small_are_what_is_with_the_device() {
    const OPERATIONS: usize = 30;
    let stage = format!(
        "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"1MiB\"\n\
         cache = \"direct\"\noperations = {OPERATIONS}"
    );
    // Of pieces that are under way side by side there is one time for all: nobody tells what
    // of it each waited for.
    let parts = &["device", "block-layer"];
    let knob = ("max_sectors_kb", "4", "1024");
    or_skip!(in_pieces(parts, (&stage, OPERATIONS, 256), knob));
}

#[test]
fn pages_that_nobody_reads_ahead_are_waited_for_one_by_one() {
    const OPERATIONS: usize = 64;
    let stage = format!(
        "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"16KiB\"\n\
         cache = \"cold\"\noperations = {OPERATIONS}"
    );
    let knob = ("read_ahead_kb", "0", "128");
    or_skip!(in_pieces(&["device"], (&stage, OPERATIONS, 4), knob));
}
