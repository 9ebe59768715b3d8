//! The comparison in its small mode: that it runs, not what it finds.

use diskfacts_testkit::{or_skip, require_root};
use std::process::Command;

/// The output of the bench in its small mode; `None` when it cannot run here.
fn small(what: &str) -> Option<String> {
    let needed = match what {
        "bonnie" => diskfacts_testkit::require_tool("bonnie++", "bonnie++"),
        "served" => diskfacts_testkit::require_tool("sqlite3", "sqlite3"),
        "hosts" => diskfacts_testkit::require_tool("unshare", "util-linux"),
        _ => diskfacts_testkit::require_tool("fio", "fio"),
    };
    if let Err(missing) = needed {
        diskfacts_testkit::skip(&missing.to_string());
        return None;
    }
    let bench = env!("CARGO_BIN_EXE_diskfacts-bench");
    if !std::path::Path::new(bench)
        .with_file_name("diskfacts")
        .is_file()
    {
        diskfacts_testkit::skip("the diskfacts program beside the bench: cargo build -p diskfacts");
        return None;
    }
    let output = Command::new(bench)
        .args([what, "--small", "--folder"])
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("starting the bench");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(text)
}

#[test]
fn the_comparison_with_fio_runs() {
    if let Some(text) = small("fio") {
        assert_eq!(text.matches("diskfacts / fio").count(), 8, "{text}");
    }
}

#[test]
fn the_comparison_of_the_ways_to_write_runs() {
    if let Some(text) = small("writes") {
        assert_eq!(text.matches("median").count(), 2 * 21 + 1, "{text}");
        assert!(text.contains("of 21 ways"), "{text}");
    }
}

#[test]
fn the_comparison_with_the_old_tools_runs_and_names_who_is_missing() {
    if let Some(text) = small("classics") {
        assert!(text.contains("agree within the spread"), "{text}");
        let compared = text.matches("dd: ").count();
        assert!(compared == 6 || text.contains("dd is missing"), "{text}");
        let timed = text.matches("hdparm -").count();
        assert!(timed == 2 || text.contains("hdparm is missing"), "{text}");
    }
}

#[test]
fn the_comparison_with_bonnie_runs() {
    if let Some(text) = small("bonnie") {
        assert!(text.contains("of 12 tests agree"), "{text}");
        assert!(text.contains("read, blocks"), "{text}");
    }
}

#[test]
fn the_times_of_pages_are_taken() {
    if let Some(text) = small("served") {
        assert_eq!(text.matches(" kB: ").count(), 6, "{text}");
    }
}

#[test]
fn a_small_fleet_goes_the_whole_path_and_its_slow_disk_is_suspected() {
    or_skip!(require_root());
    if let Some(text) = small("hosts") {
        if text.contains("without fleet") || text.contains("UTS namespaces") {
            diskfacts_testkit::skip(text.trim());
            return;
        }
        assert!(text.contains("1 of 1 slow disks are suspects"), "{text}");
    }
}

#[test]
fn the_comparison_of_observers_runs() {
    or_skip!(require_root());
    let output = Command::new(env!("CARGO_BIN_EXE_diskfacts-bench"))
        .args(["observers", "--small", "--folder"])
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("starting the bench");
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("there is no diskfacts beside this program") {
        diskfacts_testkit::skip("the diskfacts program beside the bench: cargo build -p diskfacts");
        return;
    }
    assert!(output.status.success(), "{text}\n{said}");
    for choice in ["none", "block_layer", "all"] {
        assert!(text.contains(&format!("\n  {choice} ")), "{text}");
    }
    assert!(text.contains("all observers together take"), "{text}");
    let shown = text.contains("the full screen takes");
    assert!(shown || text.contains("script is missing"), "{text}");
}

#[test]
fn without_bonnie_it_says_what_is_missing() {
    let output = Command::new(env!("CARGO_BIN_EXE_diskfacts-bench"))
        .args(["bonnie", "--small"])
        .env("PATH", "/nowhere")
        .output()
        .expect("starting the bench");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("apt-get install bonnie++"), "{text}");
    assert!(output.status.success(), "{text}");
}

#[test]
fn without_fio_it_says_what_is_missing() {
    for what in ["fio", "writes"] {
        let output = Command::new(env!("CARGO_BIN_EXE_diskfacts-bench"))
            .args([what, "--small"])
            .env("PATH", "/nowhere")
            .output()
            .expect("starting the bench");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("apt-get install fio"), "{text}");
        assert!(output.status.success(), "{text}");
    }
}

#[test]
fn the_reports_are_as_small_as_they_are_to_be() {
    let output = Command::new(env!("CARGO_BIN_EXE_diskfacts-bench"))
        .args(["pages", "--small"])
        .output()
        .expect("starting the bench");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("there is no diskfacts beside this program") {
        diskfacts_testkit::skip("the diskfacts program beside the bench: cargo build -p diskfacts");
        return;
    }
    assert!(output.status.success(), "{text}\n{errors}");
    let kilobytes = |plan: &str| -> u64 {
        let line = text
            .lines()
            .find(|line| line.contains(plan))
            .expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words
            .iter()
            .position(|word| *word == "kB,")
            .expect("its size");
        words[at - 1].parse().expect("a number")
    };
    assert!(kilobytes("survey") < 400, "{text}");
    assert!(kilobytes("write-matrix") < 1000, "{text}");
}
