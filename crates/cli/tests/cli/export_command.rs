//! Runs in the formats of other tools, from the command line; and the recipes for continuous
//! integration, done as they stand.

use crate::json::{faults, schema};
use crate::support::Case;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A case with a run of two stages on a simulated disk, called `fast`.
fn with_run() -> Case {
    let case = Case::new();
    measure(&case, "sim:ssd-sata", "fast");
    case
}

fn measure(case: &Case, disk: &str, name: &str) {
    let stages = [
        "--stage",
        "random-read-qd1",
        "--stage",
        "log-write",
        "--trials",
        "5",
    ];
    let call = case.diskfacts(["measure", disk, "--quiet", "--name", name]);
    call.args(stages).run().expect_code(0);
}

/// What is written to standard output.
fn exported(case: &Case, arguments: &[&str]) -> String {
    let finished = case.diskfacts(["export"]).args(arguments).run();
    finished.expect_code(0);
    assert_eq!(finished.stderr, "");
    finished.stdout.clone()
}

#[test]
fn a_stored_run_is_the_same_from_the_store_a_file_and_its_whole_document() {
    let case = with_run();
    let file = case.path("fast.dfrun");
    let call = case.diskfacts(["runs", "export", "fast", "-o"]).arg(&file);
    call.run().expect_code(0);
    let full = case.run(["show", "fast", "--json=full"]);
    let document: Value = serde_json::from_str(&full.stdout).expect("one document");
    assert_eq!(faults(&schema(), &document), [""; 0]);
    let document = case.text_file("fast.json", &full.stdout);
    let names = [
        "fast",
        file.to_str().expect("a path"),
        document.to_str().expect("a path"),
    ];
    for format in [
        &["--format", "csv"][..],
        &["--format", "csv", "--table", "trials"],
        &["--format", "csv", "--table", "intervals"],
        &["--format", "csv", "--table", "bins"],
        &["--format", "openmetrics"],
        &["--format", "hgrm", "--stage", "log-write"],
        &["--format", "hlog"],
        &["--format", "perfetto"],
    ] {
        let of = |name| exported(&case, &[&[name], format].concat());
        let stored = of(names[0]);
        assert!(
            stored.lines().count() >= 1 && stored.len() > 100,
            "{format:?}: {stored}"
        );
        assert!(of(names[1]) == stored, "{format:?} of a file");
        // What is called `fast` in the store has no name in a document of before it was named.
        assert!(of(names[2]) == stored, "{format:?} of a document");
    }
}

#[test]
fn single_requests_of_the_first_trial_alone_are_kept_and_only_the_full_document_has_them() {
    let case = with_run();
    let shown = |form: &str| -> Value {
        let finished = case.run(["show", form]);
        finished.expect_code(0);
        serde_json::from_str(&finished.stdout).expect("one document")
    };
    let (short, full) = (shown("--json"), shown("--json=full"));
    let trials = full["trials"].as_array().expect("trials");
    assert!(trials.len() >= 10);
    for trial in trials {
        let bursts = trial["evidence"]["bursts"].as_array();
        assert_eq!(bursts.is_some(), trial["number"] == 1, "{}", trial["stage"]);
        assert!(trial["histograms"]["read"]["counts"].is_array());
    }
    for trial in short["trials"].as_array().expect("trials") {
        assert!(trial["evidence"]["bursts"].is_null() && trial["histograms"].is_null());
    }
}

#[test]
fn many_runs_are_one_table_and_a_metric_of_the_newest() {
    let case = with_run();
    measure(&case, "sim:hdd-7200-1tb", "slow");
    measure(&case, "sim:ssd-sata", "fast");
    let table = exported(&case, &["--all", "--format", "csv"]);
    assert_eq!(table.lines().count(), 1 + 3 * 2, "{table}");
    let table = exported(&case, &["--name", "slow", "--format", "csv"]);
    assert_eq!(table.lines().count(), 1 + 2, "{table}");
    let metrics = exported(&case, &["--all", "--format", "openmetrics"]);
    let begun = metrics
        .lines()
        .filter(|line| line.starts_with("diskfacts_run_start"));
    assert_eq!(begun.count(), 2, "{metrics}");
    let newest = exported(&case, &["last", "--format", "openmetrics"]);
    let of_newest = newest
        .lines()
        .filter(|line| line.starts_with("diskfacts_run_start"));
    of_newest.for_each(|line| assert!(metrics.contains(line), "{line} in {metrics}"));
    let none = case.run(["export", "--tag", "nothing", "--format", "csv"]);
    none.expect_code(2)
        .expect_stderr("there is no stored run like that");
}

