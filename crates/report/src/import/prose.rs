//! Figures that running text names in a form that can be relied on.

use super::Document;
use super::conditions::Conditions;
use super::row::{Format, Measured, Row};
use crate::formats::hdparm;
use std::collections::BTreeMap;

/// `The 8*4Tbytes are in a RAID 6  and get 532 MB/sec`, in a text that speaks of
/// `hdparm -t`.
pub(super) fn hdparm_sentence(line: u64, text: &str, conditions: &Conditions) -> Option<Row> {
    let (before, rate) = text
        .trim()
        .strip_suffix(" MB/sec")?
        .rsplit_once(" and get ")?;
    let rate: f64 = rate.trim().parse().ok()?;
    if !conditions.hdparm || !rate.is_finite() || rate < 0.0 {
        return None;
    }
    let (volume, layout) = before.split_once(" are in a ").unwrap_or((before, ""));
    let mut settings = BTreeMap::from([("volume".to_owned(), volume.trim().to_owned())]);
    if !layout.is_empty() {
        settings.insert("layout".to_owned(), layout.trim().to_owned());
    }
    // The sentence has no bytes and no seconds: those of the row are not there.
    Some(Row {
        line,
        format: Format::Hdparm,
        settings,
        text: text.trim().to_owned(),
        measured: Measured::Hdparm(hdparm::Row {
            timed: hdparm::Timed::Disk,
            direct: false,
            offset_gib: None,
            mib: 0,
            seconds: 0.0,
            rate,
            unit: hdparm::Unit::Mb,
        }),
    })
}

/// `single dd writes on raw device bs=16k: 160MB/s (drive write-cache enabled)`,
/// and a line below it with another figure of the same: `1.3MB/s (...)`.
pub(super) fn claims(
    line: u64,
    text: &str,
    conditions: &Conditions,
    last: &mut Option<BTreeMap<String, String>>,
    document: &mut Document,
) -> bool {
    let text = text.trim();
    let (settings, said) = if let Some((what, said)) = text.split_once(": ")
        && let Some((operation, on)) = what.split_once(" on ")
        && operation.contains("dd ")
        && on.contains(" device")
    {
        let mut settings = BTreeMap::new();
        let path = on.split_whitespace().next().unwrap_or("");
        settings.insert("path".to_owned(), path.to_owned());
        let direction = if operation.contains("write") {
            "write"
        } else {
            "read"
        };
        settings.insert("operation".to_owned(), direction.to_owned());
        for (name, value) in super::command::Command::find(on).pairs() {
            settings.insert(name.to_owned(), value.to_owned());
        }
        if !conditions.heading.is_empty() {
            let on = last_sentence(&conditions.heading);
            settings.insert("on".to_owned(), on.to_owned());
        }
        (settings, said)
    } else if let Some(settings) = last.clone()
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains("MB/s")
    {
        (settings, text)
    } else {
        *last = None;
        return false;
    };
    let mut found = false;
    for (at, value) in rates(said) {
        found = true;
        let mut settings = settings.clone();
        if let Some(condition) = condition(said, at) {
            settings.insert("with".to_owned(), condition);
        }
        document.row(row(line, said, settings, Measured::Claim(Some(value))));
    }
    if !found {
        let note = format!(
            "There are words in the place of a figure here: '{}'.",
            super::quoted(said)
        );
        document.note(line, note);
        document.row(row(line, said, settings.clone(), Measured::Claim(None)));
    }
    *last = Some(settings);
    true
}

/// What stands behind the last full stop; that of a number is none.
fn last_sentence(text: &str) -> &str {
    let stop = text.match_indices('.').rev().find(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_some_and(char::is_alphabetic)
    });
    let behind = stop.map_or(text, |(at, _)| text[at + 1..].trim());
    if behind.is_empty() { text } else { behind }
}

