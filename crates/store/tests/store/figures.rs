//! The figures of stages as another program sees them.

use crate::sample;
use diskfacts_store::Store;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;

/// The rows of `stage_figures`: each value as SQL writes it, by its column.
pub(crate) fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let connection = Connection::open(path).unwrap();
    let mut select = connection.prepare("SELECT * FROM stage_figures").unwrap();
    let names: Vec<String> = select.column_names().map(str::to_owned).collect();
    let rows = select.query_map([], |row| {
        let value = |at| -> rusqlite::Result<String> {
            Ok(match row.get_ref(at)? {
                rusqlite::types::ValueRef::Null => "NULL".to_owned(),
                rusqlite::types::ValueRef::Integer(value) => value.to_string(),
                rusqlite::types::ValueRef::Real(value) => format!("{value:?}"),
                text => text.as_str()?.to_owned(),
            })
        };
        let cells = names.iter().enumerate();
        cells
            .map(|(at, name)| Ok((name.clone(), value(at)?)))
            .collect()
    });
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_run_that_ends_has_a_row_for_each_stage_with_its_medians() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    let mut run = sample::explained("a");
    let (trials, figures) = (
        std::mem::take(&mut run.trials),
        std::mem::take(&mut run.figures),
    );
    store.begin(&run, None).unwrap();
    for trial in &trials {
        store.add_trial("a", trial).unwrap();
    }
    assert!(rows(&path).is_empty());
    run.trials = trials;
    run.figures.clone_from(&figures);
    store.finish(&run).unwrap();
    let found = rows(&path);
    assert_eq!(found.len(), figures.len());
    let latency = &figures[1].latency_ns;
    let iops = &figures[1].iops;
    for (column, value) in [
        ("run", "a".to_owned()),
        ("name", "nightly".to_owned()),
        ("tags", "ci fw-7".to_owned()),
        ("host", "web1".to_owned()),
        ("plan", "survey".to_owned()),
        ("stage", "sequential-read".to_owned()),
        ("settings", "{\"scheduler\":\"none\"}".to_owned()),
        ("trials", "3".to_owned()),
        ("iops", format!("{:?}", iops.median)),
        ("iops_min", format!("{:?}", iops.min)),
        ("iops_max", format!("{:?}", iops.max)),
        ("latency_samples", latency.samples.to_string()),
        ("latency_mean_ns", format!("{:?}", latency.mean.unwrap())),
        ("latency_max_ns", latency.max.unwrap().to_string()),
        ("arithmetic", "1".to_owned()),
    ] {
        assert_eq!(found[1].get(column), Some(&value), "{column}");
    }
    assert_eq!(store.of_older_arithmetic().unwrap(), [""; 0]);
    assert_eq!(store.count_figures().unwrap(), (2, 1));
}

#[test]
fn a_figure_that_is_not_a_number_is_null() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut run = sample::explained("a");
    run.figures[0].iops.median = f64::NAN;
    run.figures[0].latency_ns.max = Some(u64::MAX);
    Store::open(&path).unwrap().add(&[run]).unwrap();
    let row = &rows(&path)[0];
    assert_eq!((&*row["iops"], &*row["latency_max_ns"]), ("NULL", "NULL"));
}

#[test]
fn rows_go_with_their_run_and_follow_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    store
        .add(&[sample::explained("a"), sample::explained("b")])
        .unwrap();
    let change = |labels: &mut diskfacts_record::Labels| labels.name = Some("weekly".into());
    store.relabel(&["b"], change).unwrap();
    let names = || -> Vec<String> {
        let rows = rows(&path).into_iter();
        rows.map(|row| format!("{} {}", row["run"], row["name"]))
            .collect()
    };
    assert_eq!(names(), ["a nightly", "a nightly", "b weekly", "b weekly"]);
    store.delete(&["a"], |_| false).unwrap();
    assert_eq!(names(), ["b weekly", "b weekly"]);
    let left: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT count(*) FROM stage", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 2);
}

#[test]
fn figures_of_older_arithmetic_are_found_and_replaced_and_newer_ones_are_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let mut store = Store::open(&path).unwrap();
    let runs = ["a", "b", "c"].map(sample::explained);
    store.add(&runs).unwrap();
    // Killed: it has trials and nobody worked out its figures.
    let mut killed = sample::explained("killed");
    killed.figures.clear();
    store.begin(&killed, None).unwrap();
    store.begin(&sample::run("empty"), None).unwrap();
    assert_eq!(store.of_older_arithmetic().unwrap(), ["killed"]);
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "UPDATE run SET arithmetic = 0 WHERE id = 'a';
             UPDATE run SET arithmetic = 99 WHERE id = 'c'",
        )
        .unwrap();
    assert_eq!(store.of_older_arithmetic().unwrap(), ["a", "killed"]);
    let mut figures = runs[0].figures.clone();
    figures.truncate(1);
    figures[0].iops.median = 7.0;
    store.figure_anew("a", &figures).unwrap();
    store.figure_anew("killed", &figures).unwrap();
    assert_eq!(store.of_older_arithmetic().unwrap(), [""; 0]);
    let found = rows(&path);
    let of = |id: &str| found.iter().filter(|row| row["run"] == id).count();
    assert_eq!((of("a"), of("b"), of("killed")), (1, 2, 1));
    assert_eq!(found[0]["iops"], "7.0");
    assert!(store.figure_anew("nonsense", &[]).is_err());
}

#[test]
fn every_column_of_the_view_is_documented_with_its_type_and_no_other() {
    const PAGE: &str = include_str!("../../../../docs/reference/sql.md");
    let (_, table) = PAGE
        .split_once("| column | type | unit | meaning |")
        .unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let documented: Vec<(String, String)> = rows
        .flat_map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            let names = cells[0].split('`').skip(1).step_by(2);
            let kind = cells[1].trim().to_owned();
            names.map(move |name| (name.to_owned(), kind.clone()))
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    Store::open(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    let columns: Vec<(String, String)> = connection
        .prepare("SELECT name, type FROM pragma_table_info('stage_figures')")
        .and_then(|mut columns| {
            columns
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
        .unwrap();
    assert_eq!(documented, columns);
}
