//! `diskfacts report RUN... -o FILE`: runs as one page of HTML, to look at and to hand over.

mod advice;
mod comparison;
mod hosts;
mod trends;

use super::{print, stdout_is_there};
use crate::args::{Common, HostsFormat, ReportArgs};
use crate::exit::{Exit, Failure, clean};
use crate::named::{self, Named, is_same_run};
use crate::output_file::{self, told};
use diskfacts_plan::units::show_size;
use diskfacts_record::Run;
use diskfacts_report::html;
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes in which a page tells that it is one of ours.
const HEAD: u64 = 1024;

/// A page that has yet to be written.
struct Made {
    page: String,
    /// What it is a report of, in words.
    of: String,
    /// Its name where nobody gives one.
    usual_name: PathBuf,
}

pub(crate) fn run(args: &ReportArgs, common: &Common) -> Result<Exit, Failure> {
    let made = make(args, common)?;
    let output = args.output.as_deref();
    if output.is_some_and(|output| output.as_os_str() == "-") {
        stdout_is_there()?;
        if args.hosts.format != Some(HostsFormat::Markdown) && std::io::stdout().is_terminal() {
            return Err(Failure::wrong_call(
                "a terminal cannot show a page; name a file, run.html for example",
            ));
        }
        print(&made.page)?;
        return Ok(Exit::Done);
    }
    let output = output.map_or(made.usual_name, Path::to_owned);
    let shown = output.display().to_string();
    // A report is made anew; all else is kept.
    let replace = args.overwrite || is_report(&output);
    let bytes = output_file::write(&output, replace, |file| {
        let written = file.write_all(made.page.as_bytes());
        written.or_else(|error| told(&error, &shown))
    })?;
    print(&clean(&format!(
        "Wrote the report of {} to {shown}, {}.\n",
        made.of,
        show_size(bytes)
    )))?;
    Ok(Exit::Done)
}

/// The page that was asked for.
fn make(args: &ReportArgs, common: &Common) -> Result<Made, Failure> {
    if args.narrowed.any() {
        return trends::make(args, common);
    }
    if args.hosts.together {
        return hosts::make(args, common);
    }
    if args.compare {
        return comparison::make(&args.runs, common);
    }
    let last = ["last".to_owned()];
    let names = if args.runs.is_empty() {
        &last[..]
    } else {
        &args.runs[..]
    };
    if args.advise {
        return advice::make(names, args.usage.as_deref(), common);
    }
    let runs = runs(names, common)?;
    Ok(Made {
        page: html::report(&runs.iter().collect::<Vec<_>>()),
        of: match runs.as_slice() {
            [run] => format!("the run {}", run.run.id),
            runs => format!("{} runs", runs.len()),
        },
        usual_name: usual_name(&runs),
    })
}

/// Named runs, each once, in the order in which they were named.
fn runs(names: &[String], common: &Common) -> Result<Vec<Run>, Failure> {
    let mut from = Named::new(common);
    let mut runs: Vec<Run> = Vec::new();
    for name in names {
        let mut of_name = from.explained(
            name,
            "no run is stored yet; `diskfacts measure .` makes the first",
        )?;
        // Of a stored run the others of its document come along; of a file all are meant.
        if !named::is_document(name) {
            of_name.truncate(1);
        }
        for run in of_name {
            if !runs.iter().any(|known| is_same_run(known, &run)) {
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

/// Where nobody names a file: in the folder where one is.
fn usual_name(runs: &[Run]) -> PathBuf {
    match runs {
        [run] => format!("diskfacts-{}.html", plain(&run.run.id)).into(),
        _ => "diskfacts-report.html".into(),
    }
}

/// An id as a part of a name: a document may have any.
fn plain(id: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    id.chars().filter(plain).take(64).collect()
}

/// Whether there is a file that this command has written. One that cannot be read is none.
fn is_report(path: &Path) -> bool {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    let head = || {
        let mut head = Vec::new();
        File::open(path)?.take(HEAD).read_to_end(&mut head)?;
        Ok::<_, std::io::Error>(head)
    };
    is_file && head().is_ok_and(|head| html::is_report(&head))
}
