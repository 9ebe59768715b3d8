//! The JSON documents against their schema.

use crate::{fixtures, import, schema};
use diskfacts_record::{Run, Trial};
use diskfacts_report::import::{Format, Imported, read};
use diskfacts_report::json;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn validator(schema: &Value) -> Validator {
    jsonschema::options()
        .should_validate_formats(true)
        .build(schema)
        .unwrap()
}

fn document(of: &Run) -> Value {
    serde_json::from_str(&json::run_in_full(of)).unwrap()
}

fn assert_valid(validator: &Validator, document: &Value, name: &str) {
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

#[test]
fn every_run_gives_one_document_that_the_schema_accepts() {
    let validator = validator(&schema::of_runs());
    for (name, run) in fixtures::all() {
        let text = json::run_in_full(&run);
        assert!(text.ends_with("}\n"));
        assert_valid(&validator, &document(&run), name);
        // Nothing is lost. Compared as text, because a figure that is not a number is not equal
        // to itself.
        let read = serde_json::from_str::<Run>(&text).unwrap();
        assert_eq!(format!("{read:#?}"), format!("{run:#?}"), "{name}");
        // Without --json=full whole histograms and single requests are, which the store keeps.
        let text = json::run(&run);
        let brief: Value = serde_json::from_str(&text).unwrap();
        assert_valid(&validator, &brief, name);
        let read = serde_json::from_str::<Run>(&text).unwrap();
        let trials = run.trials.iter().map(Trial::without_details);
        let run = Run {
            trials: trials.collect(),
            ..run
        };
        assert_eq!(format!("{read:#?}"), format!("{run:#?}"), "{name}");
        for trial in brief["trials"].as_array().unwrap() {
            assert_eq!(trial["histograms"], Value::Null, "{name}");
            assert_eq!(trial["evidence"]["bursts"], Value::Null, "{name}");
        }
    }
}

#[test]
fn every_imported_run_gives_a_document_that_the_schema_accepts() {
    let validator = validator(&schema::of_runs());
    for text in import::DOCUMENTS {
        for run in import::runs_of(text) {
            let name = run.run.source.as_ref().unwrap().format.clone();
            assert_valid(&validator, &document(&run), &name);
        }
    }
}

#[test]
fn the_keys_come_in_the_order_of_the_contract() {
    let document = document(&fixtures::healthy());
    let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "schema",
            "run",
            "machine",
            "target",
            "stack",
            "plan",
            "preconditioning",
            "trials",
            "claim_tests",
            "health_after",
            "together",
            "figures",
            "effects",
            "findings",
            "limits",
            "verdicts"
        ]
    );
}

#[test]
fn the_document_of_devices_follows_its_schema() {
    let validator = validator(&schema::of_devices());
    for (name, run) in fixtures::all() {
        for target in [Some(&run.target), None] {
            let text = json::devices(target, &run.stack);
            let document = serde_json::from_str(&text).unwrap();
            assert_valid(&validator, &document, name);
        }
    }
    assert!(!validator.is_valid(&json!({ "schema": 1, "target": null })));
}

/// Follows a document through its schema: `visit` gets the name of each key, as
/// `trials[].stage`, its value, and whether the schema knows it.
fn walk(
    root: &Value,
    schema: &Value,
    value: &Value,
    path: &str,
    visit: &mut impl FnMut(&str, &Value, bool),
) {
    let schema = schema::resolved(root, schema);
    match value {
        Value::Array(items) => {
            for item in items {
                walk(root, &schema["items"], item, &format!("{path}[]"), visit);
            }
        }
        Value::Object(fields) if schema.get("properties").is_some() => {
            for (key, field) in fields {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                let known = schema["properties"].get(key);
                visit(&path, field, known.is_some());
                walk(root, known.unwrap_or(&Value::Null), field, &path, visit);
            }
        }
        // A map of settings, a workload's operation, or a plain value.
        _ => {}
    }
}

/// All keys that the schema knows, as [`walk`] names them.
fn known_keys(root: &Value, schema: &Value, path: &str, keys: &mut BTreeSet<String>) {
    let schema = schema::resolved(root, schema);
    if let Some(items) = schema.get("items") {
        known_keys(root, items, &format!("{path}[]"), keys);
    }
    for (key, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        keys.insert(path.clone());
        known_keys(root, field, &path, keys);
    }
}

