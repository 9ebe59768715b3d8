//! Hosts that a launcher of MPI starts, which share files: in slices, whole, or each other's.

use crate::hosts_by_mpi::{Ranks, TOGETHER, documents, mpirun, plan, process, runs, send, stored};
use crate::support::{Case, MIB, one_stage};
use diskfacts_testkit::or_skip;
use rustix::process::{Resource, Rlimit, Signal, prlimit};
use serde_json::Value;

/// The files of ours in the folder, each held open, so that their bytes can be read when their
/// names are gone.
fn shared_files(folder: &str) -> Vec<std::fs::File> {
    let entries = std::fs::read_dir(folder).expect("the folder");
    let names = entries.map(|entry| entry.expect("a name").path());
    let ours = names.filter(|path| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with(".diskfacts-file-"))
    });
    ours.filter_map(|path| std::fs::File::open(path).ok())
        .collect()
}

/// Whether each page of it has been written: what fills files has no page of zeros.
fn is_full(file: &std::fs::File) -> bool {
    use std::os::unix::fs::FileExt;
    let mut bytes =
        vec![0; usize::try_from(file.metadata().expect("it is open").len()).expect("small")];
    file.read_exact_at(&mut bytes, 0).expect("all of it");
    bytes
        .chunks(4096)
        .all(|page| page.iter().any(|byte| *byte != 0))
}

/// Ranks of a layout measure; so many files of so many MiB are theirs meanwhile, which are full,
/// and then gone.
fn ranks_share(layout: &[&str], ranks: u32, (files, mib): (usize, u64)) -> Option<Vec<Value>> {
    let case = Case::new();
    let plan = plan(&case, "plan.toml", "1s");
    let measure = Ranks::new(&case, &plan).with(&TOGETHER).with(layout);
    let measure = measure.with(&["--json"]);
    let mpirun = match mpirun() {
        Ok(mpirun) => mpirun,
        Err(missing) => {
            diskfacts_testkit::skip(&missing.to_string());
            return None;
        }
    };
    let running = measure.add(mpirun, ranks, &case.path("ranks.db")).start();
    let begun = || {
        runs(&case)
            .iter()
            .any(|run| run["trials"].as_u64() > Some(0))
    };
    running.wait_until("a trial was stored", begun);
    let seen = shared_files(&measure.folder);
    let finished = running.finish();
    assert_eq!(seen.len(), files, "{finished}");
    for file in &seen {
        assert_eq!(
            file.metadata().expect("it is open").len(),
            mib * MIB,
            "{finished}"
        );
        assert!(is_full(file), "{finished}");
    }
    measure.left_nothing();
    let merged = documents(&finished);
    assert_eq!(merged.len(), 2, "{finished}");
    assert_eq!(merged[1]["hosts_complete"], ranks, "{finished}");
    let stored = runs(&case);
    assert_eq!(stored.len(), ranks as usize, "{finished}");
    let whole = stored.iter().map(|run| stored_of(&case, run));
    Some(std::iter::once(merged[1].clone()).chain(whole).collect())
}

fn stored_of(case: &Case, run: &Value) -> Value {
    stored(case, run["id"].as_str().expect("an id"))
}

/// What the notes of the run of this rank say of whose bytes it used.
fn notes_of(runs: &[Value], rank: u64) -> String {
    let is_its = |run: &&Value| run["together"]["rank"]["rank"] == rank;
    let run = runs.iter().find(is_its).expect("each rank has a run");
    run["run"]["notes"].to_string()
}

#[test]
fn ranks_use_slices_of_one_file_and_each_what_its_neighbour_wrote() {
    let Some(documents) = ranks_share(&["--layout", "slice", "--shift"], 3, (1, 12)) else {
        return;
    };
    let (merged, runs) = documents.split_first().expect("the sum");
    assert_eq!(
        (&merged["layout"], &merged["shift"]),
        (&"slice".into(), &1.into())
    );
    for (rank, whose) in [(0, 1), (1, 2), (2, 0)] {
        let notes = notes_of(runs, rank);
        assert!(
            notes.contains(&format!("that of rank {whose}, which wrote it")),
            "{notes}"
        );
    }
    for run in runs {
        assert_eq!(run["target"]["size_bytes"], 4 * MIB);
        assert_eq!(run["together"]["layout"], "slice");
    }
}

