//! The contract of `--json`.

use crate::support::{Case, number, trials};
use diskfacts_testkit::{or_skip, require_tool};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

pub(crate) fn schema() -> Value {
    let text = include_str!("../../../../docs/reference/run.schema.json");
    serde_json::from_str(text).expect("the schema")
}

/// What the schema finds wrong with a document.
pub(crate) fn faults(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let errors = validator.iter_errors(document);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// A survey of a folder, as JSON, and what else was said.
fn survey(case: &Case) -> (Value, diskfacts_testkit::Finished) {
    let folder = case.folder("data");
    let finished = case
        .diskfacts(["measure", "--time", "4s", "--size", "16MiB", "--json"])
        .arg(folder)
        .run();
    finished.expect_code(0);
    let document = serde_json::from_str(&finished.stdout);
    (
        document.expect("one JSON document and nothing else"),
        finished,
    )
}

#[test]
fn standard_output_is_one_document_of_the_documented_schema() {
    let case = Case::new();
    let (document, finished) = survey(&case);
    assert_eq!(faults(&schema(), &document), [""; 0]);
    // Progress is elsewhere.
    finished
        .expect_stderr("filling a file of 16 MiB")
        .expect_stderr("stage 1 of 12: ");

    // The keys that the contract names.
    for key in [
        "schema",
        "run",
        "machine",
        "target",
        "stack",
        "plan",
        "trials",
        "health_after",
        "findings",
        "verdicts",
    ] {
        assert!(!document[key].is_null(), "no {key}");
    }
    for key in ["id", "started", "tool_version", "command"] {
        assert!(!document["run"][key].is_null(), "no {key}");
    }
    let stages = document["plan"]["stages"].as_array().expect("stages");
    assert!(trials(&document).len() >= stages.len());
    for trial in trials(&document) {
        for key in [
            "stage",
            "settings",
            "workload",
            "seconds",
            "bytes",
            "ops",
            "errors",
            "throughput_bytes_per_s",
            "iops",
            "latency_ns",
            "layers",
            "cpu",
            "evidence",
        ] {
            assert!(!trial[key].is_null(), "no {key} in {trial}");
        }
        for key in ["min", "mean", "max", "p50", "p90", "p99", "p99_9", "p99_99"] {
            assert!(trial["latency_ns"].get(key).is_some(), "no {key}");
        }
        for key in ["user_ns_per_io", "system_ns_per_io"] {
            assert!(!trial["cpu"][key].is_null(), "no {key}");
        }
        consistent(trial);
    }
    for finding in document["findings"].as_array().expect("findings") {
        for key in [
            "rule",
            "severity",
            "claim",
            "evidence",
            "confidence",
            "refuted_by",
            "remedy",
            "stages",
        ] {
            assert!(!finding[key].is_null(), "no {key} in {finding}");
        }
    }

    // Shown again, it is the same run to the last figure.
    assert_eq!(case.last(), document);
}

/// The figures of a trial agree with each other.
fn consistent(trial: &Value) {
    let shares: f64 = ["page_cache", "drive_cache", "media", "unknown"]
        .into_iter()
        .map(|layer| number(&trial["layers"][layer]))
        .sum();
    assert!((shares - 1.0).abs() < 1e-12, "{shares}: {trial}");
    let (seconds, bytes) = (number(&trial["seconds"]), number(&trial["bytes"]));
    let block = number(&trial["workload"]["block_size"]);
    assert!(seconds > 0.0);
    assert!((number(&trial["ops"]) * block - bytes).abs() < 1.0);
    let throughput = number(&trial["throughput_bytes_per_s"]);
    assert!((throughput * seconds / bytes - 1.0).abs() < 1e-9);
    let latency = &trial["latency_ns"];
    assert_eq!(latency["samples"], trial["ops"]);
    let known: Vec<f64> = ["min", "p50", "p90", "p99", "p99_9", "p99_99", "max"]
        .into_iter()
        .filter_map(|key| latency[key].as_f64())
        .collect();
    // Percentiles are within 0.4 %, the ends are exact.
    assert!(
        known.windows(2).all(|pair| pair[0] <= pair[1] * 1.005),
        "{latency}"
    );
    let issued = &trial["evidence"]["issued"];
    assert!((number(&issued["read_bytes"]) + number(&issued["write_bytes"]) - bytes).abs() < 1.0);
}

#[test]
fn jq_reads_it_from_a_pipe() {
    let jq = or_skip!(require_tool("jq", "jq"));
    let case = Case::new();
    let folder = case.folder("data");
    let measured = case
        .diskfacts(["measure", "--time", "1s", "--size", "8MiB", "--json"])
        .args(["--stage", "random-read-qd1"])
        .arg(folder)
        .run();
    let mut child = Command::new(jq)
        .args(["-e", ".schema"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starting jq");
    let mut pipe = child.stdin.take().expect("it was piped");
    pipe.write_all(measured.stdout.as_bytes())
        .expect("jq reads");
    drop(pipe);
    let output = child.wait_with_output().expect("its end");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1");
}

#[test]
fn the_null_engine_gives_a_document_too() {
    let case = Case::new();
    let folder = case.folder("data");
    let finished = case
        .diskfacts(["measure", "--time", "1s", "--size", "4MiB", "--json"])
        .args(["--plan", "overhead"])
        .arg(folder)
        .run();
    finished.expect_code(0);
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(faults(&schema(), &document), [""; 0]);
    for trial in trials(&document) {
        // No I/O was done: no layer served anything.
        assert_eq!(trial["layers"]["unknown"], 1.0, "{trial}");
    }
}

#[test]
fn what_devices_prints_as_json_is_documented_too() {
    let case = Case::new();
    let folder = case.folder("data").to_string_lossy().into_owned();
    let mut schema = schema();
    for (key, value) in schema["$defs"]["devices"].clone().as_object().expect("it") {
        schema[key] = value.clone();
    }
    for words in [&["devices", "--json"][..], &["devices", "--json", &folder]] {
        let finished = case.run(words);
        finished.expect_code(0);
        assert_eq!(finished.stderr, "", "{finished}");
        let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        assert_eq!(faults(&schema, &document), [""; 0], "{words:?}");
        assert_eq!(document["target"].is_null(), words.len() == 2);
    }
}
