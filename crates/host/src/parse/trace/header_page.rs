//! `events/header_page`: how a page of the ring buffer begins.
//!
//! Source: kernel, `ring_buffer_print_page_header` in `kernel/trace/ring_buffer.c`.

use super::format::{Field, parse_field};
use crate::parse::{ParseError, lines};

const FORMAT: &str = "header_page";

/// Longest page that is believed: the kernel refuses sub-buffers of more than
/// 2^7 pages (`RB_SUBBUF_SIZE` and `subbuf_order` in `kernel/trace/ring_buffer.c`), and pages
/// have 64 KiB at most.
const PAGE_BYTES_MAX: usize = 8 << 20;

/// Where things lie in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLayout {
    /// Time of the first event, nanoseconds or ticks of the clock of the buffer.
    pub timestamp: Field,
    /// Bytes of events, and flags.
    pub commit: Field,
    /// Where the events begin.
    pub data_offset: usize,
    /// Length of the whole page, bytes.
    pub page_bytes: usize,
}

/// Reads `events/header_page`.
///
/// # Errors
/// When one of its three fields is missing, or they do not fit into one another.
pub fn parse_header_page(bytes: &[u8]) -> Result<PageLayout, ParseError> {
    let (mut timestamp, mut commit, mut data) = (None, None, None);
    let mut last = 0;
    for (index, line) in lines(bytes) {
        last = index;
        let Some(text) = line.trim_start().strip_prefix("field:") else {
            continue;
        };
        let wrong = || {
            let expected = "field: TYPE NAME; offset:N; size:N; signed:0";
            ParseError::at(FORMAT, index, expected, &line)
        };
        let field = parse_field(text).ok_or_else(wrong)?;
        match &*field.name {
            "timestamp" => timestamp = Some(field.field),
            "commit" => commit = Some(field.field),
            "data" => data = Some(field.field),
            _ => {}
        }
    }
    let missing = |what| ParseError::at(FORMAT, last, what, "the end");
    let timestamp = timestamp.ok_or_else(|| missing("a field `timestamp`"))?;
    let commit = commit.ok_or_else(|| missing("a field `commit`"))?;
    let data: Field = data.ok_or_else(|| missing("a field `data`"))?;
    let page_bytes = data.offset.saturating_add(data.size);
    let before_data = |field: Field| {
        [4, 8].contains(&field.size) && field.offset.saturating_add(field.size) <= data.offset
    };
    if timestamp.size != 8
        || !before_data(timestamp)
        || !before_data(commit)
        || page_bytes > PAGE_BYTES_MAX
        || data.size == 0
    {
        return Err(ParseError::at(
            FORMAT,
            last,
            "fields that fit into a page of 8 MiB at most",
            &format!("{timestamp:?} {commit:?} {data:?}"),
        ));
    }
    Ok(PageLayout {
        timestamp,
        commit,
        data_offset: data.offset,
        page_bytes,
    })
}
