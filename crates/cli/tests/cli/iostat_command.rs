//! `diskfacts iostat` on this machine: its devices, the end of it, wrong calls.

use crate::support::Case;
use diskfacts_testkit::{LoopDevice, Program, or_skip, require_tool};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

const KIB_64: usize = 64 << 10;

/// Reads so many times 64 KiB past the page cache.
fn read_directly(device: &Path, times: u64) {
    let mut file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::DIRECT.bits().cast_signed())
        .open(device)
        .expect("the device");
    // A page more, to find an aligned part in it.
    let mut buffer = vec![0_u8; KIB_64 + 4096];
    let shift = buffer.as_ptr().align_offset(4096);
    for _ in 0..times {
        file.read_exact(&mut buffer[shift..shift + KIB_64])
            .expect("a direct read");
    }
}

fn name_of(device: &LoopDevice) -> String {
    let name = device.path().file_name().expect("its name");
    name.to_string_lossy().into_owned()
}

#[test]
fn reads_of_a_device_are_counted_in_the_report_of_their_interval() {
    let device = or_skip!(LoopDevice::new(16 << 20));
    let name = name_of(&device);
    let case = Case::new();
    let running = case
        .diskfacts([
            "iostat",
            &name,
            "--style",
            "json",
            "--interval",
            "1s",
            "--count",
            "2",
        ])
        .start();
    running.wait_for_stdout(&name);
    read_directly(device.path(), 64);
    let finished = running.finish();
    finished.expect_code(0);
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let reports = &document["sysstat"]["hosts"][0]["statistics"];
    assert_eq!(reports.as_array().map(Vec::len), Some(2));
    let row = &reports[1]["disk"][0];
    let value = |key: &str| row[key].as_f64().expect(key);
    // The interval is that of the clock, so the ratios are what is exact.
    assert!(value("r/s") > 0.0, "{row}");
    assert!((value("rareq-sz") - 64.0).abs() < 0.005, "{row}");
    assert!((value("rkB/s") / value("r/s") - 64.0).abs() < 0.1, "{row}");
}

#[test]
fn a_device_is_known_by_its_name_its_node_and_a_link() {
    let device = or_skip!(LoopDevice::new(16 << 20));
    read_directly(device.path(), 1);
    let case = Case::new();
    let link = case.path("by-id");
    symlink(device.path(), &link).expect("a link");
    let name = name_of(&device);
    let link = link.to_string_lossy().into_owned();
    let node = device.path().to_string_lossy().into_owned();
    for given in [&name, &node, &link] {
        let finished = case.run(["iostat", given, "--style", "solaris"]);
        finished.expect_code(0);
        let last = finished.stdout.lines().last().expect("a row");
        assert!(last.ends_with(&format!(" {name}")), "{last}");
    }
}

#[test]
fn what_is_no_device_is_refused_with_what_to_type() {
    let case = Case::new();
    let folder = case.folder("data");
    let folder = folder.to_string_lossy().into_owned();
    for (words, said) in [
        (
            vec!["iostat", "no-such-device"],
            "there is no device 'no-such-device'",
        ),
        (vec!["iostat", &folder], "is a folder, not a block device"),
        (vec!["iostat", "0"], "an interval of 0 leaves no time"),
        (
            vec!["iostat", "--interval", "0s"],
            "0 leaves no time between",
        ),
        (vec!["iostat", "1", "0"], "a count of 0 asks for no report"),
        (vec!["iostat", "--count", "0"], "0 is not in 1.."),
        (
            vec!["iostat", "--count", "2"],
            "more than one report needs an interval",
        ),
        (vec!["iostat", "1", "--interval", "2s"], "drop one"),
        (vec!["iostat", "--basic"], "--style linux --basic"),
        (vec!["iostat", "-p", "sda"], "name the partitions instead"),
    ] {
        let finished = case.run(&words);
        finished.expect_code(2).expect_stderr(said);
        assert_eq!(finished.stdout, "");
    }
}

#[test]
fn a_mistyped_device_is_answered_with_the_nearest() {
    let device = or_skip!(LoopDevice::new(16 << 20));
    let name = name_of(&device);
    let finished = Case::new().run(["iostat", &format!("{name}x")]);
    finished.expect_code(2);
    let said = &finished.stderr;
    assert!(said.contains("did you mean loop"), "{said}");
}

#[test]
fn ctrl_c_is_the_usual_end_and_leaves_json_whole() {
    let case = Case::new();
    let running = case
        .diskfacts(["iostat", "3600", "--style", "json"])
        .start();
    running.wait_for_stdout("\"disk\"");
    running.interrupt();
    let finished = running.finish();
    finished.expect_code(0);
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let reports = &document["sysstat"]["hosts"][0]["statistics"];
    assert_eq!(reports.as_array().map(Vec::len), Some(1));
    let running = case
        .diskfacts(["iostat", "3600", "--style", "linux"])
        .start();
    running.wait_for_stdout("Device");
    running.terminate();
    running.finish().expect_code(143);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let program = env!("CARGO_BIN_EXE_diskfacts");
    let mut child = Command::new(program)
        .args(["iostat", "--interval", "10ms", "--style", "linux"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut out = child.stdout.take().expect("its output");
    let mut first = [0; 16];
    out.read_exact(&mut first).expect("the first bytes");
    drop(out);
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_first_report_is_left_out_when_told_so() {
    let finished = Case::new().run(["iostat", "-y", "--interval", "10ms", "--count", "2"]);
    finished.expect_code(0);
    let reports = finished.stdout.matches("Processors:").count();
    assert_eq!(reports, 2);
    assert!(!finished.stdout.contains("Since the system started"));
}

#[test]
fn without_processors_they_are_left_out() {
    let case = Case::new();
    for (style, mark) in [
        ("facts", "Processors"),
        ("linux", "avg-cpu"),
        ("json", "avg-cpu"),
    ] {
        let with = case.run(["iostat", "--style", style]);
        with.expect_code(0).expect_stdout(mark);
        let without = case.run(["iostat", "-d", "--style", style]);
        without.expect_code(0);
        assert!(!without.stdout.contains(mark), "{}", without.stdout);
    }
}

#[test]
fn the_first_line_is_that_of_sysstat() {
    let iostat = or_skip!(require_tool("iostat", "sysstat"));
    let theirs = Program::new(iostat).env("LC_ALL", "C").run();
    let ours = Case::new().run(["iostat", "--style", "linux"]);
    let first = |text: &str| text.lines().next().map(str::to_owned);
    // The day may end between the two.
    let parts = |text: &str| -> Vec<String> {
        let line = first(text).expect("a line");
        line.split('\t').map(str::to_owned).collect()
    };
    let (ours, theirs) = (parts(&ours.stdout), parts(&theirs.stdout));
    assert_eq!((&ours[0], &ours[2..]), (&theirs[0], &theirs[2..]));
    assert_eq!(ours[1].len(), theirs[1].len());
}

#[test]
fn a_stored_run_is_shown_in_the_columns_of_iostat() {
    let case = Case::new();
    case.one_trial();
    let finished = case.run(["show", "--style", "iostat"]);
    finished
        .expect_code(0)
        .expect_stdout("random-read-qd1, trial 1, ")
        .expect_stdout("Device            r/s     rkB/s");
    let row = finished.stdout.lines().nth(2).expect("a row");
    assert!(row.starts_with("ssd-sata "), "{row}");
}
