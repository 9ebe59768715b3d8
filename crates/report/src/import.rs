//! Results of other programs, read from documents that may mix them with prose.
//!
//! A [`Reader`] is given a document line by line and keeps only what was
//! measured, so a document of any length takes the memory of its rows. Each
//! line goes through a table of recognisers (`recognise`), most particular
//! first; what no format knows may set `conditions` for the rows that follow.
//! A line that looks like a measurement and is none is a note.
//!
//! Nothing is guessed: what a document does not say is not in its rows.

mod arithmetic;
mod command;
mod conditions;
mod devices;
pub mod fio;
mod headings;
mod json_text;
mod lines;
mod oddities;
mod once;
mod prose;
mod recognise;
mod reports;
mod row;
pub mod runs;
mod series;
mod tables;

pub use lines::{ReadError, read};
pub use row::{Format, Measured, Row};

use conditions::Conditions;
use diskfacts_record::Finding;
use json_text::JsonText;
use tables::Tables;

/// Most rows of a document; more are another job than laying results side by
/// side, and each costs memory.
pub const ROWS_MAX: usize = 100_000;
/// Most notes that are kept; the rest is counted.
pub const NOTES_MAX: usize = 1000;
/// Longest part of a line that a note quotes, characters.
const QUOTED: usize = 60;

/// Something about a line that whoever reads the rows should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Number of the line, from 1.
    pub line: u64,
    /// A sentence.
    pub text: String,
}

/// What was read from a document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// Lines it has.
    pub lines: u64,
    /// What was measured, in order.
    pub rows: Vec<Row>,
    /// What is odd, or was not understood; at most [`NOTES_MAX`].
    pub notes: Vec<Note>,
    /// Notes that are not kept.
    pub notes_left_out: u64,
    /// Rows that are not kept, because there are more than [`ROWS_MAX`].
    pub rows_left_out: u64,
}

impl Document {
    pub(crate) fn note(&mut self, line: u64, text: impl Into<String>) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(Note {
                line,
                text: text.into(),
            });
        } else {
            self.notes_left_out += 1;
        }
    }

    pub(crate) fn row(&mut self, row: Row) {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(row);
        } else {
            self.rows_left_out += 1;
        }
    }
}

/// What became of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Name of the file as it was given.
    pub file: String,
    /// What was read.
    pub document: Document,
    /// The runs that it became: format and id.
    pub runs: Vec<(Format, String)>,
    /// What follows from them, each once.
    pub findings: Vec<Finding>,
}

/// Reads a document line by line.
#[derive(Debug, Default)]
pub struct Reader {
    document: Document,
    conditions: Conditions,
    tables: Tables,
    json: JsonText,
}

impl Reader {
    /// The next line, with or without its end. Bytes that are not UTF-8 are
    /// read as Latin-1, with a note.
    pub fn line(&mut self, bytes: &[u8]) {
        self.document.lines += 1;
        let line = self.document.lines;
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes = if line == 1 {
            bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
        } else {
            bytes
        };
        if let Ok(text) = std::str::from_utf8(bytes) {
            self.text(text);
        } else {
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            self.document
                .note(line, "This line is not UTF-8; it was read as Latin-1.");
            self.text(&text);
        }
    }

    /// A line that is too long to be kept stood here.
    pub fn too_long(&mut self, bytes_max: usize) {
        self.document.lines += 1;
        let line = self.document.lines;
        let text = format!("This line is longer than {bytes_max} bytes and was left out.");
        self.document.note(line, text);
    }

    fn text(&mut self, text: &str) {
        let line = self.document.lines;
        if self.json.takes(text) {
            if let Some((first, whole)) = self.json.line(line, text, &mut self.document) {
                let above = self.conditions.of_heading();
                fio::read(first, &whole, above.as_ref(), &mut self.document);
            }
            return;
        }
        let at = recognise::At { line, text };
        let known = recognise::row(
            at,
            &mut self.document,
            &mut self.conditions,
            &mut self.tables,
        );
        if known {
            self.conditions.passed();
        } else if !self.conditions.line(text) {
            recognise::note_unknown(at, &mut self.document);
        }
    }

    /// The document has ended.
    pub fn finish(mut self) -> Document {
        self.json.end(&mut self.document);
        self.tables.end(&mut self.document);
        headings::note(&mut self.document);
        reports::tell_apart(&mut self.document);
        series::tell_apart(&mut self.document);
        oddities::note(&mut self.document);
        devices::note(&mut self.document);
        self.document.notes.sort_by_key(|note| note.line);
        self.document
    }
}

/// The beginning of a line, for a note.
pub(crate) fn quoted(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= QUOTED {
        return text.to_owned();
    }
    let start: String = text.chars().take(QUOTED).collect();
    format!("{start}...")
}
