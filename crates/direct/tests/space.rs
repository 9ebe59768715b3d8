//! Lengths, reserved space and holes.

mod support;

use std::fs::{self, File};

use directio::{Direct, Error, OpenOptions, preallocate, punch_hole, set_len, write_all_at};
use support::OrFail;
use tempfile::{TempDir, tempdir};

fn file() -> (TempDir, File) {
    let folder = tempdir().expect("a temporary folder can be made");
    let options = OpenOptions::new().read(true).write(true).create(true);
    let options = options.direct(Direct::IfPossible);
    let opened = options.open(folder.path().join("file")).or_fail();
    (folder, opened.file)
}

/// Fails unless the bytes that the file takes on its device are right; only Unix tells
/// them.
fn takes(file: &File, right: impl Fn(u64) -> bool) {
    #[cfg(unix)]
    {
        let metadata = file.metadata().expect("it is open");
        let bytes = std::os::unix::fs::MetadataExt::blocks(&metadata) * 512;
        assert!(right(bytes), "{bytes}");
    }
    #[cfg(not(unix))]
    let _ = (file, right);
}

/// Whether this filesystem has the call; if not, it says so.
fn granted(result: Result<(), Error>) -> bool {
    match result {
        Ok(()) => true,
        Err(Error::Unsupported(why)) => {
            assert!(!why.reason.is_empty());
            false
        }
        Err(error) => panic!("{error:#}"),
    }
}

#[test]
fn a_length_need_not_be_a_multiple_of_anything() {
    let (folder, file) = file();
    for length in [1000, 3, 0, 4097] {
        set_len(&file, length).or_fail();
        assert_eq!(file.metadata().expect("it is open").len(), length);
    }
    let path = folder.path().join("file");
    assert!(
        fs::read(&path)
            .expect("it is there")
            .iter()
            .all(|&byte| byte == 0)
    );
    let reader = File::open(&path).expect("it is there");
    let error = set_len(&reader, 1).expect_err("it is not open for writing");
    assert!(error.to_string().contains("ftruncate"), "{error:#}");
}

#[test]
fn reserved_space_is_the_files_before_it_is_written() {
    let (folder, file) = file();
    if !granted(preallocate(&file, 0, 1 << 20)) {
        return;
    }
    assert_eq!(file.metadata().expect("it is open").len(), 1 << 20);
    takes(&file, |bytes| bytes >= 1 << 20);
    let content = fs::read(folder.path().join("file")).expect("it is there");
    assert!(content.iter().all(|&byte| byte == 0));
    let error = preallocate(&file, 2 << 20, 0).expect_err("no bytes");
    assert!(error.subject().is_some(), "{error:#}");
}

#[test]
fn a_hole_is_read_as_zeros_and_gives_its_space_back() {
    let (folder, file) = file();
    let mut buffer = directio::AlignedBuffer::new(1 << 20, 4096).or_fail();
    buffer.fill(7);
    write_all_at(&file, &buffer, 0).or_fail();
    directio::sync_all(&file).or_fail();
    takes(&file, |bytes| bytes >= 1 << 20);
    if !granted(punch_hole(&file, 256 << 10, 512 << 10)) {
        return;
    }
    let content = fs::read(folder.path().join("file")).expect("it is there");
    assert_eq!(content.len(), 1 << 20);
    for (at, &byte) in content.iter().enumerate() {
        let hole = (256 << 10..768 << 10).contains(&at);
        assert_eq!(byte, if hole { 0 } else { 7 }, "byte {at}");
    }
    // With some of the filesystem's own.
    takes(&file, |bytes| bytes <= 600 << 10);
}
