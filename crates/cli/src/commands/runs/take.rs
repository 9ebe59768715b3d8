//! `diskfacts runs import FILE...`, and `diskfacts import FILE...` of such files: runs that were exported are stored here.

use crate::args::Common;
use crate::commands::print;
use crate::exit::{Exit, Failure, OrFail, clean};
use crate::session::conclude_document;
use crate::{dfrun, storing};
use diskfacts_record::StageFigures;
use diskfacts_store::dfrun::RUNS_BYTES_MAX;
use diskfacts_store::{Error, Intake, Parcel, Taken};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Takes in all runs of all files or none; nothing is stored, and no store made, where the
/// first cannot be read.
pub(in crate::commands) fn run(files: &[PathBuf], common: &Common) -> Result<Exit, Failure> {
    // Reading them may take as long as whoever sends them likes, and nobody else writes to the
    // store from when it takes in the first.
    let parcels = read(files, RUNS_BYTES_MAX)?;
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

/// All runs of all files, each with its figures by today's arithmetic (the rest of what follows is
/// worked out when it is shown). They are in memory at once, and together no more than `bytes_max`
/// bytes, unpacked: a file of some KB may unpack to any amount.
fn read(files: &[PathBuf], bytes_max: u64) -> Result<Vec<(Parcel, Vec<StageFigures>)>, Failure> {
    let mut taken = Vec::new();
    let mut came = 0;
    for path in files {
        let mut parcels = open(path, came, bytes_max)?;
        for parcel in parcels.by_ref() {
            let parcel = parcel?;
            let mut explained = [parcel.run.clone()];
            conclude_document(&mut explained);
            let [explained] = explained;
            taken.push((parcel, explained.figures));
        }
        came = parcels.came();
    }
    Ok(taken)
}

fn open(path: &Path, came: u64, bytes_max: u64) -> Result<dfrun::Parcels, Failure> {
    let shown = path.display();
    if let Some(parcels) = dfrun::open_within(path, came, bytes_max)? {
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

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::Run;
    use diskfacts_store::{Store, dfrun};

    /// A file of one run without trials, and its bytes, unpacked.
    fn file(folder: &Path, id: &str) -> (PathBuf, u64) {
        let sample = include_str!("../../../../store/tests/store/sample/run.json");
        let mut run: Run = serde_json::from_str(sample).unwrap();
        id.clone_into(&mut run.run.id);
        let mut store = Store::open(&folder.join("runs.db")).unwrap();
        store.begin(&run, None).unwrap();
        let kept = store.kept(id).unwrap();
        let path = folder.join(id);
        let mut bytes = Vec::new();
        let unpacked = dfrun::write(&mut bytes, &kept, (1, 1)).unwrap();
        std::fs::write(&path, bytes).unwrap();
        (path, unpacked)
    }

    #[test]
    fn the_runs_of_all_files_together_have_one_limit() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a-1", "a-2", "a-3"].map(|id| file(folder.path(), id));
        let all: u64 = files.iter().map(|(_, unpacked)| unpacked).sum();
        let paths = files.map(|(path, _)| path);
        let taken = read(&paths, all).map_err(|failure| failure.sentence());
        assert_eq!(taken.map(|runs| runs.len()), Ok(3));
        let Err(refused) = read(&paths, all - 1) else {
            panic!("one byte more than the limit was taken");
        };
        let said = refused.sentence();
        assert!(said.contains("a-3 cannot be read"), "{said}");
        assert!(said.contains("take fewer runs at a time"), "{said}");
        // Also where the first run of the first file is too much.
        assert!(read(&paths[..1], all / 4).is_err());
    }
}
