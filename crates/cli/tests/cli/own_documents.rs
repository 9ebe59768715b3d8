//! Runs in files, as `--json` has printed them: shown, advised on and compared without a
//! store.

use crate::support::Case;
use serde_json::Value;
use std::path::PathBuf;

/// The document of a run of a simulated disk, and a case in which nothing is stored.
fn document(disk: &str) -> (Case, PathBuf) {
    let case = Case::new();
    let plan = ["measure", disk, "--stage", "random-read-qd1", "--json"];
    let printed = case.run(plan);
    printed.expect_code(0);
    let elsewhere = Case::new();
    let file = elsewhere.text_file("run.json", &printed.stdout);
    (elsewhere, file)
}

#[test]
fn a_run_in_a_file_is_shown_as_it_was() {
    let (case, file) = document("sim:ssd-sata");
    let file = file.to_str().expect("a path");
    let shown = case.run(["show", file]);
    shown
        .expect_code(0)
        .expect_stdout("a simulated disk of 465.8 GiB")
        .expect_stdout(&format!("Read from {file}."));
    let again = case.run(["show", file, "--json"]);
    again.expect_code(0);
    let printed: Value = serde_json::from_str(&again.stdout).expect("JSON");
    let read: Value =
        serde_json::from_str(&std::fs::read_to_string(file).expect("the file")).expect("JSON");
    assert!(printed == read, "not what was read");
    assert!(!case.store().exists(), "nothing is stored by looking");
}

#[test]
fn advice_takes_runs_in_files_beside_each_other() {
    let (case, slow) = document("sim:hdd-7200-1tb");
    let (_elsewhere, fast) = document("sim:nvme-consumer");
    let paths = [slow, fast].map(|path| path.to_str().expect("a path").to_owned());
    let advice = case.run(["advise", &paths[0], &paths[1], "--weights", "seeks=1"]);
    advice.expect_code(0).expect_stdout("nvme-consumer");
    assert!(!case.store().exists());
}

#[test]
fn two_hosts_whose_runs_have_one_id_are_two() {
    let (case, slow) = document("sim:hdd-7200-1tb");
    let (_elsewhere, fast) = document("sim:nvme-consumer");
    let of_host = |path: &PathBuf, host: &str| {
        let text = std::fs::read_to_string(path).expect("the file");
        let mut run: Value = serde_json::from_str(&text).expect("JSON");
        run["run"]["id"] = "20260101-000000-00000001".into();
        run["machine"]["host"] = host.into();
        case.text_file(&format!("{host}.json"), &run.to_string())
    };
    let one = of_host(&slow, "one");
    let other = of_host(&fast, "other");
    let advise = |second: &PathBuf| {
        let [first, second] = [&one, second].map(|path| path.to_str().expect("a path"));
        case.run(["advise", first, second, "--weights", "seeks=1"])
    };
    advise(&other)
        .expect_code(0)
        .expect_stdout("2 options, told apart by host");
    advise(&one)
        .expect_code(2)
        .expect_stderr("nothing to choose between");
}

#[test]
fn a_file_that_is_no_run_or_half_of_one_is_told_what_it_is() {
    let (case, file) = document("sim:ssd-sata");
    let file = file.to_str().expect("a path");
    case.run(["import", file])
        .expect_code(2)
        .expect_stderr(&format!("`diskfacts show {file}` shows it"))
        .expect_stderr("without the whole histograms")
        .expect_stderr("`diskfacts runs export RUN -o FILE.dfrun`");
    let text = std::fs::read_to_string(file).expect("the file");
    let half = case.text_file("half.json", &text[..text.len() / 2]);
    let other = case.text_file("other.txt", "nothing of ours\n");
    let newer = text.replacen("\"schema\": 1,", "\"schema\": 999,", 1);
    assert!(newer != text, "the schema stands at the beginning");
    let newer = case.text_file("newer.json", &newer);
    let absent = case.path("absent.json");
    for (path, said) in [
        (&absent, "there is no file"),
        (
            &half,
            "is no run that diskfacts has exported, or printed with --json",
        ),
        (&other, "`diskfacts import"),
        (&newer, "schema version 999"),
    ] {
        for command in ["show", "advise"] {
            case.diskfacts([command])
                .arg(path)
                .run()
                .expect_code(2)
                .expect_stderr(said);
        }
    }
}

#[test]
fn names_of_others_do_not_move_the_cursor_in_any_style() {
    let case = Case::new();
    for (plan, styles) in [
        ("hdparm", &["facts", "classic", "iostat", "readahead"][..]),
        ("bonnie", &["classic", "classic-csv"]),
    ] {
        let plan = ["measure", "sim:ssd-sata", "--plan", plan, "--json"];
        let measured = case.run(plan);
        let mut run: Value = serde_json::from_str(&measured.expect_code(0).stdout).expect("JSON");
        for (part, name) in [("target", "given"), ("machine", "host")] {
            run[part][name] = "a\u{1b}]0;b\u{7}".into();
        }
        let file = case.text_file("hostile.json", &run.to_string());
        let file = file.to_str().expect("a path");
        for style in styles {
            let shown = case.run(["show", file, "--style", style]);
            shown.expect_code(0);
            let is_clean = !shown.stdout.contains('\u{1b}');
            assert!(is_clean, "{style}: {:?}", shown.stdout);
        }
    }
}
