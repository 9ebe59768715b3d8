//! Runs that are kept: `runs`, `show`, and stores that cannot be.

use crate::support::{Case, diskfacts, one_stage, run_tool, trials};
use diskfacts_testkit::or_skip;
use std::fs;
use std::process::{Command, Stdio};

/// Two short runs; their ids, the later first.
fn two_runs(case: &Case) -> [String; 2] {
    let folder = case.folder("data");
    for stage in ["random-read-qd1", "sequential-read"] {
        case.diskfacts([
            "measure", "--time", "1s", "--size", "8MiB", "--stage", stage,
        ])
        .arg(&folder)
        .run()
        .expect_code(0);
    }
    let listed = case.run(["runs"]);
    listed.expect_code(0);
    let ids: Vec<String> = listed
        .stdout
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect();
    ids.try_into().expect("two runs")
}

#[test]
fn runs_are_listed_latest_first_and_shown_by_any_name() {
    let case = Case::new();
    let [later, earlier] = two_runs(&case);
    // The moment to the second; what follows tells two of one second apart.
    assert!(later[..15] >= earlier[..15], "{later} and {earlier}");
    let id = |name: &str| {
        let shown = case.run(["show", name, "--json"]);
        shown.expect_code(0);
        let document: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
        document["run"]["id"].as_str().expect("an id").to_owned()
    };
    assert_eq!(id("last"), later);
    assert_eq!(id("last~1"), earlier);
    assert_eq!(id(&earlier), earlier);
    assert_eq!(id(&earlier[..earlier.len() - 1]), earlier);
    case.run(["runs", "--limit", "1"])
        .expect_code(0)
        .expect_stdout(&later);
    let listed = case.run(["runs", "--json"]);
    let listed: serde_json::Value =
        serde_json::from_str(&listed.expect_code(0).stdout).expect("one document");
    let runs = listed["runs"].as_array().expect("a list");
    assert_eq!([&runs[0]["id"], &runs[1]["id"]], [&later, &earlier]);
    for run in runs {
        assert_eq!(run["status"], "complete");
        assert!(run["trials"].as_u64() > Some(0), "{run}");
        for key in ["started", "ended", "tool_version", "target", "plan"] {
            assert!(run[key].is_string(), "{key} of {run}");
        }
    }
    let shown = case.run(["show"]);
    shown
        .expect_code(0)
        .expect_stdout(&later)
        .expect_stdout("sequential-read");
    // What it says to type next does what it says.
    let next = format!("show {later} --store");
    shown.expect_stdout(&next);

    // The beginning of both.
    case.run(["show", "2"])
        .expect_code(2)
        .expect_stderr("beginning of several runs")
        .expect_stderr(&later)
        .expect_stderr(&earlier);
    for unknown in ["zzz", "last~2", "last~x", ""] {
        case.run(["show", unknown])
            .expect_code(2)
            .expect_stderr(&later);
    }
}

#[test]
fn runs_are_listed_by_target_moment_and_host_with_how_many_there_are() {
    let case = Case::new();
    let [later, earlier] = two_runs(&case);
    case.one_trial();
    let folder = case.path("data");
    let above = case.path("");
    // The name of another folder that begins as this one's.
    let beside = case.folder("dat");
    let listed = |words: &[&str]| {
        let listed = case.diskfacts(["runs", "--json"]).args(words).run();
        let document: serde_json::Value =
            serde_json::from_str(&listed.expect_code(0).stdout).expect("one document");
        assert_eq!(document["stored"], 3, "{words:?}");
        let runs = document["runs"].as_array().expect("a list");
        let id = |run: &serde_json::Value| run["id"].as_str().expect("an id").to_owned();
        runs.iter().map(id).collect::<Vec<_>>()
    };
    let both = [later.clone(), earlier.clone()];
    for target in [&folder, &above] {
        assert_eq!(listed(&["--target", &target.to_string_lossy()]), both);
    }
    assert!(listed(&["--target", &beside.to_string_lossy()]).is_empty());
    let simulated = listed(&["--target", "sim:ssd-sata"]);
    assert!(simulated.len() == 1 && !both.contains(&simulated[0]));
    assert_eq!(listed(&["--since", "1w"]).len(), 3);
    assert_eq!(listed(&["--since", "9999-01-01T00:00:00Z"]).len(), 0);
    let host = case.last()["machine"]["host"].clone();
    let host = host.as_str().expect("a name");
    assert_eq!(listed(&["--host", host]).len(), 3);
    assert!(listed(&["--host", "no such host"]).is_empty());
    // Together all have to hold, and the limit counts those that match.
    let target = folder.to_string_lossy();
    let one = ["--target", &*target, "--since", "1w", "--limit", "1"];
    assert_eq!(listed(&one), [later]);
    case.diskfacts(["runs"])
        .args(one)
        .run()
        .expect_code(0)
        .expect_stdout("\n1 of 3 stored runs.\n");
    case.run(["runs", "--host", "no such host"])
        .expect_code(0)
        .expect_stdout("None of the 3 stored runs matches.");
    case.run(["runs", "--since", "yesterday"])
        .expect_code(2)
        .expect_stderr("2026-11-21");
}

