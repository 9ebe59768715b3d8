//! `/proc/vmstat`: what the memory of the whole system does.
//!
//! Source: kernel, `mm/vmstat.c`. Its unit here is the page.

use super::{ParseError, lines};

const FORMAT: &str = "vmstat";

/// What of it diskfacts uses, pages. The thresholds are in it since Linux 2.6.37.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirtyPageCounts {
    /// Waiting to be written back.
    pub dirty: u64,
    /// Being written back.
    pub writeback: u64,
    /// Became dirty since the system started.
    pub dirtied: u64,
    /// Written back since the system started.
    pub written: u64,
    /// Of `dirty` and `writeback` together: when writers wait.
    pub threshold: u64,
    /// When write-back begins.
    pub background_threshold: u64,
}

/// Reads `/proc/vmstat`; a last line that is cut off is left out, and what
/// follows the thresholds may be missing.
///
/// # Errors
/// When one of the fields is missing or no number.
pub fn parse_vmstat(bytes: &[u8]) -> Result<DirtyPageCounts, ParseError> {
    // The file ends with a line break; what has none is half a line.
    let whole = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(&[][..], |end| &bytes[..=end]);
    let mut counts = DirtyPageCounts::default();
    let mut found = 0_u8;
    let mut last = 0;
    for (index, line) in lines(whole) {
        last = index;
        let Some((name, value)) = line.split_once(' ') else {
            continue;
        };
        let (bit, field) = match name {
            "nr_dirty" => (1, &mut counts.dirty),
            "nr_writeback" => (2, &mut counts.writeback),
            "nr_dirtied" => (4, &mut counts.dirtied),
            "nr_written" => (8, &mut counts.written),
            "nr_dirty_threshold" => (16, &mut counts.threshold),
            "nr_dirty_background_threshold" => (32, &mut counts.background_threshold),
            _ => continue,
        };
        *field = value
            .trim()
            .parse()
            .map_err(|_| ParseError::at(FORMAT, index, "a number of pages", &line))?;
        found |= bit;
    }
    if found == 63 {
        Ok(counts)
    } else {
        Err(ParseError::at(
            FORMAT,
            last,
            "counts of dirty pages and their thresholds",
            "the end",
        ))
    }
}
