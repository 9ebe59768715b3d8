//! Hosts that start together: two processes in namespaces with host names of their own, on one
//! machine with one clock.

use crate::support::{Case, MIB, number, one_stage, write_data};
use diskfacts_testkit::{
    Finished, LoopDevice, Missing, Program, Running, Throttle, ThrottleGroup, or_skip,
    require_root, require_tool,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A command as another host would run it; its runs are in a store of its own.
fn on_host(case: &Case, host: &str, words: &[&str]) -> Result<Program, Missing> {
    require_root()?;
    let unshare = require_tool("unshare", "util-linux")?;
    Ok(Program::new(unshare)
        .args([
            "--uts",
            "sh",
            "-c",
            "echo \"$0\" > /proc/sys/kernel/hostname && exec \"$@\"",
            host,
        ])
        .arg(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(store(case, host))
        .args(words))
}

fn store(case: &Case, host: &str) -> PathBuf {
    case.path(&format!("{host}.db"))
}

/// A moment so many seconds from now, as --start-at takes it. Hosts are started, their files
/// filled, and a busy machine has its time for both until then.
fn moment_in(seconds: u64) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since.expect("a clock after 1970").as_secs();
    let day = (now + seconds) % 86_400;
    format!("{:02}:{:02}:{:02}Z", day / 3600, day / 60 % 60, day % 60)
}

/// The run of a host, as a file.
fn fetched(case: &Case, host: &str) -> PathBuf {
    let file = case.path(&format!("{host}.dfrun"));
    let exported = Program::new(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(store(case, host))
        .args(["runs", "export", "last", "-o"])
        .arg(&file)
        .run();
    exported.expect_code(0);
    file
}

/// What `together --json` says of these files, and how it ends.
fn added_up(case: &Case, files: &[PathBuf], words: &[&str]) -> (Value, Finished) {
    let program = case.diskfacts(["together", "--json"]);
    let finished = program.args(files).args(words).run();
    let document = serde_json::from_str(&finished.stdout).unwrap_or_default();
    (document, finished)
}

fn claims(document: &Value) -> Vec<&str> {
    let findings = document["findings"].as_array().expect("a list");
    findings.iter().filter_map(|f| f["rule"].as_str()).collect()
}

/// One stage of random reads that lasts so long.
fn reads(case: &Case, trials: u32, time: &str) -> PathBuf {
    let plan = one_stage(&format!(
        "operation = \"read\"\npattern = \"random\"\nblock_size = \"4KiB\"\nqueue_depth = 4\ntime = \"{time}\""
    ));
    case.text_file(
        "plan.toml",
        &plan.replace("trials = 1", &format!("trials = {trials}")),
    )
}

/// Starts a host on a target in the group `g`.
fn start(
    case: &Case,
    host: &str,
    target: &Path,
    at: &str,
    more: &[&str],
) -> Result<Program, Missing> {
    let plan = case.path("plan.toml");
    let (target, plan) = (target.to_string_lossy(), plan.to_string_lossy());
    let words = [
        "measure",
        &*target,
        "--plan",
        &*plan,
        "--start-at",
        at,
        "--group",
        "g",
        "--clock-error",
        "0ms",
    ];
    Ok(on_host(case, host, &words)?.args(more))
}

/// The sum of two hosts on one throttled device is what its control group counted: within 1 %,
/// where the limit was the truth.
#[test]
fn the_sum_of_two_hosts_on_a_throttled_device_is_its_limit() {
    const LIMIT: f64 = 1000.0;
    let case = Case::new();
    reads(&case, 1, "10s");
    let device = or_skip!(LoopDevice::new(32 * MIB));
    write_data(device.backing_file(), 32 * MIB);
    let throttle = Throttle {
        reads_per_s: Some(1000),
        ..Throttle::default()
    };
    let group = or_skip!(ThrottleGroup::new(&device, throttle));
    let hosts = ["c1", "c2"];
    for last in [false, false, true] {
        let at = moment_in(4);
        let start = |host| {
            Ok(start(&case, host, device.path(), &at, &[])?
                .inside(&group)
                .start())
        };
        let before = group.operations().expect("the group's counters");
        let running: Result<Vec<Running>, Missing> = hosts.map(start).into_iter().collect();
        for host in or_skip!(running) {
            host.finish().expect_code(0);
        }
        let counted = (group.operations().expect("counters") - before) as f64 / 10.0;
        let files = hosts.map(|host| fetched(&case, host));
        let (document, finished) = added_up(&case, &files, &["--expect", "2"]);
        println!("counted {counted}/s: {finished}");
        let stage = &document["stages"][0];
        let late = stage["trials"][0]["void"].as_str();
        // Two slices of 100 ms may pass at once before the throttle counts.
        let is_truth = late.is_none() && (0.99..1.03).contains(&(counted / LIMIT));
        if is_truth {
            finished.expect_code(0);
            let sum = number(&stage["iops"]["median"]);
            assert!(
                (sum / counted - 1.0).abs() < 0.01,
                "{sum} of {counted}: {stage}"
            );
            assert_eq!(stage["hosts_counted"], 2);
            let named: Vec<&Value> = [0, 1].map(|i| &stage["hosts"][i]["host"]).into();
            assert!(named.contains(&&Value::from("c1")) && named.contains(&&Value::from("c2")));
            let said = claims(&document);
            assert!(said.contains(&"same-machine-twice"), "{said:?}");
            assert!(said.contains(&"one-storage"), "{said:?}");
            return;
        }
        if last {
            diskfacts_testkit::skip(&format!(
                "too busy a machine: {counted:.0}/s of {LIMIT:.0}/s were asked for, {}",
                late.unwrap_or("no host was late")
            ));
        }
    }
}

#[test]
fn a_host_that_comes_too_late_is_void_and_named() {
    let case = Case::new();
    // A hundredth of a trial is 1 ms: nobody prepares in a gap of that.
    reads(&case, 3, "100ms");
    let file = case.data_file("data", 4 * MIB);
    let late = or_skip!(start(&case, "c1", &file, &moment_in(3), &["--gap", "1us"]));
    let finished = late.run();
    let shown = or_skip!(on_host(&case, "c1", &["show", "last", "--json"])).run();
    let document: Value = serde_json::from_str(&shown.stdout).expect("a document");
    let agreed = document["together"]["trials"].as_array().expect("trials");
    assert_eq!(agreed.len(), 3);
    let void: Vec<&Value> = agreed
        .iter()
        .filter(|trial| !trial["void"].is_null())
        .collect();
    assert!(!void.is_empty(), "{finished}\n{agreed:?}");
    for trial in &void {
        assert!(
            trial["started_ns"].is_null() || trial["late_ns"].is_u64(),
            "{trial}"
        );
        let late_ns = trial["late_ns"].as_u64().expect("by how much");
        assert!(late_ns > 1_000_000, "{trial}");
        assert_eq!(trial["void_kind"], "late", "{trial}");
    }
    finished.expect_stderr("is void");
    // What is void is no trial of the run.
    let trials = document["trials"].as_array().expect("trials");
    assert_eq!(trials.len() + void.len(), 3);
    let (merged, _) = added_up(&case, &[fetched(&case, "c1")], &[]);
    assert!(claims(&merged).contains(&"uneven-start"), "{merged}");
}

#[test]
fn a_host_whose_trials_are_all_void_is_told_so_and_not_that_nothing_completed() {
    let case = Case::new();
    reads(&case, 2, "100ms");
    let file = case.data_file("data", 4 * MIB);
    let at = moment_in(4);
    let host = or_skip!(start(&case, "c1", &file, &at, &["--gap", "1us"])).start();
    host.wait_until("the run has begun", || {
        let runs = on_host(&case, "c1", &["runs", "--json"]).map(|runs| runs.run().stdout);
        let runs: Value = serde_json::from_str(&runs.unwrap_or_default()).unwrap_or_default();
        runs["runs"][0]["status"].is_string()
    });
    // It stands still until both trials are over.
    let over = Instant::now() + Duration::from_secs(6);
    host.while_stopped(|| host.wait_until("they are over", || Instant::now() >= over));
    host.finish()
        .expect_code(1)
        .expect_stderr("no trial of the group is valid on this host")
        .expect_stderr("late is the most");
}

#[test]
fn a_run_that_is_killed_is_a_host_that_is_lost_and_the_other_keeps_its_trials() {
    let case = Case::new();
    reads(&case, 3, "500ms");
    let file = case.data_file("data", 4 * MIB);
    let at = moment_in(4);
    let one = or_skip!(start(&case, "c1", &file, &at, &[])).start();
    let other = or_skip!(start(&case, "c2", &file, &at, &["--quiet"])).start();
    // As soon as it has a trial.
    let trials = || {
        let runs = on_host(&case, "c2", &["runs", "--json"]).map(|runs| runs.run().stdout);
        let runs: Value = serde_json::from_str(&runs.unwrap_or_default()).unwrap_or_default();
        runs["runs"][0]["trials"].as_u64().unwrap_or(0)
    };
    other.wait_until("a trial was stored", || trials() > 0);
    other.kill();
    drop(other.finish());
    one.finish().expect_code(0);
    if trials() == 3 {
        return diskfacts_testkit::skip("too busy a machine: it was done before it was killed");
    }
    let files = ["c1", "c2"].map(|host| fetched(&case, host));
    let (document, finished) = added_up(&case, &files, &[]);
    finished.expect_code(1).expect_stderr("1 of 2 hosts");
    assert_eq!(document["lost"][0]["host"], "c2", "{document}");
    assert!(claims(&document).contains(&"host-lost"));
    let text = case.diskfacts(["together"]).args(&files).run();
    let first = text.stdout.lines().next().unwrap_or_default();
    assert_eq!(first, "Group g: 1 of 2 hosts; lost: c2", "{text}");
    // The page says it first, too.
    let page = case
        .diskfacts(["report", "--together", "-o", "-"])
        .args(&files)
        .run();
    page.expect_code(0)
        .expect_stdout("<h1 class=\"bad\">Group g: 1 of 2 hosts; lost: c2</h1>");
    let tables = ["report", "--together", "--format", "markdown", "-o", "-"];
    let tables = case.diskfacts(tables).args(&files).run();
    tables
        .expect_code(0)
        .expect_stdout("### diskfacts: Group g&#58; 1 of 2 hosts; lost&#58; c2")
        .expect_stdout("| host | throughput |");
    case.run(["report", "--together"])
        .expect_code(2)
        .expect_stderr("results/*.dfrun");
    // Of a host that never came nobody has a run.
    let (document, finished) = added_up(&case, &files[..1], &["--expect", "4"]);
    finished.expect_code(1);
    assert_eq!(document["hosts_unnamed"], 3);
}

#[test]
fn hosts_with_other_plans_are_refused_and_so_is_a_damaged_file() {
    let case = Case::new();
    // On a busy machine one may begin too late.
    reads(&case, 5, "100ms");
    let file = case.data_file("data", 4 * MIB);
    let at = moment_in(3);
    let one = or_skip!(start(&case, "c1", &file, &at, &[])).start();
    // The other is to do one more.
    let other = or_skip!(start(&case, "c2", &file, &at, &["--trials", "6"])).start();
    one.finish().expect_code(0);
    other.finish().expect_code(0);
    let files = ["c1", "c2"].map(|host| fetched(&case, host));
    let (_, finished) = added_up(&case, &files, &[]);
    finished.expect_code(2).expect_stderr("differ in the plan");
    let whole = std::fs::read(&files[0]).expect("the file");
    for (name, bytes) in [
        ("cut.dfrun", whole[..whole.len() / 2].to_vec()),
        (
            "twice-cut.dfrun",
            [&whole[..], &whole[..whole.len() / 3]].concat(),
        ),
    ] {
        let damaged = case.path(name);
        std::fs::write(&damaged, bytes).expect("a file");
        let (_, finished) = added_up(&case, &[damaged], &[]);
        assert!(
            finished.code().is_some_and(|code| code == 1 || code == 2),
            "{finished}"
        );
        assert!(!finished.stderr.contains("panicked"), "{finished}");
    }
    // A run of one host alone is of no group.
    let alone = case.run([
        "measure",
        "sim:ssd-sata",
        "--stage",
        "random-read-qd1",
        "--quiet",
    ]);
    alone.expect_code(0);
    case.run(["together", "last"])
        .expect_code(2)
        .expect_stderr("by one host alone");
    case.run(["together", "--group", "nobody"])
        .expect_code(2)
        .expect_stderr("no run of a group nobody");
}

#[test]
fn what_cannot_start_together_is_refused_before_anything_is_written() {
    let case = Case::new();
    let file = case.data_file("data", MIB);
    let plan = case.text_file(
        "bytes.toml",
        &one_stage("operation = \"read\"\nbytes = \"1MiB\""),
    );
    let measure = |words: &[&str]| case.diskfacts(["measure"]).arg(&file).args(words);
    let soon = moment_in(3600);
    let kept = ["--group", "g", "--clock-error", "1ms", "--start-at"];
    let with = |words: &[&str]| measure(&kept).args(words);
    case.refuses(
        &with(&["2020-01-01T00:00:00Z"]),
        &["is over", "a later moment"],
    );
    case.refuses(&with(&["+30s"]), &["count from the moment"]);
    case.refuses(&with(&["13:00:00"]), &["zone of its own"]);
    case.refuses(&measure(&["--start-at", &soon]), &["--group"]);
    case.refuses(&with(&[&soon, "--settle"]), &["--settle"]);
    let plan = plan.to_string_lossy();
    case.refuses(
        &with(&[&soon, "--plan", &plan]),
        &["says no time", "`time`"],
    );
    case.refuses(&with(&[&soon, "--time", "2s"]), &["no room for", "--time"]);
    let simulated = case
        .diskfacts(["measure", "sim:ssd-sata"])
        .args(kept)
        .arg(&soon);
    case.refuses(&simulated, &["a time of its own"]);
}

#[test]
fn a_clock_that_nobody_keeps_is_refused_where_nothing_is_stated() {
    let case = Case::new();
    let file = case.data_file("data", MIB);
    let synchronised = diskfacts_host::clock_error_ns().is_ok();
    if synchronised {
        return diskfacts_testkit::skip("this machine's clock is kept: nothing to refuse");
    }
    let soon = moment_in(3600);
    let measure = case.diskfacts(["measure", "--group", "g", "--start-at", &soon]);
    case.refuses(
        &measure.arg(&file),
        &["chronyc tracking", "timedatectl", "--clock-error"],
    );
}

#[test]
fn a_signal_ends_the_waiting_for_the_start() {
    let case = Case::new();
    reads(&case, 1, "100ms");
    let file = case.data_file("data", MIB);
    let waits = case
        .diskfacts(["measure", "--clock-error", "1ms", "--group", "g", "--plan"])
        .arg(case.path("plan.toml"))
        .args(["--start-at", &moment_in(3000)])
        .arg(&file)
        .start();
    waits.wait_until("the run has begun", || {
        let runs: Value =
            serde_json::from_str(&case.run(["runs", "--json"]).stdout).unwrap_or_default();
        runs["runs"][0]["status"].is_string()
    });
    waits.interrupt();
    waits.finish().expect_code(130);
}
