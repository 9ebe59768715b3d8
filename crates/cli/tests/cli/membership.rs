//! What a run belongs to, and the file of it that is brought to where a fleet comes together.

use crate::support::{Case, Content};
use diskfacts_testkit::Program;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn measure(case: &Case, words: &[&str]) -> Program {
    let stage = ["measure", "sim:ssd-sata", "--stage", "random-read-qd1"];
    case.diskfacts(stage).args(["--trials", "1"]).args(words)
}

/// The files in a folder of the case.
fn files(case: &Case, folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(case.path(folder)).expect("the folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

#[test]
fn a_run_says_what_it_belongs_to_and_takes_it_to_other_stores() {
    let (case, other) = (Case::new(), Case::new());
    let words = [
        "--group",
        "monday",
        "--label",
        "rack=r12",
        "--label",
        "firmware=1.2.3 b",
    ];
    measure(&case, &words)
        .args(["--label", "rack=r13", "--out"])
        .arg(case.path("out/of/it"))
        .run()
        .expect_code(0)
        .expect_stdout("written to");
    let wanted = json!({"group": "monday", "labels": {"firmware": "1.2.3 b", "rack": "r13"}});
    let run = case.last();
    assert_eq!(run["run"]["membership"], wanted);
    let [file] = &files(&case, "out/of/it")[..] else {
        panic!("{:?}", files(&case, "out/of/it"));
    };
    let name = file.file_name().expect("a name").to_str().expect("text");
    let id = run["run"]["id"].as_str().expect("an id");
    assert!(name.ends_with(&format!("-{id}.dfrun")), "{name}");
    other
        .diskfacts(["runs", "import"])
        .arg(file)
        .run()
        .expect_code(0);
    assert_eq!(other.last()["run"]["membership"], wanted);
    other
        .run(["show", "last", "--explain"])
        .expect_stdout("Group      monday")
        .expect_stdout("firmware=1.2.3 b, rack=r13");
    // It is what an export is.
    let exported = case.path("exported.dfrun");
    case.diskfacts(["runs", "export", "last", "-o"])
        .arg(&exported)
        .run()
        .expect_code(0);
    assert_eq!(
        fs::read(file).expect("the file"),
        fs::read(exported).expect("the export")
    );
}

#[test]
fn what_is_no_group_or_label_is_refused() {
    let case = Case::new();
    for (words, said) in [
        (["--group", "a/b"], "one word"),
        (["--label", "rack"], "KEY=VALUE"),
        (["--label", "a.b=c"], "one word"),
        (["--label", "rack="], "at least one"),
    ] {
        case.refuses(&measure(&case, &words), &[said]);
    }
}

#[test]
fn a_place_where_no_file_can_be_made_is_refused_before_anything_is_measured() {
    let case = Case::new();
    let file = case.text_file("file", "x");
    for place in [
        file.clone(),
        file.join("below"),
        PathBuf::from("/proc/nothing"),
    ] {
        let measured = measure(&case, &["--out"]).arg(&place);
        case.refuses(
            &measured,
            &["--out", "Nothing was measured", "name a folder"],
        );
    }
    // What was made for a run that is refused is gone again.
    let before = Content::of(case.scratch.path());
    case.diskfacts(["measure", "sim:no-such-disk", "--out"])
        .arg(case.path("new"))
        .run()
        .expect_code(2);
    assert_eq!(Content::of(case.scratch.path()), before);
}

#[test]
fn a_run_that_is_stopped_is_a_file_all_the_same() {
    let case = Case::new();
    let folder = case.folder("data");
    let program = case
        .diskfacts([
            "measure", "--time", "60s", "--size", "4MiB", "--json", "--out",
        ])
        .arg(case.path("out"))
        .arg(&folder);
    let running = program.start();
    case.wait_for_a_trial(&running);
    running.interrupt();
    running.finish().expect_code(130);
    let [file] = &files(&case, "out")[..] else {
        panic!("{:?}", files(&case, "out"));
    };
    let other = Case::new();
    other
        .diskfacts(["runs", "import"])
        .arg(file)
        .run()
        .expect_code(0);
    let run: Value = other.last();
    assert_eq!(run["run"]["status"], "interrupted");
    assert!(!run["trials"].as_array().expect("trials").is_empty());
}
