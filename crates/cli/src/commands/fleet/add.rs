//! `diskfacts fleet add FILE.dfrun... --into FOLDER`.

use super::failure;
use crate::args::FleetAddArgs;
use crate::commands::print;
use crate::dfrun;
use crate::exit::{Exit, Failure, clean, say};
use crate::signals::Signals;
use diskfacts_fleet::{Added, Adding};
use std::path::Path;

/// What became of the runs.
#[derive(Default)]
struct Counts {
    taken: u64,
    trials: u64,
    known: u64,
    /// Files that could not be read to their end, and runs that have no place in a fleet.
    refused: u64,
}

/// Adds what can be added: a bad file spoils no other. Files are read one after the other, so that
/// there may be thousands.
pub(super) fn run(args: &FleetAddArgs) -> Result<Exit, Failure> {
    let signals = Signals::listen()?;
    let mut adding = Adding::into(&args.into).map_err(failure)?;
    let mut counts = Counts::default();
    for path in &args.files {
        if let Some(exit) = signals.came() {
            let why = anyhow::anyhow!("stopped before all files were read; nothing was added");
            return Err(Failure::of(exit, why));
        }
        if let Err(sentence) = add(path, &mut adding, &mut counts)? {
            counts.refused += 1;
            say(&clean(&format!("diskfacts: {sentence}")));
        }
    }
    let written = adding.finish().map_err(failure)?;
    let runs = |number: u64| match number {
        1 => "1 run".to_owned(),
        number => format!("{number} runs"),
    };
    let known = match counts.known {
        0 => String::new(),
        known => format!(" Already there: {}.", runs(known)),
    };
    let text = match written {
        Some(path) => format!(
            "Added {} with {} trials to {}.{known}\n",
            runs(counts.taken),
            counts.trials,
            path.display()
        ),
        None => format!("Nothing new for {}.{known}\n", args.into.display()),
    };
    print(&clean(&text))?;
    if counts.refused > 0 {
        say(&format!(
            "diskfacts: {} of {} were left out, as said above",
            counts.refused,
            match args.files.len() {
                1 => "1 file".to_owned(),
                files => format!("{files} files"),
            }
        ));
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}

/// The runs of a file; the inner error is a sentence on what is wrong with it.
fn add(
    path: &Path,
    adding: &mut Adding,
    counts: &mut Counts,
) -> Result<Result<(), String>, Failure> {
    let shown = path.display();
    let parcels = match dfrun::open(path) {
        Ok(Some(parcels)) => parcels,
        Ok(None) => {
            return Ok(Err(match std::fs::File::open(path) {
                Err(error) => format!("opening {shown} failed: {error}"),
                Ok(_) => format!(
                    "{shown} is no file of runs, as `measure --out` and `runs export` write them"
                ),
            }));
        }
        Err(failure) => return Ok(Err(failure.sentence())),
    };
    for parcel in parcels {
        let run = match parcel {
            Ok(parcel) => parcel.run,
            Err(failure) => return Ok(Err(failure.sentence())),
        };
        let id = &run.run.id;
        match adding.run(&run).map_err(failure)? {
            Added::Taken { trials } => {
                counts.taken += 1;
                counts.trials += trials as u64;
            }
            Added::Known => counts.known += 1,
            Added::NoHost => {
                return Ok(Err(format!(
                    "{shown}: the run {id} does not say which host made it, so it has no peers"
                )));
            }
            Added::NoMoment => {
                return Ok(Err(format!(
                    "{shown}: the run {id} does not say when it began"
                )));
            }
            Added::NoTrials => {
                return Ok(Err(format!("{shown}: the run {id} has no trial")));
            }
        }
    }
    Ok(Ok(()))
}
