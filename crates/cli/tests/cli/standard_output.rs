//! Standard streams that are closed, full or read no more, and a limit of file
//! sizes: each is told, and an exit code of 0 means that all was written.

use crate::support::Case;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A line of shell; `diskfacts` in it is the program.
fn shell(line: &str) -> Output {
    let program = concat!(env!("CARGO_BIN_EXE_diskfacts"), " ");
    let line = line.replace("diskfacts ", program);
    Command::new("sh")
        .args(["-c", &line])
        .stdin(Stdio::null())
        .output()
        .expect("running a shell")
}

#[track_caller]
fn fails(line: &str, words: &str) {
    let output = shell(line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{line}: {said}");
    assert!(said.contains(words), "{line}: {said}");
}

#[test]
fn a_closed_standard_output_is_an_error_and_one_that_is_thrown_away_is_not() {
    let closed = "standard output failed: it was closed";
    for line in [
        "diskfacts plans >&-",
        "diskfacts --help >&-",
        "diskfacts --version >&- </dev/null",
        "diskfacts plans survey >&-",
        "diskfacts dd if=/dev/zero bs=1k count=1 >&-",
    ] {
        fails(line, closed);
    }
    // Before a minute of measuring, not after it; and nothing is stored.
    let case = Case::new();
    let folder = case.folder("target").display().to_string();
    fails(&format!("diskfacts measure '{folder}' >&-"), closed);
    // As a shell and as Python's subprocess.DEVNULL throw it away.
    for line in [
        "diskfacts plans >/dev/null",
        "diskfacts plans <>/dev/null >&0",
        "diskfacts plans <&-",
    ] {
        let output = shell(line);
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    }
}

#[test]
fn a_full_standard_output_is_an_error_and_a_reader_that_went_away_is_none() {
    for line in [
        "diskfacts plans >/dev/full",
        "diskfacts --help >/dev/full",
        "diskfacts --version >/dev/full",
    ] {
        fails(line, "writing to standard output failed: No space left");
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .args(["plans", "survey"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("its end").code(), Some(0));
}

#[test]
fn a_write_past_the_limit_of_file_sizes_is_told_and_leaves_nothing() {
    let case = Case::new();
    let folder = case.folder("limited");
    let run = |line: &str| {
        shell(&format!(
            "cd '{}'; ulimit -f 2048; {line}",
            folder.display()
        ))
    };
    let output = run("diskfacts measure . --size 8MiB --time 1s --store ../limited.db");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("File too large"), "{said}");
    assert!(said.contains("ulimit -f"), "{said}");
    let left = fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(left, 0);

    let output = run("diskfacts --store ../copied.db dd if=/dev/zero of=copy bs=64k count=64");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("File too large"), "{said}");
    assert!(Path::new(&folder).join("copy").exists());
}

#[test]
fn a_closed_standard_input_is_an_error_and_an_empty_one_is_not() {
    let case = Case::new();
    let (store, copy) = (case.store(), case.path("copy"));
    let dd = |of: &str| {
        let (store, copy) = (store.display(), copy.display());
        format!("diskfacts --store '{store}' dd of='{copy}' bs=4k count=1 {of}")
    };
    fails(&dd("<&-"), "reading standard input failed: it was closed");
    assert!(!copy.exists());
    let output = shell(&dd("</dev/null"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(copy.exists());
}
