//! The throttle holds the device, and nothing of it stays.
#![cfg(target_os = "linux")]

use diskfacts_testkit::{LoopDevice, Missing, Throttle, ThrottleGroup, or_skip, skip};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn throttled(throttle: Throttle) -> Result<(LoopDevice, ThrottleGroup), Missing> {
    let device = LoopDevice::new(8 << 20)?;
    let group = ThrottleGroup::new(&device, throttle)?;
    Ok((device, group))
}

/// Reads 4 KiB blocks past the page cache.
fn read(command: &mut Command, device: &LoopDevice, blocks: u32) {
    let status = command
        .arg(format!("if={}", device.path().display()))
        .args(["of=/dev/null", "bs=4096", "iflag=direct", "status=none"])
        .arg(format!("count={blocks}"))
        .status()
        .expect("running dd");
    assert!(status.success(), "{status}");
}

#[test]
fn reads_of_a_child_go_through_the_throttle_and_those_of_others_do_not() {
    let limits = Throttle {
        reads_per_s: Some(1_000_000),
        ..Throttle::default()
    };
    let (device, group) = or_skip!(throttled(limits));
    read(&mut Command::new("dd"), &device, 50);
    assert_eq!(group.operations().expect("the counters"), 0);
    read(&mut group.command("dd"), &device, 64);
    assert_eq!(group.operations().expect("the counters"), 64);
}

#[test]
fn the_kernel_has_the_limits_that_were_set() {
    let limits = Throttle {
        reads_per_s: Some(100),
        ..Throttle::default()
    };
    let (device, group) = or_skip!(throttled(limits));
    let (major, minor) = device.device_number();
    let kept = |file: &str| fs::read_to_string(group.path().join(file)).ok();
    let (v1, v2) = ("blkio.throttle.read_iops_device", "io.max");
    let said = kept(v1).or_else(|| kept(v2)).expect("the limits");
    assert!(said.starts_with(&format!("{major}:{minor} ")), "{said}");
    assert!(said.contains("100"), "{said}");
    group.set(Throttle::default()).expect("no limit");
    let said = kept(v1).or_else(|| kept(v2)).expect("the limits");
    assert!(!said.contains("100"), "{said}");
}

#[test]
fn a_test_that_panics_leaves_no_group_though_a_process_is_in_it() {
    let mut seen = PathBuf::new();
    let mut child = None;
    let mut missing = None;
    let result = catch_unwind(AssertUnwindSafe(|| match throttled(Throttle::default()) {
        Ok((_device, group)) => {
            seen = group.path().to_owned();
            // It waits for the end of its input, which is held below.
            let waiting = Command::new("cat")
                .stdin(Stdio::piped())
                .spawn()
                .expect("running cat");
            group.enter(waiting.id()).expect("entering");
            child = Some(waiting);
            panic!("as planned");
        }
        Err(what) => missing = Some(what),
    }));
    if let Some(missing) = missing {
        return skip(&missing.to_string());
    }
    assert!(result.is_err());
    assert!(!seen.exists());
    let mut child = child.expect("the child");
    drop(child.stdin.take());
    assert!(child.wait().expect("waiting for cat").success());
}
