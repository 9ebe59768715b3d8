//! What people call runs, and the table that SQL sees of them.

use crate::support::{Case, diskfacts};
use diskfacts_testkit::{Program, or_skip, require_tool};
use serde_json::Value;
use std::path::Path;

/// A run of a trial on a simulated disk with these words behind it; its id.
fn measured(case: &Case, words: &[&str]) -> String {
    let stage = ["measure", "sim:ssd-sata", "--stage", "random-read-qd1"];
    let measured = case.diskfacts(stage).args(["--trials", "1"]).args(words);
    measured.run().expect_code(0);
    id(case, "last")
}

/// The id of the run that is meant.
fn id(case: &Case, run: &str) -> String {
    let shown = case.run(["show", run, "--json"]);
    shown.expect_code(0);
    let document: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    document["run"]["id"].as_str().expect("an id").to_owned()
}

/// The ids that are listed, the latest first.
fn listed(case: &Case, words: &[&str]) -> Vec<String> {
    let listed = case.diskfacts(["runs", "--json"]).args(words).run();
    let document: Value = serde_json::from_str(&listed.expect_code(0).stdout).expect("JSON");
    let runs = document["runs"].as_array().expect("a list");
    let id = |run: &Value| run["id"].as_str().expect("an id").to_owned();
    runs.iter().map(id).collect()
}

#[test]
fn a_name_is_its_newest_run_wherever_a_run_is_named() {
    let case = Case::new();
    let first = measured(
        &case,
        &["--name", "nightly", "--tag", "ci", "--tag", "fw-6"],
    );
    let noted = [
        "--name",
        "nightly",
        "--tag",
        "ci",
        "--note",
        "after the firmware",
    ];
    let second = measured(&case, &noted);
    let other = measured(&case, &[]);
    assert_eq!(id(&case, "nightly"), second);
    assert_eq!(id(&case, "nightly~1"), first);
    case.run(["compare", "nightly~1", "nightly"])
        .expect_code(0)
        .expect_stdout(&second);
    case.run(["advise", "nightly"]).expect_code(2);
    case.run(["show", "nightly"])
        .expect_code(0)
        .expect_stdout(&format!("Run {second} (nightly; ci): "))
        .expect_stdout("\nNote: after the firmware\n");
    assert_eq!(listed(&case, &["--name", "nightly"]), [&*second, &*first]);
    assert_eq!(listed(&case, &["--tag", "ci"]), [&*second, &*first]);
    assert_eq!(listed(&case, &["--tag", "ci", "--tag", "fw-6"]), [&*first]);
    assert_eq!(listed(&case, &["--tag", "c"]), [""; 0]);
    let table = case.run(["runs"]);
    table
        .expect_code(0)
        .expect_stdout("nightly  ci,fw-6  complete");
    // Passed over where nobody names it, found by the near name of those that there are.
    case.run(["show", "nigthly"])
        .expect_code(2)
        .expect_stderr("did you mean 'nightly'?");
    case.run(["runs", "delete", "nightly", "--yes"])
        .expect_code(0);
    assert_eq!(id(&case, "nightly"), first);
    assert_eq!(listed(&case, &[]), [other, first]);
}

#[test]
fn what_a_run_is_called_is_changed_and_taken_away() {
    let case = Case::new();
    let run = measured(&case, &["--name", "nightly"]);
    case.run(["runs", "rename", "nightly", "baseline"])
        .expect_code(0)
        .expect_stdout(&format!(
            "{run}\n  name  baseline\n  note  none\n  tags  none\n"
        ));
    case.run(["runs", "note", "baseline", "two\nlines"])
        .expect_code(0)
        .expect_stdout("  note  two\n        lines\n");
    case.run(["runs", "tag", "baseline", "ci", "2026"])
        .expect_code(0)
        .expect_stdout("  tags  2026 ci\n");
    case.run(["runs", "tag", "baseline", "2026", "absent", "--remove"])
        .expect_code(0)
        .expect_stdout("  tags  ci\n");
    assert_eq!(
        case.last()["run"]["labels"],
        serde_json::json!({"name": "baseline", "note": "two\nlines", "tags": ["ci"]})
    );
    for words in [["runs", "rename"], ["runs", "note"]] {
        case.diskfacts(words)
            .args(["last", "--remove"])
            .run()
            .expect_code(0);
        // What is to be done is said.
        case.diskfacts(words)
            .arg("last")
            .run()
            .expect_code(2)
            .expect_stderr("`diskfacts runs ")
            .expect_stderr("--remove takes it away");
    }
    case.run(["show", "baseline"]).expect_code(2);
    let many: Vec<String> = (0..70).map(|n| format!("t{n}")).collect();
    let call = case.diskfacts(["runs", "tag", "last"]).args(&many);
    call.run().expect_code(2).expect_stderr("at most 64 tags");
    assert_eq!(
        case.last()["run"]["labels"]["tags"],
        serde_json::json!(["ci"])
    );
}

