//! What only Windows does: flags read back, mandatory locks, volumes.
//!
//! Wine runs these too. It serves misaligned transfers and knows no disk, so
//! what needs a refusal of either says so and is skipped there.
#![cfg(windows)]

mod support;

use std::fs;
use std::io::ErrorKind;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;

use directio::{
    Direct, Durability, Error, Exclusivity, FileLock, LockKind, OpenOptions, Patience,
    direct_alignment, geometry_under, read_at, write_at,
};
use support::OrFail;
use tempfile::{TempDir, tempdir};

fn file() -> (TempDir, PathBuf) {
    let folder = tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("file");
    fs::write(&path, vec![7; 64 << 10]).expect("the folder can be written");
    (folder, path)
}

#[test]
fn no_buffering_and_write_through_are_read_back_from_the_handle() {
    let (_folder, path) = file();
    for direct in [Direct::No, Direct::Required] {
        for durability in [Durability::None, Durability::Data] {
            let opened = OpenOptions::new()
                .read(true)
                .write(true)
                .direct(direct)
                .durability(durability)
                .open(&path)
                .or_fail();
            assert_eq!(opened.granted.direct, direct == Direct::Required);
            assert_eq!(
                opened.granted.durability == Durability::Full,
                durability != Durability::None
            );
            assert_eq!(opened.granted.direct_caveat, None, "the mode was read back");
        }
    }
}

#[test]
fn an_exclusive_open_keeps_out_every_other_one() {
    let (_folder, path) = file();
    let opened = OpenOptions::new()
        .read(true)
        .exclusive(true)
        .open(&path)
        .or_fail();
    assert_eq!(opened.granted.exclusive, Exclusivity::Mandatory);
    let error = OpenOptions::new()
        .read(true)
        .open(&path)
        .expect_err("the share mode is 0");
    assert_eq!(error.raw_os_error(), Some(32), "ERROR_SHARING_VIOLATION");
    assert!(error.to_string().contains("another program"), "{error:#}");
}

#[test]
fn a_locked_file_cannot_be_read_through_another_handle() {
    let (_folder, path) = file();
    let open = || fs::File::open(&path).expect("it is there");
    let (first, second) = (open(), open());
    let guard = FileLock::acquire(first, LockKind::Exclusive, Patience::Fail).or_fail();
    let mut byte = [0];
    let read: Result<usize, Error> = read_at(&second, &mut byte, 0);
    match read {
        Err(error) => assert!(error.to_string().contains("locked"), "{error:#}"),
        Ok(_) => diskfacts_testkit::skip("a system whose file locks are mandatory: not Wine"),
    }
    drop(guard);
    assert_eq!(read_at(&second, &mut byte, 0).or_fail(), 1);
}

#[test]
fn a_misaligned_transfer_is_explained() {
    let (_folder, path) = file();
    let opened = OpenOptions::new()
        .write(true)
        .direct(Direct::Required)
        .open(&path)
        .or_fail();
    let rule = direct_alignment(&opened.file).or_fail();
    let buffer = rule.buffer(1).expect("a sector");
    match write_at(&opened.file, &buffer[..1], 0) {
        Err(error) => assert!(
            error.to_string().contains("a length that is a multiple of"),
            "{error:#}"
        ),
        Ok(_) => diskfacts_testkit::skip("a system that refuses misaligned I/O: not Wine"),
    }
}

#[test]
fn the_volume_under_a_file_is_named() {
    let (_folder, path) = file();
    match geometry_under(&path) {
        Ok(under) => {
            assert!(under.device.to_string_lossy().starts_with(r"\\?\Volume{"));
            assert!(under.geometry.logical_sector_size.is_power_of_two());
            assert!(under.geometry.size > 0);
        }
        Err(error) => {
            assert!(error.hint().is_some(), "{error:#}");
            diskfacts_testkit::skip("a disk that answers geometry: not Wine");
        }
    }
}

/// An asynchronous handle, on which a call need not have ended when it returns. (Wine
/// waits on these, too.)
fn overlapped(path: &Path) -> fs::File {
    const FILE_FLAG_OVERLAPPED: u32 = 0x4000_0000;
    fs::OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(FILE_FLAG_OVERLAPPED)
        .open(path)
        .expect("it is there")
}

#[test]
fn a_call_on_an_asynchronous_handle_has_ended_when_it_returns() {
    let (_folder, path) = file();
    let (first, second) = (overlapped(&path), overlapped(&path));
    let held = FileLock::acquire(first, LockKind::Exclusive, Patience::Fail).or_fail();
    let error = FileLock::acquire(second, LockKind::Exclusive, Patience::Fail)
        .expect_err("the first one has it");
    assert_eq!(error.error.kind(), ErrorKind::WouldBlock, "{}", error.error);
    let waiting = thread::spawn(move || {
        FileLock::acquire(error.file, LockKind::Exclusive, Patience::Wait).map(FileLock::release)
    });
    drop(held);
    let released = waiting.join().expect("it only waits").or_fail();
    released.or_fail();
    let last = FileLock::acquire(overlapped(&path), LockKind::Exclusive, Patience::Fail);
    last.or_fail().release().or_fail();
}
