//! Whole runs from one store to another, in files and pipes.

use crate::support::{Case, diskfacts, one_stage};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Two runs of the same stage on different disks, the later called `fast`.
fn two_runs(case: &Case) {
    for (disk, name) in [("sim:hdd-7200-1tb", "slow"), ("sim:ssd-sata", "fast")] {
        let stage = [
            "measure",
            disk,
            "--stage",
            "random-read-qd1",
            "--trials",
            "2",
        ];
        let labels = ["--name", name, "--tag", "ci", "--note", "as bought"];
        let call = case.diskfacts(stage).args(labels);
        call.run().expect_code(0);
    }
}

/// The document of a run.
fn document(case: &Case, run: &str) -> Value {
    let shown = case.run(["show", run, "--json"]);
    shown.expect_code(0);
    serde_json::from_str(&shown.stdout).expect("JSON")
}

fn export(case: &Case, runs: &[&str], file: &Path) {
    let call = case.diskfacts(["runs", "export"]).args(runs).arg("-o");
    call.arg(file).run().expect_code(0);
}

/// A case in which two runs are stored, and a file with both.
fn exported() -> (Case, PathBuf) {
    let case = Case::new();
    two_runs(&case);
    let file = case.path("runs.dfrun");
    export(&case, &["slow", "fast"], &file);
    (case, file)
}

#[test]
fn a_run_is_on_another_machine_what_it_was_to_the_last_percentile() {
    let (case, file) = exported();
    let there = Case::new();
    let import = |said: &str| {
        let call = there.diskfacts(["runs", "import"]).arg(&file);
        call.run().expect_code(0).expect_stdout(said);
    };
    import("stored");
    assert!(document(&there, "fast") == document(&case, "fast"));
    assert!(document(&there, "slow") == document(&case, "slow"));
    let labels = document(&there, "last")["run"]["labels"].clone();
    assert_eq!(labels["name"], "fast");
    // Percentiles over several trials are from histograms, which are in no document.
    let figures = document(&there, "slow")["figures"][0].clone();
    assert!(figures["latency_ns"]["p50"].is_u64(), "{figures}");
    import("already there: 2");
    there
        .run(["runs"])
        .expect_code(0)
        .expect_stdout("fast")
        .expect_stdout("slow");
    // What came, goes on as it came.
    let again = there.path("again.dfrun");
    export(&there, &["slow", "fast"], &again);
    assert_eq!(
        fs::read(&again).expect("a file"),
        fs::read(&file).expect("a file")
    );
}

#[test]
fn files_are_shown_compared_and_advised_on_as_they_are() {
    let (case, both) = exported();
    let slow = case.path("slow.dfrun");
    export(&case, &["slow"], &slow);
    let stored = case.run(["show", "slow", "--explain"]);
    let elsewhere = Case::new();
    let shown = elsewhere.diskfacts(["show", "--explain"]).arg(&slow).run();
    shown.expect_code(0).expect_stdout("Name      slow");
    let facts = |text: &str| -> Vec<String> {
        let lines = text.lines();
        let lines =
            lines.filter(|line| !line.contains("diskfacts show") && !line.contains("tored "));
        lines.map(str::to_owned).collect()
    };
    assert!(facts(&shown.stdout).len() > 20);
    let own = facts(&shown.stdout);
    let missing: Vec<String> = facts(&stored.stdout)
        .into_iter()
        .filter(|line| !own.contains(line) && !line.contains("runs.db"))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let (slow, both) = (slow.display().to_string(), both.display().to_string());
    elsewhere
        .run(["show", &both])
        .expect_code(2)
        .expect_stderr("has 2 runs")
        .expect_stderr("slow: survey of sim:hdd-7200-1tb");
    case.run(["compare", &slow, "fast"])
        .expect_code(0)
        .expect_stdout("random-read-qd1");
    elsewhere
        .run(["advise", &both, "--weights", "seeks=1"])
        .expect_code(0)
        .expect_stdout("ssd-sata");
    elsewhere
        .run(["import", "--json", &both])
        .expect_code(2)
        .expect_stderr("`diskfacts import");
    assert!(!elsewhere.store().exists(), "nothing is stored by looking");
}

