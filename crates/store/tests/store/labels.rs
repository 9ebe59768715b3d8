//! What people call runs, and runs that are found by it.

use crate::sample;
use diskfacts_record::{Labels, Status};
use diskfacts_store::{Error, RunSummary, Store};
use std::path::Path;

fn named(name: &str) -> Labels {
    Labels {
        name: Some(name.into()),
        ..Labels::default()
    }
}

/// Runs with these ids and names.
fn store_of(folder: &Path, runs: &[(&str, &str)]) -> Store {
    let mut store = Store::open(&folder.join("runs.db")).unwrap();
    for (id, name) in runs {
        let mut run = sample::run(id);
        if !name.is_empty() {
            run.run.labels = named(name);
        }
        store.begin(&run, None).unwrap();
    }
    store
}

const RUNS: [(&str, &str); 5] = [
    ("20261120-010000-00000001", "nightly"),
    ("20261121-010000-00000002", "nightly"),
    ("20261121-120000-00000003", "before-fw"),
    ("20261122-010000-00000004", "nightly"),
    ("20261122-120000-00000005", ""),
];

#[test]
fn a_name_is_its_newest_run_and_counts_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(folder.path(), &RUNS);
    for (selector, number) in [
        ("nightly", 3),
        ("nightly~0", 3),
        ("nightly~1", 1),
        ("nightly~2", 0),
        (" before-fw ", 2),
        ("last", 4),
        ("last~1", 3),
        ("20261121-12", 2),
    ] {
        let id = store.id_of(selector, |_| false).unwrap();
        assert_eq!(id, RUNS[number].0, "{selector}");
    }
}

#[test]
fn what_somebody_makes_is_passed_over_unless_it_is_named_or_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(folder.path(), &RUNS);
    let made = |ids: &'static [usize]| {
        move |run: &RunSummary| ids.iter().any(|number| RUNS[*number].0 == run.id)
    };
    for (selector, is_made, number) in [
        ("last", made(&[4]), 3),
        ("last~1", made(&[4]), 2),
        ("last~1", made(&[3, 4]), 1),
        ("nightly", made(&[3]), 1),
        ("nightly~1", made(&[3]), 0),
        ("nightly~1", made(&[1]), 0),
        // Nothing else is called so.
        ("before-fw", made(&[2]), 2),
        ("20261122-12", made(&[4]), 4),
        ("last", made(&[0, 1, 2, 3, 4]), 4),
        ("last~1", made(&[0, 1, 2, 3, 4]), 3),
    ] {
        let id = store.id_of(selector, is_made).unwrap();
        assert_eq!(id, RUNS[number].0, "{selector}");
    }
    // One has ended, and there is none before it: a running one does not stand in.
    let error = store.id_of("last~1", made(&[1, 2, 3, 4])).unwrap_err();
    assert!(matches!(error, Error::UnknownRun { .. }), "{error:?}");
}

#[test]
fn an_unknown_name_says_which_is_near() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(folder.path(), &RUNS);
    for (selector, near) in [
        ("nigthly", Some("nightly")),
        ("nigthly~2", Some("nightly~2")),
        ("nightly~3", Some("nightly~2")),
        ("nightly~x", Some("nightly~2")),
        ("before", Some("before-fw")),
        ("lst~1", Some("last~1")),
        ("last~9", Some("last~4")),
        ("20261121-13", Some("20261121-120000-00000003")),
        ("zzz", None),
        ("", None),
    ] {
        let error = store.id_of(selector, |_| false).unwrap_err().to_string();
        match near {
            Some(near) => assert!(
                error.contains(&format!("; did you mean '{near}'?")),
                "{selector}: {error}"
            ),
            None => assert!(!error.contains("did you mean"), "{selector}: {error}"),
        }
        assert!(error.contains("20261122-010000-00000004  nightly: survey of /srv"));
    }
}

#[test]
fn labels_are_kept_beside_the_document_that_the_end_of_a_run_writes_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_of(folder.path(), &[]);
    let mut run = sample::run("a");
    run.run.labels = Labels {
        name: Some("nightly".into()),
        note: Some("after the firmware:\nslower".into()),
        tags: ["ci".into(), "fw-7".into()].into(),
    };
    store.begin(&run, None).unwrap();
    assert_eq!(store.load("nightly").unwrap(), run);
    store
        .relabel(&["a"], |labels| {
            labels.name = Some("weekly".into());
            labels.note = None;
            labels.tags.remove("ci");
            labels.tags.insert("2026".into());
        })
        .unwrap();
    // Whoever makes it knows nothing of that.
    sample::complete(&mut run);
    store.finish(&run).unwrap();
    run.run.labels = Labels {
        name: Some("weekly".into()),
        note: None,
        tags: ["2026".into(), "fw-7".into()].into(),
    };
    assert_eq!(store.load("weekly").unwrap(), run);
    let summary = &store.runs(1).unwrap()[0];
    assert_eq!(summary.labels, run.run.labels);
    assert_eq!(summary.status, Some(Status::Complete));
    assert!(store.load("nightly").is_err());
    let (names, tags) = store.names_and_tags().unwrap();
    assert_eq!(
        (names, tags),
        (vec!["weekly".into()], vec!["2026".into(), "fw-7".into()])
    );
}

#[test]
fn of_several_runs_all_are_renamed_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_of(folder.path(), &RUNS);
    let change = |labels: &mut Labels| labels.name = Some("x".into());
    let error = store.relabel(&[RUNS[0].0, "nonsense"], change).unwrap_err();
    assert!(matches!(error, Error::UnknownRun { .. }), "{error:?}");
    assert!(store.load("x").is_err());
    store.relabel(&[RUNS[0].0, RUNS[1].0], change).unwrap();
    assert_eq!(store.load("x~1").unwrap().run.id, RUNS[0].0);
}
