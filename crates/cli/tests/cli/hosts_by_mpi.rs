//! Hosts that a launcher of MPI starts: here processes of one machine, which have to be allowed.

use crate::support::{Case, MIB, number, one_stage};
use diskfacts_testkit::{Finished, Missing, Program, or_skip, require_tool};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Debian's Open MPI: as root, on fewer processors than there are ranks, and bound to none.
pub(crate) fn mpirun() -> Result<Program, Missing> {
    let mpirun = require_tool("mpirun", "openmpi-bin")?;
    Ok(Program::new(mpirun).args([
        "--allow-run-as-root",
        "--oversubscribe",
        "--bind-to",
        "none",
    ]))
}

/// One stage of random reads, twice, that lasts so long.
pub(crate) fn plan(case: &Case, name: &str, time: &str) -> String {
    let plan = one_stage(&format!(
        "operation = \"read\"\npattern = \"random\"\nblock_size = \"4KiB\"\nqueue_depth = 4\ntime = \"{time}\""
    ));
    let file = case.text_file(name, &plan.replace("trials = 1", "trials = 2"));
    file.display().to_string()
}

/// `measure` of a folder by ranks that share this machine, with stores of their own.
pub(crate) struct Ranks {
    pub(crate) folder: String,
    pub(crate) words: Vec<String>,
}

impl Ranks {
    pub(crate) fn new(case: &Case, plan: &str) -> Self {
        let folder = case.path("shared");
        std::fs::create_dir_all(&folder).expect("a folder");
        let folder = folder.display().to_string();
        let words = ["measure", &*folder, "--plan", plan, "--size", "4MiB"];
        let words = words.map(str::to_owned).to_vec();
        Self { folder, words }
    }

