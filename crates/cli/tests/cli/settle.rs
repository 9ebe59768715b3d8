//! What limited a stage, and the plan that would settle it.

use crate::support::Case;
use diskfacts_plan::file;
use serde_json::Value;

#[test]
fn the_plan_that_would_settle_a_limit_is_printed_and_can_be_measured() {
    let case = Case::new();
    let measured = case.run([
        "measure",
        "sim:hdd-7200-sync",
        "--explain",
        "--time",
        "60s",
        "--stage",
        "log-write",
    ]);
    measured
        .expect_code(0)
        .expect_stdout("What limited it")
        .expect_stdout("rotation: log-write")
        .expect_stdout("7200 rpm is 8.33 ms per revolution");
    let shown = case.run(["show", "--settle", "log-write"]);
    shown.expect_code(0);
    let plan = file::parse(&shown.stdout).expect("a plan file");
    assert_eq!(plan.stages.len(), 2);
    let path = case.text_file("settle.toml", &shown.stdout);
    let settled = case
        .diskfacts(["measure", "sim:hdd-7200-sync", "--time", "20s", "--plan"])
        .arg(path)
        .run();
    settled.expect_code(0);
}

#[test]
fn a_stage_that_is_not_there_has_nothing_to_settle() {
    let case = Case::new();
    let stage = ["--time", "10s", "--stage", "log-write"];
    let measured = case.diskfacts(["measure", "sim:hdd-7200-sync"]).args(stage);
    measured.run().expect_code(0);
    case.run(["show", "--settle", "log-writes"])
        .expect_code(2)
        .expect_stderr("no stage 'log-writes'")
        .expect_stderr("it has log-write");
}

/// The tests of a run, as its JSON document has them: stage, limiter and outcome.
fn tests_of(document: &Value) -> Vec<[String; 3]> {
    let limits = document["limits"].as_array().expect("a list");
    let each = limits.iter().flat_map(|stage| {
        let tested = stage["tested"].as_array().expect("a list").iter();
        tested.map(|test| [&stage["stage"], &test["limiter"], &test["outcome"]])
    });
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    each.map(|test| test.map(text)).collect()
}

#[test]
fn a_claim_that_is_not_so_is_refuted_and_the_next_takes_its_place() {
    let case = Case::new();
    // 32 in flight do not fill this drive, and the run has no other depth that shows it.
    let measure = |settle: &str| {
        let words = ["measure", "sim:nvme-consumer", "--time", "10s", "--json"];
        let stage = ["--stage", "random-read-qd32"];
        let run = case.diskfacts(words).args(stage).args(["--settle", settle]);
        let run = run.run();
        run.expect_code(0);
        serde_json::from_str::<Value>(&run.stdout).expect("a document")
    };
    let first = |document: &Value| document["limits"][0]["limits"][0]["limiter"].clone();
    let untested = measure("0");
    assert_eq!(tests_of(&untested), [[""; 3]; 0]);
    assert_eq!(first(&untested), "device-parallelism");
    let tested = measure("1");
    let wanted = ["random-read-qd32", "device-parallelism", "refuted"];
    assert_eq!(tests_of(&tested), [wanted]);
    assert_ne!(first(&tested), "device-parallelism");
    // The stages of the test are with it and in the trials, and in no figure.
    let names = |of: &str, key: &str| -> Vec<String> {
        let all = tested.pointer(of).and_then(Value::as_array);
        let all = all.expect("a list").iter();
        all.filter_map(|one| one[key].as_str())
            .filter(|name| name.starts_with("test-1-"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(names("/claim_tests/0/stages", "name").len(), 2);
    assert_eq!(names("/trials", "stage").len(), 10);
    assert_eq!(names("/figures", "stage").len(), 0);
    assert_eq!(tested["plan"], untested["plan"]);
    // What is shown again is what was said.
    let shown = case.run(["show", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("a document");
    assert_eq!(shown["limits"], tested["limits"]);
    let text = case.run(["show", "--explain"]);
    text.expect_stdout("Refuted: device-parallelism of random-read-qd32.");
}

#[test]
fn a_survey_tests_what_its_time_is_left_for_and_another_plan_nothing_unasked() {
    let case = Case::new();
    let tests = |words: &[&str]| {
        let words = [&["measure", "sim:hdd-7200-1tb", "--json"], words].concat();
        let run = case.run(words);
        run.expect_code(0);
        let document: Value = serde_json::from_str(&run.stdout).expect("a document");
        tests_of(&document).len()
    };
    let stage = ["--stage", "random-read-qd1"];
    assert!(tests(&[&stage[..], &["--time", "600s"]].concat()) > 0);
    // No time is left where it is all taken.
    assert_eq!(tests(&[&stage[..], &["--time", "5s"]].concat()), 0);
    assert_eq!(tests(&["--plan", "zones", "--time", "600s"]), 0);
}

#[test]
fn on_a_real_file_a_claim_is_tested_and_nothing_stays() {
    let case = Case::new();
    let folder = case.folder("measured");
    let run = case
        .diskfacts([
            "measure", "--settle", "1", "--time", "6s", "--size", "64MiB", "--json",
        ])
        .args(["--stage", "random-read-qd32"])
        .arg(&folder)
        .run();
    run.expect_code(0);
    let document: Value = serde_json::from_str(&run.stdout).expect("a document");
    let trials = document["trials"].as_array().expect("a list").iter();
    let tests = trials.filter(|trial| {
        let stage = trial["stage"].as_str().expect("a text");
        stage.starts_with("test-1-")
    });
    // Where nothing is claimed, or only what is certain, there is nothing to test.
    let claims = document["claim_tests"].as_array().expect("a list").len();
    assert_eq!(tests.count(), 10 * claims);
    assert_eq!(tests_of(&document).len(), claims);
    let left = std::fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(left, 0);
}
