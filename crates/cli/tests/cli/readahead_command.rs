//! `diskfacts readahead`: on traces that a kernel wrote, without root; and as root on
//! a file of the test's own.

use crate::support::{Case, MIB};
use diskfacts_host::Roots;
use diskfacts_host::read_ahead::{NEEDED, OF_PAGES};
use diskfacts_host::trace::Tracefs;
use diskfacts_report::formats::readahead::Trace;
use diskfacts_testkit::{LoopDevice, Missing, Program, or_skip, require_root, skip};
use serde_json::Value;
use std::path::PathBuf;

/// A trace of `host/tests/traces`.
fn trace(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/traces");
    PathBuf::from(folder).join(format!("{name}.txt"))
}

fn from(case: &Case, name: &str) -> Program {
    case.diskfacts(["readahead", "--from"]).arg(trace(name))
}

/// Whether this kernel shows its events to this user; else says why not.
fn can_trace() -> bool {
    let events = NEEDED.iter().chain(&OF_PAGES);
    let events: Vec<String> = events
        .map(|(group, name)| format!("{group}/{name}"))
        .collect();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let found = Tracefs::open(&Roots::default()).and_then(|fs| fs.need_events(&events));
    found.map_err(|error| skip(&error.to_string())).is_ok()
}

/// A loop device whose windows are at most 128 KiB; the setting vanishes with it.
fn device(bytes: u64) -> Result<LoopDevice, Missing> {
    let device = LoopDevice::new(bytes)?;
    let (major, minor) = device.device_number();
    let setting = format!("/sys/dev/block/{major}:{minor}/queue/read_ahead_kb");
    std::fs::write(&setting, "128").unwrap_or_else(|error| panic!("{setting}: {error}"));
    Ok(device)
}

fn row<'a>(text: &'a str, pattern: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.starts_with(pattern));
    let words = line.unwrap_or_else(|| panic!("{pattern}: {text}"));
    words.split_whitespace().skip(1).collect()
}

