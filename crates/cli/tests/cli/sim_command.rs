//! `diskfacts sim`.

use crate::support::{Case, number};
use serde_json::Value;
use std::path::PathBuf;

/// A built-in profile, as it is printed.
fn printed(case: &Case, name: &str) -> String {
    case.run(["sim", name]).expect_code(0).stdout.clone()
}

/// A file with a built-in profile of which something is changed.
fn changed(case: &Case, name: &str, from: &str, to: &str) -> PathBuf {
    let text = printed(case, name);
    assert!(text.contains(from), "{name} has no {from}");
    case.text_file("my.toml", &text.replacen(from, to, 1))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("one document")
}

#[test]
fn the_simulated_disks_are_listed_with_their_seed_or_kind() {
    let case = Case::new();
    let listed = case.run(["sim"]);
    listed
        .expect_code(0)
        .expect_stdout("hdd-7200-sync")
        .expect_stdout("hard disk at 7200 rpm, 931.3 GiB; seed 003")
        .expect_stdout("RAID-6 of 8 hard disks, 21.8 TiB, below a host; seed 002")
        .expect_stdout("flash drive of 64 dies, 1.7 TiB");
    assert!(listed.stdout.lines().all(|line| line.len() <= 80));
    let document = parsed(&case.run(["sim", "--json"]).expect_code(0).stdout);
    let profiles = document["profiles"].as_array().expect("a list");
    assert_eq!(profiles.len(), 13);
    assert_eq!(profiles[1]["seed"], 3);
    assert_eq!(profiles[1]["drive"], "hdd");
    assert!((number(&profiles[1]["rpm"]) - 7200.0).abs() < 0.001);
    assert_eq!(profiles[3]["raid"]["level"], 6);
    assert_eq!(profiles[3]["raid"]["members"], 8);
    assert_eq!(profiles[12]["seed"], Value::Null);
    assert!(!case.store().exists());
}

#[test]
fn every_simulated_disk_is_printed_ready_to_edit() {
    let case = Case::new();
    let document = parsed(&case.run(["sim", "--json"]).stdout);
    for profile in document["profiles"].as_array().expect("a list") {
        let name = profile["name"].as_str().expect("a name");
        let text = printed(&case, name);
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None, "{name} on a terminal of 80 columns");
        assert!(text.contains(&format!("name = \"{name}\"")), "{text}");
        let file = case.text_file("own.toml", &text);
        let own = case.diskfacts(["sim"]).arg(&file).run();
        own.expect_code(0).expect_stdout("# Checked: ");
        assert!(
            own.stdout.starts_with(&text),
            "{name}: as it is in the file"
        );
    }
}

#[test]
fn an_own_profile_is_printed_with_what_was_filled_in() {
    let case = Case::new();
    let file = changed(&case, "hdd-7200-1tb", "queue_depth", "# queue_depth");
    let own = case.diskfacts(["sim"]).arg(&file).run();
    own.expect_code(0)
        .expect_stdout("# Checked: hard disk at 7200 rpm, 931.3 GiB; seed 000.")
        .expect_stdout("# [hdd] queue_depth = 32\n")
        .expect_stdout("# [hdd] physical_sector = \"512B\"\n");
    // What is printed is a profile again.
    let again = case.text_file("again.toml", &own.stdout);
    case.diskfacts(["sim"]).arg(&again).run().expect_code(0);
    let json = case.diskfacts(["sim", "--json"]).arg(&file).run();
    let document = parsed(&json.expect_code(0).stdout);
    let filled = document["filled"].as_array().expect("a list");
    assert!(
        filled
            .iter()
            .any(|key| key["key"] == "queue_depth" && key["value"] == "32")
    );
    assert_eq!(document["profile"]["name"], "hdd-7200-1tb");
    assert!(
        document["toml"]
            .as_str()
            .is_some_and(|text| text.contains("[hdd.seek]"))
    );
}

#[test]
fn a_profile_of_no_disk_that_can_be_is_refused_with_file_line_key_and_reason() {
    let case = Case::new();
    for (from, to, said) in [
        (
            "rpm = 7200",
            "rpm = 0",
            "line 11: rpm in [hdd]: a disk must turn",
        ),
        (
            "heads = 4",
            "head = 4",
            "[hdd] lacks heads; write for example heads = 4. Did you mean it by 'head' in line 17?",
        ),
        (
            "horizon_tracks = 1.27",
            "horizon_tracks = 1.27\nhorizn = 2",
            "unknown key 'horizn'",
        ),
        (
            "order = \"fifo\"",
            "order = \"fifa\"",
            "did you mean \"fifo\"?",
        ),
        ("[hdd.seek]", "[hdd.seek", "not TOML"),
    ] {
        let file = changed(&case, "hdd-7200-1tb", from, to);
        case.refuses(
            &case.diskfacts(["sim"]).arg(&file),
            &["my.toml is of no disk that can be", said, "line "],
        );
    }
}

