//! What syncs wait for: a flush that several share, the journal, others who sync.

use crate::alone::alone;
use crate::beside::{Counter, Shells, counted};
use crate::case::{Case, MIB};
use crate::said::{Said, of};
use diskfacts_testkit::{DelayedDisk, Missing, OnDisks, or_skip, require_tool};
use std::fs;
use std::process::Command;
use std::time::Duration;

const DIRECT: &str = "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"4KiB\"\n\
                      cache = \"direct\"\ntime = \"600ms\"";
const BUFFERED: &str = "operation = \"write\"\nblock_size = \"4KiB\"\ncache = \"buffered\"\n\
                        sync = \"fdatasync\"\ntime = \"800ms\"";

/// A disk that takes half a millisecond for what it writes, and so long for a flush.
fn disk(flush: Duration) -> Result<DelayedDisk, Missing> {
    let disk = DelayedDisk::new(400 * MIB, Duration::from_micros(500))?;
    disk.slow_flush_each(1, flush);
    Ok(disk)
}

/// Transactions of the journal of ext4 on this disk.
fn commits(disk: &DelayedDisk) -> u64 {
    let info = format!("/proc/fs/jbd2/{}-8/info", disk.device().name());
    let text = fs::read_to_string(&info).expect(&info);
    let number = text.split_whitespace().next().expect("a number");
    number.parse().expect("a number")
}

#[test]
fn streams_that_share_a_flush() {
    let _alone = alone();
    let disk = or_skip!(disk(Duration::from_millis(3)));
    let filesystem = or_skip!(OnDisks::ext4(disk.device().path()));
    let file = filesystem.file();
    let stage = format!("{DIRECT}\nstreams = 8");
    let before = (commits(&disk), counted(disk.device(), Counter::Flushes));
    let said = of(&file, &format!("{stage}\nsync = \"o-dsync\""))
        .destroying()
        .said();
    assert!(commits(&disk) < before.0 + 10);
    assert!(counted(disk.device(), Counter::Flushes) > before.1 + 100);
    said.names("flush-per-write", "waits for a flush")
        .is_silent_of("journal");
    let said = of(&file, &stage).destroying().said();
    said.is_silent_of("flush-per-write");
}

#[test]
fn writes_to_space_that_was_set_aside_and_their_syncs() {
    let _alone = alone();
    let disk = or_skip!(disk(Duration::from_micros(500)));
    let filesystem = or_skip!(OnDisks::ext4(disk.device().path()));
    let written = filesystem.file();
    let file = filesystem.path().join("log");
    let mut allocate = Command::new("fallocate");
    let allocated = allocate.args(["-l", "32M"]).arg(&file).status();
    assert!(allocated.expect("fallocate").success());
    let stage = format!("{DIRECT}\nsync = \"fdatasync\"");
    let before = commits(&disk);
    let said = of(&file, &stage).destroying().said();
    assert!(commits(&disk) > before + 20);
    said.names("journal", "The journal of ext4");
    let said = of(&written, &stage).destroying().said();
    said.is_silent_of("journal");
}

/// What is said of a log while somebody does this over and over on its filesystem, `AT` in it, at
/// least so often meanwhile; and then of the log alone.
fn beside_and_alone(
    filesystem: &OnDisks,
    many: usize,
    script: &str,
    often: u64,
) -> Result<[Said; 2], Missing> {
    let file = filesystem.file();
    let case = Case::new();
    let times = case.path("times");
    let script = script.replace("AT", &filesystem.path().display().to_string());
    let shells = Shells::running(many, &format!("{script}; echo >> {}", times.display()));
    let beside = of(&file, BUFFERED).destroying().said();
    drop(shells);
    let done = fs::metadata(&times).map_or(0, |times| times.len());
    if done < often {
        let what = format!("processors for who does it {often} times meanwhile");
        return Err(Missing::new(what, format_args!("{done} times")));
    }
    Ok([beside, of(&file, BUFFERED).destroying().said()])
}

#[test]
fn somebody_takes_snapshots_beside_syncs() {
    let _alone = alone();
    or_skip!(require_tool("btrfs", "btrfs-progs"));
    let disk = or_skip!(disk(Duration::from_micros(500)));
    let filesystem = or_skip!(OnDisks::btrfs(&[disk.device().path()], "defaults"));
    let script = "btrfs subvolume snapshot AT AT/s$$; sync -f AT; btrfs subvolume delete AT/s$$";
    let [beside, alone] = or_skip!(beside_and_alone(&filesystem, 1, script, 10));
    beside
        .names("other-process", "Others synced files")
        .is_silent_of("journal");
    alone.never_says("Others synced files");
}

#[test]
fn somebody_syncs_files_of_the_same_btrfs() {
    let _alone = alone();
    let disk = or_skip!(disk(Duration::from_micros(500)));
    let filesystem = or_skip!(OnDisks::btrfs(&[disk.device().path()], "defaults"));
    let [beside, alone] = or_skip!(beside_and_alone(
        &filesystem,
        3,
        "echo > AT/n$$; sync AT/n$$",
        50
    ));
    beside
        .names("other-process", "Others synced files")
        .is_silent_of("journal");
    alone.never_says("Others synced files");
}

#[test]
fn somebody_syncs_files_of_the_same_xfs() {
    let _alone = alone();
    let disk = or_skip!(disk(Duration::from_micros(500)));
    let filesystem = or_skip!(OnDisks::xfs(disk.device().path()));
    let script = "echo > AT/n$$; sync AT/n$$; rm AT/n$$";
    let [beside, alone] = or_skip!(beside_and_alone(&filesystem, 3, script, 50));
    // What a flush takes may come before it, which is longer for those of others.
    beside.finds("other-io", "Others synced files");
    beside.is_silent_of("journal");
    alone.does_not_find("other-io", "Others synced files");
}
