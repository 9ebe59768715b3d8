//! `diskfacts import FILE...`: results of other programs become runs.

use super::print;
use crate::args::{Common, ImportArgs};
use crate::exit::{Exit, Failure, OrFail};
use crate::named::{self, InFile};
use crate::session::{conclude_document, id};
use crate::{look, storing};
use diskfacts_host::{Roots, machine};
use diskfacts_record::{Finding, Labels, Machine, Run};
use diskfacts_report::import::runs::{self, Origin};
use diskfacts_report::import::{self, Document, Format, Imported, ReadError};
use diskfacts_report::{json, text};
use diskfacts_store::{Error, Store};
use jiff::Timestamp;
use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::Path;

/// Times that ids are tried for the runs of a document; they differ by 16 bits within a second.
const IDS_MAX: u64 = 64;

/// Reads every file before anything is stored; what can be read is stored even
/// where another file cannot.
pub(crate) fn run(args: &ImportArgs, common: &Common) -> Result<Exit, Failure> {
    let labels = args.labels.labels().or_wrong_call()?;
    // Whole runs come as they are, with the names that they have.
    if !args.json && labels == Labels::default() && args.files.iter().all(|path| is_whole(path)) {
        return super::runs::take(&args.files, common);
    }
    let mut failures = Vec::new();
    let mut read = Vec::new();
    for path in &args.files {
        if let Some(own) = is_own(path)? {
            failures.push(own);
            continue;
        }
        match document(path) {
            Ok(document) if document.rows.is_empty() => {
                failures.push(nothing(path, &document));
                read.push((path, document));
            }
            Ok(document) => read.push((path, document)),
            Err(failure) => failures.push(failure),
        }
    }
    let any = read.iter().any(|(_, document)| !document.rows.is_empty());
    let mut imported = Vec::new();
    let mut store = any.then(|| storing::open(common)).transpose()?;
    let mut names = Names::now();
    for (path, document) in read {
        let file = path.display().to_string();
        let mut of_file = Vec::new();
        let mut findings: Vec<Finding> = Vec::new();
        if let Some(store) = &mut store {
            let origin = Origin {
                file: file.clone(),
                started: names.now.to_string(),
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                command: std::env::args_os()
                    .map(|word| word.to_string_lossy().into_owned())
                    .collect(),
            };
            let mut runs = runs::of(&document, &origin, || names.next());
            for run in &mut runs {
                run.run.labels.clone_from(&labels);
            }
            conclude_document(&mut runs);
            keep(store, &mut runs, &mut names)?;
            for run in &runs {
                let format = run.run.source.as_ref().map(|source| source.format.as_str());
                let known = Format::ALL.into_iter().find(|f| Some(f.name()) == format);
                of_file.extend(known.map(|format| (format, run.run.id.clone())));
                for finding in &run.findings {
                    // What several runs show together is with each of them.
                    if !findings.contains(finding) {
                        findings.push(finding.clone());
                    }
                }
            }
        }
        imported.push(Imported {
            file,
            document,
            runs: of_file,
            findings,
        });
    }
    if args.json {
        print(&json::imports(&imported))?;
    } else if any {
        imported.retain(|imported| !imported.runs.is_empty());
        let option = storing::option(common);
        let look = look::of_stdout(common.color);
        print(&text::imports(&imported, &option, &look))?;
    }
    // Each file is told; the first decides how to exit.
    let mut failures = failures.into_iter();
    let Some(first) = failures.next() else {
        return Ok(Exit::Done);
    };
    for failure in failures {
        failure.print();
    }
    Err(first)
}

/// Whether it is a file of whole runs, and can be read as one; nothing is read of standard input.
fn is_whole(path: &Path) -> bool {
    path.is_file() && matches!(named::in_file(path), Ok(Some(InFile::Whole(_))))
}

/// What to do with a file of ours instead.
fn is_own(path: &Path) -> Result<Option<Failure>, Failure> {
    // What comes in from standard input is read once.
    if !path.is_file() {
        return Ok(None);
    }
    let shown = path.display();
    let told = match named::in_file(path)? {
        None => return Ok(None),
        Some(InFile::Printed(_)) => format!(
            "{shown} is a run of diskfacts itself, as it was printed: without the whole histograms \
             that a stored run is worked out from. `diskfacts show {shown}` shows it, `compare` and \
             `advise` take it beside stored runs, and `diskfacts runs export RUN -o FILE.dfrun` \
             makes a file that can be imported"
        ),
        Some(InFile::Whole(_)) => format!(
            "{shown} has runs of diskfacts itself, which keep their names and come by themselves: \
             `diskfacts import {shown}` stores them, and `show`, `compare` and `advise` take the \
             file as it is"
        ),
    };
    Ok(Some(Failure::wrong_call(told)))
}

/// Reads the document of a file, or of standard input.
pub(crate) fn document(path: &Path) -> Result<Document, Failure> {
    let shown = path.display();
    let result = if path.as_os_str() == "-" {
        import::read(std::io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::NotFound => "; there is no such file",
                ErrorKind::PermissionDenied => "; this user may not read it",
                _ => "",
            };
            Failure::wrong_call(format!(
                "opening {shown} to import it failed: {error}{hint}"
            ))
        })?;
        if file.metadata().or_failed()?.is_dir() {
            return Err(Failure::wrong_call(format!(
                "{shown} is a folder; name the files in it, as in `diskfacts import {shown}/*`"
            )));
        }
        import::read(BufReader::with_capacity(1 << 16, file))
    };
    result.map_err(|error| match error {
        ReadError::Gzip if path.as_os_str() != "-" => Failure::wrong_call(format!(
            "{shown} cannot be imported: it is compressed by gzip; `zcat {shown} | diskfacts \
             import -` reads it"
        )),
        ReadError::Binary { .. } | ReadError::Gzip => {
            Failure::wrong_call(format!("{shown} cannot be imported: {error}"))
        }
        ReadError::Io(error) => Failure::failed(format!("reading {shown} failed: {error}")),
    })
}

/// Nothing was read: says what would have been, and what came near it.
pub(crate) fn nothing(path: &Path, document: &Document) -> Failure {
    let near = match document.notes.first() {
        Some(note) => format!(" Nearest, line {}: {}", note.line, note.text),
        None if document.lines == 0 => " It is empty.".to_owned(),
        None => String::new(),
    };
    Failure::wrong_call(format!(
        "{} has no line that could be read as a measurement.{near} Known are {}; \
         docs/reference/commands.md shows a line of each",
        path.display(),
        text::formats()
    ))
}

/// Ids for the runs of one call.
struct Names {
    now: Timestamp,
    machine: Machine,
    used: u64,
}

impl Names {
    fn now() -> Self {
        Self {
            now: Timestamp::now(),
            machine: machine(&Roots::default()),
            used: 0,
        }
    }

    fn next(&mut self) -> String {
        self.used += 1;
        id(self.now, &self.machine, self.used)
    }
}

/// Stores the runs of a document, under other ids if one of theirs is taken.
fn keep(store: &mut Store, runs: &mut [Run], names: &mut Names) -> Result<(), Failure> {
    for _ in 0..IDS_MAX {
        match store.add(runs) {
            Err(Error::RunExists { .. }) => runs::name(runs, || names.next()),
            other => return other.or_failed(),
        }
    }
    store.add(runs).or_failed()
}
