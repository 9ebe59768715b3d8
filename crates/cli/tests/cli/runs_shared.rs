//! A store that may only be read: another user's, in a folder or on a filesystem that takes
//! nothing.

use crate::nobody::ForNobody;
use crate::support::{Case, run_tool};
use diskfacts_testkit::{Program, or_skip, require_tool};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Two runs in a store, copied to this path.
fn store_at(path: &Path) {
    let case = Case::new();
    for disk in ["sim:hdd-7200-1tb", "sim:ssd-sata"] {
        let stage = [
            "measure",
            disk,
            "--stage",
            "random-read-qd1",
            "--trials",
            "1",
        ];
        case.run(stage).expect_code(0);
    }
    fs::copy(case.store(), path).expect("a copy");
}

/// All that needs no writing works, what needs it says that it may not, and nothing is changed.
fn is_read_and_left(program: impl Fn(&[&str]) -> Program, store: &Path, writable: &Path) {
    let before = fs::read(store).expect("the store");
    program(&["runs"])
        .run()
        .expect_code(0)
        .expect_stdout("sim:ssd-sata");
    program(&["show"])
        .run()
        .expect_code(0)
        .expect_stdout("random-read-qd1");
    program(&["show", "last~1", "--explain"])
        .run()
        .expect_code(0);
    program(&["compare", "last~1", "last"]).run().expect_code(0);
    program(&["advise", "last~1", "last", "--weights", "seeks=1"])
        .run()
        .expect_code(0);
    program(&["runs", "figures"])
        .run()
        .expect_code(0)
        .expect_stdout("has 2 rows, of 2 runs");
    let file = writable.join("a.dfrun").display().to_string();
    program(&[
        "runs",
        "export",
        "last",
        "last~1",
        "--overwrite",
        "-o",
        &file,
    ])
    .run()
    .expect_code(0);
    program(&["show", "--stage", "random-read-qd1"])
        .run()
        .expect_code(0);
    for words in [
        &["runs", "delete", "last", "--yes"][..],
        &["runs", "rename", "last", "mine"],
        &["measure", "sim:ssd-sata", "--stage", "random-read-qd1"],
    ] {
        program(words)
            .run()
            .expect_code(1)
            .expect_stderr("--store PATH");
    }
    assert_eq!(fs::read(store).expect("the store"), before);
}

#[test]
fn another_users_store_is_read() {
    let others = or_skip!(ForNobody::new());
    let folder = others.scratch.join("roots");
    fs::create_dir(&folder).expect("a folder");
    let store = folder.join("runs.db");
    store_at(&store);
    let rights = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("rights");
    };
    let program = |words: &[&str]| others.with_store(&store, words);
    let own = others.scratch.join("own");
    for (of_folder, of_store) in [(0o755, 0o644), (0o555, 0o444), (0o755, 0o666)] {
        rights(&folder, of_folder);
        rights(&store, of_store);
        is_read_and_left(program, &store, &own);
    }
    // One of an older version, which nobody may bring to a newer one.
    let older = "DROP VIEW stage_figures; DROP TABLE stage; DROP INDEX run_summary; \
                 ALTER TABLE run DROP COLUMN name; ALTER TABLE run DROP COLUMN note; \
                 ALTER TABLE run DROP COLUMN tags; ALTER TABLE run DROP COLUMN arithmetic; \
                 ALTER TABLE run DROP COLUMN writer_namespace; \
                 ALTER TABLE trial DROP COLUMN latency_over_time; \
                 ALTER TABLE trial DROP COLUMN bursts; PRAGMA user_version = 1";
    or_skip!(require_tool("sqlite3", "sqlite3"));
    // The program is there: whatever it answers from here on is no reason to skip.
    let path = store.display().to_string();
    run_tool("sqlite3", "sqlite3", &[&path, older]).unwrap_or_else(|error| panic!("{error}"));
    for of_store in [0o644, 0o666] {
        rights(&store, of_store);
        is_read_and_left(program, &store, &own);
    }
    rights(&store, 0o600);
    program(&["runs"])
        .run()
        .expect_code(1)
        .expect_stderr("may you read");
}
