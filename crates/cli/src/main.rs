//! `diskfacts`: get the facts about your storage.
//!
//! Arguments become a plan and a target ([`args`], [`target`]), a session
//! measures and stores them ([`session`]), and what is printed are views of the
//! run it made. Exit codes are those of [`exit`].

mod args;
mod commands;
mod exit;
mod look;
mod progress;
mod session;
mod sides;
mod signals;
mod storing;
mod target;

use args::{Cli, Command, Misread};
use clap::error::{ContextKind, ErrorKind};
use exit::{Exit, Failure, say};
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::read(std::env::args_os().collect()).map(run) {
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
            // Who reads neither needs no message either.
            let _ = error.print();
            match error.kind() {
                // Help and version are answers; the rest is a wrong call.
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Done.into(),
                ErrorKind::MissingRequiredArgument => {
                    say(hint(&error));
                    Exit::WrongCall.into()
                }
                _ => Exit::WrongCall.into(),
            }
        }
    }
}

/// What to type where an argument is missing.
fn hint(error: &clap::Error) -> &'static str {
    let missing = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    if missing
        .as_ref()
        .is_some_and(|missing| missing.contains("<FILE>"))
    {
        "Name a file with results of other programs, as in `diskfacts import results.txt`; - is \
         standard input"
    } else if missing.is_some_and(|missing| missing.contains("<B>")) {
        "Name two runs, as in `diskfacts compare last~1 last`; `diskfacts runs` lists them"
    } else {
        "Name a folder, a file or a block device, as in `diskfacts measure .`"
    }
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    let common = cli.common;
    match cli.command {
        Some(Command::Measure(args)) => commands::measure::run(&args, &common),
        Some(Command::Plans(args)) => commands::plans::run(&args, &common),
        Some(Command::Dd(args)) => commands::dd::run(&args, &common),
        Some(Command::Iostat(args)) => commands::iostat::run(&args, &common),
        Some(Command::Readahead(args)) => commands::readahead::run(&args, &common),
        Some(Command::Devices(args)) => commands::devices::run(&args, &common),
        Some(Command::Runs(args)) => commands::runs::run(&args, &common),
        Some(Command::Show(args)) => commands::show::run(&args, &common),
        Some(Command::Compare(args)) => commands::compare::run(&args, &common),
        Some(Command::Advise(args)) => commands::advise::run(&args, &common),
        Some(Command::Import(args)) => commands::import::run(&args, &common),
        Some(Command::Sim(args)) => commands::sim::run(&args, &common),
        None => commands::measure::run(&cli.measure, &common),
    }
}
