//! Which format a line is of.

use super::conditions::Conditions;
use super::row::{Format, Measured, Row};
use super::tables::Tables;
use super::{Document, arithmetic, prose, quoted};
use crate::formats::{dd, hdparm, readahead, stride, write_matrix};
use std::collections::BTreeMap;

/// A line and its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) line: u64,
    pub(super) text: &'a str,
}

/// Reads a row if the line has one; lines of names and titles are known too.
pub(super) fn row(
    at: At<'_>,
    document: &mut Document,
    conditions: &mut Conditions,
    tables: &mut Tables,
) -> bool {
    alone(at, document, conditions)
        || summary(at, document, conditions)
        || tables.line(at, conditions, document)
        || csv(at, conditions, document)
        || in_text(at, document, conditions)
}

fn push(
    at: At<'_>,
    format: Format,
    settings: BTreeMap<String, String>,
    measured: Measured,
    document: &mut Document,
) {
    document.row(Row {
        line: at.line,
        format,
        settings,
        measured,
        text: at.text.trim().to_owned(),
    });
}

/// A part of every line that [`alone`] knows: a document may have a gigabyte of
/// other lines, and looking for a word costs much less than reading a row.
const MARKS: [&str; 8] = [
    "seeks/sec",
    "offset0:",
    "B/s",
    "Timing",
    " | ",
    "readahead-",
    "records ",
    "MB/sec",
];

/// Lines that are a row by themselves.
fn alone(at: At<'_>, document: &mut Document, conditions: &mut Conditions) -> bool {
    if !MARKS.iter().any(|mark| at.text.contains(mark)) {
        return false;
    }
    if let Ok(row) = at.text.parse::<stride::Row>() {
        for wrong in arithmetic::disagreements(&row) {
            document.note(at.line, format!("The numbers disagree: {wrong}"));
        }
        let mut settings: BTreeMap<_, _> = conditions.of_heading().into_iter().collect();
        if let Some(header) = conditions.strided {
            for (name, value) in [
                ("offset0", header.offset0.to_string()),
                ("access", header.access.to_string()),
                ("fixed", header.fixed.to_string()),
                ("val", header.val.to_string()),
            ] {
                settings.insert(name.to_owned(), value);
            }
        }
        push(
            at,
            Format::Stride,
            settings,
            Measured::Strided(row),
            document,
        );
    } else if let Ok(header) = at.text.parse::<stride::Header>() {
        if header.offset0 > 1 {
            let text = format!(
                "offset0 is 0 or 1, whether each pass begins at block 0; it is not known what {} \
                 means.",
                header.offset0
            );
            document.note(at.line, text);
        }
        conditions.strided = Some(header);
    } else if let Ok(row) = at.text.parse::<dd::Repeat>() {
        let settings = conditions.of_dd(&conditions.command);
        push(at, Format::Dd, settings, Measured::Repeat(row), document);
    } else if let Ok(row) = at.text.parse::<hdparm::Row>() {
        let settings = conditions.of_hdparm();
        push(
            at,
            Format::Hdparm,
            settings,
            Measured::Hdparm(row),
            document,
        );
    } else if let Ok(row) = at.text.parse::<write_matrix::Row>() {
        let measured = Measured::WriteMatrix(row);
        let settings = conditions.of_heading().into_iter().collect();
        push(at, Format::WriteMatrix, settings, measured, document);
    } else if let Ok(row) = at.text.parse::<readahead::Trace>() {
        let measured = Measured::Trace(row);
        push(at, Format::Readahead, BTreeMap::new(), measured, document);
    } else {
        // dd's records are known and say nothing that its bytes do not.
        return at.text.parse::<dd::Records>().is_ok();
    }
    true
}

