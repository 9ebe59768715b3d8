//! Memory of a control group: `memory.max`, `memory.high` and `memory.current` of
//! version 2, `memory.limit_in_bytes` and `memory.usage_in_bytes` of version 1.
//!
//! Source: kernel, `Documentation/admin-guide/cgroup-v2.rst` and
//! `cgroup-v1/memory.rst`; `mm/page_counter.c`, `include/linux/page_counter.h`.

use super::{ParseError, lines};

const FORMAT: &str = "memory of a control group";

/// From here on a limit of version 1 is none: it prints the largest number of pages
/// that it can count (`PAGE_COUNTER_MAX`), in bytes and rounded down to a page.
const UNLIMITED: u64 = (1 << 63) - (1 << 20);

/// Reads a limit in bytes: a number or `max`. `None` is no limit.
///
/// # Errors
/// When it is neither, or more than one line.
pub fn parse_memory_limit(bytes: &[u8]) -> Result<Option<u64>, ParseError> {
    let (index, line) = only(bytes)?;
    if line == "max" {
        return Ok(None);
    }
    let limit = line.parse::<u64>();
    let limit = limit.map_err(|_| ParseError::at(FORMAT, index, "a number of bytes", &line))?;
    Ok((limit < UNLIMITED).then_some(limit))
}

/// Reads what is used, in bytes.
///
/// # Errors
/// When it is no number, or more than one line.
pub fn parse_memory_usage(bytes: &[u8]) -> Result<u64, ParseError> {
    let (index, line) = only(bytes)?;
    line.parse()
        .map_err(|_| ParseError::at(FORMAT, index, "a number of bytes", &line))
}

fn only(bytes: &[u8]) -> Result<(usize, String), ParseError> {
    let mut lines = lines(bytes);
    let first = lines.next();
    match (first, lines.next()) {
        (Some(line), None) => Ok(line),
        (None, _) => Err(ParseError::at(FORMAT, 0, "a number of bytes", "the end")),
        (Some(_), Some((index, line))) => Err(ParseError::at(FORMAT, index, "the end", &line)),
    }
}
