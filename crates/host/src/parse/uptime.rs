//! `/proc/uptime`: how long the system has been running.
//!
//! Source: kernel, `Documentation/filesystems/proc.rst` section 1.2,
//! `fs/proc/uptime.c`. The second number, idle time, is passed over.

use super::{ParseError, lines};

const FORMAT: &str = "uptime";

/// Reads `/proc/uptime`, in hundredths of a second, as the kernel prints it.
///
/// # Errors
/// When the first word is not seconds with two decimals.
pub fn parse_uptime(bytes: &[u8]) -> Result<u64, ParseError> {
    let (index, line) = lines(bytes)
        .next()
        .ok_or_else(|| ParseError::at(FORMAT, 0, "seconds since the system started", "the end"))?;
    let wrong = || ParseError::at(FORMAT, index, "seconds with two decimals", &line);
    let word = line.split_ascii_whitespace().next().ok_or_else(wrong)?;
    let (seconds, hundredths) = word.split_once('.').ok_or_else(wrong)?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if hundredths.len() != 2 || !is_number(hundredths) || !is_number(seconds) {
        return Err(wrong());
    }
    let seconds: u64 = seconds.parse().map_err(|_| wrong())?;
    let hundredths: u64 = hundredths.parse().map_err(|_| wrong())?;
    seconds
        .checked_mul(100)
        .and_then(|sum| sum.checked_add(hundredths))
        .ok_or_else(wrong)
}
