//! `diskfacts watch` on loop devices: its figures, its end, and where it cannot.

use crate::direct_file::DirectFile;
use crate::support::{Case, copy_program};
use crate::trace_support::{events, instances};
use diskfacts_testkit::{LoopDevice, Program, Running, or_skip, require_tool};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const MIB: u64 = 1 << 20;
const READS: u64 = 501;
const WRITES: u64 = 77;
/// How often something is tried that others may come before.
const TRIES: u32 = 50;

/// Reads and writes past the page cache, one at a time.
fn load(device: &Path) {
    let mut file = DirectFile::open(device);
    for block in 0..READS {
        file.read(block * 7919 % 2048 * 4096, 4096);
    }
    for block in 0..WRITES {
        file.write(block << 14, 16 << 10);
    }
}

/// A watch that has begun.
fn watching(case: &Case, device: &LoopDevice, options: &[&str], begun: &str) -> Running {
    let running = case
        .diskfacts(["watch"])
        .arg(device.path())
        .args(options)
        .start();
    running.wait_for_stdout(begun);
    running
}

/// What a line says of one kind of request of a device.
fn requests<'a>(line: &'a Value, device: &str, operation: &str) -> Option<&'a Value> {
    let devices = line["devices"].as_array().expect("devices");
    let device = devices.iter().find(|found| found["name"] == device)?;
    let mut operations = device["operations"].as_array().expect("operations").iter();
    operations.find(|found| found["operation"] == operation)
}

#[test]
fn every_request_is_counted_once_and_the_parts_make_the_whole() {
    or_skip!(events());
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let options = ["--json", "--interval", "100ms"];
    let running = watching(&case, &device, &options, "\"part\":1,");
    load(device.path());
    // All that happened before it is in the parts, when another one has ended.
    let during = running.stdout_so_far().lines().count();
    running.wait_for_stdout(&format!("\"part\":{},", during + 2));
    running.interrupt();
    let finished = running.finish();
    finished.expect_code(0);
    let lines: Vec<Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    let (total, parts) = lines.split_last().expect("lines");
    assert_eq!(total["watch"], "total");
    assert_eq!(total["lost_events"], 0);
    for (operation, number, bytes) in [("read", READS, 4096), ("write", WRITES, 16 << 10)] {
        let of = requests(total, device.name(), operation).expect(operation);
        for (key, expected) in [
            ("issued", number),
            ("completed", number),
            ("bytes", number * bytes),
            ("errors", 0),
            ("unfinished", 0),
        ] {
            assert_eq!(of[key], expected, "{operation} {key}");
        }
        assert_eq!(of["device_ns"]["samples"], number);
        assert_eq!(of["sizes"][0]["from"], bytes);
        let mut sum = 0;
        for (number, part) in (1_u64..).zip(parts) {
            assert_eq!(
                (&part["watch"], &part["part"]),
                (&"part".into(), &number.into())
            );
            let issued = requests(part, device.name(), operation);
            sum += issued.map_or(0, |of| of["issued"].as_u64().expect("a number"));
        }
        assert_eq!(sum, number, "{operation} of the parts");
    }
}

#[test]
fn the_reports_are_for_people_in_80_columns_and_end_with_distributions() {
    or_skip!(events());
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let running = watching(&case, &device, &["--interval", "200ms"], ", in ");
    load(device.path());
    running.interrupt();
    let finished = running.finish();
    finished.expect_code(0);
    let text = &finished.stdout;
    let name = device.name();
    for expected in [
        &*format!("Requests of {name}"),
        "All of it, in",
        &format!("Time at the device, reads of {name}"),
        &format!("Sizes of writes of {name}: 16 KiB 100 %."),
    ] {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
        assert!(line.is_ascii() && !line.ends_with(' '), "{line}");
    }
}

#[test]
fn a_device_that_goes_away_ends_it_and_what_was_seen_is_told() {
    or_skip!(events());
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let name = device.name().to_owned();
    let running = watching(&case, &device, &["--interval", "10m"], "Ctrl-C ends it");
    load(device.path());
    drop(device);
    let finished = running.finish();
    finished
        .expect_code(1)
        .expect_stderr(&format!("{name} went away"))
        .expect_stdout("All of it, in")
        .expect_stdout(&format!("reads of {name}"));
}

#[test]
fn of_a_watch_that_was_killed_nothing_is_left_after_the_next_start() {
    let tracefs = or_skip!(events());
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(MIB));
    let running = watching(&case, &device, &[], "Ctrl-C ends it");
    let process = running.id();
    assert_eq!(instances(&tracefs, process).len(), 1);
    running.kill();
    drop(running.finish());
    let next = watching(&case, &device, &[], "Ctrl-C ends it");
    assert_eq!(instances(&tracefs, process), Vec::<String>::new());
    let process = next.id();
    assert_eq!(instances(&tracefs, process).len(), 1);
    next.interrupt();
    next.finish().expect_code(0);
    assert_eq!(instances(&tracefs, process), Vec::<String>::new());
}

#[test]
fn restore_shows_and_removes_what_a_killed_watch_left() {
    let tracefs = or_skip!(events());
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(MIB));
    let state = case.folder("state");
    let restore = |options: &[&str]| {
        let program = case.diskfacts(["restore"]).args(options);
        program.env("DISKFACTS_STATE", &state).run()
    };
    // Whatever begins beside this test removes it too, so that it is often gone before.
    for _ in 0..TRIES {
        let running = watching(&case, &device, &[], "Ctrl-C ends it");
        let process = running.id();
        let of_process = instances(&tracefs, process);
        let name = of_process.first().expect("its instance").clone();
        running.kill();
        drop(running.finish());
        let shown = restore(&["--show"]);
        shown.expect_code(0);
        let was_there = instances(&tracefs, process).contains(&name);
        let removed = restore(&[]);
        removed.expect_code(0);
        assert_eq!(instances(&tracefs, process), Vec::<String>::new());
        if was_there {
            shown
                .expect_stdout(&format!("{name} is the trace buffer of a dead run.\n"))
                .expect_stdout("`diskfacts restore` puts this right.");
            return;
        }
    }
    panic!("others removed each of {TRIES} before it could be shown");
}

#[test]
fn without_root_it_says_what_works_instead() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(MIB));
    let setpriv = or_skip!(require_tool("setpriv", "util-linux"));
    // A copy, because the folder that programs are built in may be closed to others.
    let copy = device.scratch().join("diskfacts");
    copy_program(&copy);
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(device.scratch().path(), open).expect("a folder for all");
    let finished = Program::new(setpriv)
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&copy)
        .arg("watch")
        .arg(device.path())
        .run();
    finished
        .expect_code(1)
        .expect_stderr("trace events need root: run it with `sudo`")
        .expect_stderr(&format!("`diskfacts iostat {}", device.name()));
    assert_eq!(finished.stdout, "");
    let program = case.diskfacts(["watch", "sim:ssd-sata"]);
    case.refuses(&program, &["a simulated disk has none"]);
    let program = case.diskfacts(["watch", "no-such-folder"]);
    case.refuses(&program, &["no-such-folder"]);
    let program = case.diskfacts(["watch", "/proc"]);
    case.refuses(&program, &["no block device of this machine"]);
}
