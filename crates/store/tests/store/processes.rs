//! Several processes at once, and processes that are killed.

use crate::{child, sample};
use diskfacts_record::Status;
use diskfacts_store::Store;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Child;

const TRIALS: u32 = 12;

/// Makes one whole run in the store, which may not exist yet.
fn one_run(path: &Path, id: &str) {
    let mut store = Store::open(path).unwrap();
    let mut run = sample::run(id);
    store.begin(&run, None).unwrap();
    for order in 1..=TRIALS {
        let trial = sample::trial(order);
        store.add_trial(id, &trial).unwrap();
        run.trials.push(trial);
    }
    sample::complete(&mut run);
    store.finish(&run).unwrap();
}

/// What the child says, line by line, without what the test harness says.
fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(|line| line.unwrap())
        .filter(|line| line.starts_with("child: "))
}

fn assert_sound(path: &Path) {
    let verdict: String = rusqlite::Connection::open(path)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
}

#[test]
fn processes_and_threads_that_write_at_once_lose_nothing() {
    const NAME: &str = "processes::processes_and_threads_that_write_at_once_lose_nothing";
    if let Some(path) = child::store() {
        eprintln!("child: ready");
        // Go when the parent says so.
        std::io::stdin().read_line(&mut String::new()).unwrap();
        return one_run(&path, &format!("process-{}", std::process::id()));
    }
    let folder = tempfile::tempdir().unwrap();
    // No store yet: all of them race to create it, too.
    let path = folder.path().join("runs.db");
    let mut children: Vec<Child> = (0..3)
        .map(|_| child::command(NAME, &path).spawn().unwrap())
        .collect();
    for child in &mut children {
        assert!(lines(child).next().is_some(), "the child did not come up");
    }
    let mut expected: BTreeSet<String> = (0..3).map(|n| format!("thread-{n}")).collect();
    for child in &mut children {
        expected.insert(format!("process-{}", child.id()));
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    std::thread::scope(|scope| {
        for n in 0..3 {
            let path = &path;
            scope.spawn(move || one_run(path, &format!("thread-{n}")));
        }
    });
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }

    assert_sound(&path);
    let store = Store::open_existing(&path).unwrap();
    let found: BTreeSet<String> = store.runs(100).unwrap().into_iter().map(|r| r.id).collect();
    assert_eq!(found, expected);
    let all: Vec<_> = (1..=TRIALS).map(sample::trial).collect();
    for id in expected {
        let run = store.load(&id).unwrap();
        assert_eq!(run.run.status, Status::Complete, "{id}");
        assert_eq!(run.trials, all, "{id}");
    }
}

#[test]
fn a_killed_process_leaves_a_sound_store_with_all_that_was_stored() {
    const NAME: &str = "processes::a_killed_process_leaves_a_sound_store_with_all_that_was_stored";
    if let Some(path) = child::store() {
        let mut store = Store::open(&path).unwrap();
        let id = format!("process-{}", std::process::id());
        store.begin(&sample::run(&id), None).unwrap();
        for order in 1.. {
            store.add_trial(&id, &sample::trial(order)).unwrap();
            // Panics, and so ends, should the parent be gone.
            eprintln!("child: {order}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    for kill_after in [1, 2, 3, 5, 8, 13, 21, 34] {
        let mut child = child::command(NAME, &path).spawn().unwrap();
        let id = format!("process-{}", child.id());
        let mut said = lines(&mut child);
        for order in 1..=kill_after {
            assert_eq!(said.next().as_deref(), Some(&*format!("child: {order}")));
        }
        // It is busy with the next one.
        child.kill().unwrap();
        child.wait().unwrap();

        let mut store = Store::open_existing(&path).unwrap();
        assert_sound(&path);
        let run = store.load(&id).unwrap();
        assert_eq!(run.run.status, Status::Running);
        assert!(
            run.trials.len() >= kill_after,
            "{} of {kill_after}",
            run.trials.len()
        );
        for (order, trial) in (1..).zip(&run.trials) {
            assert_eq!(trial, &sample::trial(order));
        }
        // And the store can be written as before.
        store
            .begin(&sample::run(&format!("after-{kill_after}")), None)
            .unwrap();
    }
    let runs = Store::open_existing(&path).unwrap().runs(100).unwrap();
    assert_eq!(runs.len(), 16);
}
