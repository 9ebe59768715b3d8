//! The reports of iostat: the first one of a call is about the time since the
//! machine booted (iostat(1) of sysstat 12 and of Solaris 11), each other one
//! about the interval before it. Option `-y` of sysstat leaves the first one out.

use super::Document;
use super::row::{Measured, Row};
use std::collections::BTreeSet;

/// Name of the setting.
const REPORT: &str = "report";

/// What the lines around the tables say of the reports that follow.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// iostat named the machine, and no report has begun since.
    called: bool,
    /// The report that is open is the first one of its call.
    is_first: bool,
    /// It was called with `-y`.
    without_first: bool,
}

impl Reports {
    /// Looks at a line that is in no table: `Linux 6.1.0 (web1) 11/21/26 _x86_64_
    /// (4 CPU)`, `$ iostat -xy 1`.
    pub(super) fn line(&mut self, text: &str) {
        let text = text.trim();
        if text.starts_with("Linux ") && text.ends_with(" CPU)") {
            self.called = true;
        } else if let Some((prompt, options)) = text.split_once("iostat ")
            && (prompt.is_empty() || prompt.trim_end().ends_with(['$', '#']))
        {
            let mut words = options.split_whitespace();
            let has_y = |word: &str| {
                let letters = word.strip_prefix('-');
                letters.is_some_and(|letters| !letters.starts_with('-') && letters.contains('y'))
            };
            self.without_first = words.any(has_y);
        }
    }

    /// The names of a table's columns, with which each report begins.
    pub(super) fn begins(&mut self) {
        self.is_first = std::mem::take(&mut self.called) && !self.without_first;
    }

    /// The setting of a row of the report that is open.
    pub(super) fn setting(&self) -> Option<(String, String)> {
        let value = if self.without_first {
            "interval"
        } else if self.is_first {
            "since boot"
        } else {
            return None;
        };
        Some((REPORT.to_owned(), value.to_owned()))
    }
}

fn device(row: &Row) -> Option<&str> {
    match &row.measured {
        Measured::IostatLinux(_, line) => Some(&line.device),
        Measured::IostatSolaris(_, line) => Some(&line.device),
        _ => None,
    }
}

/// Tells first reports apart where no line does: of a device that has several
/// under the same conditions, the first is of the time since boot.
pub(super) fn tell_apart(document: &mut Document) {
    let conditions = |row: &Row| {
        let mut settings = row.settings.clone();
        settings.remove(REPORT);
        (row.format, device(row).unwrap_or("").to_owned(), settings)
    };
    let mut seen = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    let mut told = BTreeSet::new();
    for row in document.rows.iter().filter(|row| device(row).is_some()) {
        let key = conditions(row);
        if row.settings.contains_key(REPORT) {
            told.insert(key.clone());
        }
        if !seen.insert(key.clone()) {
            repeated.insert(key);
        }
    }
    let mut line = None;
    for row in &mut document.rows {
        if device(row).is_none() {
            continue;
        }
        let key = conditions(row);
        if !repeated.contains(&key) {
            continue;
        }
        if seen.remove(&key) && !told.contains(&key) {
            line = line.or(Some(row.line));
            row.settings
                .insert(REPORT.to_owned(), "since boot".to_owned());
        } else {
            row.settings
                .entry(REPORT.to_owned())
                .or_insert_with(|| "interval".to_owned());
        }
    }
    if let Some(line) = line {
        document.note(
            line,
            "The first of several reports of a device was taken as that since boot, as iostat \
             prints it, and is kept apart from the intervals.",
        );
    }
}
