//! Where a store can be, and what is said where it cannot.

use crate::{child, sample};
use diskfacts_store::{Error, Store};
use std::fs;
use std::path::Path;
use std::process::Command;

#[cfg(unix)]
#[test]
fn missing_folders_are_made_for_this_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("share/diskfacts/runs.db");
    Store::open(&path).unwrap();
    for made in ["share", "share/diskfacts"] {
        let mode = fs::metadata(folder.path().join(made))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{made}: {mode:o}");
    }
}

#[test]
fn at_rest_a_store_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("runs.db")).unwrap();
    store.begin(&sample::run("a"), None).unwrap();
    drop(store);
    let files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files, ["runs.db"]);
}

#[test]
fn opening_what_is_not_there_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("share/runs.db");
    let error = Store::open_existing(&path).unwrap_err();
    assert!(matches!(error, Error::Missing { .. }), "{error:?}");
    assert!(error.to_string().contains("diskfacts measure"), "{error}");
    assert!(!folder.path().join("share").exists());
}

#[test]
fn a_name_that_means_something_to_sqlite_is_only_a_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["file:a?mode=memory", ":memory:", "a%20b.db"] {
        let path = folder.path().join(name);
        Store::open(&path)
            .unwrap()
            .begin(&sample::run("a"), None)
            .unwrap();
        assert!(path.is_file(), "{name}");
    }
    let relative = Store::open_existing(Path::new("file:nowhere")).unwrap_err();
    let Error::Missing { path } = relative else {
        panic!("{relative:?}");
    };
    assert!(path.is_absolute());
}

#[cfg(unix)]
#[test]
fn a_folder_or_a_device_is_refused_with_a_file_to_name_instead() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("runs.db").display().to_string();
    // In a device there is no file.
    for (path, better) in [(folder.path(), &*inside), (Path::new("/dev/null"), "PATH")] {
        for result in [Store::open(path), Store::open_existing(path)] {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::NotAFile { .. }), "{error:?}");
            let better = format!(": --store {better}");
            assert!(error.to_string().ends_with(&better), "{error}");
        }
    }
}

#[test]
fn a_name_that_is_too_long_is_told_as_that() {
    let folder = tempfile::tempdir().unwrap();
    let error = Store::open(&folder.path().join("n".repeat(300))).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("its name is too long: give it a shorter one."),
        "{said}"
    );
}

#[test]
fn a_file_where_a_folder_should_be_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    let error = Store::open(&file.join("runs.db")).unwrap_err();
    assert!(matches!(error, Error::CreateFolder { .. }), "{error:?}");
    assert!(error.to_string().contains("--store PATH"), "{error}");
}