#[test]
fn what_show_prints_is_what_measure_printed() {
    let case = Case::new();
    let folder = case.folder("data");
    let measured = case
        .diskfacts(["measure", "--time", "2s", "--size", "8MiB"])
        .arg(folder)
        .run();
    measured.expect_code(0);
    let shown = case.run(["show"]);
    shown.expect_code(0);
    assert_eq!(measured.stdout, shown.stdout);
}

#[test]
fn a_run_is_deleted_when_somebody_is_sure_and_only_whole_calls_count() {
    let case = Case::new();
    let [later, earlier] = two_runs(&case);
    let before = fs::read(case.store()).expect("the store");
    let unchanged = || fs::read(case.store()).expect("the store") == before;
    // Nobody can be asked here, and what would go is named.
    let refused = case.run(["runs", "delete", "last~1"]);
    refused
        .expect_code(2)
        .expect_stderr("--yes")
        .expect_stderr(&earlier)
        .expect_stderr("random-read-qd1");
    assert!(!refused.stderr.contains(&later), "{refused}");
    assert!(unchanged());
    // One name of two that no run has.
    case.run(["runs", "delete", "last", "zzz", "--yes"])
        .expect_code(2)
        .expect_stderr("no run 'zzz'");
    // A list may be narrowed, what goes is named; where the store is may be said before or behind.
    case.run(["runs", "--limit", "1", "delete", "last"])
        .expect_code(2)
        .expect_stderr("by name");
    let before = diskfacts(["runs", "--store"]).arg(case.store());
    before
        .args(["delete", "last"])
        .run()
        .expect_code(2)
        .expect_stderr("nothing was deleted");
    case.run(["runs", "delete"])
        .expect_code(2)
        .expect_stderr("Name a stored run");
    assert!(unchanged());
    let deleted = case.run(["runs", "delete", "last~1", &earlier, "--yes"]);
    deleted
        .expect_code(0)
        .expect_stdout("Deleted:")
        .expect_stdout(&earlier)
        .expect_stdout("random-read-qd1");
    assert!(!deleted.stdout.contains(&later), "{deleted}");
    case.run(["show", &earlier]).expect_code(2);
    assert_eq!(case.last()["run"]["id"], *later);
}

#[test]
fn a_run_that_goes_on_is_not_deleted_and_one_that_was_killed_is() {
    let case = Case::new();
    let folder = case.folder("data");
    let plan = case.text_file(
        "plan.toml",
        &one_stage("operation = \"read\"\nspan = \"4MiB\"\ntime = \"60s\""),
    );
    let call = case.diskfacts(["measure", "--size", "8MiB", "--plan"]);
    let running = call.args([&plan, &folder]).start();
    let is_stored = || case.run(["runs"]).stdout.contains("running");
    running.wait_until("the run is stored", is_stored);
    for sure in [&["--yes"][..], &["--yes", "--unfinished"]] {
        let call = case.diskfacts(["runs", "delete", "last"]).args(sure);
        call.run().expect_code(2).expect_stderr("still goes on");
    }
    running.kill();
    running.finish();
    // As a machine with the same store sees it: what it has of processes says nothing.
    let moved = |host: &str| {
        let sql = format!("UPDATE run SET host = '{host}'");
        let store = case.store();
        run_tool("sqlite3", "sqlite3", &[&store.to_string_lossy(), &sql])
    };
    let host = case.last()["machine"]["host"].clone();
    let host = host.as_str().expect("a name");
    or_skip!(moved("elsewhere"));
    case.run(["runs"])
        .expect_code(0)
        .expect_stdout("  unfinished  ");
    case.run(["runs", "delete", "last", "--yes"])
        .expect_code(2)
        .expect_stderr("begun on elsewhere")
        .expect_stderr("--unfinished");
    or_skip!(moved(host));
    case.run(["runs", "delete", "last", "--yes"])
        .expect_code(0)
        .expect_stdout("killed");
    case.run(["show"]).expect_code(2);
}

