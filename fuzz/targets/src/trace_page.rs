//! Pages of the ring buffer.

use diskfacts_host::parse::trace::format::{Field, Place};
use diskfacts_host::parse::trace::header_page::PageLayout;
use diskfacts_host::parse::trace::page::PageCursor;
use diskfacts_host::trace::{CpuPages, Event, Merge};

/// Events follow one another within the page, and all of them, in order, come out
/// of a merge of the page with itself, each twice.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    for commit_bytes in [8, 4] {
        let layout = layout(commit_bytes, input.len());
        let lengths = read(&layout, input);
        if input.len() > layout.data_offset {
            merged(layout, input, &lengths);
        }
    }
}

fn layout(commit_bytes: usize, page_bytes: usize) -> PageLayout {
    let field = |offset, size| Field {
        offset,
        size,
        signed: false,
        place: Place::Here,
    };
    PageLayout {
        timestamp: field(0, 8),
        commit: field(8, commit_bytes),
        data_offset: 8 + commit_bytes,
        page_bytes,
    }
}

/// Lengths of the events of a page.
fn read(layout: &PageLayout, page: &[u8]) -> Vec<usize> {
    let mut lengths = Vec::new();
    let Ok(mut cursor) = PageCursor::new(layout, page) else {
        return lengths;
    };
    let mut end = layout.data_offset;
    loop {
        match cursor.next_span(page) {
            Ok(Some((time_ns, span))) => {
                assert_eq!(time_ns, cursor.time_ns());
                assert!(span.start >= end + 4 && span.end <= page.len());
                end = span.end;
                lengths.push(span.len());
            }
            Ok(None) => break,
            Err(error) => {
                assert!(error.at <= page.len());
                break;
            }
        }
    }
    assert_eq!(cursor.next(page), Ok(None), "an end is an end");
    lengths
}

fn merged(layout: PageLayout, page: &[u8], lengths: &[usize]) {
    let twice = [0, 1].map(|cpu| {
        let mut pages = CpuPages::new(cpu, layout);
        let pushed = pages.push(|room| {
            room.copy_from_slice(page);
            Ok(room.len())
        });
        assert!(matches!(pushed, Ok(true)));
        pages
    });
    let mut merge = Merge::new(twice.into());
    let mut seen = [Vec::new(), Vec::new()];
    merge.finish(&mut |event: &Event<'_>| seen[event.cpu as usize].push(event.data.len()));
    assert_eq!(seen[0], lengths);
    assert_eq!(seen[1], lengths);
    assert_eq!(merge.events(), 2 * lengths.len() as u64);
}