#[test]
fn whole_runs_are_imported_without_the_word_runs_too() {
    let (case, file) = exported();
    let there = Case::new();
    let import = there.diskfacts(["import"]).arg(&file);
    import.run().expect_code(0).expect_stdout("Stored in");
    assert!(document(&there, "fast") == document(&case, "fast"));
    // They keep what they are called, and are of no other program.
    let named = there.diskfacts(["import", "--name", "other"]).arg(&file);
    named.run().expect_code(2).expect_stderr("keep their names");
    let text = there.text_file("other.txt", "102 MB/s\n");
    let both = there.diskfacts(["import"]).arg(&file).arg(text);
    both.run()
        .expect_code(2)
        .expect_stderr("come by themselves");
}

#[test]
fn runs_go_through_a_pipe() {
    let (case, file) = exported();
    let there = Case::new();
    let mut source = Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .args(["runs", "export", "slow", "fast", "-o", "-", "--store"])
        .arg(case.store())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starting diskfacts");
    let taken = Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .args(["runs", "import", "-", "--store"])
        .arg(there.store())
        .stdin(source.stdout.take().expect("a pipe"))
        .output()
        .expect("running diskfacts");
    assert!(source.wait().expect("its end").success() && taken.status.success());
    assert!(document(&there, "fast") == document(&case, "fast"));
    let printed = case.run(["runs", "export", "slow", "-o", "/dev/stdout"]);
    printed.expect_code(2).expect_stderr("exists already");
    assert!(file.exists());
}

#[test]
fn whoever_sends_runs_slowly_holds_up_nobody_who_measures() {
    let (_case, file) = exported();
    let there = Case::new();
    let mut import = Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .args(["runs", "import", "-", "--store"])
        .arg(there.store())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut sent = import.stdin.take().expect("a pipe");
    // The first run is whole, and more may come.
    sent.write_all(&fs::read(&file).expect("the file"))
        .expect("it is taken");
    // It has read all that was sent once nothing is in the pipe.
    while rustix::io::ioctl_fionread(&sent).expect("a pipe") > 0 {}
    let measured = there.run(["measure", "sim:ssd-sata", "--stage", "random-read-qd1"]);
    measured.expect_code(0);
    drop(sent);
    assert!(import.wait().expect("its end").success());
    assert_eq!(
        there
            .run(["runs", "--json"])
            .expect_code(0)
            .stdout
            .matches("\"id\"")
            .count(),
        3
    );
}

#[test]
fn a_file_that_exists_is_replaced_only_when_that_was_asked_for() {
    let (case, file) = exported();
    let before = fs::read(&file).expect("the file");
    let call = |words: &[&str]| {
        let call = case.diskfacts(["runs", "export", "slow", "-o"]).arg(&file);
        call.args(words).run()
    };
    call(&[])
        .expect_code(2)
        .expect_stderr("exists already, and was left as it is; --overwrite");
    assert_eq!(fs::read(&file).expect("the file"), before);
    call(&["--overwrite"]).expect_code(0);
    assert_ne!(fs::read(&file).expect("the file"), before);
    let folder = case.folder("folder");
    let export = case.diskfacts(["runs", "export", "slow", "--overwrite", "-o"]);
    export
        .arg(&folder)
        .run()
        .expect_code(2)
        .expect_stderr("is a folder; name a file in it");
    let export = case.diskfacts(["runs", "export", "slow", "-o"]);
    export
        .arg(case.path("absent/a.dfrun"))
        .run()
        .expect_code(1)
        .expect_stderr("there is no such folder");
    case.diskfacts(["runs", "export", "zzz", "-o"])
        .arg(case.path("none.dfrun"))
        .run()
        .expect_code(2)
        .expect_stderr("no run 'zzz'");
    // Nothing of ours lies about.
    let left = fs::read_dir(case.path("")).expect("the folder");
    let left: Vec<_> = left
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    let ours = left
        .iter()
        .filter(|name| name.to_string_lossy().contains("dfrun"));
    assert_eq!(ours.count(), 1, "{left:?}");
}

