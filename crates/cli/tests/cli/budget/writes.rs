//! What writes wait for beside their own requests: room for dirty pages, the journal.

use super::compared::{Measured, Planted};
use super::disk_log::DiskLog;
use super::measured_by;
use crate::support::MIB;
use crate::trace_support::events;
use diskfacts_testkit::{DelayedDisk, DirtyLimit, OnDisks, Served, ServedKind, Shells, or_skip};
use std::process::Command;
use std::time::Duration;

/// Bytes that are written, and how many of them may be dirty: these are not waited for.
const WRITTEN: u64 = 128 * MIB;
const DIRTY: u64 = 8 * MIB;
const BLOCK: u64 = 64 << 10;

/// When the disk had so many bytes, from when it had the first.
fn until_written(served: &[Served], bytes: u64) -> Duration {
    let mut sum = 0;
    let all = served.iter().filter(|one| one.kind == ServedKind::Write);
    let mut all = all.skip_while(|one| {
        sum += one.bytes;
        sum < bytes
    });
    all.next().expect("so many").replied - served[0].arrived
}

#[test]
fn what_is_put_to_sleep_because_too_much_is_dirty_is_not_the_device() {
    or_skip!(events());
    let disk = or_skip!(DelayedDisk::new(
        WRITTEN + 8 * MIB,
        Duration::from_millis(8)
    ));
    // A rate of its own, whatever is written at a time.
    disk.one_at_a_time();
    let operations = WRITTEN / BLOCK;
    let stage = format!(
        "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"{BLOCK}B\"\n\
         cache = \"buffered\"\noperations = {operations}"
    );
    or_skip!(Planted::only(&["dirty"]).compare(|planted| {
        let limit = if planted { DIRTY } else { 1024 * MIB };
        let limit = DirtyLimit::new(limit)?;
        drop(disk.served());
        let budget = measured_by(disk.device().path(), &stage, |program| program);
        drop(limit);
        let truth_ns = if planted {
            // In the middle between where write-back begins and where all stops, writers are as
            // fast as the disk (`Documentation/admin-guide/sysctl/vm.rst`, mm/page-writeback.c).
            let waited = until_written(&disk.served(), WRITTEN - DIRTY * 3 / 4);
            waited.as_nanos() as f64 / operations as f64
        } else {
            0.0
        };
        Ok(Measured { budget, truth_ns })
    }));
}

#[test]
fn a_journal_that_others_keep_busy_is_not_the_device() {
    const OPERATIONS: usize = 60;
    or_skip!(events());
    let disk = or_skip!(DelayedDisk::new(400 * MIB, Duration::from_millis(4)));
    let filesystem = or_skip!(OnDisks::ext4(disk.device().path()));
    let others = format!(
        "dd if=/dev/zero of={}/n$$ bs=4k count=200 oflag=append,dsync conv=notrunc",
        filesystem.path().display()
    );
    let stage = format!(
        "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"{BLOCK}B\"\n\
         cache = \"direct\"\nsync = \"fdatasync\"\noperations = {OPERATIONS}"
    );
    let mut times = 0;
    or_skip!(Planted::only(&["journal"]).compare(|planted| {
        // Room that was set aside and not written: each write is followed by a commit.
        times += 1;
        let file = filesystem.path().join(format!("log{times}"));
        let mut allocate = Command::new("fallocate");
        let allocated = allocate.args(["-l", "16M"]).arg(&file).status();
        assert!(allocated.expect("fallocate").success());
        let busy = planted.then(|| Shells::running(2, &others));
        drop(disk.served());
        let budget = measured_by(&file, &stage, |program| program);
        drop(busy);
        // Nobody else writes so much at a time, and one waits for the other.
        let log = DiskLog::of(&disk, OPERATIONS, 1, BLOCK);
        Ok(Measured {
            budget,
            truth_ns: log.outside_ns,
        })
    }));
}
