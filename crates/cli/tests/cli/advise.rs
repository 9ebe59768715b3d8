//! `advise`: what to choose, from stored runs, and what is no choice.

use crate::support::{Case, number};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn document(name: &str) -> PathBuf {
    let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report");
    report.join("tests/documents").join(name)
}

/// A case whose store has the runs of a document.
fn imported(name: &str) -> Case {
    let case = Case::new();
    case.diskfacts(["import"])
        .arg(document(name))
        .run()
        .expect_code(0);
    case
}

fn advice(case: &Case, arguments: &[&str]) -> Value {
    let finished = case.diskfacts(["advise", "--json"]).args(arguments).run();
    finished.expect_code(0);
    serde_json::from_str(&finished.stdout).expect("one JSON document")
}

/// The options of the first order, each with its places.
fn order(advice: &Value) -> Vec<(String, u64, u64)> {
    let groups = advice["groups"].as_array().expect("groups").iter();
    let ranking = groups.map(|group| &group["ranking"]).find(|r| !r.is_null());
    let order = ranking.expect("an order")["order"]
        .as_array()
        .expect("options")
        .iter();
    order
        .map(|place| {
            let of = |key: &str| place[key].as_u64().expect("a place");
            let name = place["option"].as_str().expect("a name").to_owned();
            (name, of("place_from"), of("place_to"))
        })
        .collect()
}

#[test]
fn the_last_run_brings_the_others_of_its_document() {
    let case = imported("002_216efc4d5ed1186a.txt");
    let read = advice(&case, &["--weights", "seq-read=1"]);
    assert_eq!(read["runs"].as_array().expect("runs").len(), 2);
    // bonnie++'s volumes and hdparm's, which have other names.
    assert_eq!(read["groups"].as_array().expect("groups").len(), 2);
    assert_eq!(order(&read)[0], ("Raid6".to_owned(), 1, 1));
    let write = advice(&case, &["last", "--weights", "seq-write=1,seeks=1"]);
    assert_eq!(order(&write)[2], ("Raid6".to_owned(), 3, 3));
    assert!((number(&write["weights"]["seeks"]) - 1.0).abs() < 1e-9);
    let rules: Vec<&str> = write["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter_map(|finding| finding["rule"].as_str())
        .collect();
    assert!(
        rules.contains(&"flash-like-disks") && rules.contains(&"rewrite-rate"),
        "{rules:?}"
    );
    let shown = case.run(["advise"]);
    shown.expect_code(0);
    assert!(shown.stdout.contains("What is best at what"), "{shown}");
}

#[test]
fn two_simulated_volumes_are_ranked_for_a_use() {
    let case = Case::new();
    for disk in ["sim:hdd-7200-1tb", "sim:nvme-datacenter"] {
        let measured = case.run(["measure", disk, "--stage", "log-write", "--time", "20s"]);
        measured.expect_code(0);
    }
    let etcd = advice(&case, &["last", "last~1", "--for", "etcd"]);
    assert_eq!(etcd["use"], "etcd");
    assert_eq!(order(&etcd)[0], ("sim:nvme-datacenter".to_owned(), 1, 1));
    let shown = case.run(["advise", "last", "last~1", "--for", "etcd"]);
    shown.expect_code(0);
    assert!(shown.stdout.contains("https://etcd.io/"), "{shown}");
    assert!(
        shown
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 80 || line.contains("--store"))
    );
    // One of them alone is no choice.
    let alone = case.run(["advise", "last"]);
    alone.expect_code(2);
    alone.expect_stderr("there is nothing to choose between");
    alone.expect_stderr("diskfacts advise last last~1");
}

#[test]
fn what_cannot_be_weighed_is_refused_with_the_nearest_word() {
    let case = imported("002_216efc4d5ed1186a.txt");
    for (arguments, said) in [
        (["--for", "postgres-wall"], "did you mean 'postgres-wal'?"),
        (["--weights", "seq-raed=1"], "did you mean 'seq-read'?"),
        (["--weights", "seeks=0"], "no weight is above 0"),
        (["--weights", "seeks=many"], "'many' is no weight for seeks"),
        (
            ["--weights", "log-writes=1"],
            "(log-writes) was measured of two options",
        ),
        (["--for", "etcd"], "was measured of two options"),
    ] {
        let refused = case.diskfacts(["advise"]).args(arguments).run();
        refused.expect_code(2);
        refused.expect_stderr(said);
        assert_eq!(refused.stdout, "", "{refused}");
    }
    let no_run = case.run(["advise", "2001"]);
    no_run.expect_code(2);
    assert!(no_run.stderr.contains("2001"), "{no_run}");
}