#[test]
fn what_cannot_be_taken_is_told_what_it_is_and_nothing_is_stored() {
    let (case, file) = exported();
    let there = Case::new();
    let bytes = fs::read(&file).expect("the file");
    let half = there.path("half.dfrun");
    fs::write(&half, &bytes[..bytes.len() / 2]).expect("a file");
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 0xff;
    let flipped = there.path("flipped.dfrun");
    fs::write(&flipped, damaged).expect("a file");
    let other = there.text_file("other.txt", "102 MB/s\n");
    let absent = there.path("absent.dfrun");
    let folder = there.folder("folder");
    for (path, said) in [
        (&half, "it is cut short"),
        (&flipped, "it is damaged"),
        (&other, "is no file of runs"),
        (&absent, "No such file"),
        (&folder, "is a folder"),
    ] {
        let call = there.diskfacts(["runs", "import"]).arg(&file).arg(path);
        call.run().expect_code(2).expect_stderr(said);
    }
    for (path, said) in [(&half, "it is cut short"), (&flipped, "it is damaged")] {
        for command in ["show", "advise"] {
            let call = there.diskfacts([command]).arg(path);
            call.run().expect_code(2).expect_stderr(said);
        }
    }
    let runs = |case: &Case| {
        let listed = case.run(["runs", "--json"]);
        let document: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
        document["stored"].as_u64()
    };
    assert!(matches!(runs(&there), None | Some(0)));
    // Another run of the same id: as it was before something was added to it.
    let call = there.diskfacts(["runs", "import"]).arg(&file);
    call.run().expect_code(0);
    let sql = "DELETE FROM trial WHERE position = 2";
    let tool = crate::support::run_tool;
    let changed = tool(
        "sqlite3",
        "sqlite3",
        &[&there.store().display().to_string(), sql],
    );
    diskfacts_testkit::or_skip!(changed);
    let call = there.diskfacts(["runs", "import"]).arg(&file);
    call.run()
        .expect_code(2)
        .expect_stderr("is already in the store")
        .expect_stderr("and is not the same; nothing was stored");
    assert_eq!(runs(&case), Some(2));
}

#[test]
fn a_run_that_goes_on_is_not_exported() {
    let case = Case::new();
    let folder = case.folder("data");
    let plan = case.text_file(
        "plan.toml",
        &one_stage("operation = \"read\"\nspan = \"4MiB\"\ntime = \"60s\""),
    );
    let call = case.diskfacts(["measure", "--size", "8MiB", "--name", "long", "--plan"]);
    let running = call.args([&plan, &folder]).start();
    let is_stored = || case.run(["runs"]).stdout.contains("running");
    running.wait_until("the run is stored", is_stored);
    let file = case.path("a.dfrun");
    let export = || {
        case.diskfacts(["runs", "export", "long", "-o"])
            .arg(&file)
            .run()
    };
    export().expect_code(2).expect_stderr("still goes on");
    // What it is called may be changed, and is so when it ends.
    case.run(["runs", "rename", "long", "longer"])
        .expect_code(0);
    running.interrupt();
    running.finish().expect_code(130);
    assert_eq!(case.last()["run"]["labels"]["name"], "longer");
    let export = case
        .diskfacts(["runs", "export", "longer", "-o"])
        .arg(&file);
    export.run().expect_code(0);
    let there = Case::new();
    let import = there.diskfacts(["runs", "import"]).arg(&file);
    import.run().expect_code(0);
    assert_eq!(there.last()["run"]["status"], "interrupted");
    diskfacts(["runs", "import"])
        .run()
        .expect_code(2)
        .expect_stderr("as in `diskfacts runs import run.dfrun`");
    diskfacts(["runs", "export", "last"])
        .run()
        .expect_code(2)
        .expect_stderr("as in `diskfacts runs export last -o run.dfrun`");
}
