//! One file per command.

pub(crate) mod advise;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod dd;
pub(crate) mod devices;
pub(crate) mod explain;
pub(crate) mod export;
#[cfg(feature = "fleet")]
pub(crate) mod fleet;
#[cfg(not(feature = "fleet"))]
#[path = "no_fleet.rs"]
pub(crate) mod fleet;
pub(crate) mod import;
pub(crate) mod iostat;
mod launched;
pub(crate) mod man;
pub(crate) mod measure;
pub(crate) mod plans;
pub(crate) mod readahead;
pub(crate) mod report;
pub(crate) mod restore;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod sim;
pub(crate) mod together;
pub(crate) mod tune;
pub(crate) mod watch;

use crate::args::{JsonForm, Style};
use crate::exit::{Failure, clean, say};
use diskfacts_host::stdout_was_closed;
use diskfacts_plan::{Plan, builtin};
use diskfacts_record::Run;
use diskfacts_report::text::{self, Closing, Look};
use diskfacts_report::{classic, iostat as iostat_report, json, read_ahead as read_ahead_report};
use std::io::Write;

/// Prints to standard output. A reader that went away, as `head` does, has seen
/// what it wanted.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_on(text).map(|_| ())
}

/// The same where there is more to come: `None` when the reader went away.
pub(crate) fn print_on(text: &str) -> Result<Option<()>, Failure> {
    stdout_is_there()?;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(None),
        // A terminal that was closed; of a file it is an error of the disk.
        Err(error) if is_of_terminal(&error) => Ok(None),
        Err(error) => Err(Failure::failed(format!(
            "writing to standard output failed: {error}"
        ))),
    }
}

/// Whether standard output is a terminal that is gone. It is none any more by its settings, and a
/// character device still.
fn is_of_terminal(error: &std::io::Error) -> bool {
    let kind = || rustix::fs::fstat(std::io::stdout());
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
        && kind().is_ok_and(|seen| {
            rustix::fs::FileType::from_raw_mode(seen.st_mode)
                == rustix::fs::FileType::CharacterDevice
        })
}

/// Refuses where standard output was closed by whoever started this: what is
/// printed would go nowhere, and an exit code of 0 would say that it was seen.
pub(crate) fn stdout_is_there() -> Result<(), Failure> {
    if stdout_was_closed() {
        return Err(Failure::failed(
            "writing to standard output failed: it was closed before this began; leave it open, \
             or end the command with >/dev/null if nothing shall be seen",
        ));
    }
    Ok(())
}

/// The figures of a run in the style of another program; `None` for the style of
/// this one.
pub(crate) fn lines(style: Style, run: &Run) -> Option<String> {
    let lines = match style {
        Style::Facts => None,
        Style::Classic => Some(classic::run(run)),
        Style::ClassicCsv => Some(classic::csv(run)),
        Style::Iostat => {
            if !iostat_report::has_trials(run) {
                say(
                    "diskfacts: note: no device of this run counted anything that is known, so \
                     there are no rows; without --style iostat it is said why",
                );
            }
            Some(iostat_report::trials(run))
        }
        Style::Readahead => {
            if !read_ahead_report::has_trials(run) {
                say(
                    "diskfacts: note: read-ahead was not observed in this run, so there is no \
                     table; `diskfacts measure --observe all`, or `read_ahead` among others, does \
                     it: as root, on Linux 6.18 or later",
                );
            }
            Some(read_ahead_report::trials(run))
        }
    };
    // Names come from outside, and these styles print them as they are.
    lines.map(|text| clean(&text))
}

/// The document of a run.
pub(crate) fn json_of(run: &Run, form: JsonForm) -> String {
    match form {
        JsonForm::Short => json::run(run),
        JsonForm::Full => json::run_in_full(run),
    }
}

/// The first page of a run, or everything.
pub(crate) fn page(run: &Run, closing: &Closing, explain: bool, look: &Look) -> String {
    if explain {
        text::run(run, closing, look)
    } else {
        text::summary(run, closing, look)
    }
}

/// What the classic lines leave unsaid, to standard error; but for what is `said`
/// anyway.
pub(crate) fn say_classic_notes(run: &Run, said: Option<&str>) {
    for note in classic::notes(run) {
        if said != Some(note.as_str()) {
            say(&format!("diskfacts: note: {note}"));
        }
    }
}

/// Not every plan was taken from a program with a format of its own.
pub(crate) fn check_classic(style: Style, plan: &Plan) -> Result<(), Failure> {
    let (has, what): (fn(&Plan) -> bool, &str) = match style {
        Style::Facts | Style::Iostat | Style::Readahead => return Ok(()),
        Style::Classic => (
            classic::has,
            "--style classic prints the lines of the program that a plan was taken from",
        ),
        Style::ClassicCsv => (
            classic::has_csv,
            "--style classic-csv prints the CSV of the program that a plan was taken from",
        ),
    };
    if has(plan) {
        return Ok(());
    }
    let have: Vec<&str> = builtin::names()
        .filter(|name| builtin::plan(name).is_some_and(|plan| has(&plan)))
        .collect();
    Err(Failure::wrong_call(format!(
        "{what}; of the built-in plans {} can, {} cannot",
        have.join(", "),
        plan.name
    )))
}
