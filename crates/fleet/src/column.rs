//! A column of a fleet's files, and what stands in a cell of it.

use crate::rows::{OfRun, OfTrial};
use parquet::data_type::ByteArray;

/// A column: its name, what it holds, and how that is found in a run.
pub struct Column {
    /// Its name in the files.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether every row has a value; else it is NULL where it is not known.
    pub required: bool,
    /// Where its cells come from.
    pub(crate) of: Of,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, UTF-8 (`BYTE_ARRAY`, `STRING`).
    Text,
    /// A whole number (`INT64`).
    Integer,
    /// A moment, microseconds since 1970, UTC (`INT64`, `TIMESTAMP`).
    Moment,
    /// A number (`DOUBLE`).
    Number,
    /// Bytes (`BYTE_ARRAY`).
    Bytes,
}

impl Kind {
    /// As a schema of Parquet is written: the physical type, and what the logical one adds to it.
    pub(crate) fn in_schema(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("BYTE_ARRAY", " (STRING)"),
            Self::Integer => ("INT64", ""),
            Self::Moment => ("INT64", " (TIMESTAMP(MICROS, true))"),
            Self::Number => ("DOUBLE", ""),
            Self::Bytes => ("BYTE_ARRAY", ""),
        }
    }

    /// The word of the documentation.
    pub fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Moment => "timestamp",
            Self::Number => "double",
            Self::Bytes => "bytes",
        }
    }
}

/// Where the cells of a column come from. What is the same in all trials of a run is found once.
pub(crate) enum Of {
    Run(fn(&OfRun<'_>) -> Cell),
    Trial(fn(&OfTrial<'_>) -> Cell),
}

/// What stands in a column of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// It is not known.
    Null,
    Bytes(ByteArray),
    Integer(i64),
    Number(f64),
}

impl Cell {
    /// Bytes as they stand in a file.
    pub(crate) fn bytes(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec().into())
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::bytes(text.as_bytes())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Bytes(text.into_bytes().into())
    }
}

impl From<u64> for Cell {
    /// Counts of more than 2^63 - 1 are none that anybody counted.
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Null, Self::Integer)
    }
}

impl From<f64> for Cell {
    /// What is no number is not known.
    fn from(number: f64) -> Self {
        if number.is_finite() {
            Self::Number(number)
        } else {
            Self::Null
        }
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
