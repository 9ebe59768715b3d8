//! Results of other programs become runs that every view knows.

use crate::json::{faults, schema};
use crate::support::Case;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The documents that the project starts from, and how many rows each has.
const DOCUMENTS: [(&str, u64); 5] = [
    ("000_406dd5c1dd98a7d4.txt", 65),
    ("001_b18fe905e4c757db.txt", 245),
    ("002_216efc4d5ed1186a.txt", 9),
    ("003_2351a42a53108e94.txt", 294),
    ("004_260ad3a749590942.txt", 11),
];

fn document(name: &str) -> PathBuf {
    let report = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../report");
    report.join("tests/documents").join(name)
}

/// The array that `import --json` prints.
fn import(case: &Case, files: &[PathBuf]) -> Vec<Value> {
    let finished = case.diskfacts(["import", "--json"]).args(files).run();
    finished.expect_code(0);
    let read: Value = serde_json::from_str(&finished.stdout).expect("one JSON array");
    read.as_array().expect("an array").clone()
}

fn words(value: &Value) -> Vec<String> {
    let words = value.as_array().expect("a list").iter();
    words
        .map(|word| word.as_str().expect("text").to_owned())
        .collect()
}

#[test]
fn the_five_documents_become_runs_that_every_view_shows() {
    let case = Case::new();
    let files: Vec<PathBuf> = DOCUMENTS.iter().map(|(name, _)| document(name)).collect();
    let read = import(&case, &files);
    let rows: Vec<u64> = read
        .iter()
        .map(|file| file["rows"].as_u64().expect("rows"))
        .collect();
    assert_eq!(rows, DOCUMENTS.map(|(_, rows)| rows));
    let listed = case.diskfacts(["runs"]).run();
    let schema = schema();
    for (file, path) in read.iter().zip(&files) {
        assert_eq!(file["file"], path.display().to_string());
        assert!(file["notes"][0]["line"].is_u64() && file["notes"][0]["text"].is_string());
        for id in words(&file["runs"]) {
            assert!(listed.stdout.contains(&id), "{id}: {}", listed.stdout);
            let shown = case.diskfacts(["show", &id]).run();
            shown.expect_code(0);
            assert!(shown.stdout.starts_with("Imported:"), "{}", shown.stdout);
            let shown = case.diskfacts(["show", &id, "--json"]).run();
            shown.expect_code(0);
            let run: Value = serde_json::from_str(&shown.stdout).expect("a run");
            assert_eq!(faults(&schema, &run), [""; 0]);
            assert_eq!(run["target"]["kind"], "imported");
            assert_eq!(run["verdicts"], serde_json::json!([]));
            assert!(run["machine"]["architecture"].is_null());
        }
    }
}