#[test]
fn ranks_use_one_file_of_which_each_wrote_a_part() {
    let documents = ranks_share(&["--layout", "same"], 3, (1, 4));
    let Some(documents) = documents else { return };
    assert_eq!(documents[0]["layout"], "same");
    assert!(notes_of(&documents[1..], 1).contains("all use the whole"));
}

#[test]
fn ranks_use_the_file_that_their_neighbour_made() {
    let documents = ranks_share(&["--shift"], 2, (2, 4));
    let Some(documents) = documents else { return };
    assert_eq!(documents[0]["layout"], "own");
    assert!(notes_of(&documents[1..], 1).contains("that of rank 0, which wrote it"));
}

#[test]
fn layouts_that_cannot_be_are_refused_before_anything_is_written() {
    let case = Case::new();
    let plan = plan(&case, "plan.toml", "1s");
    let refused = |words: &[&str], said: &str| {
        let measure = Ranks::new(&case, &plan).with(&TOGETHER).with(words);
        let finished = or_skip!(measure.run(&case, 2));
        finished.expect_code(2).expect_stderr(said);
        measure.left_nothing();
        assert_eq!(runs(&case).len(), 0, "{finished}");
    };
    refused(&["--shift=2"], "is each host itself: take 1 to 1");
    refused(&["--layout", "same", "--shift"], "nothing to shift");
    refused(&["--layout", "slice", "--at-least", "1"], "--at-least");
    let refused_with = |change: &dyn Fn(&mut Vec<String>), words: &[&str], said: &str| {
        let mut measure = Ranks::new(&case, &plan).with(&TOGETHER).with(words);
        change(&mut measure.words);
        let finished = or_skip!(measure.run(&case, 2));
        assert_ne!(finished.code(), Some(0), "{finished}");
        finished.expect_stderr(said);
        measure.left_nothing();
    };
    let replace = |old: &'static str, new: String| {
        move |words: &mut Vec<String>| {
            let word = words.iter_mut().find(|word| *word == old);
            *word.expect("it is there") = new.clone();
        }
    };
    let huge = replace("4MiB", "4PiB".to_owned());
    refused_with(&huge, &["--layout", "slice"], "no room for 2 times 4 PiB");
    let writes = one_stage("operation = \"write\"\nblock_size = \"4KiB\"\ntime = \"1s\"");
    let writes = case.text_file("writes.toml", &writes).display().to_string();
    let written = |words: &mut Vec<String>| {
        let at = words
            .iter()
            .position(|word| word == "--plan")
            .expect("it is there");
        words[at + 1].clone_from(&writes);
    };
    refused_with(
        &written,
        &["--shift"],
        "writes: from then on a host would read",
    );
    let file = case.data_file("data", 8 * MIB).display().to_string();
    let on_file = |words: &mut Vec<String>| {
        words[1].clone_from(&file);
        words.retain(|word| !["--size", "4MiB"].contains(&&**word));
    };
    refused_with(
        &on_file,
        &["--layout", "same"],
        "make files in a folder that all hosts share",
    );
}