#[test]
fn the_schema_knows_every_key_and_every_key_that_it_knows_is_seen_with_a_value() {
    let root = schema::of_runs();
    let mut unseen = BTreeSet::new();
    known_keys(&root, &root, "", &mut unseen);
    assert!(unseen.len() > 200, "{}", unseen.len());
    // They are trials and stages, whose keys are seen elsewhere.
    unseen.retain(|key| {
        let again = [
            "preconditioning[].rounds[].",
            "plan.precondition[].stage.",
            "claim_tests[].stages[].",
        ];
        !again.iter().any(|within| key.starts_with(within))
    });
    let imported = import::runs_of(import::DOCUMENTS[1]).into_iter();
    let imported = imported.map(|run| ("imported", run));
    for (name, run) in fixtures::all().into_iter().chain(imported) {
        walk(
            &root,
            &root,
            &document(&run),
            "",
            &mut |path, value, known| {
                assert!(known, "{name}: the schema does not know {path}");
                if !value.is_null() {
                    unseen.remove(path);
                }
            },
        );
    }
    assert_eq!(unseen, BTreeSet::new(), "no test run has a value for these");
}

/// Each place in a document, as a JSON pointer.
fn places(value: &Value, pointer: &str, all: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, field)| (key.clone(), field))
            .collect(),
        // All items are of one kind; the last may be the rarest.
        Value::Array(items) => items
            .iter()
            .enumerate()
            .next_back()
            .map(|(i, item)| (i.to_string(), item))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    };
    for (key, field) in inner {
        let pointer = format!("{pointer}/{key}");
        all.push(pointer.clone());
        places(field, &pointer, all);
    }
}

/// Settings are named by whoever varies them.
fn is_free(pointer: &str) -> bool {
    let free = ["/settings/", "/kernel/", "/under/", "/best/", "/as_good/"];
    free.iter().any(|free| pointer.contains(free))
}

#[test]
fn a_document_without_one_of_its_keys_is_refused() {
    let validator = validator(&schema::of_runs());
    for (name, run) in [
        ("healthy", fixtures::healthy()),
        ("rare", fixtures::rare()),
        ("tuned", fixtures::tuned()),
    ] {
        let whole = document(&run);
        let mut all = Vec::new();
        places(&whole, "", &mut all);
        assert!(all.len() > 200);
        for pointer in all.iter().filter(|pointer| !is_free(pointer)) {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let mut broken = whole.clone();
            if let Some(Value::Object(fields)) = broken.pointer_mut(parent) {
                fields.remove(key).unwrap();
                assert!(!validator.is_valid(&broken), "{name} without {pointer}");
            }
        }
    }
}

#[test]
fn a_value_of_another_type_is_refused() {
    let validator = validator(&schema::of_runs());
    let whole = document(&fixtures::rare());
    let mut all = Vec::new();
    places(&whole, "", &mut all);
    for pointer in &all {
        let mut broken = whole.clone();
        // Nothing in a run is a list of truths.
        *broken.pointer_mut(pointer).unwrap() = json!([true]);
        assert!(!validator.is_valid(&broken), "{pointer}");
    }
}

#[test]
fn values_that_cannot_be_are_refused() {
    let validator = validator(&schema::of_runs());
    let whole = document(&fixtures::healthy());
    for (pointer, value) in [
        ("/schema", json!(2)),
        ("/run/status", json!("finished")),
        ("/run/started", json!("yesterday")),
        ("/target/size_bytes", json!(-1)),
        ("/trials/0/layers/page_cache", json!(1.5)),
        ("/trials/0/latency_ns/p99", json!(1.5)),
        (
            "/trials/0/workload/operation",
            json!({ "mixed": { "read_percent": 100 } }),
        ),
        ("/figures/0/iops/ci95", json!([1])),
        ("/findings/0/evidence", json!("one")),
    ] {
        let mut broken = whole.clone();
        *broken.pointer_mut(pointer).unwrap() = value;
        assert!(!validator.is_valid(&broken), "{pointer}");
    }
    // And what a newer diskfacts may add is not.
    let mut newer = whole;
    newer["run"]["mood"] = json!("good");
    assert!(validator.is_valid(&newer));
}

#[test]
fn the_document_of_imports_follows_its_schema() {
    let schema: Value = serde_json::from_str(include_str!(
        "../../../../docs/reference/import.schema.json"
    ))
    .unwrap();
    let validator = validator(&schema);
    let imported: Vec<Imported> = import::DOCUMENTS
        .iter()
        .map(|text| Imported {
            file: "results.txt".into(),
            document: read(text.as_bytes()).unwrap(),
            runs: vec![(Format::Dd, "20261121-140000-dd00".into())],
            findings: diskfacts_facts::findings_of_document(&import::runs_of(text)).concat(),
        })
        .collect();
    let document: Value = serde_json::from_str(&json::imports(&imported)).unwrap();
    assert_valid(&validator, &document, "imports");
    let known = schema["items"]["properties"].as_object().unwrap();
    for file in document.as_array().unwrap() {
        let keys: Vec<&String> = file.as_object().unwrap().keys().collect();
        assert_eq!(keys, known.keys().collect::<Vec<_>>());
        let mut other = document.clone();
        other[0].as_object_mut().unwrap().remove(keys[0]);
        assert!(!validator.is_valid(&other));
    }
}
