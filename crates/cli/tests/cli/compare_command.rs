//! What changed between runs, from the command line.

use crate::json::faults;
use crate::support::Case;
use diskfacts_testkit::{Program, or_skip, require_tool};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn document(name: &str) -> PathBuf {
    let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report");
    report.join("tests/documents").join(name)
}

/// `NAME:SETTINGS` of a document.
fn limited(name: &str, settings: &str) -> String {
    format!("{}:{settings}", document(name).display())
}

pub(crate) fn schema() -> Value {
    let text = include_str!("../../../../docs/reference/compare.schema.json");
    serde_json::from_str(text).expect("the schema")
}

/// The document of `compare --json`, of the documented form.
fn compared(case: &Case, arguments: &[&str]) -> Value {
    let finished = case.diskfacts(["compare", "--json"]).args(arguments).run();
    finished.expect_code(0);
    let comparison = serde_json::from_str(&finished.stdout).expect("one JSON document");
    assert_eq!(faults(&schema(), &comparison), [""; 0]);
    comparison
}

/// A case with runs of a simulated disk, with these seeds.
fn with_runs(seeds: &[&str]) -> Case {
    let case = Case::new();
    for seed in seeds {
        let stages = ["--stage", "random-read-qd1", "--stage", "log-write"];
        let finished = case
            .diskfacts([
                "measure",
                "sim:hdd-7200-1tb",
                "--time",
                "2m",
                "--seed",
                seed,
            ])
            .args(stages)
            .run();
        finished.expect_code(0);
    }
    case
}

