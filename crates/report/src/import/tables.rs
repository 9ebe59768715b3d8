//! Tables: lines of names, and the rows below them.

use super::conditions::Conditions;
use super::recognise::At;
use super::reports::Reports;
use super::row::{Format, Measured, Row};
use super::{Document, quoted};
use crate::formats::bonnie::{Cell, Rate, text};
use crate::formats::{iostat_linux, iostat_solaris, readahead};
use std::collections::BTreeMap;

/// Which table is open, and how many rows it had.
#[derive(Debug, Default)]
pub(super) struct Tables {
    open: Option<(Open, u64, u64)>,
    /// The machine that a title of bonnie++'s table of files names.
    machine: Option<String>,
    reports: Reports,
}

#[derive(Debug)]
enum Open {
    BonnieIo,
    BonnieFiles,
    Linux(iostat_linux::Columns),
    Solaris(iostat_solaris::Unit),
    Statistics,
}

impl Tables {
    /// Whether a line belongs to a table: it begins one, or is a row of the open
    /// one.
    pub(super) fn line(
        &mut self,
        at: At<'_>,
        conditions: &Conditions,
        document: &mut Document,
    ) -> bool {
        if let Some((name, _)) = at.text.split_once("-Create-- ") {
            let name = name.trim();
            self.machine = (!name.is_empty()).then(|| name.to_owned());
        }
        if let Some(open) = begins(at.text) {
            self.end(document);
            if matches!(open, Open::Linux(_) | Open::Solaris(_)) {
                self.reports.begins();
            }
            self.open = Some((open, at.line, 0));
            return true;
        }
        if self.open.is_none() {
            self.reports.line(at.text);
        }
        let Some((open, _, rows)) = &mut self.open else {
            return at.text.trim() == iostat_solaris::TITLE || is_title(at.text);
        };
        if at.text.trim().is_empty() {
            // Blank lines part the rows of an edited table; iostat's intervals
            // begin with their names again.
            return matches!(open, Open::BonnieIo | Open::BonnieFiles);
        }
        if is_title(at.text) {
            return true;
        }
        if let (Open::BonnieIo | Open::BonnieFiles, Some(row)) = (&*open, document.rows.last_mut())
            && *rows > 0
            && let Ok(read) = text::latencies(at.text)
        {
            match &mut row.measured {
                Measured::BonnieIo(_, slot) | Measured::BonnieFiles(_, slot) => *slot = Some(read),
                _ => {}
            }
            return true;
        }
        match row(open, at.text) {
            Ok((format, mut measured)) => {
                *rows += 1;
                if let Measured::BonnieFiles(files, _) = &mut measured
                    && are_counts(files)
                {
                    files.rates = files.rates.map(|rate| Rate {
                        rate: Cell::NotMeasured,
                        ..rate
                    });
                    document.note(at.line, COUNTS);
                }
                let mut settings: BTreeMap<_, _> = match format {
                    Format::IostatLinux | Format::IostatSolaris => {
                        let settings = conditions.of_iostat().into_iter();
                        settings.chain(self.reports.setting()).collect()
                    }
                    Format::Bonnie if matches!(measured, Measured::BonnieFiles(..)) => {
                        let machine = self.machine.clone();
                        let named = machine.map(|name| ("machine".to_owned(), name));
                        named.into_iter().collect()
                    }
                    _ => BTreeMap::new(),
                };
                if format == Format::Bonnie {
                    settings.extend(conditions.of_heading());
                }
                document.row(Row {
                    line: at.line,
                    format,
                    settings,
                    measured,
                    text: at.text.trim().to_owned(),
                });
                true
            }
            Err(why) => {
                let looks =
                    at.text.split_whitespace().skip(1).any(|word| {
                        word.starts_with(|c: char| c.is_ascii_digit()) && word.len() < 16
                    });
                let words = at.text.split_whitespace().count();
                // A row that is cut short is mostly numbers; prose is not.
                let numbers = at
                    .text
                    .split_whitespace()
                    .filter(|word| word.parse::<f64>().is_ok())
                    .count();
                let is_row = looks && numbers * 2 >= words;
                if is_row {
                    let text = format!(
                        "A row of a table was not understood, {why}: '{}'.",
                        quoted(at.text)
                    );
                    document.note(at.line, text);
                }
                self.end(document);
                self.reports.line(at.text);
                is_row
            }
        }
    }

    /// The table, or the document, has ended.
    pub(super) fn end(&mut self, document: &mut Document) {
        if let Some((open, line, 0)) = self.open.take() {
            let what = match open {
                Open::BonnieIo | Open::BonnieFiles => "bonnie++",
                Open::Linux(_) | Open::Solaris(_) => "iostat",
                Open::Statistics => "read-ahead",
            };
            document.note(
                line,
                format!("A table of {what} begins here and has no row."),
            );
        }
    }
}

/// What bonnie++ 2.00a does to its own table.
const COUNTS: &str = "This row has the number of files where each rate should be, as bonnie++ 2.00a \
                      prints it; its rates are only in the CSV, and were not read here.";

/// Files in one of the units that the table counts them in.
const FILES_UNIT: f64 = 1024.0;

/// Whether every rate of a row is the number of files: all of six rates would
/// hardly be that by chance.
fn are_counts(files: &text::Files) -> bool {
    let number = files.number.split([':', '/']).next().unwrap_or("");
    let Ok(number) = number.parse::<f64>() else {
        return false;
    };
    let mut told = files.rates.iter().filter_map(|rate| rate.rate.value());
    let first = told.next();
    // Both are whole numbers, far below what a float holds exactly.
    let is_number = |rate: f64| (rate - number * FILES_UNIT).abs() < 0.5;
    first.is_some_and(is_number) && told.all(is_number)
}

fn begins(line: &str) -> Option<Open> {
    if text::is_io_columns(line) {
        return Some(Open::BonnieIo);
    }
    if text::is_files_columns(line) {
        return Some(Open::BonnieFiles);
    }
    if let Ok(columns) = line.parse() {
        return Some(Open::Linux(columns));
    }
    if let Some(unit) = iostat_solaris::Unit::of_columns(line) {
        return Some(Open::Solaris(unit));
    }
    (line.trim() == readahead::STATISTICS).then_some(Open::Statistics)
}

/// The lines above the names of bonnie++'s tables.
fn is_title(line: &str) -> bool {
    let line = line.trim();
    line.contains("------Sequential") || line.contains("-Per Chr-") || line.contains("-Create--")
}

fn row(open: &Open, line: &str) -> Result<(Format, Measured), crate::formats::NotUnderstood> {
    Ok(match open {
        Open::BonnieIo => (Format::Bonnie, Measured::BonnieIo(text::io(line)?, None)),
        Open::BonnieFiles => (
            Format::Bonnie,
            Measured::BonnieFiles(text::files(line)?, None),
        ),
        Open::Linux(columns) => (
            Format::IostatLinux,
            Measured::IostatLinux(columns.clone(), columns.row(line)?),
        ),
        Open::Solaris(unit) => (
            Format::IostatSolaris,
            Measured::IostatSolaris(*unit, line.parse()?),
        ),
        Open::Statistics => (Format::Readahead, Measured::Statistics(line.parse()?)),
    })
}
