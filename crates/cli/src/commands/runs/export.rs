//! `diskfacts runs export RUN... -o FILE`: whole runs in a file.

use super::ids;
use crate::args::{Common, ExportArgs};
use crate::commands::{print, stdout_is_there};
use crate::exit::{Exit, Failure, OrFail, clean};
use crate::named::Named;
use crate::signals::Signals;
use crate::storing;
use anyhow::Context;
use diskfacts_plan::units::show_size;
use diskfacts_store::Store;
use diskfacts_store::dfrun::{self, Error};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub(super) fn run(args: &ExportArgs, common: &Common) -> Result<Exit, Failure> {
    let signals = Signals::listen()?;
    let mut named = Named::new(common);
    let ids = ids(&mut named, &args.runs, "there is none to export")?;
    let store = named.store().expect("the ids are of runs in it");
    for id in &ids {
        let (run, _) = store.summary(id).or_failed()?;
        if named.here().is_made(&run) {
            return Err(Failure::wrong_call(format!(
                "the run {id} still goes on, so nothing was exported: wait for it, or end it with \
                 Ctrl-C"
            )));
        }
    }
    if args.output.as_os_str() == "-" {
        to_stdout((store, &ids), &signals)?;
    } else {
        to_file((store, &ids), args, &signals)?;
    }
    Ok(Exit::Done)
}

fn to_stdout(runs: (&Store, &[String]), signals: &Signals) -> Result<(), Failure> {
    stdout_is_there()?;
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        return Err(Failure::wrong_call(
            "a terminal cannot show runs as they are exported; name a file, or pipe them: diskfacts \
             runs export last -o - | ssh HOST diskfacts runs import -",
        ));
    }
    write(&mut out, runs, "standard output", signals)
}

/// Writes beside the file and gives it its name when all is on the disk: who sees the name sees
/// the whole file.
fn to_file(
    (store, ids): (&Store, &[String]),
    args: &ExportArgs,
    signals: &Signals,
) -> Result<(), Failure> {
    let output = &args.output;
    let shown = output.display().to_string();
    refuse(output, args.overwrite)?;
    let folder = output
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".dfrun-")
        // For who may read new files of this user.
        .permissions(PermissionsExt::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::NotFound => "; there is no such folder",
                ErrorKind::PermissionDenied => "; this user may not write in its folder",
                _ => "",
            };
            // The name of a file that nobody asked for says nothing.
            let error = io::Error::from(error.kind());
            Failure::failed(format!("writing {shown} failed: {error}{hint}"))
        })?;
    write(&mut file, (store, ids), &shown, signals)?;
    let written = file.as_file();
    let bytes = written
        .sync_all()
        .and_then(|()| written.metadata())
        .with_context(|| format!("writing {shown} failed"))
        .or_failed()?
        .len();
    let named = if args.overwrite {
        file.persist(output)
    } else {
        file.persist_noclobber(output)
    };
    named.map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => exists(&shown),
        _ => Failure::failed(format!("writing {shown} failed: {}", error.error)),
    })?;
    let runs = match ids {
        [id] => format!("the run {id}"),
        ids => format!("{} runs", ids.len()),
    };
    print(&clean(&format!(
        "Exported {runs} to {shown}, {}. Elsewhere: diskfacts runs import {}\n",
        show_size(bytes),
        storing::quoted(&shown)
    )))
}

/// Writes the runs; what is wrong with one is told with its id, what is wrong with the output
/// with its name. A reader that went away has seen what it wanted.
fn write(
    out: &mut impl Write,
    (store, ids): (&Store, &[String]),
    shown: &str,
    signals: &Signals,
) -> Result<(), Failure> {
    let of = u32::try_from(ids.len()).or_failed()?;
    let mut out = BufWriter::new(out);
    for (number, id) in (1..).zip(ids) {
        if let Some(exit) = signals.came() {
            let why = anyhow::anyhow!("stopped; nothing is left of {shown}");
            return Err(Failure::of(exit, why));
        }
        let kept = store.kept(id).or_wrong_call()?;
        match dfrun::write(&mut out, &kept, (number, of)) {
            Ok(()) => {}
            Err(Error::Io(error)) => return told(&error, shown),
            Err(error) => {
                return Err(Failure::wrong_call(format!(
                    "the run {id} cannot be exported: {error}"
                )));
            }
        }
    }
    out.flush().or_else(|error| told(&error, shown))
}

fn told(error: &io::Error, shown: &str) -> Result<(), Failure> {
    match error.kind() {
        ErrorKind::BrokenPipe => Ok(()),
        _ => Err(Failure::failed(format!("writing {shown} failed: {error}"))),
    }
}

fn exists(shown: &str) -> Failure {
    Failure::wrong_call(format!(
        "{shown} exists already, and was left as it is; --overwrite replaces it"
    ))
}

/// Refuses what is no place for a file, before much is written for nothing.
fn refuse(output: &Path, overwrite: bool) -> Result<(), Failure> {
    let Ok(metadata) = std::fs::symlink_metadata(output) else {
        return Ok(());
    };
    let shown = output.display();
    if metadata.is_dir() {
        return Err(Failure::wrong_call(format!(
            "{shown} is a folder; name a file in it: -o {}",
            storing::quoted(&output.join("runs.dfrun").display().to_string())
        )));
    }
    if !overwrite {
        return Err(exists(&shown.to_string()));
    }
    if !metadata.is_file() {
        return Err(Failure::wrong_call(format!(
            "{shown} is no file that could be replaced; -o - writes to standard output"
        )));
    }
    Ok(())
}
