//! The disk of known latency answers when it says, and nothing of it stays.
#![cfg(target_os = "linux")]

use diskfacts_testkit::{DelayedDisk, LoopDevice, Served, ServedKind, or_skip, require_tool};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const DELAY: Duration = Duration::from_millis(4);

/// Reads or writes by a process of its own, as is required.
fn dd(arguments: &[String]) {
    let dd = require_tool("dd", "coreutils").expect("dd is on every Debian");
    let output = Command::new(dd).args(arguments).output().expect("dd");
    assert!(
        output.status.success(),
        "dd {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn read(device: &LoopDevice, file: &Path, blocks: u32) {
    dd(&[
        format!("if={}", device.path().display()),
        format!("of={}", file.display()),
        "bs=64k".to_owned(),
        format!("count={blocks}"),
        "iflag=direct".to_owned(),
    ]);
}

/// What was asked for, without the times.
fn asked(served: &[Served]) -> Vec<(ServedKind, u64, u64)> {
    let asked = |one: &Served| (one.kind, one.offset, one.bytes);
    served.iter().map(asked).collect()
}

#[test]
fn each_request_is_answered_after_the_delay_and_written_down() {
    let disk = or_skip!(DelayedDisk::new(8 << 20, DELAY));
    let file = disk.device().scratch().join("copy");
    let content: Vec<u8> = (0..256 << 10).map(|at: u32| (at / 512) as u8).collect();
    fs::write(&file, &content).expect("a file to write from");
    disk.served();
    dd(&[
        format!("if={}", file.display()),
        format!("of={}", disk.device().path().display()),
        "bs=128k".to_owned(),
        "oflag=direct".to_owned(),
    ]);
    let written = disk.served();
    assert_eq!(
        asked(&written),
        [
            (ServedKind::Write, 0, 128 << 10),
            (ServedKind::Write, 128 << 10, 128 << 10)
        ]
    );
    read(disk.device(), &file, 4);
    assert_eq!(fs::read(&file).expect("the copy"), content);
    let read = disk.served();
    let blocks: Vec<_> = (0..4)
        .map(|block| (ServedKind::Read, block << 16, 64 << 10))
        .collect();
    assert_eq!(asked(&read), blocks);
    for request in written.iter().chain(&read) {
        assert!(request.service() >= DELAY, "{request:?}");
    }
    // dd waits for each before it asks for the next.
    for pair in read.windows(2) {
        assert!(pair[0].replied <= pair[1].arrived, "{pair:?}");
    }
}

/// Where the file of this device lies.
fn folder_of(disk: &DelayedDisk) -> PathBuf {
    disk.device().scratch().path().to_owned()
}

fn nothing_is_left_of(folder: &Path) {
    assert!(!folder.exists(), "{}", folder.display());
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
    assert!(!mounts.contains(&*folder.to_string_lossy()), "{mounts}");
    for block in fs::read_dir("/sys/block").expect("sysfs") {
        let backing = block.expect("an entry").path().join("loop/backing_file");
        let over = fs::read_to_string(backing).unwrap_or_default();
        assert!(!Path::new(&over).starts_with(folder), "{over}");
    }
}

#[test]
fn it_is_taken_down_also_in_a_panic() {
    let disk = or_skip!(DelayedDisk::new(1 << 20, DELAY));
    let folder = folder_of(&disk);
    assert!(folder.is_dir());
    drop(disk);
    nothing_is_left_of(&folder);

    let disk = or_skip!(DelayedDisk::new(1 << 20, DELAY));
    let folder = folder_of(&disk);
    let panicked = catch_unwind(AssertUnwindSafe(move || {
        let file = disk.device().scratch().join("copy");
        read(disk.device(), &file, 1);
        panic!("as planned");
    }));
    assert!(panicked.is_err());
    nothing_is_left_of(&folder);
}
