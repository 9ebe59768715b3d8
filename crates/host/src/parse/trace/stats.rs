//! `per_cpu/cpuN/stats`: what became of the events of one processor.
//!
//! Source: kernel, `tracing_stats_read` in `kernel/trace/trace.c`.

use crate::parse::{ParseError, lines};

const FORMAT: &str = "per_cpu stats";

/// Counts since the buffer was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BufferStats {
    /// Events that are in the buffer.
    pub entries: u64,
    /// Events that were overwritten before anybody read them.
    pub overrun: u64,
    /// Events that were lost because they came while others were being written.
    pub commit_overrun: u64,
    /// Events that found the buffer full, when it does not overwrite; since Linux 3.7.
    pub dropped: u64,
    /// Events that were read; since Linux 3.7.
    pub read: u64,
}

impl BufferStats {
    /// Events that nobody will ever read.
    pub fn lost(&self) -> u64 {
        let lost = self.overrun.saturating_add(self.commit_overrun);
        lost.saturating_add(self.dropped)
    }
}

/// Reads `per_cpu/cpuN/stats`.
///
/// # Errors
/// When a count is no number, or one that every kernel has is missing.
pub fn parse_buffer_stats(bytes: &[u8]) -> Result<BufferStats, ParseError> {
    let mut stats = BufferStats::default();
    let (mut overrun, mut commit_overrun) = (false, false);
    let mut last = 0;
    for (index, line) in lines(bytes) {
        last = index;
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let count = match key {
            "entries" => &mut stats.entries,
            "overrun" => {
                overrun = true;
                &mut stats.overrun
            }
            "commit overrun" => {
                commit_overrun = true;
                &mut stats.commit_overrun
            }
            "dropped events" => &mut stats.dropped,
            "read events" => &mut stats.read,
            _ => continue,
        };
        let wrong = |_| ParseError::at(FORMAT, index, "a count", &line);
        *count = value.trim().parse().map_err(wrong)?;
    }
    if overrun && commit_overrun {
        Ok(stats)
    } else {
        let expected = "lines `overrun` and `commit overrun`";
        Err(ParseError::at(FORMAT, last, expected, "the end"))
    }
}
