//! `/proc/meminfo`.
//!
//! Source: kernel, `Documentation/filesystems/proc.rst`. Its `kB` are KiB.

use super::{ParseError, lines};

/// What of it diskfacts uses, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Meminfo {
    /// Memory that the kernel manages.
    pub total_bytes: u64,
    /// What new programs could get without swapping; since Linux 3.14.
    pub available_bytes: Option<u64>,
    /// Page cache waiting to be written back.
    pub dirty_bytes: Option<u64>,
    /// Page cache being written back now.
    pub writeback_bytes: Option<u64>,
}

/// Reads `/proc/meminfo`.
///
/// # Errors
/// When `MemTotal` is missing, or one of the fields used is no number.
pub fn parse_meminfo(bytes: &[u8]) -> Result<Meminfo, ParseError> {
    const FORMAT: &str = "meminfo";
    let mut total = None;
    let mut available = None;
    let mut dirty = None;
    let mut writeback = None;
    for (index, line) in lines(bytes) {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let field = match key {
            "MemTotal" => &mut total,
            "MemAvailable" => &mut available,
            "Dirty" => &mut dirty,
            "Writeback" => &mut writeback,
            _ => continue,
        };
        let kib = value
            .trim()
            .trim_end_matches("kB")
            .trim_end()
            .parse::<u64>()
            .map_err(|_| ParseError::at(FORMAT, index, "a number of kB", &line))?;
        *field = Some(kib.saturating_mul(1024));
    }
    Ok(Meminfo {
        total_bytes: total.ok_or_else(|| ParseError::at(FORMAT, 0, "MemTotal", "the end"))?,
        available_bytes: available,
        dirty_bytes: dirty,
        writeback_bytes: writeback,
    })
}