#[test]
fn an_empty_store_says_how_to_fill_it() {
    let case = Case::new();
    for words in [&["runs"][..], &["show"]] {
        case.run(words)
            .expect_code(1)
            .expect_stderr("no run is stored yet")
            .expect_stderr("measure");
    }
    // The default place, without --store, which is there from the first run on.
    diskfacts(["runs"])
        .run()
        .expect_code(0)
        .expect_stdout("No run is stored yet");
    diskfacts(["show"])
        .run()
        .expect_code(2)
        .expect_stderr("diskfacts measure .");
}

#[test]
fn the_default_store_is_in_the_users_data_folder() {
    let case = Case::new();
    let folder = case.folder("data");
    let program = diskfacts(["measure", "--time", "1s", "--size", "8MiB"])
        .args(["--stage", "random-read-qd1"])
        .arg(folder);
    let store = program.home().join("data/diskfacts/runs.db");
    program
        .run()
        .expect_code(0)
        .expect_stdout(&store.to_string_lossy());
    assert!(store.exists());
    program
        .without_args()
        .arg("show")
        .run()
        .expect_code(0)
        .expect_stdout("random-read-qd1");
}

#[test]
fn what_is_no_store_is_left_as_it_is() {
    let case = Case::new();
    let text = case.text_file("notes.txt", &"not a database\n".repeat(100));
    let folder = case.folder("data");
    let before = fs::read(&text).expect("the file");
    for words in [
        &["runs"][..],
        &["show"],
        &["measure", "--time", "1s", "--size", "8MiB", "data"],
    ] {
        diskfacts(words)
            .current_dir(case.path(""))
            .arg("--store")
            .arg(&text)
            .run()
            .expect_code(1)
            .expect_stderr("notes.txt is not an SQLite database")
            .expect_stderr("--store PATH");
        diskfacts(words)
            .current_dir(case.path(""))
            .arg("--store")
            .arg(&folder)
            .run()
            .expect_code(1)
            .expect_stderr("is a folder, not a file")
            .expect_stderr("--store");
    }
    assert_eq!(fs::read(&text).expect("the file"), before);
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
}

#[test]
fn two_measurements_at_once_are_both_stored_whole() {
    let case = Case::new();
    let folder = case.folder("data");
    let plan = case.counted_survey();
    let start = || {
        case.diskfacts(["measure", "--size", "8MiB", "--plan"])
            .args([&plan, &folder])
            .start()
    };
    let both = [start(), start()];
    for running in both {
        running.finish().expect_code(0);
    }
    for name in ["last", "last~1"] {
        let shown = case.run(["show", name, "--json"]);
        let document: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
        assert_eq!(document["run"]["status"], "complete");
        let stages = document["plan"]["stages"].as_array().expect("stages");
        assert_eq!(trials(&document).len(), stages.len());
        assert_eq!(stages.len(), 12);
    }
}

#[test]
fn the_last_run_is_none_that_somebody_is_making_unless_there_is_no_other() {
    let case = Case::new();
    let folder = case.folder("data");
    let plan = case.text_file(
        "plan.toml",
        &one_stage("operation = \"read\"\nspan = \"4MiB\"\ntime = \"60s\""),
    );
    let start = || {
        let call = case.diskfacts(["measure", "--size", "8MiB", "--plan"]);
        let running = call.args([&plan, &folder]).start();
        let is_stored = || case.run(["runs"]).stdout.contains("running");
        running.wait_until("the run is stored", is_stored);
        running
    };
    let status = || {
        let shown = case.run(["show", "--json"]);
        let document: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
        document["run"]["status"]
            .as_str()
            .expect("a word")
            .to_owned()
    };
    let first = start();
    assert_eq!(status(), "running");
    first.interrupt();
    first.finish().expect_code(130);
    assert_eq!(status(), "interrupted");
    let second = start();
    assert_eq!(status(), "interrupted");
    second.interrupt();
    second.finish().expect_code(130);
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_a_full_disk_is_one() {
    let case = Case::new();
    two_runs(&case);
    let mut child = Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .args(["show", "--json", "--store"])
        .arg(case.store())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starting diskfacts");
    // As `head` does after its first line.
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");

    let full = fs::File::options().write(true).open("/dev/full");
    let Ok(full) = full else {
        diskfacts_testkit::skip("/dev/full: mknod -m 666 /dev/full c 1 7");
        return;
    };
    let output = Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .args(["show", "--store"])
        .arg(case.store())
        .stdout(full)
        .output()
        .expect("running diskfacts");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("writing to standard output failed"), "{said}");
}
