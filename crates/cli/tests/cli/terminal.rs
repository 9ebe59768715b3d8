//! On a terminal: one line while it measures, gone before the facts.

use crate::support::Case;
use diskfacts_plan::builtin;
use diskfacts_testkit::{Program, or_skip, require_tool};
use std::collections::BTreeSet;

const COLUMNS: u16 = 80;
const ROWS: u16 = 24;

/// `diskfacts measure` on a terminal of 80 columns, with everything that was
/// written to it.
fn on_a_terminal(case: &Case, script: &std::path::Path, term: &str, more: &str) -> String {
    let folder = case.path("data");
    if !folder.exists() {
        case.folder("data");
    }
    let command = format!(
        "stty cols {COLUMNS} rows {ROWS}; exec '{}' measure '{}' --explain --time 3s --size 16MiB {more} --store '{}'",
        env!("CARGO_BIN_EXE_diskfacts"),
        folder.display(),
        case.store().display()
    );
    let finished = Program::new(script)
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .env("TERM", term)
        .env("NO_COLOR", "")
        .env("LC_ALL", "C.UTF-8")
        .run();
    finished.expect_code(0);
    finished.stdout
}

#[test]
fn progress_keeps_to_the_width_and_is_gone_in_the_end() {
    let script = or_skip!(require_tool("script", "bsdutils"));
    let case = Case::new();
    // Two stages have room for a trial each, however busy the machine is.
    let stages = "--stage random-read-qd1 --stage log-write";
    let written = on_a_terminal(&case, &script, "xterm-256color", stages);
    let at = written.rfind("diskfacts run ").expect("the facts");
    let (progress, facts) = written.split_at(at);

    let mut terminal = vt100::Parser::default();
    let mut seen = BTreeSet::new();
    for piece in progress.split_inclusive('\r') {
        terminal.process(piece.as_bytes());
        let rows = terminal.screen().rows(0, COLUMNS);
        let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        let lines = rows.iter().filter(|row| !row.is_empty()).count();
        assert!(lines <= 1, "one line, not {rows:#?}");
        seen.extend(rows);
    }
    // What does not fit would go on at the start of a row.
    let survey = builtin::plan("survey").expect("it is built in");
    let names = survey.stages.iter().map(|stage| stage.name.as_str());
    let starts: Vec<&str> = names.chain(["filling a file "]).collect();
    for row in seen.iter().filter(|row| !row.is_empty()) {
        assert!(starts.iter().any(|start| row.starts_with(start)), "{row}");
    }
    let shown = |text: &str| seen.iter().any(|line| line.contains(text));
    for said in [
        "random-read-qd1: trial 1",
        "log-write: ",
        " MB/s",
        "at most ",
        " left",
    ] {
        assert!(shown(said), "no '{said}' in {seen:#?}");
    }
    // None for each stage as in a pipe.
    assert!(!shown("stage 1 of "));
    // Nothing of it is left when the facts begin.
    assert_eq!(terminal.screen().contents().trim(), "");
    // And colour where a terminal has it.
    assert!(facts.contains("\x1b["), "{facts}");
}

#[test]
fn a_dumb_terminal_gets_lines_as_a_pipe_does() {
    let script = or_skip!(require_tool("script", "bsdutils"));
    let case = Case::new();
    let written = on_a_terminal(&case, &script, "dumb", "");
    assert!(written.contains("stage 1 of 12: "), "{written}");
    assert!(!written.contains('\x1b'), "{written}");
}

#[test]
fn a_run_is_deleted_after_yes_and_after_nothing_else() {
    let script = or_skip!(require_tool("script", "bsdutils"));
    let case = Case::new();
    case.one_trial();
    let id = case.last()["run"]["id"].as_str().expect("an id").to_owned();
    let answered = |answer: &str| {
        let line = format!(
            "printf '{answer}\\n' | '{}' --quiet --return --command \"'{}' runs delete last --store '{}'\" /dev/null",
            script.display(),
            env!("CARGO_BIN_EXE_diskfacts"),
            case.store().display()
        );
        let shell = Program::new("/bin/sh").args(["-c", &line]);
        shell.env("TERM", "dumb").run()
    };
    for answer in ["no", "", "yesterday"] {
        let asked = answered(answer);
        asked
            .expect_code(2)
            .expect_stdout(&id)
            .expect_stdout("sim:ssd-sata")
            .expect_stdout("nothing was deleted");
        assert_eq!(case.last()["run"]["id"], *id);
    }
    answered("yes").expect_code(0).expect_stdout("Deleted:");
    case.run(["show"]).expect_code(2);
}

#[test]
fn a_quiet_run_shows_no_progress_and_a_pipe_has_a_line_for_each_stage() {
    let script = or_skip!(require_tool("script", "bsdutils"));
    let case = Case::new();
    let written = on_a_terminal(&case, &script, "xterm-256color", "--quiet");
    // Nothing stands before the facts but their colour.
    let facts = written.trim_start_matches("\x1b[1m");
    assert!(facts.starts_with("diskfacts run "), "{written}");

    let measure = [
        "measure",
        "sim:ssd-sata",
        "--time",
        "10s",
        "--stage",
        "log-write",
    ];
    let loud = case.run(measure);
    loud.expect_code(0)
        .expect_stderr("stage 1 of 1: log-write, ");
    assert!(loud.stderr.ends_with('\n') && loud.stderr.trim_end().lines().count() == 1);
    assert!(!loud.stderr.contains(['\r', '\x1b']), "{loud}");
    let quiet = case.run(measure.into_iter().chain(["--quiet"]));
    quiet.expect_code(0);
    assert!(
        !quiet.stdout.is_empty() && quiet.stderr.is_empty(),
        "{quiet}"
    );
}
