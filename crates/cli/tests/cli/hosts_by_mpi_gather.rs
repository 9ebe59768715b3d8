//! A host that is killed when all is measured and the runs of the group are gathered.

use crate::hosts_by_mpi::{Ranks, TOGETHER, mpirun, plan, runs, send, stored};
use crate::support::Case;
use diskfacts_testkit::Program;
use rustix::fs::OFlags;
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A named pipe that is full, so that whoever writes to it waits.
fn full_pipe(path: &Path) -> File {
    let made = Program::new("mkfifo").arg(path).run();
    made.expect_code(0);
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag of C");
    let mut options = OpenOptions::new();
    let pipe = options
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(path);
    let mut pipe = pipe.expect("the pipe");
    // One byte after the other, so that no room is left.
    let full = loop {
        if let Err(full) = pipe.write_all(b"\n") {
            break full;
        }
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock, "{full}");
    pipe
}

/// What is in the store of the rank that is killed.
fn of_killed(case: &Case) -> Value {
    let listed = Program::new(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(case.path("killed.db"))
        .args(["runs", "--json"])
        .run();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
    listed["runs"][0].clone()
}

/// The last of so many ranks is killed while the root waits to print its own run, which it does before it
/// gives it: all have measured, and nothing is gathered yet. Answers with what the root printed.
fn killed_in_gathering(case: &Case, ranks: u32) -> Option<String> {
    let plan = plan(case, "plan.toml", "3s");
    let measure = Ranks::new(case, &plan).with(&TOGETHER);
    let mpirun = match mpirun() {
        Ok(mpirun) => mpirun.arg("--enable-recovery"),
        Err(missing) => {
            diskfacts_testkit::skip(&missing.to_string());
            return None;
        }
    };
    let (pipe_path, pid, codes) = (case.path("pipe"), case.path("pid"), case.path("codes"));
    let pipe = full_pipe(&pipe_path);
    let binary = env!("CARGO_BIN_EXE_diskfacts");
    let store = case.path("ranks.db");
    // With recovery mpirun does not look at how they end.
    let first = mpirun.args(["-n", "1", "sh", "-c"]);
    let first = first.arg("pipe=\"$1\"; shift; \"$@\" > \"$pipe\"; echo $? >> \"$0\"");
    let first = first.arg(&codes).arg(&pipe_path).arg(binary);
    let mut all = first.arg("--store").arg(&store).args(&measure.words);
    for _ in 2..ranks {
        all = all.args([":", "-n", "1", "sh", "-c", "\"$@\"; echo $? >> \"$0\""]);
        all = all.arg(&codes).arg(binary).arg("--store").arg(&store);
        all = all.args(&measure.words);
    }
    all = all.args([":", "-n", "1", "sh", "-c", "echo $$ > \"$0\"; exec \"$@\""]);
    all = all.arg(&pid).arg(binary).arg("--store");
    let running = all.arg(case.path("killed.db")).args(&measure.words).start();
    let is_over = || {
        let status = &of_killed(case)["status"];
        status.is_string() && status != "running"
    };
    running.wait_until("the rank has done all trials", is_over);
    send(Signal::KILL, &pid);
    let reader = std::thread::spawn({
        let mut reading = File::open(&pipe_path).expect("the pipe");
        // From now on the root alone writes, and what it has written ends with it.
        drop(pipe);
        move || {
            let mut text = String::new();
            reading.read_to_string(&mut text).map(|_| text)
        }
    });
    let finished = running.finish();
    let printed = reader.join().expect("it reads").expect("text");
    println!("{printed}{finished}");
    if of_killed(case)["status"] != "complete" {
        diskfacts_testkit::skip("too busy a machine: no trial counts");
        return None;
    }
    let codes = std::fs::read_to_string(&codes).expect("the others have ended");
    let mut codes: Vec<&str> = codes.lines().collect();
    codes.sort_unstable();
    // A host is missing, says the root, and the others have done what they were to.
    let mut wanted = vec!["0"; ranks as usize - 2];
    wanted.push("1");
    assert_eq!(codes, wanted, "{printed}{finished}");
    measure.left_nothing();
    let kept = runs(case);
    assert_eq!(kept.len(), ranks as usize - 1, "{finished}");
    for run in &kept {
        assert_eq!(run["status"], "complete", "{finished}");
        assert_eq!(run["trials"], of_killed(case)["trials"], "{finished}");
        // None of its trials is one in which a host was lost.
        let run = stored(case, run["id"].as_str().expect("an id"));
        let lost = run["together"]["lost"].as_array().expect("a list");
        assert!(lost.is_empty(), "{lost:?}");
    }
    Some(printed)
}

/// With the file of the one that was killed nobody is missing.
fn with_its_file(case: &Case) -> Value {
    let files = ["ranks", "killed"].map(|name| {
        let diskfacts = || Program::new(env!("CARGO_BIN_EXE_diskfacts"));
        let store = case.path(&format!("{name}.db"));
        let listed = diskfacts().arg("--store").arg(&store);
        let listed = listed.args(["runs", "--json"]).run();
        let listed: Value = serde_json::from_str(&listed.stdout).expect("runs");
        let ids = listed["runs"].as_array().expect("a list").iter();
        let ids = ids.map(|run| run["id"].as_str().expect("an id").to_owned());
        let file = case.path(&format!("{name}.dfrun"));
        let export = diskfacts().arg("--store").arg(&store);
        let export = export.args(["runs", "export"]).args(ids).arg("-o");
        export.arg(&file).run().expect_code(0);
        file
    });
    let all = case.diskfacts(["together", "--json"]).args(&files).run();
    serde_json::from_str(&all.stdout).expect("a document")
}

/// The line of the group begins so, and ends with the only one that is missing.
#[track_caller]
fn is_titled(printed: &str, begins: &str, rank: u32) {
    let title = printed.lines().find(|line| line.starts_with("Group g: "));
    let title = title.unwrap_or_else(|| panic!("{printed}"));
    let lost = title.strip_prefix(begins);
    let is_it = lost.is_some_and(|name| name.ends_with(&format!("(rank {rank})")));
    assert!(is_it, "{title}");
}

#[test]
fn a_rank_that_is_killed_in_gathering_is_named_and_the_others_runs_are_added_up() {
    let case = Case::new();
    let Some(printed) = killed_in_gathering(&case, 3) else {
        return;
    };
    is_titled(&printed, "Group g: 2 of 3 hosts; lost: ", 2);
    let merged = with_its_file(&case);
    let hosts = (&merged["hosts_complete"], &merged["hosts_expected"]);
    assert_eq!(hosts, (&3.into(), &3.into()), "{merged}");
    assert_eq!(merged["lost"], Value::Array(Vec::new()));
}

/// Nobody is left to gather from, and still it is said who is missing.
#[test]
fn of_two_ranks_the_one_that_is_killed_in_gathering_is_named_too() {
    let case = Case::new();
    let Some(printed) = killed_in_gathering(&case, 2) else {
        return;
    };
    is_titled(&printed, "Group g: 1 of 2 hosts; lost: ", 1);
    assert_eq!(with_its_file(&case)["hosts_complete"], 2);
}
