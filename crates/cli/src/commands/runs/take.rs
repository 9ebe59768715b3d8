//! `diskfacts runs import FILE...`: runs that were exported are stored here.

use crate::args::{Common, TakeArgs};
use crate::commands::print;
use crate::exit::{Exit, Failure, OrFail, clean};
use crate::session::conclude_document;
use crate::{dfrun, storing};
use diskfacts_record::StageFigures;
use diskfacts_store::{Error, Intake, Parcel, Taken};
use std::fmt::Write;
use std::path::Path;

/// Takes in all runs of all files or none; nothing is stored, and no store made, where the
/// first cannot be read.
pub(super) fn run(args: &TakeArgs, common: &Common) -> Result<Exit, Failure> {
    let files = args.files.iter().map(|path| open(path));
    let files: Vec<dfrun::Parcels> = files.collect::<Result<_, _>>()?;
    // Reading them may take as long as whoever sends them likes, and nobody else writes to the
    // store from when it takes in the first.
    let parcels = files.into_iter().flatten().map(|parcel| {
        let parcel = parcel?;
        // Its figures by today's arithmetic; the rest of what follows is worked out when it is
        // shown.
        let mut explained = [parcel.run.clone()];
        conclude_document(&mut explained);
        let [explained] = explained;
        Ok((parcel, explained.figures))
    });
    let parcels: Vec<(Parcel, Vec<StageFigures>)> = parcels.collect::<Result<_, Failure>>()?;
    let mut store = storing::open(common)?;
    let path = store.path().display().to_string();
    let intake = store.intake().or_failed()?;
    let mut lines = String::new();
    let mut counts = [0_usize; 2];
    for (parcel, figures) in &parcels {
        let (taken, line) = take(&intake, parcel, figures)?;
        let is_known = matches!(taken, Taken::Known | Taken::KnownAs { .. });
        counts[usize::from(is_known)] += 1;
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "{line}");
    }
    intake.commit().or_failed()?;
    let [stored, known] = counts.map(|runs| match runs {
        0 => "none".to_owned(),
        runs => runs.to_string(),
    });
    print(&clean(&format!(
        "Stored in {path}: {stored}; already there: {known}.\n{lines}"
    )))?;
    Ok(Exit::Done)
}

fn open(path: &Path) -> Result<dfrun::Parcels, Failure> {
    let shown = path.display();
    if let Some(parcels) = dfrun::open(path)? {
        return Ok(parcels);
    }
    if path.as_os_str() != "-" {
        let opened = std::fs::File::open(path);
        let opened = opened.and_then(|file| file.metadata()).map_err(|error| {
            Failure::wrong_call(format!("opening {shown} to import it failed: {error}"))
        })?;
        if opened.is_dir() {
            return Err(Failure::wrong_call(format!(
                "{shown} is a folder; name the files in it, as in `diskfacts runs import \
                 {shown}/*.dfrun`"
            )));
        }
    }
    Err(Failure::wrong_call(format!(
        "{shown} is no file of runs, as `diskfacts runs export` writes them; `diskfacts import \
         {shown}` reads results of other programs"
    )))
}

/// Takes a run in; what became of it is a line.
fn take(
    intake: &Intake<'_>,
    parcel: &Parcel,
    figures: &[StageFigures],
) -> Result<(Taken, String), Failure> {
    let taken = intake.take(parcel, figures);
    let taken = match taken {
        Err(error @ Error::OtherRun { .. }) => return Err(error).or_wrong_call(),
        taken => taken.or_failed()?,
    };
    let run = &parcel.run;
    let name = run.run.labels.name.as_ref();
    let name = name.map_or(String::new(), |name| format!("{name}: "));
    let host = run.machine.host.as_ref();
    let host = host.map_or(String::new(), |host| format!(" on {host}"));
    let what = match &taken {
        Taken::Stored => "stored".to_owned(),
        Taken::Known => "already there, the same".to_owned(),
        Taken::StoredAs { id } => {
            format!("stored as {id}, because a run of another host has its id")
        }
        Taken::KnownAs { id } => format!("already there as {id}, the same"),
    };
    let line = format!(
        "  {}  {name}{} of {}{host}: {what}",
        run.run.id, run.plan.name, run.target.given
    );
    Ok((taken, line))
}