#[test]
fn sizes_up_to_an_exbibyte_are_taken_and_a_journal_has_a_limit() {
    let case = Case::new();
    let large = changed(&case, "hdd-7200-1tb", "\"1TB\"", "\"1EiB\"");
    case.diskfacts(["sim"])
        .arg(&large)
        .run()
        .expect_code(0)
        .expect_stdout("hard disk at 7200 rpm, 1 EiB");
    let larger = changed(&case, "hdd-7200-1tb", "\"1TB\"", "\"2EiB\"");
    case.refuses(
        &case.diskfacts(["sim"]).arg(&larger),
        &["between 1 MiB and 1 EiB"],
    );
    let file = case.text_file(
        "journal.toml",
        &format!(
            "{}\n[host]\njournal = \"2GiB\"\n",
            printed(&case, "hdd-20tb-cmr")
        ),
    );
    case.refuses(
        &case.diskfacts(["sim"]).arg(&file),
        &["journal in [host]", "at most 1 GiB"],
    );
}

#[test]
fn an_unknown_profile_is_answered_with_the_nearest() {
    let case = Case::new();
    case.refuses(
        &case.diskfacts(["sim", "hdd-7200-sink"]),
        &[
            "there is no simulated disk called 'hdd-7200-sink'; did you mean 'hdd-7200-sync'?",
            "There are: hdd-7200-1tb",
        ],
    );
    case.refuses(
        &case.diskfacts(["sim", "qqq"]),
        &["called 'qqq'. There are: "],
    );
    case.refuses(
        &case.diskfacts(["sim", "./nothing.toml"]),
        &[
            "./nothing.toml cannot be read",
            "No such file",
            "diskfacts sim hdd-7200-1tb > my.toml",
        ],
    );
    case.refuses(
        &case.diskfacts(["sim", "."]),
        &["cannot be read", "Is a directory"],
    );
    let binary = case.path("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe, 0]).expect("a file");
    case.refuses(
        &case.diskfacts(["sim"]).arg(&binary),
        &["cannot be read", "UTF-8"],
    );
}

#[test]
fn what_cannot_be_reproduced_is_refused() {
    let case = Case::new();
    case.refuses(&case.diskfacts(["sim", "--reproduce", "seed"]), &["seeds"]);
    case.refuses(
        &case.diskfacts(["sim", "--seed", "3"]),
        &[
            "nothing is without --reproduce",
            "diskfacts sim --reproduce seeds --seed 3",
            "diskfacts measure sim:hdd-7200-1tb --seed 3",
        ],
    );
    case.refuses(
        &case.diskfacts(["measure", "sim:plain"]),
        &[
            "called 'plain'. There are: ",
            "`diskfacts sim` says what each is",
        ],
    );
    case.refuses(
        &case.diskfacts(["sim", "nvme-consumer", "--reproduce", "seeds"]),
        &["'nvme-consumer' stands for none of the seeds' disks"],
    );
    let small = changed(&case, "hdd-7200-sync", "\"1TB\"", "\"64MiB\"");
    case.refuses(
        &case.diskfacts(["sim", "--reproduce", "seeds"]).arg(&small),
        &[
            "a request of seed 003 failed on 'hdd-7200-sync'",
            "because: bytes",
        ],
    );
}

#[test]
fn the_seeds_are_reproduced_cell_by_cell_and_the_last_line_sums_up_the_gates() {
    let case = Case::new();
    let text = case.run(["sim", "--reproduce", "seeds"]);
    text.expect_code(0)
        .expect_stdout("Seed 003: writes of 4 KiB to 32 MiB")
        .expect_stdout("all                                         624")
        .expect_stdout("Would decide: write and flush of 1408 and 1536 KiB");
    let last = text.stdout.lines().last().expect("lines");
    assert!(
        last.starts_with("Gates: 11 of 11 hold; G9 (only reported)"),
        "{last}"
    );
    assert!(
        text.stdout.lines().all(|line| line.len() <= 80),
        "{}",
        text.stdout
    );
    assert_eq!(text.stderr, "");
    let json = case.run(["sim", "--reproduce", "seeds", "--json"]);
    let document = parsed(&json.expect_code(0).stdout);
    assert_eq!(document["holds"], true);
    assert_eq!(document["gates"].as_array().map(Vec::len), Some(12));
    let cells = document["cells"].as_array().expect("a list");
    for cell in cells {
        // Gated, or with the reason why not; the error is that of the two.
        let is_free = cell["gate"].is_null() || cell["gate"] == "G9";
        assert_eq!(is_free, cell["reason"].is_string(), "{cell}");
        if cell["simulated"].is_number() {
            let error = number(&cell["simulated"]) / number(&cell["measured"]) - 1.0;
            assert!((error - number(&cell["error"])).abs() < 1e-9, "{cell}");
        }
    }
    let tables = document["tables"].as_array().expect("a list");
    let rows: f64 = tables.iter().map(|table| number(&table["rows"])).sum();
    assert!((rows - 624.0).abs() < 0.5, "{rows}");
}

#[test]
fn a_missed_gate_exits_with_1_and_says_which_it_is() {
    let case = Case::new();
    // The disk of seed 003 at another speed than its writes show.
    let slower = changed(&case, "hdd-7200-sync", "rpm = 7200", "rpm = 5400");
    let missed = case
        .diskfacts(["sim", "--reproduce", "seeds"])
        .arg(&slower)
        .run();
    missed
        .expect_code(1)
        .expect_stdout("G1  missed")
        .expect_stdout("G4  holds")
        .expect_stderr("misses what the seeds measured: G1 (synchronous writes of seed 003");
    let last = missed.stdout.lines().last().expect("lines");
    assert!(
        last.starts_with("Gates: 9 of 11 hold, G1 and G3 missed;"),
        "{last}"
    );
}
