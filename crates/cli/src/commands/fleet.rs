//! `diskfacts fleet`: the runs of many hosts, in a folder of Parquet files.

mod add;
mod odd;
mod trend;

use crate::args::{Common, FleetArgs, FleetCommand};
use crate::exit::{Exit, Failure};
use diskfacts_fleet::Error;

pub(crate) fn run(args: &FleetArgs, common: &Common) -> Result<Exit, Failure> {
    match &args.command {
        FleetCommand::Add(args) => add::run(args),
        FleetCommand::Odd(args) => odd::run(args, common),
        FleetCommand::Trend(args) => trend::run(args, common),
    }
}

/// What is wrong with the files is told; a folder that is none is a wrong call.
pub(crate) fn failure(error: Error) -> Failure {
    let exit = match error {
        Error::Empty { .. } | Error::NotOurs { .. } => Exit::WrongCall,
        Error::Io { .. } | Error::Parquet { .. } => Exit::Failed,
    };
    Failure::of(exit, error)
}
