//! How much memory a measurement takes.

use crate::support::{Case, MIB};
use std::io::Read;
use std::process::{Command, Stdio};

/// Most memory that `measure` may have held, with a file of 1 GiB.
const MOST_BYTES: u64 = 100 * MIB;

/// The most that a living process ever held, bytes (`proc_pid_status(5)`).
fn peak_of(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib: u64 = kib.and_then(|kib| kib.parse().ok()).expect("its peak");
    kib * 1024
}

#[test]
fn a_survey_with_a_file_of_1_gib_stays_below_100_mib() {
    let case = Case::new();
    let folder = case.folder("data");
    let room = rustix::fs::statvfs(&folder).expect("the filesystem");
    if room.f_bavail * room.f_frsize < 4 << 30 {
        diskfacts_testkit::skip("4 GiB free in the target folder: set CARGO_TARGET_DIR");
        return;
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .args(["measure", "--time", "10s", "--size", "1GiB", "--json"])
        .arg("--store")
        .args([&case.store(), &folder])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starting diskfacts");
    // The document comes last, and is larger than a pipe: after its first byte
    // the process waits, with all its work done, until the rest is read.
    let mut pipe = child.stdout.take().expect("it was piped");
    let mut document = vec![0];
    pipe.read_exact(&mut document).expect("a document");
    let peak = peak_of(child.id());
    pipe.read_to_end(&mut document).expect("the rest of it");
    assert!(child.wait().expect("its end").success());
    assert!(document.len() > 2 << 16, "{} bytes", document.len());
    assert!(peak < MOST_BYTES, "{} MiB", peak / MIB);
    let document: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
    assert_eq!(document["target"]["size_bytes"], 1 << 30);
}