#[test]
fn figures_of_repeats_have_their_median_and_their_spread() {
    let case = Case::new();
    let read = import(&case, &[document(DOCUMENTS[1].0)]);
    let id = &words(&read[0]["runs"])[0];
    let shown = case.diskfacts(["show", id, "--json"]).run();
    let run: Value = serde_json::from_str(&shown.stdout).expect("a run");
    let figures = run["figures"].as_array().expect("figures").iter();
    // The first with a second reader: 21,6 22,8 24,1 23,1 MB/s.
    let beside = figures
        .filter(|figures| figures["settings"]["beside"].is_string())
        .map(|figures| &figures["throughput_bytes_per_s"])
        .next()
        .expect("a stage beside another");
    assert_eq!(beside["trials"], 4);
    assert!((beside["median"].as_f64().expect("a median") - 22.95e6).abs() < 1.0);
    assert!((beside["max"].as_f64().expect("a maximum") - 24.1e6).abs() < 1.0);
    let rules: Vec<&str> = run["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|finding| finding["rule"].as_str().expect("a rule"))
        .collect();
    for rule in [
        "too-noisy",
        "disturbed",
        "io-context",
        "read-ahead-size",
        "read-ahead-limit",
        "text-against-rows",
    ] {
        assert!(rules.contains(&rule), "{rule}: {rules:?}");
    }
    assert_eq!(rules.len(), 6, "{rules:?}");
}

#[test]
fn the_imported_write_matrix_prints_the_lines_that_were_read() {
    let case = Case::new();
    let path = document(DOCUMENTS[3].0);
    import(&case, std::slice::from_ref(&path));
    let shown = case.diskfacts(["show", "last", "--style", "classic"]).run();
    shown.expect_code(0);
    let text = std::fs::read_to_string(path).expect("the document");
    let lines: Vec<&str> = text.lines().skip(271).take(294).collect();
    assert_eq!(shown.stdout, lines.join("\n") + "\n");
}

#[test]
fn formats_without_lines_to_print_have_one_refusal() {
    let case = Case::new();
    let files: Vec<PathBuf> = DOCUMENTS.iter().map(|(name, _)| document(name)).collect();
    let mut refused = Vec::new();
    for id in import(&case, &files)
        .iter()
        .flat_map(|file| words(&file["runs"]))
    {
        let shown = case.diskfacts(["show", &id, "--json"]).run();
        let run: Value = serde_json::from_str(&shown.stdout).expect("a run");
        let format = run["run"]["source"]["format"].as_str().expect("a format");
        let shown = case.diskfacts(["show", &id, "--style", "classic"]).run();
        if matches!(format, "stride" | "write-matrix") {
            shown.expect_code(0);
            assert!(!shown.stdout.is_empty());
            continue;
        }
        shown.expect_code(2);
        assert_eq!(shown.stdout, "");
        let said = format!("{id} was imported from {format}, and no classic style prints its");
        assert!(shown.stderr.contains(&said), "{}", shown.stderr);
        refused.push(format.to_owned());
    }
    refused.sort_unstable();
    refused.dedup();
    assert_eq!(
        refused,
        [
            "bonnie",
            "dd",
            "hdparm",
            "iostat-linux",
            "iostat-solaris",
            "readahead",
            "text"
        ]
    );
}

#[test]
fn remedies_for_documents_have_no_command_that_imports_or_edits_them() {
    let case = Case::new();
    let files: Vec<PathBuf> = DOCUMENTS.iter().map(|(name, _)| document(name)).collect();
    let mut remedies = 0;
    for id in import(&case, &files)
        .iter()
        .flat_map(|file| words(&file["runs"]))
    {
        let shown = case.diskfacts(["show", &id, "--json"]).run();
        let run: Value = serde_json::from_str(&shown.stdout).expect("a run");
        for finding in run["findings"].as_array().expect("findings") {
            let remedy = finding["remedy"].as_str().expect("a remedy");
            for wrong in [
                "diskfacts import",
                "diskfacts plans",
                "--time",
                "--trials",
                "TARGET",
            ] {
                assert!(!remedy.contains(wrong), "{remedy}");
            }
            remedies += 1;
        }
    }
    assert!(remedies > 3, "{remedies}");
}

#[test]
fn an_import_without_a_file_is_told_what_to_name() {
    let case = Case::new();
    let finished = case.diskfacts(["import"]).run();
    finished.expect_code(2);
    assert!(
        finished
            .stderr
            .contains("as in `diskfacts import results.txt`"),
        "{}",
        finished.stderr
    );
    assert!(
        !finished.stderr.contains("diskfacts measure"),
        "{}",
        finished.stderr
    );
}

#[test]
fn what_cannot_be_read_exits_with_2_and_says_what_would_be_read() {
    let case = Case::new();
    let folder = case.folder("results");
    let empty = case.text_file("empty.txt", "");
    let prose = case.text_file("prose.txt", "It felt like 5 MB/s to me.\n");
    let binary = case.text_file("binary", "ELF\0\0\0");
    let packed = case.path("results.gz");
    std::fs::write(&packed, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]).expect("a file");
    for (path, said) in [
        (case.path("nowhere.txt"), "there is no such file"),
        (folder, "is a folder; name the files in it"),
        (empty, "It is empty. Known are"),
        (
            prose,
            "Nearest, line 1: This looks like a measurement and was not understood",
        ),
        (binary, "line 1 has a NUL byte"),
        (packed.clone(), "it is compressed by gzip; `zcat "),
        (packed, "results.gz | diskfacts import -` reads it"),
    ] {
        let finished = case.diskfacts(["import"]).arg(&path).run();
        finished.expect_code(2);
        assert!(finished.stderr.contains(said), "{}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
    assert!(!case.store().exists());
}

#[test]
fn one_bad_file_does_not_keep_the_others_out() {
    let case = Case::new();
    let good = document(DOCUMENTS[2].0);
    let finished = case
        .diskfacts(["import"])
        .arg(case.path("nowhere.txt"))
        .arg(&good)
        .run();
    finished.expect_code(2);
    assert!(
        finished
            .stdout
            .contains("bonnie++ (tables and CSV), stored as"),
        "{}",
        finished.stdout
    );
    assert!(
        finished.stderr.contains("nowhere.txt"),
        "{}",
        finished.stderr
    );
}

/// Address space that may be used, KiB: far below what is read.
const MEMORY_KIB: u32 = 96 << 10;

#[test]
fn a_document_larger_than_memory_is_streamed_from_standard_input() {
    let case = Case::new();
    let script = format!("ulimit -v {MEMORY_KIB}; exec \"$0\" import - --json --store \"$1\"");
    let mut child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_diskfacts")])
        .arg(case.store())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut input = child.stdin.take().expect("a pipe");
    let line = format!("{}\n", "nothing that was measured, ".repeat(300));
    let mebibytes = 128;
    for _ in 0..(mebibytes << 20) / line.len() {
        input.write_all(line.as_bytes()).expect("it reads on");
    }
    input
        .write_all(b"4294967296 bytes (4.3 GB) copied, 34.1914 s, 126 MB/s\n")
        .expect("it reads on");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    let read: Value = serde_json::from_slice(&output.stdout).expect("one JSON array");
    assert_eq!(
        (&read[0]["file"], &read[0]["rows"]),
        (&"-".into(), &1.into())
    );
}

/// dd and the strided lines of a document explain each other, also in a store of
/// which one of them was deleted.
#[test]
fn what_a_documents_runs_show_together_is_a_finding_of_each() {
    let case = Case::new();
    let file = document(DOCUMENTS[0].0);
    let read = import(&case, &[file]);
    let rules = |value: &Value| -> Vec<String> {
        let findings = value.as_array().expect("findings").iter();
        findings
            .map(|finding| finding["rule"].as_str().expect("a name").to_owned())
            .collect()
    };
    let shared = |value: &Value| rules(value).iter().any(|rule| rule == "one-unit");
    assert_eq!(
        rules(&read[0]["findings"])
            .iter()
            .filter(|rule| *rule == "one-unit")
            .count(),
        1,
        "each once"
    );
    let ids = words(&read[0]["runs"]);
    let show = |id: &str| -> Value {
        let shown = case.diskfacts(["show", id, "--json"]).run();
        serde_json::from_str(&shown.stdout).expect("a run")
    };
    assert_eq!(ids.len(), 2);
    for id in &ids {
        let run = show(id);
        assert!(shared(&run["findings"]), "{id}");
        assert_eq!(words(&run["run"]["source"]["runs"]), ids);
        let lines = run["trials"].as_array().expect("trials").iter();
        assert!(lines.clone().all(|trial| trial["line"].is_u64()));
    }
    let mut store = diskfacts_store::Store::open_existing(&case.store()).expect("it was made");
    store.delete(&[&ids[1]], |_| false).expect("it is there");
    let alone = show(&ids[0]);
    assert!(!shared(&alone["findings"]));
    assert!(
        rules(&alone["findings"])
            .iter()
            .any(|rule| rule == "mislabelled")
    );
}
