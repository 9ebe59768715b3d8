//! `events/header_page`.

use crate::refusal;
use diskfacts_host::parse::trace::header_page::parse_header_page;
use diskfacts_host::parse::trace::page::PageCursor;

/// What is accepted can be read from a page of zeros of its length, which has no
/// events.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_header_page(input) {
        Ok(layout) => {
            let page = vec![0; layout.page_bytes];
            let mut cursor = PageCursor::new(&layout, &page).expect("a page without events");
            assert_eq!(cursor.next(&page), Ok(None));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