#[test]
fn a_file_is_there_whole_and_is_replaced_only_where_that_was_asked_for() {
    let case = with_run();
    let file = case.path("disk.prom");
    let call = |more: &[&str]| {
        let call = case.diskfacts(["export", "last", "--format", "openmetrics", "-o"]);
        call.arg(&file).args(more).run()
    };
    call(&[]).expect_code(0).expect_stdout("Exported to ");
    let written = fs::read_to_string(&file).expect("the file");
    assert!(written.ends_with("# EOF\n"));
    // For who collects it.
    let mode = fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o444, 0o444);
    call(&[]).expect_code(2).expect_stderr("exists already");
    // What only its owner might read stays so.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
    call(&["--overwrite"]).expect_code(0);
    assert_eq!(fs::read_to_string(&file).expect("the file"), written);
    let mode = fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let left = fs::read_dir(file.parent().expect("a folder")).expect("it is read");
    let names = left.map(|entry| entry.expect("an entry").file_name());
    assert!(
        !names
            .into_iter()
            .any(|name| name.to_string_lossy().starts_with(".diskfacts-"))
    );
}

#[test]
fn what_cannot_be_exported_is_told_with_what_can() {
    let case = with_run();
    for (arguments, said) in [
        (
            &["last", "--format", "hgrm"][..],
            "random-read-qd1, log-write; name one with --stage",
        ),
        (
            &["last", "--format", "csv", "--stage", "log"],
            "has no stage 'log'; it has log-write, random-read-qd1",
        ),
        (
            &["last", "--format", "hlog", "--table", "bins"],
            "--format csv has some",
        ),
        (&["nothing", "--format", "csv"], "nothing"),
        (&["last", "--format", "xml"], "openmetrics"),
        (&["last", "--all", "--format", "csv"], "cannot be used with"),
    ] {
        let finished = case.diskfacts(["export"]).args(arguments).run();
        finished.expect_code(2).expect_stderr(said);
        assert_eq!(finished.stdout, "");
    }
    let text = case.text_file(
        "dd.txt",
        "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.01 s, 105 MB/s\n",
    );
    case.diskfacts(["import"]).arg(text).run().expect_code(0);
    for format in ["hlog", "perfetto"] {
        let finished = case.run(["export", "last", "--format", format]);
        finished.expect_code(2).expect_stderr("--json=full");
    }
    assert_eq!(
        exported(&case, &["last", "--format", "csv"])
            .lines()
            .count(),
        2
    );
}

/// The scripts of the recipes, line by line: what stands behind `run:`, and in the list of
/// `script:`.
fn scripts() -> Vec<String> {
    let page = include_str!("../../../../docs/ci.md");
    let lines = page.lines().map(str::trim_start);
    let steps = lines.filter_map(|line| {
        let run = line.strip_prefix("run: ");
        run.or_else(|| line.strip_prefix("- "))
            .filter(|line| line.starts_with("diskfacts "))
    });
    steps.map(str::to_owned).collect()
}

#[test]
fn the_recipes_fail_where_something_became_slower_and_say_it_where_it_is_read() {
    let case = with_run();
    let file = case.path("baseline.dfrun");
    let call = case.diskfacts(["runs", "export", "fast", "-o"]).arg(&file);
    call.run().expect_code(0);
    let folder = file.parent().expect("a folder").to_owned();
    let scripts = scripts();
    assert_eq!(scripts.len(), 6, "{scripts:?}");
    for (disk, code) in [("sim:ssd-sata", 0), ("sim:hdd-7200-1tb", 3)] {
        let summary = case.path(&format!("summary-{code}.md"));
        for line in &scripts {
            // The disk of the page is not here.
            let line = line.replace("/srv/data", disk);
            let line = if line.starts_with("diskfacts measure") {
                format!("{line} --stage random-read-qd1 --stage log-write --trials 5")
            } else {
                line
            };
            if line.ends_with("-o run.dfrun") && folder.join("run.dfrun").exists() {
                // Each job begins in an empty folder.
                fs::remove_file(folder.join("run.dfrun")).expect("it is there");
            }
            let finished = Command::new("sh")
                .arg("-c")
                .arg(line.replacen("diskfacts", "\"$DISKFACTS\"", 1))
                .current_dir(&folder)
                .env("DISKFACTS", env!("CARGO_BIN_EXE_diskfacts"))
                .env("XDG_DATA_HOME", case.path("data"))
                .env("GITHUB_STEP_SUMMARY", &summary)
                .output()
                .expect("a shell");
            let said = String::from_utf8_lossy(&finished.stderr);
            let expected = if line.contains("--fail-if") { code } else { 0 };
            assert_eq!(finished.status.code(), Some(expected), "{line}\n{said}");
            if line.contains("--format github") {
                let out = String::from_utf8_lossy(&finished.stdout);
                assert_eq!(
                    out.contains("::error title=random-read-qd1%3A slower%3A5%25::"),
                    code == 3,
                    "{out}"
                );
            }
        }
        let summary = fs::read_to_string(summary).expect("a summary");
        assert_eq!(
            summary.contains("**slower&#58;5%** holds"),
            code == 3,
            "{summary}"
        );
        let junit = fs::read_to_string(folder.join("compare.xml")).expect("a document");
        assert_eq!(
            junit.contains("<failure message=\"slower:5%"),
            code == 3,
            "{junit}"
        );
    }
}
