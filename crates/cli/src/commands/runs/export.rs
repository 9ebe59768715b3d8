//! `diskfacts runs export RUN... -o FILE`: whole runs in a file.

use super::ids;
use crate::args::{Common, RunsExportArgs};
use crate::commands::{print, stdout_is_there};
use crate::exit::{Exit, Failure, OrFail, clean};
use crate::named::Named;
use crate::output_file::{self, told};
use crate::signals::Signals;
use crate::storing;
use diskfacts_plan::units::show_size;
use diskfacts_store::Store;
use diskfacts_store::dfrun::{self, Error, RUNS_BYTES_MAX};
use std::io::{self, BufWriter, IsTerminal, Write};

pub(super) fn run(args: &RunsExportArgs, common: &Common) -> Result<Exit, Failure> {
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

fn to_file(
    (store, ids): (&Store, &[String]),
    args: &RunsExportArgs,
    signals: &Signals,
) -> Result<(), Failure> {
    let shown = args.output.display().to_string();
    let bytes = output_file::write(&args.output, args.overwrite, |file| {
        write(file, (store, ids), &shown, signals)
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
    let mut bytes = 0_u64;
    for (number, id) in (1..).zip(ids) {
        if let Some(exit) = signals.came() {
            let why = anyhow::anyhow!("stopped; nothing is left of {shown}");
            return Err(Failure::of(exit, why));
        }
        let kept = store.kept(id).or_wrong_call()?;
        match dfrun::write(&mut out, &kept, (number, of)) {
            Ok(of_it) => bytes += of_it,
            Err(Error::Io(error)) => return told(&error, shown),
            Err(error) => {
                return Err(Failure::wrong_call(format!(
                    "the run {id} cannot be exported: {error}"
                )));
            }
        }
        // What `runs import` would not take is not written.
        if bytes > RUNS_BYTES_MAX {
            return Err(Failure::wrong_call(format!(
                "these runs have more than {} MiB together, unpacked, which is more than `runs \
                 import` takes at once; export them to several files",
                RUNS_BYTES_MAX >> 20
            )));
        }
    }
    out.flush().or_else(|error| told(&error, shown))
}
