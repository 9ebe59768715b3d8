//! Stores as the first version of the tables has them.

use crate::{child, figures, sample};
use diskfacts_record::{Labels, Run};
use diskfacts_store::{Error, Store};
use rusqlite::Connection;
use std::path::Path;
use std::process::Command;

const FIRST_VERSION: &str = include_str!("../../migrations/1.sql");

/// Makes a store of version 1 with the runs of one of today.
pub(crate) fn of_version_1(today: &Path, older: &Path) {
    let connection = Connection::open(older).unwrap();
    connection.execute_batch(FIRST_VERSION).unwrap();
    connection
        .execute("ATTACH ? AS today", [today.to_str().unwrap()])
        .unwrap();
    for table in ["run", "trial"] {
        let columns: String = connection
            .query_row(
                "SELECT group_concat(name) FROM pragma_table_info(?)",
                [table],
                |row| row.get(0),
            )
            .unwrap();
        let sql = format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM today.{table}");
        connection.execute(&sql, []).unwrap();
    }
    connection
        .execute_batch("PRAGMA application_id = 0x64736b66; PRAGMA user_version = 1")
        .unwrap();
}

/// A run as the first version could store it.
fn unnamed(id: &str) -> Run {
    let mut run = sample::explained(id);
    run.run.labels = Labels::default();
    run
}

#[test]
fn a_store_of_the_first_version_is_read_and_keeps_its_figures() {
    let folder = tempfile::tempdir().unwrap();
    let (today, older) = (folder.path().join("a.db"), folder.path().join("b.db"));
    let run = unnamed("a");
    Store::open(&today)
        .unwrap()
        .add(std::slice::from_ref(&run))
        .unwrap();
    of_version_1(&today, &older);
    let store = Store::open_existing(&older).unwrap();
    assert!(store.load("last").unwrap() == run);
    // All columns but the version of the arithmetic, which nobody wrote down.
    let mut rows = figures::rows(&today);
    assert_eq!(rows.len(), 2);
    for row in &mut rows {
        assert_eq!(row.remove("arithmetic").as_deref(), Some("1"));
        row.insert("arithmetic".into(), "NULL".into());
    }
    assert_eq!(figures::rows(&older), rows);
    assert_eq!(store.of_older_arithmetic().unwrap(), ["a"]);
}

#[test]
fn no_document_of_a_run_keeps_an_older_store_from_being_opened() {
    for document in [
        "nonsense",
        "",
        "[]",
        "{\"figures\": 1}",
        "{\"figures\": [1, null, {}, {\"stage\": 7, \"settings\": 3, \"errors\": \"many\"}]}",
        "{\"figures\": {\"x\": {\"iops\": {\"ci95\": 1, \"trials\": 1e99}}}}",
        "{\"figures\": [{\"latency_ns\": {\"p50\": 18446744073709551615}}]}",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (today, older) = (folder.path().join("a.db"), folder.path().join("b.db"));
        let mut store = Store::open(&today).unwrap();
        store.begin(&sample::run("a"), None).unwrap();
        store.begin(&sample::run("b"), None).unwrap();
        of_version_1(&today, &older);
        Connection::open(&older)
            .unwrap()
            .execute("UPDATE run SET document = ? WHERE id = 'a'", [document])
            .unwrap();
        let store = Store::open(&older).unwrap_or_else(|error| panic!("{document}: {error}"));
        assert_eq!(store.runs(9).unwrap().len(), 2);
        store.load("b").unwrap();
    }
}

#[test]
fn an_older_store_in_a_place_that_is_read_only_is_read() {
    const NAME: &str = "older::an_older_store_in_a_place_that_is_read_only_is_read";
    let Some(path) = child::store() else {
        return child::on_its_own_filesystem(NAME, "2m");
    };
    let today = path.with_file_name("today.db");
    let run = unnamed("a");
    Store::open(&today)
        .unwrap()
        .add(std::slice::from_ref(&run))
        .unwrap();
    of_version_1(&today, &path);
    let before = std::fs::read(&path).unwrap();
    let remount = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(path.parent().unwrap())
        .status();
    assert!(remount.unwrap().success());

    let mut store = Store::open_existing(&path).unwrap();
    assert!(store.is_read_only().unwrap());
    assert!(store.load("last").unwrap() == run);
    assert_eq!(store.count_figures().unwrap(), (2, 1));
    let error = store.delete(&["a"], |_| false).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
    // What it is to be written to is refused at once.
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
