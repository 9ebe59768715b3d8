//! `--live`: the full screen, its keys, and what becomes of the terminal, however it ends.

use crate::direct_file::DirectFile;
use crate::pty::Pty;
use crate::settings_support::{Bench, matrix};
use crate::stopping::{Slow, is_ignored};
use crate::support::{Case, Content, KIB, MIB, free_blocks, one_stage, trials};
use crate::trace_support::events;
use diskfacts_testkit::{LoopDevice, or_skip, require_root, require_tool, skip};
use rustix::process::Signal;
use serde_json::Value;
use std::cell::RefCell;

const SIZE: (u16, u16) = (80, 24);
/// A run that goes on until somebody ends it.
const MEASURE: &str = "\"$DISKFACTS\" measure --live data --plan plan.toml --size 16MiB \
                       --store \"$STORE\"";

/// A case with a folder, and a plan of trials of so long, of which there are thousands.
fn case(trial: &str) -> Case {
    let case = Case::new();
    case.folder("data");
    let plan = one_stage(&format!("operation = \"read\"\ntime = \"{trial}\""));
    let plan = plan.replace("trials = 1\n", "trials = 1000\n");
    case.text_file("plan.toml", &plan);
    case
}

fn in_case(case: &Case, line: &str) -> String {
    format!("cd '{}'; {line}", case.scratch.path().display())
}

fn has_trials(pty: &Pty) -> bool {
    let row = pty
        .rows()
        .into_iter()
        .find(|row| row.starts_with("> stage"));
    row.is_some_and(|row| !row.contains(" 0/1000"))
}

fn says(pty: &Pty, text: &str) -> bool {
    pty.rows().iter().any(|row| row.contains(text))
}

fn notes(document: &Value) -> Vec<&str> {
    let notes = document["run"]["notes"].as_array().expect("notes");
    notes.iter().filter_map(Value::as_str).collect()
}

#[test]
fn a_run_is_shown_and_q_ends_and_stores_it() {
    let case = case("300ms");
    let line = in_case(&case, &format!("read -r; {MEASURE}"));
    let mut pty = or_skip!(Pty::start(&case, &line, SIZE));
    let before = pty.modes();
    pty.types("\n");
    pty.wait_until("a trial", has_trials);
    assert!(pty.screen().alternate_screen() && pty.screen().hide_cursor());
    let rows = pty.rows();
    assert!(rows[0].starts_with("data: "), "{rows:#?}");
    assert!(rows[1].contains("trials"), "{rows:#?}");
    assert!(rows[23].starts_with("q ends and stores"), "{rows:#?}");
    pty.wait_for(" rate ");

    pty.types("?");
    pty.wait_for("Ctrl-Z  stops all of it");
    pty.types("?");
    pty.wait_until("its end", |pty| !says(pty, "Ctrl-Z  stops"));
    pty.types("p");
    pty.wait_for("PAUSED");
    // What is paused is the display: trials go on and are stored.
    let stored = || trials(&case.last()).len();
    let so_far = stored();
    while stored() == so_far {}
    assert!(says(&pty, "PAUSED"));
    pty.types("p");
    pty.wait_until("its end", |pty| !says(pty, "PAUSED"));

    pty.types("q");
    assert_eq!(pty.finish().code(), Some(130));
    pty.is_as_before(&before);
    assert!(says(&pty, "stopped by q; "), "{:#?}", pty.rows());
    // The first page stands on the screen that scrolls.
    assert!(says(&pty, "diskfacts show "), "{:#?}", pty.rows());
    let document = case.last();
    assert_eq!(document["run"]["status"], "interrupted");
    assert!(trials(&document).len() > so_far);
}

#[test]
fn a_window_may_become_another_size() {
    let case = case("300ms");
    let mut pty = or_skip!(Pty::start(&case, &in_case(&case, MEASURE), SIZE));
    for size in [SIZE, (60, 20), (200, 50), (30, 5), (120, 40)] {
        pty.resize(size);
        let last = usize::from(size.1) - 1;
        pty.wait_until("all of it is drawn anew", |pty| {
            let rows = pty.rows();
            rows[last].starts_with("q ends") || rows[0] == "too small:"
        });
    }
    pty.types("q");
    assert_eq!(pty.finish().code(), Some(130));
}

