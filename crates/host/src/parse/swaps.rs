//! `/proc/swaps`: what memory is swapped to.
//!
//! Source: kernel, `mm/swapfile.c`.

use super::mountinfo::unescape;
use super::{ParseError, lines};

/// One swap area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// The device or file.
    pub path: String,
    /// `partition` for any block device, `file` for a file.
    pub kind: String,
    /// Size, KiB.
    pub size_kib: u64,
}

/// Reads `/proc/swaps`, whose first line is a heading.
///
/// # Errors
/// When a line has fewer than three columns, or its size is no number.
pub fn parse_swaps(bytes: &[u8]) -> Result<Vec<Swap>, ParseError> {
    const FORMAT: &str = "swaps";
    lines(bytes)
        .filter(|(index, _)| *index > 0)
        .map(|(index, line)| {
            let wrong = || ParseError::at(FORMAT, index, "path, type and size", &line);
            let mut columns = line.split_ascii_whitespace();
            let path = unescape(columns.next().ok_or_else(wrong)?);
            let kind = columns.next().ok_or_else(wrong)?.to_owned();
            let size_kib = columns
                .next()
                .and_then(|size| size.parse().ok())
                .ok_or_else(wrong)?;
            Ok(Swap {
                path,
                kind,
                size_kib,
            })
        })
        .collect()
}
