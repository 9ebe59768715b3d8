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
const WRITTEN: u64 = 96 * MIB;
const DIRTY: u64 = 4 * MIB;
const BLOCK: u64 = 64 << 10;

/// When the disk had been handed so many bytes, from when it was handed the first.
fn until_handed_over(served: &[Served], bytes: u64) -> Duration {
    let mut sum = 0;
    let mut writes = served.iter().filter(|one| one.kind == ServedKind::Write);
    let first = writes.next().expect("a write");
    let mut later = writes.skip_while(|one| {
        sum += one.bytes;
        sum < bytes
    });
    later.next().expect("so many").arrived - first.arrived
}

#[test]
fn what_is_put_to_sleep_because_too_much_is_dirty_is_not_the_device() {
    or_skip!(events());
    let disk = or_skip!(DelayedDisk::new(
        WRITTEN + 8 * MIB,
        Duration::from_millis(10)
    ));
    // A rate of its own, whatever is written at a time; and what is on its way to it, which is
    // not dirty any more, is little.
    disk.one_at_a_time();
    or_skip!(disk.device().set("nr_requests", "4"));
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
            // What was dirty at its end nobody waited for. That is more than the limit for some
            // seconds after it was set: the kernel comes down to it slowly
            // (`update_dirty_limit` in mm/page-writeback.c).
            let waited =
                until_handed_over(&disk.served(), WRITTEN - budget.dirtied.min(WRITTEN / 2));
            waited.as_nanos() as f64 / operations as f64
        } else {
            // The pages have to be filled in any case.
            budget.undisturbed()
        };
        Ok(Measured { budget, truth_ns })
    }));
}

#[test]
fn a_journal_that_others_keep_busy_is_in_what_a_sync_waits_for() {
    const OPERATIONS: usize = 60;
    // Two of them write and commit in step, and leave the journal idle while they write.
    const OTHERS: usize = 6;
    or_skip!(events());
    let disk = or_skip!(DelayedDisk::new(400 * MIB, Duration::from_millis(4)));
    let filesystem = or_skip!(OnDisks::ext4(disk.device().path()));
    // It holds what it was given as its standard output until it has ended, and the filesystem
    // is not in use any more.
    let others = format!(
        "dd if=/dev/zero of={}/n$$ bs=4k count=200 oflag=append,dsync conv=notrunc 3>&1",
        filesystem.path().display()
    );
    let stage = format!(
        "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"{BLOCK}B\"\n\
         cache = \"direct\"\nsync = \"fdatasync\"\noperations = {OPERATIONS}"
    );
    let mut times = 0;
    // The flushes of the others' commits, too: a loop device has no writes that are durable at
    // once (FUA), so jbd2's commit block brings one before it and one behind it, and there are
    // more of them for each operation of ours.
    or_skip!(Planted::only(&["journal", "flush"]).compare(|planted| {
        // Room that was set aside and not written: each write is followed by a commit.
        times += 1;
        let file = filesystem.path().join(format!("log{times}"));
        let mut allocate = Command::new("fallocate");
        let allocated = allocate.args(["-l", "16M"]).arg(&file).status();
        assert!(allocated.expect("fallocate").success());
        let busy = planted.then(|| Shells::running(OTHERS, &others));
        drop(disk.served());
        let budget = measured_by(&file, &stage, |program| program);
        drop(busy);
        // Nobody else writes so much at a time, and one waits for the other.
        let log = DiskLog::of(&disk, OPERATIONS, 1, BLOCK);
        let processor_ns = budget.of("processor");
        Ok(Measured {
            budget,
            // Nor was it there while it lacked a processor, which a busy machine has now and then.
            truth_ns: (log.outside_ns - processor_ns).max(0.0),
        })
    }));
}
