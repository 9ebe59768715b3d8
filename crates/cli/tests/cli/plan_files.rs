//! Plan files that cannot be, by line and key; and that what a target cannot do
//! is refused before it is measured.

use crate::support::{Case, KIB, MIB, one_stage, trials};
use diskfacts_testkit::Program;
use std::path::Path;

fn with_plan(case: &Case, text: &str) -> Program {
    let plan = case.text_file("plan.toml", text);
    let folder = case.path("data");
    if !folder.exists() {
        case.folder("data");
    }
    case.diskfacts(["measure", "--time", "1s", "--size", "8MiB", "--plan"])
        .arg(plan)
        .arg(folder)
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest() {
    let case = Case::new();
    let plan =
        "name = \"mine\"\n\n[[stage]]\nname = \"a\"\noperation = \"read\"\nblok_size = \"4KiB\"\n";
    case.refuses(
        &with_plan(&case, plan),
        &[
            "plan.toml",
            "line 6",
            "unknown key 'blok_size'",
            "did you mean 'block_size'?",
        ],
    );
    case.refuses(
        &with_plan(&case, "name = \"mine\"\ntrails = 3\n"),
        &["line 2", "'trails'", "did you mean 'trials'?"],
    );
}

#[test]
fn a_wrong_type_is_named_with_the_right_one() {
    let case = Case::new();
    for (lines, said) in [
        ("block_size = true", "such as \"4KiB\", not a boolean"),
        ("queue_depth = \"8\"", "a whole number without quotes"),
        ("pattern = 3", "one of \"sequential\""),
        ("time = 1.5", "such as \"5s\""),
    ] {
        let plan = one_stage(&format!("operation = \"read\"\n{lines}"));
        let key = lines.split(' ').next().expect("a key");
        case.refuses(&with_plan(&case, &plan), &["line 7", key, said]);
    }
}

#[test]
fn an_unknown_word_is_answered_with_the_nearest() {
    let case = Case::new();
    case.refuses(
        &with_plan(&case, &one_stage("operation = \"raed\"")),
        &["line 6", "operation", "did you mean \"read\"?"],
    );
}

#[test]
fn a_stage_without_an_operation_is_told_how_to_write_one() {
    let case = Case::new();
    case.refuses(
        &with_plan(&case, &one_stage("block_size = \"4KiB\"")),
        &["line 4", "operation is missing", "operation = \"read\""],
    );
}

#[test]
fn a_plan_without_a_stage_is_told_how_to_begin_one() {
    let case = Case::new();
    case.refuses(&with_plan(&case, "name = \"mine\"\n"), &["[[stage]]"]);
}

#[test]
fn names_cannot_move_the_cursor_of_a_terminal() {
    let case = Case::new();
    let plan = "name = \"mine\"\ntrials = 1\n[[stage]]\nname = \"a\\u001B[2Jb\"\noperation = \"read\"\noperations = 10\n";
    let finished = with_plan(&case, plan).run();
    assert!(!finished.stdout.contains('\x1b'), "{finished:?}");
    assert!(!finished.stderr.contains('\x1b'), "{finished:?}");
    let plan = "name = \"mine\"\n\"a\\u001B[2Jb\" = 1\n";
    let refused = with_plan(&case, plan).run();
    refused.expect_code(2).expect_stderr("unknown key");
    assert!(!refused.stderr.contains('\x1b'), "{refused:?}");
}

#[test]
fn what_is_not_toml_is_named_by_its_line() {
    let case = Case::new();
    case.refuses(
        &with_plan(&case, "name = \"mine\"\nstage: 4\n"),
        &["plan.toml", "line 2", "not TOML"],
    );
}

#[test]
fn a_plan_file_that_cannot_be_read_says_why_and_how_to_make_one() {
    let case = Case::new();
    for (name, said) in [
        ("missing.toml", "No such file"),
        ("./missing", "No such file"),
        (".", "directory"),
    ] {
        case.refuses(
            &case
                .diskfacts(["measure", ".", "--plan", name])
                .current_dir(case.path("")),
            &[name, said, "diskfacts plans survey > my.toml"],
        );
    }
    std::fs::write(case.path("binary.toml"), [0xff, 0xfe, 0]).expect("a file");
    case.refuses(
        &case
            .diskfacts(["measure", ".", "--plan"])
            .arg(case.path("binary.toml")),
        &["binary.toml", "UTF-8"],
    );
}

#[test]
fn block_sizes_that_cannot_be_are_refused() {
    let case = Case::new();
    for (lines, said) in [
        (
            "block_size = 0",
            &["block_size: it is 0", "4KiB is usual"][..],
        ),
        (
            "block_size = \"1000B\"\ncache = \"direct\"",
            &[
                "block_size: 1000 is not a multiple of",
                "cache = \"buffered\"",
            ],
        ),
        (
            "block_size = \"64KiB\"\nspan = \"16KiB\"",
            &["block_size: 64 KiB does not fit into the span of 16 KiB"],
        ),
        (
            "block_size = \"16MiB\"",
            &["block_size: 16 MiB does not fit into the target", "8 MiB"],
        ),
        (
            "block_size = \"4GiB\"",
            &["block_size", "more than one system call moves"],
        ),
        (
            "offset = \"9MiB\"",
            &["offset: 9MiB leaves no whole block before the end"],
        ),
        ("span = \"1GiB\"", &["span", "beyond the end of the target"]),
    ] {
        let plan = one_stage(&format!("operation = \"read\"\n{lines}"));
        case.refuses(&with_plan(&case, &plan), said);
    }
}

#[test]
fn a_block_size_that_only_direct_io_cannot_do_is_measured_through_the_cache() {
    let case = Case::new();
    let plan = one_stage(
        "operation = \"read\"\nblock_size = \"1000B\"\ncache = \"buffered\"\noperations = 10",
    );
    with_plan(&case, &plan).run().expect_code(0);
    assert_eq!(trials(&case.last())[0]["bytes"], 10_000);
}

#[test]
fn queue_depths_that_cannot_be_are_refused() {
    let case = Case::new();
    for (lines, said) in [
        ("queue_depth = 0", "queue_depth: it is 0"),
        ("queue_depth = 100000", "use several streams"),
        ("queue_depth = -1", "out of range"),
        ("streams = 0", "streams: it is 0"),
        ("time = \"0s\"", "time: it is 0"),
        ("operations = 0", "operations: it is 0"),
    ] {
        let plan = one_stage(&format!("operation = \"read\"\n{lines}"));
        case.refuses(&with_plan(&case, &plan), &["plan.toml", said]);
    }
}

#[test]
fn all_that_is_wrong_with_a_plan_is_said_at_once() {
    let case = Case::new();
    let plan = one_stage("operation = \"read\"\nblock_size = 0\nqueue_depth = 0\nstreams = 0");
    case.refuses(
        &with_plan(&case, &plan),
        &["block_size", "queue_depth", "streams"],
    );
}

#[test]
fn a_file_smaller_than_a_block_is_refused_with_its_size() {
    let case = Case::new();
    let tiny = case.data_file("tiny", 100);
    case.refuses(
        &case.diskfacts(["measure", "--time", "1s"]).arg(&tiny),
        &[
            "tiny",
            "100 B",
            "block_size: 4 KiB does not fit",
            "diskfacts plans survey > my.toml",
        ],
    );
    let empty = case.text_file("empty", "");
    case.refuses(
        &case.diskfacts(["measure"]).arg(&empty),
        &["is empty", "name its folder"],
    );
}

#[test]
fn stages_of_the_survey_that_do_not_fit_a_small_file_are_left_out_and_named() {
    let case = Case::new();
    let small = case.data_file("small", 64 * KIB);
    case.run([
        "measure",
        "--explain",
        "--time",
        "1s",
        &small.to_string_lossy(),
    ])
    .expect_code(0)
    .expect_stdout("Left out sequential-read")
    .expect_stdout("1 MiB does not fit");
    let document = case.last();
    let names: Vec<_> = trials(&document).iter().map(|t| &t["stage"]).collect();
    assert!(names.iter().any(|name| *name == "random-read-qd1"));
    assert!(!names.iter().any(|name| *name == "sequential-read"));
}

#[test]
fn the_survey_as_it_is_printed_is_a_plan_file_that_measures() {
    let case = Case::new();
    // Full already: a slow disk is given a smaller file in the time.
    let file = case.data_file("data", 256 * MIB);
    let printed = case.run(["plans", "survey"]);
    printed.expect_code(0);
    let plan = case.text_file("my.toml", &printed.stdout);
    // What its stages ask for is larger than this file, but for built-in plans.
    let measured = case
        .diskfacts(["measure", "--time", "3s", "--plan"])
        .args([&plan, &file])
        .arg("--destroy-data-on")
        .arg(&file)
        .run();
    measured.expect_code(0);
    let document = case.last();
    assert_eq!(document["plan"]["name"], "survey");
    assert_eq!(
        document["plan"]["stages"].as_array().map(Vec::len),
        Some(12)
    );
    // On a busy machine the time is over before each has had its turn; which, is said.
    let notes = document["run"]["notes"].to_string();
    for stage in document["plan"]["stages"].as_array().expect("the stages") {
        let name = stage["name"].as_str().expect("a name");
        let tried = trials(&document).iter().any(|trial| trial["stage"] == name);
        assert!(tried || notes.contains(name), "{name}: {notes}");
    }
    assert!(!trials(&document).is_empty());
    assert!(!Path::new("my.toml").exists());
}

/// A file of 8 MiB that is written twice, and then anywhere, before it is read.
const PRECONDITIONED: &str = r#"
name = "aged"
trials = 2

[[precondition]]
name = "fill"
operation = "write"
pattern = "sequential"
block_size = "64KiB"
rounds = 2

[[precondition]]
name = "age"
operation = "write"
block_size = "4KiB"
operations = 100
steady = true
rounds_max = 6

[[stage]]
name = "read"
operation = "read"
block_size = "4KiB"
operations = 200
"#;

#[test]
fn what_a_plan_does_before_its_trials_is_stored_and_in_no_figure() {
    let case = Case::new();
    let measured = with_plan(&case, PRECONDITIONED).arg("--explain").run();
    measured
        .expect_code(0)
        .expect_stderr(
            "Before the trials: fill (2 rounds of 8 MiB), age (5 to 6 rounds of 400 KiB); that takes",
        )
        .expect_stderr("at which the file was filled")
        .expect_stderr("--time does not bound it")
        .expect_stderr("before the trials: fill, 2 rounds: ")
        .expect_stderr("stage 1 of 1: read, 2 trials: ")
        .expect_stdout("Before the trials: fill, 2 rounds, 16 MiB in ")
        .expect_stdout("before them fill and age");
    let document = case.last();
    let done = document["preconditioning"].as_array().expect("a list");
    let of = |place: usize, key: &str| done[place][key].clone();
    assert_eq!(
        (of(0, "name"), of(0, "bytes")),
        ("fill".into(), (16 << 20).into())
    );
    assert_eq!(of(0, "steady"), serde_json::Value::Null);
    assert!(of(1, "steady").is_boolean(), "{done:?}");
    let rounds = of(1, "rounds").as_array().expect("a list").len();
    assert!((5..=6).contains(&rounds), "{rounds}");
    assert_eq!(trials(&document).len(), 2);
    let figures = document["figures"].as_array().expect("a list");
    assert_eq!((figures.len(), &figures[0]["stage"]), (1, &"read".into()));
}

#[test]
fn what_is_only_read_is_not_measured_without_what_comes_before() {
    let case = Case::new();
    let plan = case.text_file("plan.toml", PRECONDITIONED);
    let file = case.data_file("old", 8 << 20);
    let measure = case.diskfacts(["measure", "--plan"]).args([&plan, &file]);
    case.refuses(
        &measure,
        &["fill: it writes before the trials", "--destroy-data-on"],
    );
}

#[test]
fn what_has_no_end_is_not_read_as_a_plan_a_profile_or_a_trace() {
    let case = Case::new();
    let program = env!("CARGO_BIN_EXE_diskfacts");
    let shell = |line: &str| {
        // What took all memory would be refused more of it here.
        let line = format!(
            "ulimit -v 4194304; cd '{}'; {line}",
            case.path("").display()
        );
        Program::new("/bin/sh").args(["-c", &line, "sh", program])
    };
    let huge = std::fs::File::create(case.path("huge.toml")).expect("a file");
    huge.set_len(20 << 30).expect("a sparse file");
    std::os::unix::fs::symlink("/dev/zero", case.path("zero.toml")).expect("a link");
    for (line, said) in [
        (
            "\"$1\" measure . --plan /dev/zero",
            "neither a file nor a pipe",
        ),
        ("\"$1\" measure . --plan ./huge.toml", "more than 16 MiB"),
        (
            "cat /dev/zero | \"$1\" measure . --plan /dev/stdin",
            "more than 16 MiB",
        ),
        ("\"$1\" measure sim:zero.toml", "neither a file nor a pipe"),
        ("\"$1\" sim ./zero.toml", "neither a file nor a pipe"),
        ("\"$1\" sim ./huge.toml", "more than 16 MiB"),
        (
            "\"$1\" readahead --from /dev/zero",
            "neither a file nor a pipe",
        ),
        ("\"$1\" readahead --from huge.toml", "more than 512 MiB"),
    ] {
        shell(line)
            .run()
            .expect_code(2)
            .expect_stderr("cannot be read: ")
            .expect_stderr(said);
    }
    // A pipe, and a file that is open already, are read as ever.
    let plan =
        "printf 'name=\"r\"\\n[[stage]]\\nname=\"r\"\\noperation=\"read\"\\noperations=4\\n'";
    for line in [
        format!("{plan} | \"$1\" measure sim:ssd-sata --plan /dev/stdin"),
        format!("{plan} > p; exec 7< p; \"$1\" measure sim:ssd-sata --plan /dev/fd/7"),
    ] {
        shell(&line).run().expect_code(0);
    }
}
