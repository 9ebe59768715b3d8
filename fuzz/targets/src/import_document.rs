//! A document with results of other programs.

use diskfacts_report::import::read;
use diskfacts_report::import::runs::{self, Origin};

/// Every document is read, or is refused with a reason; each of its rows is in
/// exactly one run.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let document = match read(input) {
        Ok(document) => document,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(document.rows.iter().all(|row| row.line <= document.lines));
    let origin = Origin {
        file: "-".to_owned(),
        started: String::new(),
        tool_version: String::new(),
        command: Vec::new(),
    };
    let runs = runs::of(&document, &origin, String::new);
    let rows: u64 = runs
        .iter()
        .filter_map(|run| run.run.source.as_ref())
        .map(|source| source.rows)
        .sum();
    assert_eq!(rows, document.rows.len() as u64);
}
