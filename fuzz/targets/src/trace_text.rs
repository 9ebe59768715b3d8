//! Events of read-ahead as the kernel prints them, and the table that they give.

use crate::refusal;
use diskfacts_host::parse::trace::text::parse_trace_text;
use diskfacts_host::read_ahead::Watch;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Any text has events, or a line where it stops to be one; and whatever the events
/// are and in whatever order, every decision and every page is counted once.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let text = match parse_trace_text(input, PAGE) {
        Ok(text) => text,
        Err(error) => return refusal::points_into(input, &error),
    };
    let mut watch = Watch::new(PAGE).keeping_decisions();
    for text in &text.events {
        watch.take(&text.event);
    }
    let table = watch.end();
    let decided: u64 = table.rows.iter().map(|row| row.counts.count).sum();
    assert_eq!(decided + table.undecided, table.all.count);
    assert_eq!(watch.take_decisions().len() as u64, table.all.count);
    let pages = table.pages;
    assert_eq!(pages.added, pages.used + pages.unused());
    assert!(pages.mapped_only <= pages.used);
    assert!(table.broken + table.scattered + table.late <= table.all.count);
}