fn row(line: u64, said: &str, settings: BTreeMap<String, String>, measured: Measured) -> Row {
    Row {
        line,
        format: Format::Text,
        settings,
        measured,
        text: said.trim().to_owned(),
    }
}

/// What stands in the brackets that a figure stands before, or in; of the latter
/// only what stands before the figure.
fn condition(said: &str, at: usize) -> Option<String> {
    let open = said[..at]
        .rfind('(')
        .filter(|open| !said[*open..at].contains(')'));
    if let Some(open) = open {
        let inside = said[open + 1..at].trim();
        let inside = inside.strip_prefix("with ").unwrap_or(inside);
        return Some(inside.strip_suffix(" can get").unwrap_or(inside).to_owned());
    }
    let behind = said[at..].split_once('(')?.1;
    let inside = behind.split_once(')').map_or(behind, |(inside, _)| inside);
    // Brackets with a figure of their own belong to that.
    (rates(inside).is_empty() && !inside.is_empty()).then(|| inside.trim().to_owned())
}

/// Every `N MB/s` of a text, and where it begins.
fn rates(text: &str) -> Vec<(usize, f64)> {
    numbers(text)
        .into_iter()
        .filter(|number| number.unit == "MB/s" && !number.range)
        .map(|number| (number.at, number.value))
        .collect()
}

/// A number with a unit behind it.
struct Number {
    at: usize,
    value: f64,
    unit: &'static str,
    /// It is the end of a range, `50-100%`.
    range: bool,
}

fn numbers(text: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(offset) = text[rest..].find(|c: char| c.is_ascii_digit()) {
        let at = rest + offset;
        let end = text[at..]
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .map_or(text.len(), |length| at + length);
        rest = end;
        let digits = text[at..end].trim_end_matches('.');
        let behind = text[at + digits.len()..].trim_start_matches(' ');
        let unit = ["MB/s", "%", "ms"]
            .into_iter()
            .find(|u| behind.starts_with(u));
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let before = text[..at].chars().next_back();
        if let (Some(unit), Ok(value)) = (unit, digits.parse())
            && !behind[unit.len()..].starts_with(word)
            && !before.is_some_and(word)
        {
            found.push(Number {
                at,
                value,
                unit,
                range: before == Some('-'),
            });
        }
    }
    found
}

/// The figures of a point of a numbered list, `1. ... (48MB/s), even worse`.
pub(super) fn quoted_figures(line: u64, text: &str, document: &mut Document) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() == text.len() || !digits.starts_with(". ") {
        return false;
    }
    let numbers = numbers(text);
    let is_any = !numbers.is_empty();
    for number in numbers {
        if number.range {
            let note = format!(
                "A range that ends with {}{} is no figure, and was not read.",
                number.value, number.unit
            );
            document.note(line, note);
            continue;
        }
        let measured = Measured::Quoted(number.value, number.unit.to_owned());
        document.row(row(
            line,
            &around(text, number.at),
            BTreeMap::new(),
            measured,
        ));
    }
    is_any
}

/// Some words on either side, none of them cut; dots stand for those that are left
/// out.
fn around(text: &str, at: usize) -> String {
    const SIDE: usize = 60;
    let nth = |found: Option<(usize, char)>| found.map(|(i, _)| i);
    let start = nth(text[..at].char_indices().rev().nth(SIDE));
    let end = nth(text[at..].char_indices().nth(SIDE)).map(|i| at + i);
    // To the next gap between words on the inner side.
    let start = start.map(|start| {
        let gap = text[start..at].find(' ');
        gap.map_or(start, |gap| start + gap + 1)
    });
    let end = end.map(|end| text[at..end].rfind(' ').map_or(end, |gap| at + gap));
    let inside = text[start.unwrap_or(0)..end.unwrap_or(text.len())].trim();
    let dots = |is_cut: bool| if is_cut { "..." } else { "" };
    format!("{}{inside}{}", dots(start.is_some()), dots(end.is_some()))
}