#[test]
fn the_table_of_a_trace_has_the_rows_of_2009_and_says_which_are_not_told() {
    let case = Case::new();
    let out = from(&case, "one").run();
    out.expect_code(0);
    let text = &out.stdout;
    assert_eq!(row(text, "subsequent"), ["13", "0", "-", "18", "18", "18"]);
    assert_eq!(row(text, "marker"), ["7", "0", "-", "24", "24", "24"]);
    assert_eq!(row(text, "all"), ["29", "9", "-", "20", "14", "19"]);
    assert_eq!(row(text, "stride"), ["-"; 6]);
    assert!(text.contains("stride is -: Linux has no rule"), "{text}");
    assert!(text.contains("read-ahead-pattern"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    // And of two descriptors nothing is said.
    let out = from(&case, "two").run();
    assert!(
        out.stdout.contains("Nothing speaks against this window"),
        "{}",
        out.stdout
    );
}

#[test]
fn the_lines_of_a_trace_are_those_of_2009_and_are_imported_as_such() {
    let case = Case::new();
    let out = from(&case, "stream").arg("--trace").run();
    let lines: Vec<&str> = out
        .stdout
        .lines()
        .take_while(|line| line.starts_with("readahead-"))
        .collect();
    assert_eq!(lines.len(), 17);
    for line in &lines {
        let read: Trace = line.parse().expect("a line of the trace");
        assert_eq!(read.to_string(), **line);
    }
    assert!(
        lines[1].contains("req=16+16, ra=32+32-32, async=1) = 32"),
        "{}",
        lines[1]
    );
    let text = case.text_file("lines.txt", &lines.join("\n"));
    let out = case.diskfacts(["import"]).arg(&text).run();
    assert!(out.stdout.contains("read-ahead"), "{}", out.stdout);
}

#[test]
fn the_document_holds_the_table_and_what_follows() {
    let case = Case::new();
    let out = from(&case, "short").arg("--json").run();
    let document: Value = serde_json::from_str(&out.stdout).expect("one document");
    let table = &document["read_ahead"];
    assert_eq!(table["pages"]["added"], 120);
    assert_eq!(table["pages"]["left_unused"], 90);
    assert_eq!(table["all"]["count"], 30);
    // 360 KiB is no reason for a warning.
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(0));
    assert_eq!(document["seconds"], Value::Null);
}

#[test]
fn wrong_calls_say_what_would_be_right() {
    let case = Case::new();
    let refused = |arguments: &[&str], said: &str| {
        let out = case.run(std::iter::once("readahead").chain(arguments.iter().copied()));
        assert_eq!(out.code(), Some(2), "{arguments:?}: {}", out.stderr);
        assert!(out.stderr.contains(said), "{arguments:?}: {}", out.stderr);
    };
    refused(&[], "<TARGET>");
    refused(&["/nowhere"], "opening /nowhere");
    refused(&["/tmp", "--time", "0s"], "no time");
    refused(&["--from", "/nowhere"], "the trace /nowhere cannot be read");
    refused(&["/tmp", "--from", "x"], "cannot be used with");
    let cut = case.text_file(
        "cut.txt",
        "dd-1 [000] ..... 1.5: page_cache_ra_order: dev=0:3 ino=7 index=1\n",
    );
    refused(&["--from", &cut.to_string_lossy()], "line 1");
    let empty = case.text_file("empty.txt", "# tracer: nop\n");
    let out = case.diskfacts(["readahead", "--from"]).arg(&empty).run();
    assert!(
        out.stdout.contains("trace-cmd record -e readahead"),
        "{}",
        out.stdout
    );
}

#[test]
fn a_command_is_watched_until_it_ends_and_its_exit_code_is_told() {
    or_skip!(require_root());
    if !can_trace() {
        return;
    }
    let case = Case::new();
    let device = or_skip!(device(16 * MIB));
    let watched = |command: &str| {
        case.diskfacts(["readahead"])
            .arg(device.path())
            .args(["--", "sh", "-c"])
            .arg(command.replace("DEVICE", &device.path().to_string_lossy()))
            .run()
    };
    let out = watched("exec dd if=DEVICE of=/dev/null bs=64k count=128 status=none");
    out.expect_code(0);
    let text = &out.stdout;
    assert!(text.contains("`sh` ended with exit code 0."), "{text}");
    assert_eq!(row(text, "initial0")[..2], ["1", "1"], "{text}");
    let subsequent: u64 = row(text, "subsequent")[0].parse().expect("a number");
    let all: u64 = row(text, "all")[0].parse().expect("a number");
    assert!(subsequent * 10 >= all * 9, "{text}");
    // What the command prints is not in what is printed.
    let out = watched("echo chatter; exit 3");
    assert_eq!(out.code(), Some(1));
    assert!(
        out.stderr.contains("chatter") && out.stderr.contains("exit code 3"),
        "{}",
        out.stderr
    );
    assert!(
        out.stdout.contains("Read-ahead decided nothing"),
        "{}",
        out.stdout
    );
    assert!(!out.stdout.contains("chatter"), "{}", out.stdout);
    let out = case.diskfacts(["readahead"]).arg(device.path());
    let out = out.args(["--", "/nowhere/command"]).run();
    assert_eq!(out.code(), Some(2));
    assert!(out.stderr.contains("nothing was watched"), "{}", out.stderr);
}

#[test]
fn a_command_is_ended_with_who_watches_it() {
    or_skip!(require_root());
    if !can_trace() {
        return;
    }
    let case = Case::new();
    let device = or_skip!(device(16 * MIB));
    let running = case
        .diskfacts(["readahead"])
        .arg(device.path())
        .args(["--", "sleep", "1000"])
        .start();
    let children = format!("/proc/{0}/task/{0}/children", running.id());
    let child = || {
        let all = std::fs::read_to_string(&children).unwrap_or_default();
        let mut each = all.split_whitespace().map(|id| format!("/proc/{id}"));
        each.find(|process| {
            let name = std::fs::read_to_string(format!("{process}/comm"));
            name.is_ok_and(|name| name.trim() == "sleep")
        })
    };
    running.wait_until("its command ran", || child().is_some());
    let command = child().expect("it runs");
    running.terminate();
    running.finish().expect_code(143);
    assert!(!std::path::Path::new(&command).exists(), "{command}");
}

#[test]
fn a_run_that_observed_read_ahead_shows_its_tables_again() {
    or_skip!(require_root());
    if !can_trace() {
        return;
    }
    let case = Case::new();
    let device = or_skip!(device(32 * MIB));
    let stage = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"64KiB\"\n\
                 cache = \"cold\"\nobserve = \"read_ahead\"\n";
    let out = case.measure_stage(device.path(), stage).arg("--json").run();
    let run: Value = serde_json::from_str(&out.stdout).expect("one document");
    let trial = &run["trials"][0]["evidence"];
    assert_eq!(
        trial["read_ahead"]["limit_pages"], 32,
        "{}",
        trial["unseen"]
    );
    assert_eq!(trial["read_ahead"]["cost"]["lost"], 0);
    let shown = case.run(["show", "last", "--style", "readahead"]);
    shown.expect_code(0);
    let text = &shown.stdout;
    assert!(
        text.contains("\npattern count sync_count eof_count size async_size actual\n"),
        "{text}"
    );
    let row = text.lines().find(|line| line.starts_with("subsequent "));
    let row = row.unwrap_or_else(|| panic!("{text}"));
    // The last window is cut off by the end of the device.
    assert!(row.contains(" 0 1 32 32 3"), "{row}");
    assert!(text.contains("\nreverse - - - - - -\n"), "{text}");
}