/// dd's last line, alone or behind its command.
fn summary(at: At<'_>, document: &mut Document, conditions: &mut Conditions) -> bool {
    let Some(found) = dd::Summary::find(at.text) else {
        return false;
    };
    let summary = match found.summary {
        Ok(summary) => summary,
        Err(why) => {
            let text = format!(
                "A line of dd was not understood, {why}: '{}'.",
                quoted(at.text)
            );
            document.note(at.line, text);
            return true;
        }
    };
    if let Some(wrong) = arithmetic::of_dd(&summary) {
        document.note(at.line, format!("The numbers disagree: {wrong}"));
    }
    let mut command = super::command::Command::find(found.before);
    let label = found.before.trim().strip_suffix(':');
    let label = label.filter(|_| command.is_empty() && named(found.before).is_none());
    if command.is_empty() && (found.before.trim().is_empty() || label.is_some()) {
        match conditions.command.bytes() {
            Some(bytes) if bytes != summary.bytes => {
                let text = format!(
                    "The command above would copy {bytes} bytes, and this line has {}: it was not \
                     read as a line of that command.",
                    summary.bytes
                );
                document.note(at.line, text);
            }
            _ => command = conditions.command.clone(),
        }
    }
    command.extend(super::command::Command::find(found.behind));
    let called_read = found.before.contains("read throughput");
    if called_read && command.target().is_some_and(|(_, writes)| writes) {
        let text = "The text calls this rate a read throughput, and the command beside it writes: \
                    it was read as a rate of writing.";
        document.note(at.line, text);
    }
    let mut settings = conditions.of_dd(&command);
    if command.target().is_none()
        && let Some(target) = named(found.before)
    {
        settings.insert("target".to_owned(), target.to_owned());
    }
    if let Some(label) = label {
        settings.insert("label".to_owned(), label.trim().to_owned());
    }
    if summary.mark == dd::DecimalMark::Comma {
        let text = "The decimals of this line stand behind a comma.";
        document.note(at.line, text);
    }
    push(
        at,
        Format::Dd,
        settings,
        Measured::Summary(summary),
        document,
    );
    true
}

/// The target in `dd /data/users (ie, ext4):`.
fn named(before: &str) -> Option<&str> {
    let mut words = before.split_whitespace();
    let is_dd = words.next() == Some("dd");
    words.next().filter(|word| is_dd && word.starts_with('/'))
}

fn csv(at: At<'_>, conditions: &Conditions, document: &mut Document) -> bool {
    // Before any work: most lines have no such number of commas.
    if !matches!(at.text.matches(',').count(), 26 | 47 | 49) {
        return false;
    }
    match at.text.trim().parse() {
        Ok(row) => {
            super::once::take_tables(at.line, &row, document);
            let measured = Measured::BonnieCsv(Box::new(row));
            let settings = conditions.of_heading().into_iter().collect();
            push(at, Format::Bonnie, settings, measured, document);
            true
        }
        Err(why) => {
            if at.text.starts_with("1.9") {
                let text = format!("A line of bonnie++'s CSV was not understood, {why}.");
                document.note(at.line, text);
                return true;
            }
            false
        }
    }
}

fn in_text(at: At<'_>, document: &mut Document, conditions: &mut Conditions) -> bool {
    if let Some(row) = prose::hdparm_sentence(at.line, at.text, conditions) {
        document.row(row);
        return true;
    }
    let mut last = conditions.claim.take();
    let claimed = prose::claims(at.line, at.text, conditions, &mut last, document);
    conditions.claim = last;
    claimed || prose::quoted_figures(at.line, at.text, document)
}

/// Words that make a line look like a measurement.
const UNITS: [&str; 12] = [
    "MB/s",
    "MB/sec",
    "MiB/s",
    "GB/s",
    "GiB/s",
    "kB/s",
    "KB/s",
    "KiB/s",
    "K/sec",
    "IOPS",
    "seeks/sec",
    "records in",
];

/// A note if a line that no format knows looks like a measurement.
pub(super) fn note_unknown(at: At<'_>, document: &mut Document) {
    let text = at.text;
    let number_before = |at: usize| {
        let before = text[..at].trim_end();
        before.ends_with(|c: char| c.is_ascii_digit())
    };
    let looks = UNITS
        .iter()
        .flat_map(|unit| text.match_indices(unit))
        .any(|(at, _)| number_before(at));
    if !looks {
        return;
    }
    let strided = ["read ", "write ", "modify "]
        .iter()
        .any(|op| text.contains(op));
    let why = match text.parse::<stride::Row>() {
        Err(why) if strided && text.contains("1/") => format!(" ({why})"),
        _ => String::new(),
    };
    document.note(
        at.line,
        format!(
            "This looks like a measurement and was not understood{why}: '{}'.",
            quoted(text)
        ),
    );
}
