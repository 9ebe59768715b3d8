//! The stack that the program shows, against what sysfs has.

use crate::sysfs;
use serde_json::Value;
use std::collections::BTreeMap;

/// Whether the devices of a document are those below `tops`, each on those that
/// sysfs names, with the sizes and settings that sysfs has.
pub(super) fn as_sysfs_has_it(document: &Value, tops: &[&str]) -> Result<(), String> {
    let mut there = BTreeMap::new();
    for top in tops {
        there.append(&mut sysfs::stack(&sysfs::name_of(top)?));
    }
    let shown = document["stack"]["devices"].as_array();
    let shown = shown.ok_or("there is no stack in the document")?;
    let mut problems = Vec::new();
    let name = |device: &Value| device["name"].as_str().unwrap_or_default().to_owned();
    let names: Vec<String> = shown.iter().map(name).collect();
    for missing in there.keys().filter(|device| !names.contains(device)) {
        problems.push(format!("{missing} is missing"));
    }
    for device in shown {
        let name = name(device);
        let Some(on) = there.get(&name) else {
            problems.push(format!("{name} is none of the stack"));
            continue;
        };
        let mut below: Vec<&str> = device["below"].as_array().map_or(Vec::new(), |below| {
            below.iter().filter_map(Value::as_str).collect()
        });
        below.sort_unstable();
        if below != *on {
            problems.push(format!("{name} stands on {below:?}, sysfs has {on:?}"));
        }
        for (key, there) in attributes(&name) {
            if device[key] != there {
                let shown = &device[key];
                problems.push(format!("{name}: {key} is {shown}, sysfs has {there}"));
            }
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("; "))
    }
}

/// Whether the first device of a document is shown with this word, other than in
/// its name.
pub(super) fn says(document: &Value, word: &str) -> Result<(), String> {
    let first = &document["stack"]["devices"][0];
    let keys = first.as_object().into_iter().flatten();
    let told = keys.filter(|(key, _)| !matches!(key.as_str(), "name" | "path" | "serial"));
    let told: Vec<String> = told.map(|(key, value)| format!("{key}: {value}")).collect();
    let told = told.join(", ");
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    if plain(&told).contains(&plain(word)) {
        Ok(())
    } else {
        Err(format!("'{word}' is not in {told}"))
    }
}

/// What sysfs says of a device, under the keys of the document.
fn attributes(device: &str) -> Vec<(&'static str, Value)> {
    let number = |text: Option<String>| text.and_then(|text| text.parse::<u64>().ok());
    let truth = |text: Option<String>| text.map(|text| text == "1");
    let mut all: Vec<(&'static str, Option<Value>)> = vec![
        (
            "size_bytes",
            sysfs::number(device, "size").map(|sectors| (sectors * 512).into()),
        ),
        (
            "read_only",
            truth(sysfs::attribute(device, "ro")).map(Value::from),
        ),
    ];
    for (key, file) in [
        ("logical_sector_bytes", "logical_block_size"),
        ("physical_sector_bytes", "physical_block_size"),
    ] {
        all.push((key, number(sysfs::queue(device, file)).map(Value::from)));
    }
    all.push((
        "rotational",
        truth(sysfs::queue(device, "rotational")).map(Value::from),
    ));
    all.push((
        "write_cache",
        sysfs::queue(device, "write_cache").map(Value::from),
    ));
    let kib = number(sysfs::queue(device, "read_ahead_kb"));
    all.push(("read_ahead_bytes", kib.map(|kib| (kib * 1024).into())));
    all.into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
}