#[test]
fn a_file_that_is_no_database_of_runs_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("thesis.txt");
    fs::write(&text, "Chapter 1. ".repeat(400)).unwrap();
    let other = folder.path().join("bookmarks.sqlite");
    rusqlite::Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE bookmark (url TEXT)")
        .unwrap();
    for path in [text, other] {
        let before = fs::read(&path).unwrap();
        for result in [Store::open(&path), Store::open_existing(&path)] {
            let error = result.unwrap_err();
            assert!(
                matches!(error, Error::NotADatabase { .. } | Error::Foreign { .. }),
                "{error:?}"
            );
            assert!(error.to_string().contains("left as it is"), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_newer_store_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    drop(Store::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let known: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    connection
        .execute_batch("PRAGMA user_version = 1234")
        .unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    for result in [Store::open(&path), Store::open_existing(&path)] {
        let text = result.unwrap_err().to_string();
        assert!(
            text.contains("version 1234") && text.contains(&format!("up to {known}.")),
            "{text}"
        );
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_store_says_how_to_save_what_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    let mut run = sample::run("a");
    run.trials = (1..=20).map(sample::trial).collect();
    store.begin(&run, None).unwrap();
    drop(store);
    // All but the first page, which says that this is a database.
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let error = Store::open(&path)
        .and_then(|store| store.load("last"))
        .unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains(".recover"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_store_that_was_deleted_while_it_was_open_is_not_written_into_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    store.begin(&sample::run("a"), None).unwrap();
    fs::remove_file(&path).unwrap();
    let error = store.add_trial("a", &sample::trial(1)).unwrap_err();
    assert!(matches!(error, Error::Moved { .. }), "{error:?}");
}

#[test]
fn a_place_that_is_read_only_can_be_read() {
    const NAME: &str = "places::a_place_that_is_read_only_can_be_read";
    let Some(path) = child::store() else {
        return child::on_its_own_filesystem(NAME, "1m");
    };
    let mut run = sample::run("a");
    run.trials = vec![sample::trial(1)];
    Store::open(&path).unwrap().begin(&run, None).unwrap();
    let folder = path.parent().unwrap();
    let remount = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(folder)
        .status();
    assert!(remount.unwrap().success());

    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
    let mut store = Store::open_existing(&path).unwrap();
    assert!(store.is_read_only().unwrap());
    assert_eq!(store.load("last").unwrap(), run);
    for error in [
        store.begin(&sample::run("b"), None).unwrap_err(),
        store.delete(&["a"], |_| false).unwrap_err(),
    ] {
        assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
        assert!(error.to_string().contains("--store PATH"), "{error}");
    }
    // Where nothing is yet, the system's own words are kept.
    let error = Store::open(&folder.join("new.db")).unwrap_err();
    assert!(matches!(error, Error::Open { .. }), "{error:?}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("Read-only file system"), "{cause}");
    let error = Store::open(&folder.join("new/runs.db")).unwrap_err();
    assert!(matches!(error, Error::CreateFolder { .. }), "{error:?}");
}

#[test]
fn a_full_filesystem_loses_nothing_that_was_stored() {
    const NAME: &str = "places::a_full_filesystem_loses_nothing_that_was_stored";
    let Some(path) = child::store() else {
        return child::on_its_own_filesystem(NAME, "1m");
    };
    let ballast = path.with_file_name("ballast");
    fs::write(&ballast, vec![1; 768 << 10]).unwrap();
    let mut store = Store::open(&path).unwrap();
    let mut run = sample::run("a");
    store.begin(&run, None).unwrap();
    run.trials = (1..=200).map(sample::trial).collect();
    let (stored, error) = run
        .trials
        .iter()
        .enumerate()
        .find_map(|(i, trial)| store.add_trial("a", trial).err().map(|error| (i, error)))
        .expect("256 KiB do not hold 200 trials");
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert!(error.to_string().contains("Free some space"), "{error}");
    assert!(stored > 0);
    assert_eq!(store.load("a").unwrap().trials, run.trials[..stored]);

    // And goes on when there is space again.
    fs::remove_file(ballast).unwrap();
    run.trials.truncate(stored + 10);
    sample::complete(&mut run);
    store.finish(&run).unwrap();
    assert_eq!(store.load("a").unwrap(), run);
    // A full filesystem has no room for a first store either.
    fs::write(path.with_file_name("more"), vec![1; 1 << 20]).unwrap_err();
    let error = Store::open(&path.with_file_name("second.db")).unwrap_err();
    assert!(
        matches!(error, Error::Full { .. } | Error::Open { .. }),
        "{error:?}"
    );
}

#[test]
fn a_write_that_was_cut_short_and_cannot_be_taken_back_here_is_told() {
    const NAME: &str = "places::a_write_that_was_cut_short_and_cannot_be_taken_back_here_is_told";
    let Some(path) = child::store() else {
        return child::on_its_own_filesystem(NAME, "9m");
    };
    let origin = path.with_file_name("origin.db");
    let mut store = Store::open(&origin).unwrap();
    let mut run = sample::run("a");
    run.trials = (1..=200).map(sample::trial).collect();
    store.begin(&run, None).unwrap();
    // In the middle of a write whose pages no longer fit into memory, as a process dies.
    let writer = rusqlite::Connection::open(&origin).unwrap();
    writer
        .execute_batch("PRAGMA cache_size = 4; BEGIN IMMEDIATE; UPDATE trial SET stage = 'other'")
        .unwrap();
    let journal = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        path.with_file_name(format!("{name}-journal"))
    };
    fs::copy(journal(&origin), journal(&path)).unwrap();
    fs::copy(&origin, &path).unwrap();
    drop((writer, store));
    let remount = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(path.parent().unwrap())
        .status();
    assert!(remount.unwrap().success());
    let error = Store::open_existing(&path)
        .and_then(|store| store.load("last"))
        .unwrap_err();
    assert!(matches!(error, Error::Unfinished { .. }), "{error:?}");
    assert!(error.to_string().contains("runs.db-journal"), "{error}");
}
