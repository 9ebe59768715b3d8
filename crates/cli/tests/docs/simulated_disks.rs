//! The page of simulated disks against the parser of profiles, the profiles,
//! the gates and the JSON documents.

use super::{only_span, read, rows, section, sections, spans, split};
use diskfacts_disk::profile::{
    Profile, parse, profile, profile_text, profiles, read as read_profile,
};
use diskfacts_disk::reproduce::{self, Reproduction};
use diskfacts_report::json;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static SEEDS: LazyLock<Reproduction> =
    LazyLock::new(|| reproduce::reproduce(1, None).expect("the built-in profiles fit"));

const SIMULATED: &str = "docs/reference/simulated-disks.md";

/// The keys that a table of a profile knows: the parser lists them when it
/// refuses one.
fn keys_of_a_profile(table: &str) -> BTreeSet<String> {
    let text = |name: &str| profile_text(name).expect("it is built in").to_owned();
    // Each table somewhere, with what it must have.
    let hdd = text("hdd-7200-md-raid0x2");
    let zones = "\n[[hdd.zone]]\nstart = \"0\"\nrate = \"1MB/s\"\n";
    let listed = text("hdd-7200-1tb").replace("outer_rate", "# ") + zones;
    let listed = listed.replace("zone_fall", "# ").replace("zones =", "# ");
    let faults = "\n[faults]\n\
        [[faults.slow_zone]]\nstart = \"0\"\nend = \"1MiB\"\ntime_percent = 200\n\
        [[faults.weak_sector]]\noffset = \"0\"\nretries = 1\n\
        [faults.stuck]\nevery_commands = 1\nfor = \"1s\"\n\
        [faults.stall]\nevery = \"2s\"\nfor = \"1s\"\n\
        [faults.heat]\ncools = \"1MB/s\"\nlimit = \"1GB\"\nresume = \"1MB\"\nthrottled = \"1MB/s\"\n\
        [faults.neighbour]\nevery = \"1s\"\nlen = \"4KiB\"\nstart = \"0\"\nend = \"1MiB\"\n";
    let texts = [
        hdd,
        listed,
        text("nvme-consumer") + faults,
        text("cloud-credit"),
    ];
    if table == "The profile" {
        return listed_keys(&format!("zzz = 1\n{}", texts[0]));
    }
    let found = texts.iter().find_map(|text| {
        let line = text.lines().find(|line| line.starts_with(table))?;
        Some(text.replacen(line, &format!("{line}\nzzz = 1"), 1))
    });
    listed_keys(&found.unwrap_or_else(|| panic!("no text has {table}")))
}

fn listed_keys(text: &str) -> BTreeSet<String> {
    let error = parse(text).expect_err("zzz is no key").to_string();
    let (_, known) = error.split_once(" It has: ").expect("the keys are named");
    known.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_key_of_a_profile_is_documented_and_no_other() {
    let (prose, _) = split(&read(SIMULATED));
    let tables = sections(&section(&prose, 2, "A profile file"), 3);
    assert!(tables.len() > 15, "{tables:?}");
    for (heading, text) in tables {
        let documented: Vec<String> = rows(&text, "key")
            .iter()
            .flat_map(|row| spans(&row[0]))
            .collect();
        let once: BTreeSet<String> = documented.iter().cloned().collect();
        assert_eq!(once.len(), documented.len(), "{heading}: a key twice");
        assert_eq!(once, keys_of_a_profile(&heading), "{heading}");
    }
}

#[test]
fn the_defaults_of_a_profile_are_the_parsers_own() {
    let (prose, _) = split(&read(SIMULATED));
    let tables = sections(&section(&prose, 2, "A profile file"), 3);
    let mut keys = 0;
    for name in profiles() {
        let text = profile_text(name).expect("it is built in");
        let (_, filled) = read_profile(text).expect("it is read in a test");
        for key in filled {
            let (_, section) = tables
                .iter()
                .find(|(heading, _)| *heading == key.table)
                .unwrap_or_else(|| panic!("no section {}", key.table));
            let rows = rows(section, "key");
            let row = rows.iter().find(|row| spans(&row[0]) == [key.key]);
            let default = &row.expect("a row")[1];
            // One in words, such as that of the physical sector, says no value.
            if let Some(default) = only_span(default) {
                assert_eq!(default, key.value, "{} {}", key.table, key.key);
                keys += 1;
            }
        }
    }
    assert!(keys > 20, "{keys}");
}

#[test]
fn every_simulated_disk_and_every_gate_is_documented_as_it_is() {
    let (prose, _) = split(&read(SIMULATED));
    let documented: Vec<(String, Option<u32>)> = rows(&prose, "profile")
        .iter()
        .map(|row| {
            let seed = row[2]
                .strip_prefix("seed ")
                .and_then(|seed| seed.parse().ok());
            (only_span(&row[0]).expect("a name"), seed)
        })
        .collect();
    let known: Vec<(String, Option<u32>)> = profiles()
        .map(|name| (name.to_owned(), reproduce::seed_of(name)))
        .collect();
    assert_eq!(documented, known);
    let gates: Vec<Vec<String>> = SEEDS
        .verdicts
        .iter()
        .map(|verdict| {
            let outcome = if verdict.holds { "holds" } else { "not met" };
            vec![
                verdict.gate.to_string(),
                verdict.limit.to_owned(),
                verdict.found.clone(),
                outcome.to_owned(),
            ]
        })
        .collect();
    assert_eq!(rows(&prose, "gate"), gates);
}

#[test]
fn the_keys_of_the_documents_of_simulated_disks_are_documented_and_no_other() {
    let (prose, _) = split(&read(SIMULATED));
    let documents = section(&prose, 2, "As JSON");
    let documented = |heading: &str| -> Vec<String> {
        let rows = rows(&section(&documents, 3, heading), "key");
        rows.iter().flat_map(|row| spans(&row[0])).collect()
    };
    let keys = |value: &serde_json::Value| -> Vec<String> {
        let object = value.as_object().expect("an object");
        object.keys().cloned().collect()
    };
    let parsed =
        |text: &str| -> serde_json::Value { serde_json::from_str(text).expect("one document") };
    let all: Vec<Profile> = profiles()
        .map(|name| profile(name).expect("it is built in"))
        .collect();
    let list = parsed(&json::profiles(&all));
    assert_eq!(documented("`sim --json`"), keys(&list));
    let described = documented("A profile of a simulated disk");
    assert_eq!(described, keys(&list["profiles"][0]));
    let one = parsed(&json::profile(&all[0], "", &[]));
    assert_eq!(documented("`sim PROFILE --json`"), keys(&one));
    let seeds = parsed(&json::reproduction(&SEEDS));
    assert_eq!(documented("`sim --reproduce seeds --json`"), keys(&seeds));
    assert_eq!(documented("A cell"), keys(&seeds["cells"][0]));
    let (_, text) = sections(&documents, 3)
        .into_iter()
        .find(|(heading, _)| heading.contains("--reproduce"))
        .expect("the section");
    for part in ["gates", "open_points", "tables"] {
        for key in keys(&seeds[part][0]) {
            assert!(text.contains(&format!("`{key}`")), "{part}: {key}");
        }
    }
}