    pub(crate) fn with(mut self, words: &[&str]) -> Self {
        self.words
            .extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// As many processes, each with the store of this name.
    pub(crate) fn add(&self, program: Program, ranks: u32, store: &PathBuf) -> Program {
        let program = program.args(["-n", &ranks.to_string()]);
        program
            .arg(env!("CARGO_BIN_EXE_diskfacts"))
            .arg("--store")
            .arg(store)
            .args(&self.words)
    }

    pub(crate) fn run(&self, case: &Case, ranks: u32) -> Result<Finished, Missing> {
        Ok(self.add(mpirun()?, ranks, &case.path("ranks.db")).run())
    }

    /// Nothing of theirs is left where they measured.
    pub(crate) fn left_nothing(&self) {
        let left = std::fs::read_dir(&self.folder).expect("the folder");
        assert_eq!(left.count(), 0, "{}", self.folder);
    }
}

pub(crate) const TOGETHER: [&str; 4] = ["--together", "--several-per-host", "--group", "g"];

/// Sends a signal to the rank that wrote its number into this file.
pub(crate) fn send(signal: Signal, pid: &Path) {
    kill_process(process(pid), signal).expect("it is ours");
}

/// The rank that wrote its number into this file.
pub(crate) fn process(pid: &Path) -> Pid {
    let pid = std::fs::read_to_string(pid).expect("the rank wrote it");
    let pid = pid.trim().parse().ok().and_then(Pid::from_raw);
    pid.expect("a process")
}

/// What `runs` says of those that the ranks have stored.
pub(crate) fn runs(case: &Case) -> Vec<Value> {
    let program = Program::new(env!("CARGO_BIN_EXE_diskfacts"));
    let store = case.path("ranks.db");
    let listed = program.arg("--store").arg(store).args(["runs", "--json"]);
    let listed: Value = serde_json::from_str(&listed.run().stdout).unwrap_or_default();
    listed["runs"].as_array().cloned().unwrap_or_default()
}

/// A stored run, whole.
pub(crate) fn stored(case: &Case, id: &str) -> Value {
    let program = Program::new(env!("CARGO_BIN_EXE_diskfacts"));
    let store = case.path("ranks.db");
    let shown = program
        .arg("--store")
        .arg(store)
        .args(["show", id, "--json"]);
    serde_json::from_str(&shown.run().stdout).expect("a document")
}

/// The documents that the root has printed: its run, and what all runs come to.
pub(crate) fn documents(finished: &Finished) -> Vec<Value> {
    let stream = serde_json::Deserializer::from_str(&finished.stdout).into_iter();
    stream.map(|document| document.expect("JSON")).collect()
}

/// What the root printed is what the stored runs come to.
fn ranks_measure_together(ranks: u32) {
    let case = Case::new();
    let plan = plan(&case, "plan.toml", "1s");
    let measure = Ranks::new(&case, &plan).with(&TOGETHER).with(&["--json"]);
    let finished = or_skip!(measure.run(&case, ranks));
    let printed = documents(&finished);
    assert_eq!(printed.len(), 2, "a run and the sum: {finished}");
    let merged = &printed[1];
    assert_eq!(merged["agreed_by"], "mpi", "{finished}");
    assert_eq!(merged["hosts_expected"], ranks);
    assert_eq!(merged["hosts_complete"], ranks);
    let again = Program::new(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(case.path("ranks.db"))
        .args(["together", "--group", "g", "--json"])
        .run();
    let again = documents(&again);
    assert_eq!(again, std::slice::from_ref(merged));
    let stored: Vec<Value> = runs(&case)
        .iter()
        .map(|run| stored(&case, run["id"].as_str().expect("an id")))
        .collect();
    assert_eq!(stored.len(), ranks as usize);
    let mut places: Vec<u64> = Vec::new();
    for run in &stored {
        let together = &run["together"];
        assert_eq!(together["clock_error_source"], "round-trip");
        assert_eq!(together["rank"]["of"], ranks);
        places.push(together["rank"]["rank"].as_u64().expect("a rank"));
        let trials = together["trials"].as_array().expect("trials");
        let void = trials.iter().filter(|trial| !trial["void"].is_null());
        // What is void twice is no trial of the run.
        assert_eq!(
            run["trials"].as_array().map(Vec::len),
            Some(2 - void.count())
        );
        for trial in trials.iter().filter(|trial| trial["void"].is_null()) {
            let (at, started) = (number(&trial["at_ns"]), number(&trial["started_ns"]));
            // A hundredth of the second, and what the clocks may be off.
            let late = started - at - number(&trial["clock_error_ns"]);
            assert!(late <= 10_000_000.0, "{trial}");
        }
    }
    places.sort_unstable();
    assert!(places.iter().copied().eq(0..u64::from(ranks)), "{places:?}");
    let is_sound = merged["stages"][0]["iops"]["trials"] != 0;
    finished.expect_code(i32::from(!is_sound));
    if !is_sound {
        diskfacts_testkit::skip(&format!("too busy a machine: no trial counts\n{finished}"));
    }
    measure.left_nothing();
}

#[test]
fn two_ranks_measure_together_and_the_root_prints_what_their_runs_come_to() {
    ranks_measure_together(2);
}

#[test]
fn three_ranks_measure_together_and_the_root_prints_what_their_runs_come_to() {
    ranks_measure_together(3);
}

#[test]
fn a_rank_that_is_killed_in_a_trial_leaves_the_trials_that_were_done() {
    let case = Case::new();
    let plan = plan(&case, "plan.toml", "2s");
    let measure = Ranks::new(&case, &plan).with(&TOGETHER);
    let mpirun = or_skip!(mpirun()).arg("--enable-recovery");
    // The last one has a store of its own, which tells when it has stored a trial.
    let killed = case.path("ranks.db");
    let script = "echo $$ > \"$0\"; exec \"$@\"";
    let (pid, codes) = (case.path("pid"), case.path("codes"));
    let wrapped = mpirun.args(["-n", "2", "sh", "-c", "\"$@\"; echo $? >> \"$0\""]);
    let both = wrapped.arg(&codes).arg(env!("CARGO_BIN_EXE_diskfacts"));
    let both = both.arg("--store").arg(&killed).args(&measure.words);
    let both = both.args([":", "-n", "1", "sh", "-c", script]);
    let all = both
        .arg(&pid)
        .arg(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store");
    let all = all.arg(case.path("killed.db")).args(&measure.words);
    let running = all.start();
    let trials = || {
        let runs = Program::new(env!("CARGO_BIN_EXE_diskfacts"))
            .arg("--store")
            .arg(case.path("killed.db"))
            .args(["runs", "--json"])
            .run();
        let runs: Value = serde_json::from_str(&runs.stdout).unwrap_or_default();
        runs["runs"][0]["trials"].as_u64().unwrap_or(0)
    };
    running.wait_until("a trial was stored", || trials() > 0);
    send(Signal::KILL, &pid);
    let finished = running.finish();
    assert_eq!(trials(), 1, "it was killed in its second trial: {finished}");
    // With recovery mpirun does not look at how they end.
    let codes = std::fs::read_to_string(&codes).expect("both have ended");
    let mut codes: Vec<&str> = codes.lines().collect();
    codes.sort_unstable();
    assert_eq!(codes, ["0", "1"], "{finished}");
    assert!(
        finished.stdout.contains("Group g: 2 of 3 hosts; lost: "),
        "{finished}"
    );
    // The root alone knows what the others are called.
    for run in runs(&case) {
        let run = stored(&case, run["id"].as_str().expect("an id"));
        let together = &run["together"];
        let lost = together["lost"].as_array().expect("a list");
        let is_root = together["rank"]["rank"] == 0;
        assert_eq!(lost.len(), usize::from(is_root), "{finished}");
        assert!(
            lost.iter().all(|host| host["from_order"] == 2),
            "{finished}"
        );
    }
    // With its own run beside the others it is still one.
    let files = ["ranks", "killed"].map(|name| {
        let store = case.path(&format!("{name}.db"));
        let file = case.path(&format!("{name}.dfrun"));
        let diskfacts = || Program::new(env!("CARGO_BIN_EXE_diskfacts"));
        let listed = diskfacts().arg("--store").arg(&store);
        let listed = listed.args(["runs", "--json"]).run();
        let listed: Value = serde_json::from_str(&listed.stdout).expect("runs");
        let ids = listed["runs"].as_array().expect("a list").iter();
        let ids = ids.map(|run| run["id"].as_str().expect("an id").to_owned());
        let export = diskfacts().arg("--store").arg(&store);
        let export = export.args(["runs", "export"]).args(ids).arg("-o");
        export.arg(&file).run().expect_code(0);
        file
    });
    let all = case.diskfacts(["together", "--json"]).args(&files).run();
    all.expect_code(1);
    let merged = &documents(&all)[0];
    let hosts = (&merged["hosts_complete"], &merged["hosts_expected"]);
    assert_eq!(hosts, (&2.into(), &3.into()), "{all}");
    assert_eq!(merged["lost"].as_array().map(Vec::len), Some(1), "{all}");
    assert_eq!(merged["lost"][0]["rank"], 2, "{all}");
}

#[test]
fn ranks_with_other_plans_are_refused_before_anything_is_written() {
    let case = Case::new();
    let (one, other) = (
        plan(&case, "one.toml", "1s"),
        plan(&case, "other.toml", "2s"),
    );
    let first = Ranks::new(&case, &one).with(&TOGETHER);
    let second = Ranks::new(&case, &other).with(&TOGETHER);
    let store = case.path("ranks.db");
    let both = first.add(or_skip!(mpirun()), 1, &store).arg(":");
    let finished = second.add(both, 1, &store).run();
    finished.expect_code(2).expect_stderr("the plan on");
    let said = finished
        .stderr
        .matches("nothing was measured or written")
        .count();
    assert_eq!(said, 1, "by the root alone: {finished}");
    assert_eq!(runs(&case).len(), 0, "{finished}");
    first.left_nothing();
}

#[test]
fn what_speaks_against_it_on_one_host_is_said_by_the_root_for_all() {
    let case = Case::new();
    let plan = plan(&case, "plan.toml", "1s");
    let folder = Ranks::new(&case, &plan).with(&TOGETHER);
    let mut missing = Ranks::new(&case, &plan).with(&TOGETHER);
    missing.words[1] = case.path("not-there").display().to_string();
    let store = case.path("ranks.db");
    let both = folder.add(or_skip!(mpirun()), 1, &store).arg(":");
    let finished = missing.add(both, 1, &store).run();
    finished.expect_code(2).expect_stderr("not-there");
    assert!(
        !finished.stderr.contains("the plan on"),
        "it has none: {finished}"
    );
    assert_eq!(runs(&case).len(), 0, "{finished}");
    // Two processes on one device of one machine are not meant, unless it is said.
    let twice = Ranks::new(&case, &plan).with(&["--together"]);
    let finished = or_skip!(twice.run(&case, 2));
    finished.expect_code(2).expect_stderr("same boot id");
    finished.expect_stderr("--several-per-host");
}

#[test]
fn ctrl_c_on_one_host_ends_the_group() {
    let case = Case::new();
    // Longer than anybody waits for a test: it ends because of the signal, or not.
    let plan = plan(&case, "plan.toml", "1h");
    let measure = Ranks::new(&case, &plan)
        .with(&TOGETHER)
        .with(&["--time", "3h"]);
    let store = case.path("ranks.db");
    let script = "echo $$ > \"$0\"; exec \"$@\"";
    let pid = case.path("pid");
    let first = measure.add(or_skip!(mpirun()), 1, &store);
    let both = first.args([":", "-n", "1", "sh", "-c", script]).arg(&pid);
    let both = both
        .arg(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(&store);
    let running = both.args(&measure.words).start();
    running.wait_until("both runs have begun", || runs(&case).len() == 2);
    send(Signal::INT, &pid);
    let finished = running.finish();
    assert_ne!(finished.code(), Some(0), "{finished}");
    finished.expect_stderr("stopped by Ctrl-C");
    for run in runs(&case) {
        assert_ne!(run["status"], "complete", "{finished}");
        assert_ne!(
            run["status"], "running",
            "each has ended its run: {finished}"
        );
    }
    measure.left_nothing();
}

/// A command with the variables of a launcher.
fn launched(program: Program, size: &str) -> Program {
    program.env("OMPI_COMM_WORLD_SIZE", size)
}

#[test]
fn what_a_launcher_started_says_what_is_meant() {
    let case = Case::new();
    let file = case.data_file("data", MIB);
    let plan = plan(&case, "plan.toml", "100ms");
    let measure = |words: &[&str]| {
        let measure = case.diskfacts(["measure", "--plan", &plan]);
        measure.arg(&file).args(words)
    };
    case.refuses(
        &launched(measure(&[]), "8"),
        &["started this 8 times", "--together", "--alone"],
    );
    case.refuses(
        &measure(&["--together"]),
        &["no launcher of MPI", "mpirun -n 8", "--start-at"],
    );
    case.refuses(
        &launched(
            measure(&["--together"]).env("DISKFACTS_MPI", "/no/libmpi.so"),
            "8",
        ),
        &["/no/libmpi.so", "apt-get install openmpi-bin"],
    );
    case.refuses(&measure(&["--together", "--alone"]), &["--alone"]);
    case.refuses(&measure(&["--together", "--settle"]), &["--settle"]);
    case.refuses(&measure(&["--at-least", "2"]), &["--together"]);
    let tune = case
        .diskfacts(["tune", "--vary", "queue_depth=1,2"])
        .arg(&file);
    case.refuses(
        &launched(tune, "8"),
        &["tune changes settings of one kernel"],
    );
    launched(measure(&["--alone"]), "8").run().expect_code(0);
    // One alone is no stranger to anybody.
    launched(measure(&[]), "1").run().expect_code(0);
}

#[test]
fn a_launcher_whose_library_is_another_is_refused_naming_both() {
    or_skip!(require_tool("mpirun", "openmpi-bin"));
    let case = Case::new();
    let file = case.data_file("data", MIB);
    // Hydra's variables, and Open MPI's library: each process would be alone.
    let measure = case.diskfacts(["measure", "--together"]).arg(&file);
    let measure = measure.env("PMI_SIZE", "2").env("PMI_RANK", "0");
    case.refuses(
        &measure.env("DISKFACTS_MPI", "libmpi.so.40"),
        &["PMI launcher", "PMI_SIZE=2", "one of 1", "Open MPI"],
    );
}

#[test]
fn plans_that_change_the_kernel_and_simulated_disks_are_refused_by_all() {
    let case = Case::new();
    let plan = one_stage("operation = \"read\"\ntime = \"100ms\"\n[stage.kernel]\nnomerges = 2");
    let plan = case.text_file("kernel.toml", &plan).display().to_string();
    let kernel = Ranks::new(&case, &plan).with(&TOGETHER);
    let finished = or_skip!(kernel.run(&case, 2));
    finished
        .expect_code(2)
        .expect_stderr("changes settings of the kernel");
    let mut simulated = Ranks::new(&case, "survey").with(&TOGETHER);
    simulated.words[1] = "sim:ssd-sata".to_owned();
    let finished = or_skip!(simulated.run(&case, 2));
    finished.expect_code(2).expect_stderr("a time of its own");
}
