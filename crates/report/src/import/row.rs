//! A measured row of a document.

use super::fio;
use crate::formats::bonnie::{Latency, csv, text};
use crate::formats::{dd, hdparm, iostat_linux, iostat_solaris, readahead, stride, write_matrix};
use std::collections::BTreeMap;

/// Which format a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Strided blocks.
    Stride,
    /// GNU dd.
    Dd,
    /// hdparm.
    Hdparm,
    /// bonnie++, tables or CSV.
    Bonnie,
    /// The write benchmark of `@ronomon/direct-io`.
    WriteMatrix,
    /// iostat of Linux.
    IostatLinux,
    /// iostat of Solaris.
    IostatSolaris,
    /// fio's JSON.
    Fio,
    /// Figures of running text.
    Text,
    /// Trace and table of the kernel's read-ahead.
    Readahead,
}

impl Format {
    /// All of them, in the order of their runs.
    pub const ALL: [Self; 10] = [
        Self::Stride,
        Self::Dd,
        Self::Hdparm,
        Self::Bonnie,
        Self::WriteMatrix,
        Self::IostatLinux,
        Self::IostatSolaris,
        Self::Fio,
        Self::Text,
        Self::Readahead,
    ];

    /// Its word: lower-case letters, digits and `-`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stride => "stride",
            Self::Dd => "dd",
            Self::Hdparm => "hdparm",
            Self::Bonnie => "bonnie",
            Self::WriteMatrix => "write-matrix",
            Self::IostatLinux => "iostat-linux",
            Self::IostatSolaris => "iostat-solaris",
            Self::Fio => "fio",
            Self::Text => "text",
            Self::Readahead => "readahead",
        }
    }

    /// What it is, for people.
    pub fn about(self) -> &'static str {
        match self {
            Self::Stride => "strided blocks",
            Self::Dd => "GNU dd",
            Self::Hdparm => "hdparm",
            Self::Bonnie => "bonnie++ (tables and CSV)",
            Self::WriteMatrix => "the write benchmark of @ronomon/direct-io",
            Self::IostatLinux => "iostat of Linux",
            Self::IostatSolaris => "iostat of Solaris",
            Self::Fio => "fio (--output-format=json)",
            Self::Text => "figures in running text",
            Self::Readahead => "read-ahead trace and table",
        }
    }
}

/// What a row says, in the units of its format.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// A strided line.
    Strided(stride::Row),
    /// The last line of dd.
    Summary(dd::Summary),
    /// One of several runs of dd.
    Repeat(dd::Repeat),
    /// A line of hdparm.
    Hdparm(hdparm::Row),
    /// A line of bonnie++'s table of the file, and the latencies below it.
    BonnieIo(text::Io, Option<[Option<Latency>; 6]>),
    /// A line of bonnie++'s table of files, and the latencies below it.
    BonnieFiles(text::Files, Option<[Option<Latency>; 6]>),
    /// A line of bonnie++'s CSV.
    BonnieCsv(Box<csv::Row>),
    /// A line of the write benchmark.
    WriteMatrix(write_matrix::Row),
    /// A device in Linux's iostat.
    IostatLinux(iostat_linux::Columns, iostat_linux::Row),
    /// A device in Solaris' iostat.
    IostatSolaris(iostat_solaris::Unit, iostat_solaris::Row),
    /// One direction of a job of fio.
    Fio(Box<fio::Part>),
    /// A line of the read-ahead trace.
    Trace(readahead::Trace),
    /// A line of the read-ahead table.
    Statistics(readahead::Statistics),
    /// A rate named in running text, in 10^6 bytes per second as printed; `None`
    /// where the text has words in its place.
    Claim(Option<f64>),
    /// A number with its unit (`MB/s`, `%`, `ms`) quoted in running text.
    Quoted(f64, String),
}

/// A measured row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of its line, from 1.
    pub line: u64,
    /// Its format.
    pub format: Format,
    /// The conditions that the document names for it, by name.
    pub settings: BTreeMap<String, String>,
    /// What it says.
    pub measured: Measured,
    /// The line as it stands, or what of it is this row.
    pub text: String,
}

impl Row {
    /// Whether it is of a device and not of a program: iostat's.
    pub(crate) fn is_of_device(&self) -> bool {
        matches!(
            self.measured,
            Measured::IostatLinux(..) | Measured::IostatSolaris(..)
        )
    }
}
