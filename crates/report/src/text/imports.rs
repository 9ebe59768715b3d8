//! What was read from documents.

use super::findings::{headline, severity};
use super::look::{Look, Style};
use super::page::Page;
use super::run::{self, Closing};
use super::words::{count, percent};
use crate::import::runs::left_out;
use crate::import::{Format, Imported};
use diskfacts_record::run::{Reading, Source};

/// Where the texts of notes and findings begin.
const COLUMN: usize = 12;
/// Most notes of a file that are shown; `--json` has all.
const NOTES: usize = 20;
/// Most rows that are no trial that are shown.
const READINGS: usize = 40;

/// What `import` prints: for each file its rows by format, its notes, and the
/// runs that it became; then what to type next. `option` is what chose the
/// store, with a space before it.
pub fn imports(imported: &[Imported], option: &str, look: &Look) -> String {
    let mut page = Page::new(look);
    for (i, file) in imported.iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        let rows = count(file.document.rows.len() as u64, "measured row");
        let lines = count(file.document.lines, "line");
        let title = format!("{}:", file.file);
        let text = format!("{rows} in {lines}");
        page.titled(0, (Style::Heading, &title), 2, Style::Plain, &text);
        for (format, id) in &file.runs {
            let is_of = |row: &&crate::import::Row| row.format == *format;
            let rows = file.document.rows.iter().filter(is_of).count();
            let text = format!("{rows:>7}  {}, stored as {id}", format.about());
            page.labelled(2, (Style::Plain, format.name()), 15, Style::Plain, &text);
        }
        for note in file.document.notes.iter().take(NOTES) {
            let label = format!("line {}:", note.line);
            page.labelled(2, (Style::Minor, &label), COLUMN, Style::Plain, &note.text);
        }
        let shown = file.document.notes.len().min(NOTES) as u64;
        let all = file.document.notes.len() as u64;
        if all > shown {
            let text = format!("{} more; --json lists them.", count(all - shown, "note"));
            page.paragraph(2, Style::Minor, &text);
        }
        for text in left_out(&file.document) {
            page.paragraph(2, Style::Bad, &text);
        }
        for finding in &file.findings {
            let (style, severity) = severity(finding.severity);
            let room = look.columns().saturating_sub(COLUMN);
            let said = headline(finding, room);
            let label = severity.to_lowercase();
            page.labelled(2, (style, &label), COLUMN, Style::Plain, &said);
        }
    }
    let runs = imported.iter().flat_map(|file| &file.runs);
    let mut closing = Closing::default();
    if let Some((_, id)) = runs.clone().next() {
        let command = format!("diskfacts show {id}{option}");
        closing.next.push((command, "its figures".to_owned()));
        if runs.count() > 1 {
            let command = format!("diskfacts runs{option}");
            closing.next.push((command, "all of them".to_owned()));
        }
    }
    run::close(&mut page, &closing);
    page.finish()
}

/// The formats that are known, for a message: each with its name.
pub fn formats() -> String {
    let names = Format::ALL.map(|format| format.about().to_owned());
    super::list(&names)
}

/// The rows of an imported run that are no trial.
pub(crate) fn readings(page: &mut Page<'_>, source: &Source) {
    if source.readings.is_empty() {
        return;
    }
    page.heading(heading_of_readings(source));
    for (line, text) in told_readings(source).take(READINGS) {
        let label = format!("line {line}:");
        page.labelled(2, (Style::Minor, &label), COLUMN, Style::Plain, &text);
    }
    let left = source.readings.len().saturating_sub(READINGS) as u64;
    if left > 0 {
        let text = format!("{} more; show --json has them.", count(left, "row"));
        page.paragraph(2, Style::Minor, &text);
    }
}

fn is_of_devices(source: &Source) -> bool {
    source.format.starts_with("iostat")
}

/// What the rows that are no trial are about.
pub(crate) fn heading_of_readings(source: &Source) -> &'static str {
    if is_of_devices(source) {
        "What the devices did, by the document"
    } else {
        "What else the document says, as it stands there"
    }
}

/// The rows that are no trial, each with the number of its line.
pub(crate) fn told_readings(source: &Source) -> impl Iterator<Item = (u64, String)> {
    source.readings.iter().map(|reading| {
        let text = if is_of_devices(source) {
            requests(reading)
        } else {
            reading.text.clone()
        };
        (reading.line, text)
    })
}

/// `requests of 503.2 KiB, 1325.40 ms each, queue depth 140.86, busy 100 %`; what
/// the row has no column for is not said.
fn requests(reading: &Reading) -> String {
    let value = |name: &str| reading.values.get(name).copied();
    let parts = [
        value("request_bytes").map(|bytes| format!("requests of {:.1} KiB", bytes / 1024.0)),
        value("wait_ms").map(|wait| format!("{wait:.2} ms each")),
        value("queue_depth").map(|depth| format!("queue depth {depth:.2}")),
        value("busy").map(|busy| format!("busy {}", percent(busy))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return reading.text.clone();
    }
    parts.join(", ")
}
