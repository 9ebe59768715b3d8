//! Documents are read: those that the project starts from, value for value, and
//! those that are broken.

mod broken;
mod documents;
mod findings;
mod findings_of_streams;
mod findings_of_volumes;
mod limits;
mod of_runs;
mod round_trip;
mod tables;
mod unlike;

use diskfacts_record::Run;
use diskfacts_report::import::runs::{self, Origin};
use diskfacts_report::import::{Document, read};

/// The five documents.
pub(crate) const DOCUMENTS: [&str; 5] = [
    include_str!("../documents/000_406dd5c1dd98a7d4.txt"),
    include_str!("../documents/001_b18fe905e4c757db.txt"),
    include_str!("../documents/002_216efc4d5ed1186a.txt"),
    include_str!("../documents/003_2351a42a53108e94.txt"),
    include_str!("../documents/004_260ad3a749590942.txt"),
];

fn import(text: &str) -> Document {
    read(text.as_bytes()).expect("it is text")
}

/// The runs of a document, without their figures.
pub(crate) fn runs_of(text: &str) -> Vec<Run> {
    let origin = Origin {
        file: "results.txt".into(),
        started: "2026-11-21T02:41:50Z".into(),
        tool_version: "0.1.0".into(),
        command: vec!["diskfacts".into(), "import".into(), "results.txt".into()],
    };
    let mut number = 0;
    runs::of(&import(text), &origin, || {
        number += 1;
        format!("20261121-024150-{number:04x}")
    })
}

fn notes(document: &Document) -> Vec<String> {
    let notes = document.notes.iter();
    notes
        .map(|note| format!("{}: {}", note.line, note.text))
        .collect()
}