#[test]
fn two_runs_of_the_same_disk_are_close_and_fail_no_condition() {
    let case = with_runs(&["1", "2"]);
    let comparison = compared(&case, &["last~1", "last"]);
    assert_eq!(comparison["conditions"], serde_json::json!([]));
    assert_eq!(comparison["stages"][1]["change"], "same");
    let percentiles = comparison["stages"][0]["latency"].as_array().expect("some");
    assert!(percentiles.len() > 2, "{comparison}");
    let text = case.run(["compare", "last~1", "last", "--fail-if", "slower:5%"]);
    text.expect_code(0);
    assert!(text.stdout.starts_with("B is close to A: "), "{text}");
    assert!(
        text.stdout
            .contains("Conditions: none that was recorded differs"),
        "{text}"
    );
    assert!(
        text.stdout.contains("--fail-if slower:5%: does not hold"),
        "{text}"
    );
    assert!(text.stdout.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn a_run_is_the_same_as_itself_and_as_its_json_document() {
    let case = with_runs(&["1"]);
    let shown = case.run(["show", "last", "--json"]);
    let baseline = case.text_file("baseline.json", &shown.stdout);
    for other in ["last", baseline.to_str().expect("a path")] {
        let comparison = compared(&case, &[other, "last"]);
        for stage in comparison["stages"].as_array().expect("stages") {
            assert_eq!(stage["speed"]["change"], 0.0, "{stage}");
            assert_ne!(stage["change"], "slower");
        }
    }
}

#[test]
fn a_slower_disk_fails_the_condition_with_exit_code_3() {
    let case = with_runs(&["1"]);
    let faster = case
        .diskfacts(["measure", "sim:hdd-10k", "--time", "1m"])
        .args(["--stage", "random-read-qd1"])
        .run();
    faster.expect_code(0);
    // From 10,000 revolutions per minute to 7200.
    // A stage that is not there any more could have been slower.
    let gone = ["compare", "last~1", "last", "--fail-if", "slower:90%"];
    case.run(gone)
        .expect_code(4)
        .expect_stderr("could not be judged in log-write");
    case.diskfacts(gone)
        .arg("--allow-unjudged")
        .run()
        .expect_code(0);
    let comparison = compared(&case, &["last", "last~1"]);
    assert_eq!(comparison["only_in_b"], serde_json::json!(["log-write"]));
    assert_eq!(comparison["stages"][0]["change"], "slower", "{comparison}");
    for (condition, code) in [
        ("slower:5%", 3),
        ("random-read-qd1:p50:changed:1%", 3),
        ("not-same:50%", 3),
        ("slower:90%", 0),
        ("faster:1%", 0),
    ] {
        let finished = case.run(["compare", "last", "last~1", "--fail-if", condition]);
        finished.expect_code(code);
        if code == 3 {
            finished.expect_stderr("holds in random-read-qd1");
        }
    }
}

#[test]
fn the_schedulers_of_an_imported_document_are_compared_with_intervals() {
    let case = Case::new();
    let name = "001_b18fe905e4c757db.txt";
    let (cfq, deadline) = (
        limited(name, "scheduler=cfq:io_context=same"),
        limited(name, "scheduler=deadline:io_context=same"),
    );
    let comparison = compared(&case, &[&cfq, &deadline]);
    assert_eq!(comparison["conditions"][0]["what"], "scheduler");
    // 102, 102, 102 against 51.1, 51.4, 51.1 MB/s: half as fast.
    let baseline = &comparison["stages"][0];
    assert_eq!(baseline["change"], "slower", "{baseline}");
    let low = baseline["speed"]["interval"][0].as_f64().expect("an end");
    let high = baseline["speed"]["interval"][1].as_f64().expect("an end");
    assert!(low < -0.498 && -0.498 < high && high < -0.4, "{low} {high}");
}

#[test]
fn ext4_and_raw_of_the_first_document_are_known_by_one_trial_each() {
    let case = Case::new();
    let name = "000_406dd5c1dd98a7d4.txt";
    let (ext, raw) = (limited(name, "place=ext"), limited(name, "place=raw"));
    let finished = case.diskfacts(["compare", &ext, &raw]).run();
    finished.expect_code(0);
    assert!(
        finished.stdout.contains("are known by one trial"),
        "{finished}"
    );
    let finished = case
        .diskfacts(["compare", &ext, &raw, "--fail-if", "slower:5%"])
        .run();
    finished.expect_code(4);
    finished.expect_stderr("could not be judged for any stage");
    assert!(!finished.stdout.contains("does not hold"), "{finished}");
    case.diskfacts(["compare", &ext, &raw, "--fail-if", "slower:5%"])
        .arg("--allow-unjudged")
        .run()
        .expect_code(0)
        .expect_stderr("could not be judged for any stage");
}

#[test]
fn wrong_calls_are_answered_with_what_is_right() {
    let case = with_runs(&["1"]);
    let newer = "{\"schema\": 99, \"run\": {}, \"trials\": []}";
    let newer = case.text_file("newer.json", newer).display().to_string();
    let prose = case
        .text_file("prose.txt", "Nothing here.\n")
        .display()
        .to_string();
    for (arguments, said) in [
        (
            vec!["last"],
            "Name two runs, as in `diskfacts compare last~1 last`",
        ),
        (vec!["last", "nope"], "nope"),
        (vec!["last~7", "last"], "last~7"),
        (vec!["last", "./nope.json"], "there is no file ./nope.json"),
        (vec!["last,last", "last"], "would count it as two"),
        (
            vec!["last:mode=x", "last"],
            "has no trial with mode=x; its settings are none",
        ),
        (
            vec!["last:a=b:c", "last"],
            "'c' in last:a=b:c is not a setting",
        ),
        (vec!["last", &newer], "schema version 99"),
        (
            vec!["last", &prose],
            "no line that could be read as a measurement",
        ),
        (
            vec!["last", "last", "--fail-if", "worse:5%"],
            "as in slower:5%",
        ),
        (
            vec!["last", "last", "--fail-if", "nope:slower:5%"],
            "there are random-read-qd1, log-write",
        ),
        (
            vec!["last", "last", "--same-within", "0%"],
            "as in --same-within 5%",
        ),
    ] {
        let finished = case.diskfacts(["compare"]).args(&arguments).run();
        finished.expect_code(2);
        finished.expect_stderr(said);
        assert_eq!(finished.stdout, "", "{arguments:?}");
    }
}

#[test]
fn without_a_store_there_is_nothing_to_compare() {
    let case = Case::new();
    let finished = case.run(["compare", "last~1", "last"]);
    assert_ne!(finished.code(), Some(0), "{finished}");
    assert_eq!(finished.stdout, "");
}

/// Versions before ids were drawn by chance gave two hosts the same one.
#[test]
fn two_files_whose_runs_have_one_id_are_two_runs_where_they_are_of_two_hosts() {
    let gzip = or_skip!(require_tool("gzip", "gzip"));
    let case = with_runs(&["1"]);
    let id = case.last()["run"]["id"].as_str().expect("an id").to_owned();
    let host = case.last()["machine"]["host"].clone();
    let host = host.as_str().expect("the name of this host");
    let files = ["c1", "c2"].map(|name| {
        let file = case.path(&format!("{name}.dfrun"));
        let call = case.diskfacts(["runs", "export", "last", "-o"]).arg(&file);
        call.run().expect_code(0);
        let rename = r#""$1" -dc "$2" | sed "s/\"host\":\"$3\"/\"host\":\"$4\"/" | "$1" > "$2.new"
                        mv "$2.new" "$2""#;
        let sh = Program::new("sh").args(["-ec", rename, "sh"]).arg(&gzip);
        sh.arg(&file).args([host, name]).run().expect_code(0);
        file.display().to_string()
    });
    let [c1, c2] = &files;
    let both = format!("{c1},{c2}");
    let comparison = compared(&case, &[&both, c1]);
    let runs = comparison["a"]["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2, "{comparison}");
    assert!(runs.iter().all(|run| run["id"] == id.as_str()), "{runs:?}");
    let reported = |files: [&str; 2]| {
        let report = case.diskfacts(["report", "-o"]).arg(case.path("page.html"));
        let reported = report.args(files).run();
        reported.expect_code(0);
        reported.stdout
    };
    assert!(reported([c1, c2]).contains("the report of 2 runs"));
    // The same of one host is one.
    assert!(reported([c1, c1]).contains(&format!("the report of the run {id}")));
    case.run(["compare", &format!("{c1},{c1}"), c2])
        .expect_code(2)
        .expect_stderr("twice");
}
