//! Loop devices work, and nothing of them stays.
#![cfg(target_os = "linux")]

use diskfacts_testkit::{LoopDevice, LoopOptions, or_skip, skip};
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Any loop device whose file lies under this folder.
fn device_over(folder: &Path) -> Option<PathBuf> {
    fs::read_dir("/sys/block")
        .expect("sysfs")
        .map(|block| block.expect("an entry of sysfs").path())
        .find(|block| {
            fs::read_to_string(block.join("loop/backing_file"))
                .is_ok_and(|backing| Path::new(&backing).starts_with(folder))
        })
}

#[test]
fn what_somebody_set_is_not_there_for_the_next_one() {
    let device = or_skip!(LoopDevice::new(8 << 20));
    for (attribute, value) in [
        ("scheduler", "mq-deadline"),
        ("nr_requests", "4"),
        ("max_sectors_kb", "4"),
        ("read_ahead_kb", "0"),
    ] {
        or_skip!(device.set(attribute, value));
    }
    let name = device.name().to_owned();
    drop(device);
    // Others may be given back meanwhile: one of the next is it, or another test has it.
    let mut others = Vec::new();
    let next = loop {
        let next = or_skip!(LoopDevice::new(8 << 20));
        if next.name() == name {
            break next;
        }
        others.push(next);
        if others.len() == 8 {
            return skip("the loop device that was just given back, which another test took");
        }
    };
    assert!(next.get("scheduler").starts_with("[none]"));
    assert_eq!(next.get("nr_requests"), "128");
    assert_eq!(next.get("read_ahead_kb"), "128");
    assert_eq!(next.get("max_sectors_kb"), "1280");
}

#[test]
fn what_is_written_to_the_device_is_in_its_file() {
    let device = or_skip!(LoopDevice::new(8 << 20));
    let mut block = fs::File::options()
        .read(true)
        .write(true)
        .open(device.path())
        .expect("opening the device");
    assert_eq!(block.seek(SeekFrom::End(0)).expect("its size"), 8 << 20);
    block.seek(SeekFrom::Start(4096)).expect("seeking");
    block.write_all(b"facts").expect("writing");
    block.sync_all().expect("syncing");
    let mut file = fs::File::open(device.backing_file()).expect("the file");
    file.seek(SeekFrom::Start(4096)).expect("seeking");
    let mut found = [0; 5];
    file.read_exact(&mut found).expect("reading");
    assert_eq!(&found, b"facts");
}

#[test]
fn the_sector_size_and_read_only_are_as_asked() {
    let options = LoopOptions {
        sector_size: Some(4096),
        read_only: true,
        ..LoopOptions::default()
    };
    let device = or_skip!(LoopDevice::with(8 << 20, options));
    assert_eq!(device.get("logical_block_size"), "4096");
    let mut block = fs::File::options()
        .write(true)
        .open(device.path())
        .expect("root may open it for writing");
    let refused = block
        .write_all(&[0; 4096])
        .and_then(|()| block.sync_all())
        .expect_err("it is read-only");
    assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
}

#[test]
fn the_backing_file_can_be_read_past_the_page_cache() {
    let options = LoopOptions {
        direct_io: true,
        ..LoopOptions::default()
    };
    let device = or_skip!(LoopDevice::with(8 << 20, options));
    let flag = format!("/sys/block/{}/loop/dio", device.name());
    assert_eq!(fs::read_to_string(flag).expect("the flag").trim(), "1");
}

#[test]
fn of_a_device_whose_file_was_changed_nothing_stays_either() {
    let options = LoopOptions {
        read_only: true,
        ..LoopOptions::default()
    };
    let mut device = or_skip!(LoopDevice::with(1 << 20, options));
    let number = format!("/sys/block/{}/diskseq", device.name());
    let number = || fs::read_to_string(&number).expect("since Linux 5.15");
    let before = number();
    or_skip!(device.change_file());
    assert_ne!(number(), before, "another disk");
    let folder = device.scratch().path().to_owned();
    assert!(device_over(&folder).is_some());
    drop(device);
    assert_eq!(device_over(&folder), None);
    assert!(!folder.exists());
}

#[test]
fn a_test_that_panics_leaves_neither_device_nor_file() {
    let mut folder = PathBuf::new();
    let mut missing = None;
    let result = catch_unwind(AssertUnwindSafe(|| match LoopDevice::new(8 << 20) {
        Ok(device) => {
            folder = device.scratch().path().to_owned();
            assert!(device_over(&folder).is_some());
            panic!("as planned");
        }
        Err(what) => missing = Some(what),
    }));
    if let Some(missing) = missing {
        return diskfacts_testkit::skip(&missing.to_string());
    }
    assert!(result.is_err());
    assert_eq!(device_over(&folder), None);
    assert!(!folder.exists());
}
