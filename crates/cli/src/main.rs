//! `diskfacts`: get the facts about your storage.
//!
//! Arguments become a plan and a target ([`args`], [`target`]), a session
//! measures and stores them ([`session`]), and what is printed are views of the
//! run it made. Exit codes are those of [`exit`].

mod args;
mod commands;
mod completion;
mod devices_now;
mod dfrun;
mod exit;
mod groups;
mod look;
mod named;
mod named_text;
mod outbox;
mod output_file;
mod probe;
mod progress;
mod reference;
mod screen;
mod serve;
mod session;
mod sides;
mod signals;
mod state;
mod storing;
mod target;
mod wanted;

use args::{Cli, Command, Misread};
use clap::error::{ContextKind, ErrorKind};
use diskfacts_host::let_large_writes_fail;
use diskfacts_host::settings::{WATCHDOG, watch};
use exit::{Exit, Failure, say};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(error) = let_large_writes_fail() {
        say(&format!(
            "diskfacts: note: a write past `ulimit -f` will end this without a word: {error}"
        ));
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    if let [_, first, _] = words.as_slice()
        && *first == *probe::PROBE
    {
        return probe::ask().into();
    }
    // What the scripts of `diskfacts completions` ask with each press of Tab.
    if let [_, first, typed @ ..] = words.as_slice()
        && *first == *completion::ASKED
    {
        return completion::answer(typed).into();
    }
    // A process that a run starts beside itself; nobody types it, and nobody reads
    // what it says.
    if let Some((_, words)) = words.split_first()
        && let Some((WATCHDOG, arguments)) = words
            .split_first()
            .and_then(|(first, rest)| Some((first.to_str()?, rest)))
    {
        return match watch(arguments, &mut state::watchdog_steps()) {
            Ok(()) => Exit::Done.into(),
            Err(error) => {
                say(&format!("diskfacts: {error}"));
                Exit::WrongCall.into()
            }
        };
    }
    match Cli::read(words).map(run) {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(failure)) => {
            failure.print();
            failure.exit.into()
        }
        Err(Misread::Hint(hint)) => {
            say(&format!("diskfacts: {hint}"));
            Exit::WrongCall.into()
        }
        Err(Misread::Clap(error)) => {
            match error.kind() {
                // Help and version are answers; the rest is a wrong call.
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => printed(&error),
                kind => {
                    // Who does not read the message needs none.
                    let _ = error.print();
                    if kind == ErrorKind::MissingRequiredArgument {
                        say(hint(&error));
                    }
                    Exit::WrongCall.into()
                }
            }
        }
    }
}

/// Help or the version, which somebody asked for.
fn printed(answer: &clap::Error) -> ExitCode {
    let printed = commands::stdout_is_there().and_then(|()| match answer.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::failed(
            format!("writing to standard output failed: {error}"),
        )),
        _ => Ok(()),
    });
    match printed {
        Ok(()) => Exit::Done.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

/// What to type where an argument is missing, by how its help calls it; the first that is among
/// the missing ones.
const MISSING: [(&str, &str); 11] = [
    (
        "--output <FILE>",
        "Name a new file, as in `diskfacts runs export last -o run.dfrun`; - is standard output",
    ),
    (
        "<FILE.dfrun>",
        "Name a file that `runs export` wrote, as in `diskfacts runs import run.dfrun`; - is \
         standard input",
    ),
    (
        "<FILE>",
        "Name a file with results of other programs, as in `diskfacts import results.txt`; - is \
         standard input",
    ),
    (
        "<RUN>",
        "Name a stored run, as in `diskfacts runs delete last`; `diskfacts runs` lists them",
    ),
    (
        "<B>",
        "Name two runs, as in `diskfacts compare last~1 last`; `diskfacts runs` lists them",
    ),
    (
        "--group <NAME>",
        "Name the group that starts together, as in `--start-at 13:00:00Z --group n42`",
    ),
    (
        "--host <NAME>",
        "Name a host of the fleet, as in `diskfacts fleet trend fleet --host c17`",
    ),
    (
        "--into <FOLDER>",
        "Name the folder of the fleet, as in `--into fleet`; it is made if it is not there",
    ),
    (
        "<NAME>",
        "Say its name, as in `diskfacts runs rename last baseline`; --remove takes it away",
    ),
    (
        "<TEXT>",
        "Say what is to be known of it, as in `diskfacts runs note last 'after the firmware'`; \
         --remove takes it away",
    ),
    (
        "<TAG>",
        "Say the tags, as in `diskfacts runs tag last ci`; with --remove they are taken away",
    ),
];

fn hint(error: &clap::Error) -> &'static str {
    let missing = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let missing = missing.unwrap_or_default();
    let known = MISSING.iter().find(|(called, _)| missing.contains(called));
    known.map_or(
        "Name a folder, a file or a block device, as in `diskfacts measure .`",
        |(_, hint)| hint,
    )
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    let common = cli.common;
    match cli.command {
        Some(Command::Measure(args)) => commands::measure::run(&args, &common),
        Some(Command::Tune(args)) => commands::tune::run(&args, &common),
        Some(Command::Plans(args)) => commands::plans::run(&args, &common),
        Some(Command::Dd(args)) => commands::dd::run(&args, &common),
        Some(Command::Iostat(args)) => commands::iostat::run(&args, &common),
        Some(Command::Watch(args)) => commands::watch::run(&args, &common),
        Some(Command::Readahead(args)) => commands::readahead::run(&args, &common),
        Some(Command::Devices(args)) => commands::devices::run(&args, &common),
        Some(Command::Runs(args)) => commands::runs::run(&args, &common),
        Some(Command::Show(args)) => commands::show::run(&args, &common),
        Some(Command::Explain(args)) => commands::explain::run(&args, &common),
        Some(Command::Report(args)) => commands::report::run(&args, &common),
        Some(Command::Compare(args)) => commands::compare::run(&args, &common),
        Some(Command::Fleet(args)) => commands::fleet::run(&args, &common),
        Some(Command::Export(args)) => commands::export::run(&args, &common),
        Some(Command::Serve(args)) => commands::serve::run(&args, &common),
        Some(Command::Together(args)) => commands::together::run(&args, &common),
        Some(Command::Advise(args)) => commands::advise::run(&args, &common),
        Some(Command::Import(args)) => commands::import::run(&args, &common),
        Some(Command::Sim(args)) => commands::sim::run(&args, &common),
        Some(Command::Restore(args)) => commands::restore::run(&args),
        Some(Command::Completions(args)) => commands::completions::run(&args),
        Some(Command::Man(args)) => commands::man::run(&args, &common),
        None => commands::measure::run(&cli.measure, &common),
    }
}
