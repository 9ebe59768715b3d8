//! Series of runs of dd, `a) 102 MB/s`, `b) 98 MB/s`: where the letters begin anew,
//! so does a series, also where the document has no words for what changed.

use super::Document;
use super::row::Measured;
use std::collections::BTreeMap;

/// Name of the setting.
const SERIES: &str = "series";

/// Gives each further series under the same conditions its number, from 2.
pub(super) fn tell_apart(document: &mut Document) {
    let mut seen: BTreeMap<BTreeMap<String, String>, (char, u32)> = BTreeMap::new();
    for row in &mut document.rows {
        let Measured::Repeat(repeat) = &row.measured else {
            continue;
        };
        let before = seen.get(&row.settings).copied();
        let number = match before {
            Some((last, number)) if repeat.label <= last => number + 1,
            Some((_, number)) => number,
            None => 1,
        };
        seen.insert(row.settings.clone(), (repeat.label, number));
        if number > 1 {
            row.settings.insert(SERIES.to_owned(), number.to_string());
        }
    }
}
