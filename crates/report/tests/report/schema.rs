//! The JSON Schema and the reference say the same, and say it of every key.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

const SCHEMA: &str = include_str!("../../../../docs/reference/run.schema.json");
const REFERENCE: &str = include_str!("../../../../docs/reference/json.md");

/// The schema of the document of a run.
pub(crate) fn of_runs() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// The schema of the document of `devices`, which shares the parts.
pub(crate) fn of_devices() -> Value {
    let mut schema = of_runs();
    let devices = schema["$defs"]["devices"].clone();
    for (key, value) in devices.as_object().unwrap() {
        schema[key] = value.clone();
    }
    schema
}

/// What a schema is in the end, behind its `$ref` and its "or null".
pub(crate) fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.strip_prefix('#').unwrap();
        let target = root.pointer(pointer);
        return resolved(
            root,
            target.unwrap_or_else(|| panic!("{reference} leads nowhere")),
        );
    }
    if let Some([first, ..]) = schema["anyOf"].as_array().map(Vec::as_slice) {
        return resolved(root, first);
    }
    schema
}

/// The schema of every kind of object, by its name.
fn objects(root: &Value) -> BTreeMap<&str, &Map<String, Value>> {
    let parts = root["$defs"].as_object().unwrap();
    let mut all: BTreeMap<&str, _> = parts
        .iter()
        .map(|(name, schema)| (name.as_str(), schema["properties"].as_object().unwrap()))
        .collect();
    all.insert("document", root["properties"].as_object().unwrap());
    all
}

/// The meaning of each key by the reference, by the name of its object.
fn explained() -> BTreeMap<&'static str, BTreeMap<&'static str, String>> {
    let mut all: BTreeMap<_, BTreeMap<_, String>> = BTreeMap::new();
    let mut name = "";
    for line in REFERENCE.lines() {
        if let Some(comment) = line.strip_prefix("<!-- ") {
            name = comment.trim_end_matches(" -->");
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", key, _, meaning, ""] = cells[..]
            && let Some(key) = key.strip_prefix('`')
        {
            let keys = all.entry(name).or_default();
            keys.insert(key.trim_end_matches('`'), meaning.replace('`', ""));
        }
    }
    all
}

#[test]
fn every_key_has_a_description_and_is_explained_in_the_reference_in_the_same_words() {
    let root = of_runs();
    let explained = explained();
    let objects = objects(&root);
    for (name, properties) in &objects {
        let keys = explained
            .get(name)
            .unwrap_or_else(|| panic!("json.md has no section <!-- {name} -->"));
        for (key, schema) in *properties {
            let description = schema["description"].as_str().unwrap_or_default();
            assert!(description.ends_with('.'), "{name}.{key}: '{description}'");
            assert_eq!(
                keys.get(key.as_str()).map(String::as_str),
                Some(description),
                "{name}.{key} in json.md and in run.schema.json"
            );
        }
        let unknown: Vec<_> = keys
            .keys()
            .filter(|key| !properties.contains_key(**key))
            .collect();
        assert!(
            unknown.is_empty(),
            "json.md explains {unknown:?} of {name}, the schema does not"
        );
    }
    let unknown: Vec<_> = explained
        .keys()
        .filter(|name| !objects.contains_key(**name))
        .collect();
    assert!(
        unknown.is_empty(),
        "json.md has sections {unknown:?}, the schema does not"
    );
}

/// Until a key is added later, every key is there in every document.
#[test]
fn every_key_is_required() {
    let root = of_runs();
    let parts = root["$defs"].as_object().unwrap();
    for (name, schema) in parts
        .iter()
        .map(|(n, s)| (n.as_str(), s))
        .chain([("document", &root)])
    {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key.as_str().unwrap())
            .collect();
        let known: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(required, known, "{name}");
    }
}

#[test]
fn the_links_of_the_reference_lead_to_its_headings() {
    let anchors: Vec<String> = REFERENCE
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(|title| {
            title
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || "_- ".contains(*c))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect();
    let mut links = 0;
    for link in REFERENCE.split("](#").skip(1) {
        let (link, _) = link.split_once(')').unwrap();
        assert!(anchors.iter().any(|anchor| anchor == link), "#{link}");
        links += 1;
    }
    assert!(links > 20);
}
