//! Two folders of one fleet, in which machines of one name are to be held each against itself.

use crate::fleet_command::measured_in;
use crate::support::Case;
use diskfacts_testkit::{Missing, Program, or_skip, require_tool};
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// Hosts by name and machine: two copies of one image have not been given names.
const HOSTS: [(&str, &str); 4] = [
    ("c1", "aa11"),
    ("c2", "bb22"),
    ("localhost", "cc33"),
    ("localhost", "dd44"),
];

/// Measures all of them as this group, each on its day, and adds them to a folder.
fn folder(case: &Case, group: &str, days: [&str; 4], seed: u64) -> Result<(), Missing> {
    let disk = case.text_file("disk.toml", &case.run(["sim", "ssd-sata"]).stdout);
    let add = case.diskfacts(["fleet", "add", "--into"]);
    let mut add = add.arg(case.path(&format!("of-{group}")));
    for ((seed, (host, machine)), day) in (seed..).zip(HOSTS).zip(days) {
        measured_in(group, case, host, &disk, seed)?;
        let results = fs::read_dir(case.path("results")).expect("the results");
        let [Ok(file)] = &results.collect::<Vec<_>>()[..] else {
            panic!("one result");
        };
        let kept = case.path(&format!("{group}-{machine}.dfrun"));
        fs::rename(file.path(), &kept).expect("a name");
        says(case, &kept, machine, day)?;
        add = add.arg(kept);
    }
    add.run().expect_code(0).expect_stdout("Added 4 runs");
    Ok(())
}

/// Lets the file of a run say that this machine measured it on this day.
fn says(case: &Case, file: &Path, machine: &str, day: &str) -> Result<(), Missing> {
    let gzip = require_tool("gzip", "gzip")?;
    let plain = Program::new(&gzip).arg("-dc").arg(file).run();
    let mut lines = plain.expect_code(0).stdout.splitn(3, '\n');
    let (head, run) = (lines.next().expect("a head"), lines.next().expect("a run"));
    let mut run: Value = serde_json::from_str(run).expect("a document");
    let object = |of: &mut Value, key: &str, value: String| {
        let of: &mut Map<String, Value> = of.as_object_mut().expect("an object");
        of.insert(key.to_owned(), value.into());
    };
    let began = run["run"]["started"].as_str().expect("a moment");
    let (_, time) = began.split_once('T').expect("a day and a time");
    let began = format!("{day}T{time}");
    object(&mut run["run"], "started", began);
    object(&mut run["machine"], "machine_id", machine.to_owned());
    let trials = lines.next().unwrap_or_default();
    let plain = case.text_file("plain", &format!("{head}\n{run}\n{trials}"));
    let pack = Program::new("sh").args(["-ec", "\"$1\" < \"$2\" > \"$3\"", "sh"]);
    pack.arg(gzip).arg(plain).arg(file).run().expect_code(0);
    Ok(())
}

/// Who was in both, and in one of them alone.
fn pairs(case: &Case, sides: [&str; 2]) -> (Vec<String>, Value, Value) {
    let sides =
        sides.map(|group| format!("{}/@{group}", case.path(&format!("of-{group}")).display()));
    let compared = case.diskfacts(["compare", "--json"]).args(sides).run();
    let document: Value =
        serde_json::from_str(&compared.expect_code(0).stdout).expect("a document");
    let fleet = &document["fleet"];
    let of_stage = fleet["stages"][0]["pairs"].as_array().expect("pairs");
    let name = |pair: &Value| pair["host"].as_str().expect("a name").to_owned();
    let mut pairs: Vec<String> = of_stage.iter().map(name).collect();
    pairs.sort();
    (
        pairs,
        fleet["only_in_a"].clone(),
        fleet["only_in_b"].clone(),
    )
}

/// In one folder both copies have measured within an hour, and in the other on two days, where an id alone
/// makes no other machine.
#[test]
fn machines_of_one_name_are_the_same_in_both_folders() {
    let case = Case::new();
    let at_once = ["2026-01-01"; 4];
    let on_two_days = ["2026-01-08", "2026-01-08", "2026-01-08", "2026-01-09"];
    or_skip!(folder(&case, "monday", at_once, 100));
    or_skip!(folder(&case, "today", on_two_days, 200));
    for sides in [["monday", "today"], ["today", "monday"]] {
        let (pairs, only_in_a, only_in_b) = pairs(&case, sides);
        let copies = ["localhost (machine cc33)", "localhost (machine dd44)"];
        let all = [&["c1", "c2"], &copies[..]].concat();
        assert_eq!(pairs, all, "{only_in_a} {only_in_b}");
        let nobody = Value::Array(Vec::new());
        assert_eq!((&only_in_a, &only_in_b), (&nobody, &nobody));
    }
}
