//! Listing, naming and deleting runs, and those that cannot be understood.

use crate::sample;
use diskfacts_record::Status;
use diskfacts_store::{Error, Store, Writer};
use rusqlite::Connection;
use std::path::Path;

const IDS: [&str; 4] = [
    "20261120-101500-00aa",
    "20261121-024150-7f3a",
    "20261121-024150-7f3b",
    "20261121-030000-0001",
];

fn store_of(folder: &Path, ids: &[&str]) -> Store {
    let mut store = Store::open(&folder.join("runs.db")).unwrap();
    for id in ids {
        store.begin(&sample::run(id), None).unwrap();
    }
    store
}

/// Changes what is stored behind the store's back.
fn tamper(store: &Store, sql: &str) {
    let changed = Connection::open(store.path())
        .unwrap()
        .execute(sql, [])
        .unwrap();
    assert!(changed > 0, "{sql} changed nothing");
}

#[test]
fn a_run_is_named_by_its_id_its_beginning_or_how_late_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(folder.path(), &IDS);
    for (selector, id) in [
        (IDS[1], IDS[1]),
        ("20261120", IDS[0]),
        ("20261121-03", IDS[3]),
        (" 20261121-03 ", IDS[3]),
        ("last", IDS[3]),
        ("last~1", IDS[2]),
        ("last~3", IDS[0]),
    ] {
        assert_eq!(store.load(selector).unwrap().run.id, id, "{selector}");
    }
}

#[test]
fn a_whole_id_is_meant_even_when_it_begins_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(folder.path(), &["a", "ab"]);
    assert_eq!(store.load("a").unwrap().run.id, "a");
}

#[test]
fn an_ambiguous_beginning_lists_the_runs_that_begin_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(folder.path(), &IDS);
    let error = store.load("20261121-024150").unwrap_err();
    assert!(matches!(error, Error::AmbiguousRun { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "'20261121-024150' is the beginning of several runs:\n  \
           20261121-024150-7f3b  survey of /srv\n  \
           20261121-024150-7f3a  survey of /srv\n\
         Give more of the id; 'diskfacts runs' lists all"
    );
}

#[test]
fn an_unknown_run_lists_the_latest_and_what_to_type() {
    let folder = tempfile::tempdir().unwrap();
    let ids: Vec<String> = (10..18).map(|n| format!("run-{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let store = store_of(folder.path(), &ids);
    // LIKE patterns would find them all.
    for selector in [
        "nonsense",
        "",
        "last~8",
        "last~4294967296",
        "~1",
        "%",
        "run-1_",
        "RUN-10",
    ] {
        let error = store.load(selector).unwrap_err();
        assert!(
            matches!(error, Error::UnknownRun { .. }),
            "{selector}: {error:?}"
        );
        let text = error.to_string();
        for part in [
            &format!("no run '{selector}'"),
            "run-17  survey of /srv",
            "and 3 more",
            "'diskfacts runs'",
            "last~1",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

#[test]
fn an_empty_store_says_how_to_make_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(folder.path(), &[]);
    assert_eq!(store.runs(10).unwrap(), []);
    for selector in ["last", "2026"] {
        let error = store.load(selector).unwrap_err();
        assert!(matches!(error, Error::Empty { .. }), "{error:?}");
        assert!(error.to_string().contains("diskfacts measure"), "{error}");
    }
}

#[test]
fn the_list_tells_of_each_run_latest_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_of(folder.path(), &IDS[..2]);
    let writer = Writer {
        pid: 4242,
        boot_id: "0d4ca65c".into(),
        start_ticks: 987_654,
        namespace: Some(0xEFFF_FFFC),
    };
    let mut run = sample::run(IDS[2]);
    store.begin(&run, Some(&writer)).unwrap();
    run.trials = vec![sample::trial(1), sample::trial(2)];
    sample::complete(&mut run);
    store.finish(&run).unwrap();
    let runs = store.runs(2).unwrap();
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, [IDS[2], IDS[1]]);
    let first = &runs[0];
    assert_eq!(first.status, Some(Status::Complete));
    assert_eq!(first.ended, run.run.ended);
    assert_eq!(first.writer, Some(writer));
    assert_eq!((first.trials, first.plan.as_str()), (2, "survey"));
    assert_eq!(
        (first.target.as_str(), first.host.as_deref()),
        ("/srv", Some("web1"))
    );
    assert_eq!(runs[1].status, Some(Status::Running));
    assert_eq!((runs[1].trials, &runs[1].writer), (0, &None));
}

#[test]
fn runs_that_are_deleted_together_go_all_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_of(folder.path(), &IDS);
    store.add_trial(IDS[0], &sample::trial(1)).unwrap();
    let all = || store_ids(folder.path());
    let error = store.delete(&[IDS[0], "nonsense"], |_| false).unwrap_err();
    assert!(matches!(error, Error::UnknownRun { .. }), "{error:?}");
    assert_eq!(all().len(), 4);
    // No beginning of an id stands for a run here.
    let error = store.delete(&["20261120"], |_| false).unwrap_err();
    assert!(matches!(error, Error::UnknownRun { .. }), "{error:?}");
    let error = store.delete(&[IDS[0], IDS[2]], |run| run.id == IDS[2]);
    assert!(matches!(error, Err(Error::RunGoesOn { .. })), "{error:?}");
    assert_eq!(all().len(), 4);
    let (run, stages) = store.summary(IDS[0]).unwrap();
    assert_eq!((run.id.as_str(), run.trials), (IDS[0], 1));
    assert_eq!(stages, [sample::trial(1).stage]);
    store.delete(&[IDS[0], IDS[2]], |_| false).unwrap();
    assert_eq!(all(), [IDS[3], IDS[1]]);
    let trials: i64 = Connection::open(store.path())
        .unwrap()
        .query_row("SELECT count(*) FROM trial", [], |row| row.get(0))
        .unwrap();
    assert_eq!(trials, 0);
}

/// The ids in the store, as another process sees it, latest first.
fn store_ids(folder: &Path) -> Vec<String> {
    let store = Store::open_existing(&folder.join("runs.db")).unwrap();
    let runs = store.runs(10).unwrap().into_iter();
    runs.map(|run| run.id).collect()
}

#[test]
fn a_run_of_a_newer_schema_is_refused_and_the_others_still_load() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(folder.path(), &IDS);
    tamper(
        &store,
        &format!(
            "UPDATE run SET schema = 7, status = 'dreaming', document = '?' WHERE id = '{}'",
            IDS[3]
        ),
    );
    let error = store.load("last").unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the run {} has schema version 7, and this diskfacts knows versions up to 1. Use the \
             newer diskfacts that made it",
            IDS[3]
        )
    );
    assert_eq!(store.runs(1).unwrap()[0].status, None);
    store.load("last~1").unwrap();
}

#[test]
fn a_damaged_run_is_named_with_the_part_that_cannot_be_read() {
    for (sql, part) in [
        (
            "UPDATE trial SET histogram_read = x'0107' WHERE position = 2",
            "trial 2",
        ),
        (
            "UPDATE trial SET document = '{}' WHERE position = 3",
            "trial 3",
        ),
        ("UPDATE run SET document = 'nonsense'", "the description"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store_of(folder.path(), &IDS[..1]);
        for order in 1..=3 {
            store.add_trial(IDS[0], &sample::trial(order)).unwrap();
        }
        tamper(&store, sql);
        let error = store.load("last").unwrap_err();
        assert!(matches!(error, Error::DamagedRun { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(part) && text.contains(IDS[0]), "{text}");
        assert!(std::error::Error::source(&error).is_some());
    }
}
