//! Headings tell rows apart. One that stands above all rows of a format tells
//! none apart and would only lengthen their names, so it becomes a note: the
//! documents of before and after a change have the same settings then, and can be
//! compared.

use super::{Document, Format, quoted};

/// Name of the setting.
const HEADING: &str = "heading";

/// Makes a note of each heading that all rows of a format share.
pub(super) fn note(document: &mut Document) {
    for format in Format::ALL {
        let of_format = |row: &&super::Row| row.format == format;
        let mut rows = document.rows.iter().filter(of_format);
        let Some(first) = rows.next() else {
            continue;
        };
        let Some(heading) = first.settings.get(HEADING).cloned() else {
            continue;
        };
        if !rows.all(|row| row.settings.get(HEADING) == Some(&heading)) {
            continue;
        }
        let line = first.line;
        for row in &mut document.rows {
            if row.format == format {
                row.settings.remove(HEADING);
            }
        }
        document.note(
            line,
            format!("Above these rows stands '{}'.", quoted(&heading)),
        );
    }
}
