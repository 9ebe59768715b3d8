//! `/proc/pressure/{io,memory,cpu}`: stalls of tasks.
//!
//! Source: kernel, `Documentation/accounting/psi.rst`. Since Linux 4.20; `full`
//! of `cpu` since 5.13, and always 0 for the whole system.

use super::{ParseError, lines};

const FORMAT: &str = "pressure";

/// The totals of one file since the system started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PressureTotals {
    /// Microseconds during which some task waited.
    pub some_us: u64,
    /// Microseconds during which all tasks that were not idle waited.
    pub full_us: Option<u64>,
}

/// Reads `/proc/pressure/io` and its likes.
///
/// # Errors
/// When there is no line `some`, or a `total` that is no number.
pub fn parse_pressure(bytes: &[u8]) -> Result<PressureTotals, ParseError> {
    let mut some_us = None;
    let mut full_us = None;
    let mut last = 0;
    for (index, line) in lines(bytes) {
        last = index;
        let total = match line.split_ascii_whitespace().next() {
            Some("some") => &mut some_us,
            Some("full") => &mut full_us,
            _ => continue,
        };
        let value = line
            .split_ascii_whitespace()
            .find_map(|word| word.strip_prefix("total="))
            .and_then(|value| value.parse().ok())
            .ok_or_else(|| ParseError::at(FORMAT, index, "total=NUMBER", &line))?;
        *total = Some(value);
    }
    Ok(PressureTotals {
        some_us: some_us.ok_or_else(|| ParseError::at(FORMAT, last, "a line `some`", "the end"))?,
        full_us,
    })
}