/// The folder of one host is not that of the others: it does not see what rank 0 made.
#[test]
fn a_host_with_a_folder_of_its_own_is_refused_for_all() {
    let case = Case::new();
    let plan = plan(&case, "plan.toml", "1s");
    let words = ["--layout", "slice"];
    let one = Ranks::new(&case, &plan).with(&TOGETHER).with(&words);
    let mut other = Ranks::new(&case, &plan).with(&TOGETHER).with(&words);
    let elsewhere = case.path("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a folder");
    other.words[1] = elsewhere.display().to_string();
    let store = case.path("ranks.db");
    let both = one.add(or_skip!(mpirun()), 1, &store).arg(":");
    let finished = other.add(both, 1, &store).run();
    finished.expect_code(2).expect_stderr("rank 1: opening ");
    finished.expect_stderr("a filesystem that all hosts mount");
    let said = finished
        .stderr
        .matches("nothing is left on any host")
        .count();
    assert_eq!(said, 1, "by the root alone: {finished}");
    assert_eq!(runs(&case).len(), 0, "{finished}");
    one.left_nothing();
    assert_eq!(
        std::fs::read_dir(&elsewhere).expect("it is there").count(),
        0
    );
}

/// A host that cannot go on keeps the file that it made for as long as others read it.
#[test]
fn the_file_of_a_host_that_failed_stays_until_the_group_ends() {
    let case = Case::new();
    let twice = plan(&case, "plan.toml", "1s");
    let text = std::fs::read_to_string(&twice).expect("a plan");
    let long = case.text_file("long.toml", &text.replace("trials = 2", "trials = 8"));
    let measure = Ranks::new(&case, &long.display().to_string()).with(&TOGETHER);
    let measure = measure.with(&["--shift", "--time", "60s"]);
    let (pid, store) = (case.path("pid"), case.path("ranks.db"));
    let first = measure
        .add(or_skip!(mpirun()), 1, &store)
        .args([":", "-n", "1", "sh", "-c"])
        .arg("echo $$ > \"$0\"; exec \"$@\"")
        .arg(&pid)
        .arg(env!("CARGO_BIN_EXE_diskfacts"));
    let second = first.arg("--store").arg(case.path("one.db"));
    let all = measure.add(second.args(&measure.words).arg(":"), 1, &store);
    let running = all.start();
    let trials = |least: u64| {
        let runs = runs(&case);
        runs.len() == 2 && runs.iter().all(|run| run["trials"].as_u64() >= Some(least))
    };
    running.wait_until("a trial was stored", || trials(1));
    // From now on it can store no trial.
    let limit = Rlimit {
        current: Some(1),
        maximum: Some(1),
    };
    prlimit(Some(process(&pid)), Resource::Fsize, limit).expect("it is ours");
    running.wait_until("the others have gone on", || trials(5));
    let names = shared_files(&measure.folder).len();
    let finished = running.finish();
    assert_eq!(names, 3, "{finished}");
    finished.expect_stdout("2 of 3 hosts");
    finished.expect_stderr("one.db did not work");
    measure.left_nothing();
}

/// What a killed rank 0 leaves is removed by the next measurement.
#[test]
fn the_file_of_a_killed_group_is_removed_by_the_next() {
    let case = Case::new();
    let long = plan(&case, "plan.toml", "30s");
    let measure = Ranks::new(&case, &long).with(&TOGETHER);
    let measure = measure.with(&["--layout", "slice", "--time", "90s"]);
    let script = "echo $$ > \"$0\"; exec \"$@\"";
    let (pid, store) = (case.path("pid"), case.path("ranks.db"));
    let first = or_skip!(mpirun())
        .args(["-n", "1", "sh", "-c", script])
        .arg(&pid);
    let first = first
        .arg(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(&store);
    let both = first.args(&measure.words).args([":", "-n", "1"]);
    let both = both
        .arg(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(&store);
    let running = both.args(&measure.words).start();
    running.wait_until("both runs have begun", || runs(&case).len() == 2);
    send(Signal::KILL, &pid);
    let _ended = running.finish();
    assert_eq!(
        shared_files(&measure.folder).len(),
        1,
        "its maker was killed"
    );
    // Who of the next group looks first removes it.
    let next = Ranks::new(&case, &plan(&case, "next.toml", "1s")).with(&TOGETHER);
    let finished = or_skip!(next.with(&["--layout", "same"]).run(&case, 2));
    finished.expect_stdout("Group g: 2 hosts");
    finished.expect_stdout("; all hosts used one file");
    measure.left_nothing();
}
