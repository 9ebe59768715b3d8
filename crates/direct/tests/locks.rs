//! Locks and claims on every system.

mod support;

use std::fs::{self, File};

use directio::{
    Claim, Error, Exclusivity, FileLock, LockKind, NotLocked, Patience, VolumeLock, lock_file,
    unlock_file, write_at,
};
use support::OrFail;
use tempfile::{TempDir, tempdir};

/// A file opened twice: locks belong to the open file, so the two compete.
fn twice() -> (TempDir, File, File) {
    let folder = tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("file");
    fs::write(&path, b"x").expect("the folder can be written");
    let open = || {
        fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .expect("it is there")
    };
    let (first, second) = (open(), open());
    (folder, first, second)
}

fn exclusive(file: File) -> Result<FileLock, NotLocked> {
    FileLock::acquire(file, LockKind::Exclusive, Patience::Fail)
}

fn shared(file: File) -> Result<FileLock, NotLocked> {
    FileLock::acquire(file, LockKind::Shared, Patience::Fail)
}

#[test]
fn an_exclusive_lock_keeps_out_both_kinds_until_the_guard_is_dropped() {
    let (_folder, first, mut second) = twice();
    let guard = exclusive(first).or_fail();
    for acquire in [exclusive, shared] {
        let refused = acquire(second).expect_err("the first holds it");
        assert!(refused.error.hint().is_some(), "{:#}", refused.error);
        second = refused.file;
    }
    drop(guard);
    let second = shared(second).or_fail().release().or_fail();
    drop(exclusive(second).or_fail());
}

#[test]
fn shared_locks_live_side_by_side_and_keep_out_an_exclusive_one() {
    let (_folder, first, second) = twice();
    let one = shared(first).or_fail();
    let other = shared(second).or_fail();
    let second = other.release().or_fail();
    let second = exclusive(second).expect_err("the first shares it").file;
    one.release().or_fail();
    exclusive(second).or_fail().release().or_fail();
}

#[test]
fn waiting_for_a_lock_gets_it_when_the_holder_lets_go() {
    let (_folder, first, second) = twice();
    let guard = exclusive(first).or_fail();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| FileLock::acquire(second, LockKind::Exclusive, Patience::Wait));
        // Whether the waiter already waits or comes later, it must succeed.
        drop(guard);
        let second = waiter.join().expect("the waiter does not panic");
        drop(second.or_fail());
    });
}

/// A type that could not be written while the guard borrowed its file.
struct Journal {
    file: FileLock,
}

#[test]
fn a_lock_is_kept_with_its_file_which_is_worked_on_through_it() {
    let (folder, first, second) = twice();
    let journal = Journal {
        file: exclusive(first).or_fail(),
    };
    write_at(&journal.file, b"entry", 0).or_fail();
    journal.file.set_len(3).expect("it is open for writing");
    let second = exclusive(second).expect_err("the journal has it").file;
    let file = journal.file.release().or_fail();
    assert_eq!(file.metadata().expect("it is still open").len(), 3);
    drop(exclusive(second).or_fail());
    let content = fs::read(folder.path().join("file")).expect("it is there");
    assert_eq!(content, b"ent");
}

#[test]
fn a_lock_that_is_refused_is_an_error_like_any_other() {
    let (_folder, first, second) = twice();
    let guard = exclusive(first).or_fail();
    let third = second.try_clone().expect("a file can be cloned");
    let asked = || -> Result<FileLock, Error> { Ok(exclusive(second)?) };
    let error = asked().expect_err("the first holds it");
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    let asked = || -> std::io::Result<FileLock> { Ok(exclusive(third)?) };
    let number = asked().expect_err("the first holds it").raw_os_error();
    assert_eq!(number, error.raw_os_error());
    drop(guard);
}

#[test]
fn a_lock_without_a_guard_is_undone_by_hand() {
    let (_folder, first, second) = twice();
    let lock = |file: &File| lock_file(file, LockKind::Exclusive, Patience::Fail);
    lock(&first).or_fail();
    lock(&second).expect_err("the first holds it");
    unlock_file(&first).or_fail();
    lock(&second).or_fail();
}

#[test]
fn a_claim_on_a_file_keeps_out_the_next_one() {
    let (folder, first, second) = twice();
    drop((first, second));
    let path = folder.path().join("file");
    let claim = Claim::acquire(&path).or_fail();
    assert_eq!(
        claim.exclusivity(),
        if cfg!(windows) {
            Exclusivity::Mandatory
        } else {
            Exclusivity::Advisory
        }
    );
    Claim::acquire(&path).expect_err("it is claimed");
    assert_eq!(claim.file().metadata().expect("it is open").len(), 1);
    drop(claim);
    drop(Claim::acquire(&path).or_fail());
}

#[test]
#[cfg(not(windows))]
fn a_volume_lock_is_refused_with_what_to_use_instead() {
    let (_folder, file, _second) = twice();
    let error = VolumeLock::acquire(file)
        .expect_err("only Windows has them")
        .error;
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("OpenOptions::exclusive"),
        "{error:#}"
    );
}

#[test]
#[cfg(windows)]
fn a_volume_lock_reaches_the_system_and_lets_go() {
    // On a plain file Windows refuses it, and Wine grants everything: here
    // only the way to the system and back is tested.
    let (_folder, file, _second) = twice();
    match VolumeLock::acquire(file) {
        Ok(guard) => drop(guard),
        Err(refused) => assert!(
            refused.to_string().contains("FSCTL_LOCK_VOLUME"),
            "{refused:#}"
        ),
    }
}