#[test]
fn what_cannot_be_a_name_is_refused_before_anything_is_measured() {
    let case = Case::new();
    for (words, said) in [
        (["--name", "last"], "the newest run"),
        (["--name", "20261121"], "beginning of a run's id"),
        (["--name", "nightly~1"], "'~' cannot be in"),
        (["--name", "a.b"], "'.' cannot be in"),
        (["--name", "-x"], "begin with '-'"),
        (["--name", ""], "at least one character"),
        (["--tag", "a b"], "one word"),
        (["--note", "\u{1b}[2J"], "no control characters"),
    ] {
        let call = case.diskfacts(["measure", "sim:ssd-sata"]).args(words);
        let refused = call.run();
        refused.expect_code(2).expect_stderr(said);
        assert!(!refused.stderr.contains('\u{1b}'), "{refused}");
    }
    assert!(!case.store().exists());
}

#[test]
fn imported_runs_and_copies_have_names_too() {
    let case = Case::new();
    let text = case.text_file("dd.txt", "1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 MB/s\n");
    let import = case.diskfacts(["import", "--name", "old-disk", "--tag", "2009"]);
    import.arg(&text).run().expect_code(0);
    assert_eq!(
        case.last()["run"]["labels"]["tags"],
        serde_json::json!(["2009"])
    );
    let copy = case.path("copy");
    let of = format!("of={}", copy.display());
    let words = [
        "dd",
        "if=/dev/zero",
        &of,
        "bs=64k",
        "count=2",
        "--name",
        "copy",
    ];
    case.run(words).expect_code(0);
    assert_eq!(id(&case, "copy"), id(&case, "last"));
    assert_eq!(id(&case, "old-disk"), id(&case, "last~1"));
}

#[test]
fn names_and_tags_are_completed() {
    let case = Case::new();
    measured(&case, &["--name", "nightly", "--tag", "ci"]);
    measured(&case, &["--name", "nightly"]);
    let store = case.store();
    let offered = |words: &[&str]| {
        let asked = diskfacts(["completion-candidates", "--store"]).arg(&store);
        let asked = asked.args(words).run();
        let words = asked.stdout.lines();
        let words = words.map(|line| line.split('\t').next().expect("a word").to_owned());
        words.collect::<Vec<_>>()
    };
    for command in [
        &["show"][..],
        &["compare", "last"],
        &["advise", "last"],
        &["runs", "rename"],
        &["runs", "export", "last"],
    ] {
        assert_eq!(
            offered(&[command, &["nig"]].concat()),
            ["nightly"],
            "{command:?}"
        );
    }
    assert_eq!(offered(&["runs", "--name", ""]), ["nightly"]);
    assert_eq!(offered(&["measure", ".", "--name", "n"]), ["nightly"]);
    assert_eq!(offered(&["runs", "tag", "last", ""]), ["ci"]);
    assert_eq!(offered(&["runs", "--tag", "c"]), ["ci"]);
    assert_eq!(offered(&["runs", "fig"]), ["figures"]);
}

/// The line of the reference for a program, with this store in it.
fn documented(program: &str, store: &Path) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/sql.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let row = page
        .lines()
        .find(|line| line.starts_with(&format!("| {program} |")))
        .expect("a row");
    let line = row.split('`').nth(1).expect("a line to type");
    assert!(line.contains("runs.db"), "{line}");
    line.replace(
        "~/.local/share/diskfacts/runs.db",
        &store.display().to_string(),
    )
}

#[test]
fn sqlite3_has_the_medians_of_the_stages_in_one_line() {
    or_skip!(require_tool("sqlite3", "sqlite3"));
    let case = Case::new();
    let run = measured(&case, &["--name", "nightly"]);
    let line = documented("sqlite3", &case.store());
    let ask = |line: &str| {
        let asked = Program::new("/bin/sh")
            .args(["-c", line])
            .env("PATH", "/usr/bin:/bin")
            .run();
        asked.expect_code(0);
        asked.stdout
    };
    let table = ask(&line);
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 2, "{table}");
    let cell = |column: &str| {
        let at = rows[0].iter().position(|name| *name == column);
        rows[1][at.expect("a column")]
    };
    let document = case.last();
    let figures = &document["figures"][0];
    assert_eq!(cell("run"), run);
    assert_eq!(cell("name"), "nightly");
    assert_eq!(cell("stage"), "random-read-qd1");
    let median = figures["iops"]["median"].as_f64().expect("a number");
    let told: f64 = cell("iops").parse().expect("a number");
    // sqlite3 prints fifteen digits.
    assert!((told / median - 1.0).abs() < 1e-12, "{told} {median}");
    let p50 = figures["latency_ns"]["p50"].as_u64().expect("a number");
    assert_eq!(cell("latency_p50_ns"), p50.to_string());

    // A run that was killed has figures when somebody works them out.
    let store = case.store().display().to_string();
    let kill = "UPDATE run SET status = 'running', arithmetic = NULL; DELETE FROM stage";
    ask(&format!("sqlite3 {store} \"{kill}\""));
    assert_eq!(ask(&line), "");
    let told = case.run(["runs", "figures"]);
    told.expect_code(0)
        .expect_stdout("has 1 rows, of 1 runs; 1 were worked out anew");
    assert_eq!(ask(&line), table.replace(",complete,", ",running,"));
    let typed = told.stdout.lines().last().expect("a line to type");
    assert!(ask(typed.trim()).contains("random-read-qd1"), "{typed}");
    case.run(["runs", "figures"])
        .expect_code(0)
        .expect_stdout("; 0 were worked out anew");
}
