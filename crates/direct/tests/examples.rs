//! The examples do what they say.

#[path = "../examples/copy/copy.rs"]
mod copy;
#[path = "../examples/log/log.rs"]
mod log;
#[path = "../examples/read_device/read_device.rs"]
mod read_device;
mod support;

use std::fs;
use std::path::Path;

use log::Log;
use support::OrFail;
use tempfile::tempdir;

/// 251 is prime, so no block of a power of 2 looks like the next one.
fn pattern(length: usize) -> Vec<u8> {
    (0..length)
        .map(|index| u8::try_from(index % 251).expect("below 251"))
        .collect()
}

#[test]
fn a_copy_has_the_bytes_and_the_length_of_its_original() {
    let folder = tempdir().expect("a temporary folder can be made");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    for length in [0, 1, 511, 512, 4097, 1 << 20, (1 << 20) + 1, 2_500_000] {
        let content = pattern(length);
        fs::write(&from, &content).expect("a file");
        // What was there before is gone, a longer file too.
        assert_eq!(copy::copy(&from, &to).or_fail(), length as u64);
        assert!(fs::read(&to).expect("the copy") == content, "{length}");
    }
    let error = copy::copy(&folder.path().join("none"), &to).expect_err("it is not there");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// Opens a log, appends to it, and closes it; what was in it.
fn append(path: &Path, records: &[&[u8]]) -> Vec<Vec<u8>> {
    let (mut log, there) = Log::open(path).or_fail();
    for record in records {
        log.append(record).or_fail();
    }
    there
}

#[test]
fn a_log_keeps_its_records_over_a_restart_and_grows() {
    let folder = tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("log");
    let large = pattern(1_500_000);
    assert!(append(&path, &[b"first", b"", b"third"]).is_empty());
    assert_eq!(append(&path, &[&large]), [&b"first"[..], b"", b"third"]);
    let there = append(&path, &[b"last"]);
    assert_eq!(there.len(), 4);
    assert!(there[3] == large);
    assert_eq!(append(&path, &[])[4], b"last");
}

#[test]
fn what_a_crash_leaves_of_a_record_is_no_record_and_is_written_over() {
    let folder = tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("log");
    append(&path, &[b"first", &pattern(20_000)]);
    // Some of the second record's blocks did not reach the medium.
    let mut content = fs::read(&path).expect("the log");
    let last = content
        .iter()
        .rposition(|&byte| byte != 0)
        .expect("a record");
    content[last - 5000..last - 4000].fill(0);
    fs::write(&path, &content).expect("the log");
    assert_eq!(append(&path, &[b"second again"]), [b"first"]);
    assert_eq!(append(&path, &[]), [&b"first"[..], b"second again"]);
    // Nor does a length that lies.
    content[..4].fill(0xff);
    fs::write(&path, &content).expect("the log");
    assert!(append(&path, &[]).is_empty());
}

#[test]
fn a_log_is_open_once_at_a_time() {
    let folder = tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("log");
    let (log, _) = Log::open(&path).or_fail();
    assert!(Log::open(&path).is_err(), "it is locked");
    drop(log);
    Log::open(&path).or_fail();
}

#[test]
fn what_is_read_is_added_up() {
    let folder = tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("file");
    // RFC 1950's sum of this text is known.
    fs::write(&path, b"Wikipedia").expect("a file");
    assert_eq!(read_device::read(&path).or_fail(), (9, 0x11e6_0398));
    for length in [0, 1 << 20, 5_000_000] {
        let content = pattern(length);
        fs::write(&path, &content).expect("a file");
        let mut sums = (1_u64, 0_u64);
        for &byte in &content {
            sums.0 = (sums.0 + u64::from(byte)) % 65_521;
            sums.1 = (sums.1 + sums.0) % 65_521;
        }
        let (bytes, sum) = read_device::read(&path).or_fail();
        assert_eq!(
            (bytes, u64::from(sum)),
            (length as u64, sums.1 << 16 | sums.0)
        );
    }
}
