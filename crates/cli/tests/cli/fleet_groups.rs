//! Two groups of a fleet: each host is held against itself.

use crate::compare_command::schema;
use crate::fleet_command::{added, measured_in};
use crate::json::faults;
use crate::support::{Case, number};
use diskfacts_testkit::{Finished, Missing, or_skip};
use serde_json::Value;
use std::path::PathBuf;

/// Twelve hosts on a monday, and eleven of them with a new one today, when flushes take 12 % longer,
/// and those of one host twice as long. The disk has one name in all of this, as a real one has.
fn fleet(case: &Case) -> Result<(), Missing> {
    let healthy = case.run(["sim", "ssd-sata"]).stdout;
    let flushes = |time: &str| -> PathBuf {
        let changed = healthy.replacen("flush = \"3.2ms\"", &format!("flush = \"{time}\""), 1);
        case.text_file("disk.toml", &changed)
    };
    let name = |host: u64| format!("c{host:02}");
    for host in 1..=12 {
        measured_in("monday", case, &name(host), &flushes("3.2ms"), 100 + host)?;
    }
    for host in 2..=13 {
        let disk = flushes(if host == 7 { "7.2ms" } else { "3.6ms" });
        measured_in("today", case, &name(host), &disk, 200 + host)?;
    }
    added(case).expect_code(0).expect_stdout("Added 24 runs");
    Ok(())
}

fn compared(case: &Case, words: &[&str]) -> Finished {
    let side = |group: &str| format!("{}/@{group}", case.path("fleet").display());
    let compare = case.diskfacts(["compare"]);
    compare
        .args([side("monday"), side("today")])
        .args(words)
        .run()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON document")
}

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter().filter_map(|one| one["host"].as_str()).collect()
}

#[test]
fn a_fleet_that_got_slower_fails_and_who_moved_by_itself_is_named() {
    let case = Case::new();
    or_skip!(fleet(&case));
    let failed = compared(&case, &["--fail-if", "slower:5%"]);
    failed
        .expect_code(3)
        .expect_stdout("11 hosts in both groups")
        .expect_stdout("Hosts only in A, in no figure: c01")
        .expect_stdout("Hosts only in B, in no figure: c13")
        .expect_stderr("slower:5% holds in commit-latency");
    assert!(
        failed.stdout.contains("c07:") && failed.stdout.contains("a suspect"),
        "{failed}"
    );
    compared(&case, &["--fail-if", "slower:50%"]).expect_code(0);
    compared(&case, &["--fail-if", "p99:slower:5%"])
        .expect_code(4)
        .expect_stderr("percentiles of groups are not compared");
    compared(&case, &["--fail-if", "p99:slower:5%", "--allow-unjudged"]).expect_code(0);
    compared(&case, &["--fail-if", "no-such:slower:5%"])
        .expect_code(2)
        .expect_stderr("there are commit-latency, short-read");

    let document = json(&compared(&case, &["--json"]).expect_code(0).stdout);
    assert_eq!(faults(&schema(), &document), [""; 0]);
    let stages = document["stages"].as_array().expect("stages");
    let of = |name: &str| {
        stages
            .iter()
            .position(|s| s["stage"] == name)
            .expect("a stage")
    };
    let (commit, read) = (of("commit-latency"), of("short-read"));
    assert_eq!(stages[commit]["change"], "slower", "{document:#}");
    assert_eq!(stages[read]["change"], "same", "{document:#}");
    let speed = &stages[commit]["speed"];
    assert_eq!(
        (&speed["unit"], &speed["count_a"]),
        (&"host".into(), &11.into())
    );
    let change = number(&speed["change"]);
    assert!((0.05..0.15).contains(&change), "{change}");
    let fleet = &document["fleet"];
    assert_eq!(names(&fleet["only_in_a"]), ["c01"]);
    assert_eq!(names(&fleet["only_in_b"]), ["c13"]);
    assert_eq!(names(&fleet["stages"][commit]["movers"]), ["c07"]);
    assert_eq!(fleet["stages"][commit]["movers"][0]["moved"], "suspect");
    assert_eq!(fleet["stages"][read]["movers"], Value::Array(Vec::new()));
    assert_eq!(
        fleet["stages"][commit]["pairs"].as_array().map(Vec::len),
        Some(11)
    );
    // In the formats of other programs, and as a page.
    compared(&case, &["--format", "junit", "--fail-if", "slower:5%"])
        .expect_code(3)
        .expect_stdout("failures=\"1\"");
    compared(&case, &["--format", "markdown"])
        .expect_code(0)
        .expect_stdout("commit-latency");
    let side = |group: &str| format!("{}/@{group}", case.path("fleet").display());
    let page = case
        .diskfacts(["report", "-o", "-", "--compare"])
        .args([side("monday"), side("today")])
        .run();
    page.expect_code(0)
        .expect_stdout("commit-latency: what each host changed")
        .expect_stdout("11 in both groups");
}

#[test]
fn a_group_that_is_not_there_lists_those_that_are_and_a_run_is_no_group() {
    let case = Case::new();
    let disk = case.text_file("disk.toml", &case.run(["sim", "ssd-sata"]).stdout);
    or_skip!(measured_in("monday", &case, "c01", &disk, 1));
    or_skip!(measured_in("today", &case, "c01", &disk, 2));
    added(&case).expect_code(0);
    let fleet = case.path("fleet").display().to_string();
    let of = |group: &str| format!("{fleet}/@{group}");
    let compare = |a: &str, b: &str| case.run(["compare", a, b, "--fail-if", "slower:5%"]);
    compare(&of("tuesday"), &of("today"))
        .expect_code(2)
        .expect_stderr("no run of the group 'tuesday'; its groups are monday, today");
    compare(&of("monday"), "last")
        .expect_code(2)
        .expect_stderr("with a group");
    compare(&of("monday"), &of("monday"))
        .expect_code(2)
        .expect_stderr("on both sides");
    compare(&of("a.b"), &of("monday"))
        .expect_code(2)
        .expect_stderr("names no group");
    compare("/nowhere/@monday", &of("monday"))
        .expect_code(2)
        .expect_stderr("fleet add");
    // One host has no spread, and so nothing is told by it.
    compare(&of("monday"), &of("today"))
        .expect_code(4)
        .expect_stderr("of one host no spread is known");
}