#[test]
fn ctrl_c_ends_it_as_everywhere_and_the_output_may_be_elsewhere() {
    let case = case("300ms");
    let line = in_case(
        &case,
        &format!("trap : INT; {MEASURE} --json > out; echo code $?"),
    );
    let mut pty = or_skip!(Pty::start(&case, &line, SIZE));
    let before = pty.modes();
    pty.wait_until("a trial", has_trials);
    pty.types("\x03");
    pty.finish();
    pty.is_as_before(&before);
    assert!(says(&pty, "stopped by Ctrl-C; "), "{:#?}", pty.rows());
    assert!(says(&pty, "code 130"), "{:#?}", pty.rows());
    let out = std::fs::read_to_string(case.path("out")).expect("what was printed");
    let document: Value = serde_json::from_str(&out).expect("a document");
    assert_eq!(document["run"]["status"], "interrupted");
}

#[test]
fn a_second_ctrl_c_ends_it_at_once_and_gives_the_terminal_back() {
    // Half a minute for each MiB: the first Ctrl-C has to wait for that.
    let slow = or_skip!(Slow::to_read(32 * KIB));
    let file = slow.cold_file(16 * MIB);
    let case = Case::new();
    case.text_file(
        "plan.toml",
        &one_stage("operation = \"read\"\ncache = \"warm\"\ntime = \"1s\""),
    );
    let line = format!(
        "echo $$ > '{}/cgroup.procs'; exec \"$DISKFACTS\" measure --live '{}' --plan plan.toml \
         --store \"$STORE\"",
        slow.group.path().display(),
        file.display()
    );
    let mut pty = or_skip!(Pty::start(&case, &in_case(&case, &line), SIZE));
    let before = pty.modes();
    pty.wait_for("stage: trial 1 of 1, preparing");
    pty.types("\x03");
    pty.wait_for("Ctrl-C again ends it now");
    assert!(pty.screen().alternate_screen());
    pty.types("\x03");
    assert_eq!(pty.finish().code(), Some(130));
    pty.is_as_before(&before);
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_the_trial_is_done_again() {
    // So long that it is the one that is stopped.
    let case = case("3s");
    let line = in_case(&case, "exec env PS1='prompt ' bash --norc --noprofile -i");
    let mut pty = or_skip!(Pty::start(&case, &line, SIZE));
    pty.wait_for("prompt");
    pty.types(&format!("{MEASURE}; echo code $?\n"));
    pty.wait_for(", now ");
    pty.types("\x1a");
    pty.wait_for("Stopped");
    pty.wait_until("a prompt", |pty| !pty.screen().alternate_screen());
    assert!(!pty.screen().hide_cursor());

    // In the background it goes on, and leaves the terminal to the shell.
    let stored = || trials(&case.last()).len();
    pty.types("clear; bg\n");
    let so_far = stored();
    while stored() == so_far {}
    pty.types("echo it is$((1))mine\n");
    pty.wait_for("it is1mine");
    assert!(!pty.screen().alternate_screen(), "{:#?}", pty.rows());

    pty.types("fg\n");
    pty.wait_for("q ends and stores");
    assert!(pty.screen().alternate_screen());
    pty.types("q");
    pty.wait_for("stopped by q; ");
    assert!(!pty.screen().alternate_screen() && !pty.screen().hide_cursor());
    pty.types("exit\n");
    pty.finish();
    let document = case.last();
    let notes = notes(&document);
    let said = "Ctrl-Z stopped a trial of stage, which was done again.";
    assert_eq!(
        notes.iter().filter(|note| **note == said).count(),
        1,
        "{notes:#?}"
    );
    // None of those that are kept was stopped.
    for trial in trials(&document) {
        let pauses = &trial["evidence"]["engine"]["pauses"];
        let none = pauses.is_null() || pauses.as_array().is_some_and(Vec::is_empty);
        assert!(none, "{pauses}");
    }
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_no_trial() {
    let case = case("300ms");
    let mut pty = or_skip!(Pty::start(&case, &in_case(&case, MEASURE), SIZE));
    pty.wait_until("a trial", has_trials);
    // Ctrl-S.
    pty.types("\x13");
    let stored = || trials(&case.last()).len();
    let so_far = stored();
    while stored() < so_far + 3 {}
    // Ctrl-Q.
    pty.types("\x11q");
    assert_eq!(pty.finish().code(), Some(130));
}

#[test]
fn a_window_that_is_closed_ends_it_as_sighup_does() {
    if is_ignored(Signal::HUP) {
        return skip("SIGHUP is ignored here");
    }
    let case = case("300ms");
    let data = case.path("data");
    // The signal is for the first process of the session.
    let line = in_case(&case, &format!("exec {MEASURE} > out 2> err"));
    let mut pty = or_skip!(Pty::start(&case, &line, SIZE));
    pty.wait_until("a trial", has_trials);
    pty.close();
    assert_eq!(pty.finish().code(), Some(129));
    let read = |name: &str| std::fs::read_to_string(case.path(name)).expect("a file");
    let said = read("err");
    assert!(said.contains("stopped by SIGHUP; "), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    assert!(read("out").contains("INTERRUPTED"));
    assert_eq!(case.last()["run"]["status"], "interrupted");
    assert_eq!(Content::of(&data), Content::of(&case.folder("empty")));
}

#[test]
fn a_page_for_a_terminal_that_is_gone_fails_nothing() {
    if is_ignored(Signal::HUP) {
        return skip("SIGHUP is ignored here");
    }
    let case = case("300ms");
    let line = in_case(&case, &format!("exec {MEASURE} 2> err"));
    let mut pty = or_skip!(Pty::start(&case, &line, SIZE));
    pty.wait_until("a trial", has_trials);
    pty.close();
    assert_eq!(pty.finish().code(), Some(129));
    let said = std::fs::read_to_string(case.path("err")).expect("a file");
    assert!(!said.contains("standard output failed"), "{said}");
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_told() {
    or_skip!(require_root());
    let bench = or_skip!(Bench::new());
    let case = &bench.case;
    case.text_file(
        "plan.toml",
        &matrix().replace("trials = 1\n", "trials = 1000\n"),
    );
    let line = format!(
        "export DISKFACTS_STATE='{}' DISKFACTS_TEST_END_AT=panic:60; \"$DISKFACTS\" measure --live \
         --plan plan.toml '{}' --store \"$STORE\"",
        bench.state().display(),
        bench.device.path().display()
    );
    let mut pty = or_skip!(Pty::start(case, &in_case(case, &line), SIZE));
    let before = pty.modes();
    pty.wait_until("the screen", |pty| pty.screen().alternate_screen());
    assert_eq!(pty.finish().code(), Some(101));
    pty.is_as_before(&before);
    let shown = pty.rows().concat();
    assert!(
        shown.contains("the test wanted a panic at"),
        "{:#?}",
        pty.rows()
    );
}

#[test]
fn where_nothing_can_be_drawn_that_is_said_with_what_to_do() {
    let case = case("300ms");
    let setsid = or_skip!(require_tool("setsid", "util-linux"));
    let without = |arguments: &[&str]| {
        let program = diskfacts_testkit::Program::new(&setsid).env("TERM", "xterm");
        let program = program.args(["--wait", env!("CARGO_BIN_EXE_diskfacts")]);
        let program = program.args(arguments).arg("--store").arg(case.store());
        program.current_dir(case.scratch.path())
    };
    for (arguments, instead) in [
        (
            &["measure", "--live", "data"][..],
            "without --live standard error tells",
        ),
        (
            &["tune", "--live", "data", "--vary", "queue_depth=1,2"],
            "without --live standard",
        ),
        (&["iostat", "--live"], "`diskfacts iostat 1`"),
        (
            &["watch", "--live", "data"],
            "a report is printed each second",
        ),
    ] {
        case.refuses(
            &without(arguments),
            &["and there is none (/dev/tty: ", instead],
        );
    }
    let dumb = without(&["measure", "--live", "data"]).env("TERM", "dumb");
    case.refuses(&dumb, &["TERM=dumb is none that can be drawn on"]);
    let quiet = without(&["measure", "--live", "--quiet", "data"]);
    case.refuses(&quiet, &["--live shows all of it and --quiet nothing"]);
}

#[test]
fn devices_are_shown_until_q_and_then_the_report_of_all_of_it() {
    let case = Case::new();
    let mut pty = or_skip!(Pty::start(
        &case,
        "\"$DISKFACTS\" iostat --live --interval 200ms",
        SIZE
    ));
    pty.wait_for("Processors: ");
    assert!(pty.rows()[0].starts_with("diskfacts iostat: all disks"));
    pty.types("q");
    assert_eq!(pty.finish().code(), Some(0));
    assert!(!pty.screen().alternate_screen());
    assert!(says(&pty, "In "), "{:#?}", pty.rows());

    let line = "\"$DISKFACTS\" iostat --live --interval 200ms --count 2";
    let mut pty = or_skip!(Pty::start(&case, line, SIZE));
    assert_eq!(pty.finish().code(), Some(0));
}

#[test]
fn requests_are_shown_until_q_and_then_the_report_of_all_of_them() {
    or_skip!(events());
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let case = Case::new();
    let line = format!(
        "\"$DISKFACTS\" watch --live --interval 200ms {}",
        device.path().display()
    );
    let mut pty = or_skip!(Pty::start(&case, &line, SIZE));
    let before = pty.modes();
    pty.wait_for("q ends");
    let name = device.path().file_name().expect("a name").to_string_lossy();
    // What nobody asks of the device is not shown.
    let file = RefCell::new(DirectFile::open(device.path()));
    pty.wait_until("a row of its reads", |pty| {
        file.borrow_mut().read(0, 4096);
        says(pty, &format!("{name}: requests per second"))
            && pty.rows().iter().any(|row| row.starts_with("reads "))
    });
    pty.types("q");
    assert_eq!(pty.finish().code(), Some(0));
    pty.is_as_before(&before);
    assert!(!pty.screen().alternate_screen());
    assert!(says(&pty, "read"), "{:#?}", pty.rows());
}

#[test]
fn ctrl_z_while_the_file_is_filled_is_only_a_pause() {
    // 96 MiB take 6 s: the key comes while they are written.
    let slow = or_skip!(Slow::to_write(16 * MIB));
    let folder = slow.folder();
    let (before, free) = (Content::of(folder), free_blocks(folder));
    let case = Case::new();
    let line = in_case(
        &case,
        &format!(
            "echo $$ > '{}/cgroup.procs'; exec env PS1='prompt ' bash --norc --noprofile -i",
            slow.group.path().display()
        ),
    );
    let mut pty = or_skip!(Pty::start(&case, &line, SIZE));
    pty.wait_for("prompt");
    pty.types(&format!(
        "\"$DISKFACTS\" measure --live --size 96MiB --store \"$STORE\" '{}'\n",
        folder.display()
    ));
    pty.wait_for("filling");
    pty.types("\x1a");
    pty.wait_for("Stopped");
    assert!(!pty.screen().alternate_screen() && !pty.screen().hide_cursor());
    pty.types("clear; fg\n");
    pty.wait_for("q ends and stores");
    pty.types("q");
    pty.wait_for("nothing is left behind");
    assert!(!pty.screen().alternate_screen() && !pty.screen().hide_cursor());
    pty.types("exit\n");
    assert_eq!(pty.finish().code(), Some(130));
    assert_eq!(Content::of(folder), before);
    assert_eq!(free_blocks(folder), free);
}
