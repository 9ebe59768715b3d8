//! The lines of the write benchmark of `@ronomon/direct-io` 3.0.1:
//!
//! ```text
//! 4096 | /dev/sda | AMORTIZED_FDATASYNC + O_DIRECT | 57.92 MB/s
//! ```
//!
//! Block size in bytes, target, mode, throughput with two decimals. Its MB are
//! 2^20 bytes.

use super::scan::{NotUnderstood, Scan};
use diskfacts_plan::WriteMode;
use std::fmt;
use std::str::FromStr;

/// What a MB is, bytes.
pub const MB: u64 = 1 << 20;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Bytes of a write, at least 1.
    pub block_size: u64,
    /// What was written to; without ` | ` in it.
    pub target: String,
    /// How.
    pub mode: WriteMode,
    /// MiB per second, two decimals.
    pub mib_per_s: f64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} | {} | {} | {:.2} MB/s",
            self.block_size, self.target, self.mode, self.mib_per_s
        )
    }
}

impl FromStr for Row {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        let before = scan;
        let block_size = scan.integer("the bytes of a block")?;
        if block_size == 0 {
            return Err(before.expected("the bytes of a block, at least 1"));
        }
        scan.text(" | ")?;
        let rest = scan.rest();
        let Some((target, _)) = rest.split_once(" | ").filter(|(t, _)| !t.is_empty()) else {
            return Err(scan.expected("a target and ' | '"));
        };
        scan.skip(target.len());
        scan.text(" | ")?;
        let (name, _) = scan.rest().split_once(" | ").unwrap_or((scan.rest(), ""));
        let Some(mode) = WriteMode::all().find(|mode| mode.to_string() == name) else {
            return Err(scan.expected("a mode such as 'FDATASYNC + O_DIRECT'"));
        };
        scan.skip(name.len());
        scan.text(" | ")?;
        let mib_per_s = scan.number("a rate")?;
        scan.word("MB/s")?;
        scan.end()?;
        Ok(Self {
            block_size,
            target: target.to_owned(),
            mode,
            mib_per_s,
        })
    }
}
