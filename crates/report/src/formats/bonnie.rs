//! The results of bonnie++, as its tables ([`text`]) and as its CSV ([`csv`]).
//!
//! Rates of the file are KiB per second, those of seeks and files are
//! operations per second; %CP is processor time over time, percent. A test
//! that took less than half a second is printed as `+++++`, one that was not
//! made as blanks.

pub mod csv;
pub mod text;

use super::scan::{NotUnderstood, Scan};
use std::fmt;

/// The tests of the file, in the order of the columns.
pub const IO_TESTS: [&str; 6] = ["putc", "put-block", "rewrite", "getc", "get-block", "seeks"];

/// The tests of files, in the order of the columns.
pub const FILE_TESTS: [&str; 6] = [
    "seq-create",
    "seq-stat",
    "seq-delete",
    "ran-create",
    "ran-stat",
    "ran-delete",
];

/// The place of the seeks in [`IO_TESTS`].
pub const SEEKS: usize = 5;

/// A number of a table.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Cell {
    /// The test was not made.
    #[default]
    NotMeasured,
    /// It took too short a time to be told.
    TooShort,
    /// It was measured.
    Measured(f64),
}

impl Cell {
    /// The number, if it was measured.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Measured(value) => Some(value),
            Self::NotMeasured | Self::TooShort => None,
        }
    }
}

/// What a test gave: its rate and %CP.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rate {
    /// KiB per second, or operations per second.
    pub rate: Cell,
    /// Processor time over time, percent.
    pub cpu_percent: Cell,
}

impl Rate {
    /// A test that was measured.
    pub fn measured(rate: f64, cpu_percent: f64) -> Self {
        Self {
            rate: Cell::Measured(rate),
            cpu_percent: Cell::Measured(cpu_percent),
        }
    }
}

/// The longest latency of a test, in the unit that it is printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// In the unit.
    pub value: u64,
    /// Nanoseconds of the unit.
    pub unit: LatencyUnit,
}

/// Unit of a [`Latency`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyUnit {
    /// `us`
    Microseconds,
    /// `ms`, above 99999 us.
    Milliseconds,
    /// `s`, above 99999 ms.
    Seconds,
}

impl LatencyUnit {
    /// Nanoseconds.
    pub fn ns(self) -> u64 {
        match self {
            Self::Microseconds => 1_000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
        }
    }
}

impl Latency {
    /// As bonnie++ 2.00 prints so many nanoseconds: cut, not rounded.
    pub fn of_ns(ns: u64) -> Self {
        let unit = if ns > 99_999_999_000 {
            LatencyUnit::Seconds
        } else if ns > 99_999_000 {
            LatencyUnit::Milliseconds
        } else {
            LatencyUnit::Microseconds
        };
        Self {
            value: ns / unit.ns(),
            unit,
        }
    }

    /// Nanoseconds; more than 584 years are `u64::MAX`.
    pub fn ns(self) -> u64 {
        self.value.saturating_mul(self.unit.ns())
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", self.value, self.unit.name()))
    }
}

fn latency(token: &str) -> Result<Latency, NotUnderstood> {
    let mut scan = Scan::new(token);
    let value = scan.integer("a latency")?;
    let unit = [
        LatencyUnit::Microseconds,
        LatencyUnit::Milliseconds,
        LatencyUnit::Seconds,
    ];
    let unit = unit.into_iter().find(|unit| scan.maybe(unit.name()));
    let unit = unit.ok_or_else(|| scan.expected("us, ms or s"))?;
    scan.end()?;
    Ok(Latency { value, unit })
}

/// Three pluses or more, as tables and CSV have it.
fn is_too_short(token: &str) -> bool {
    token.len() >= 3 && token.bytes().all(|b| b == b'+')
}
