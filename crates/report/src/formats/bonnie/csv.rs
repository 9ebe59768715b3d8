//! The CSV of bonnie++: a line of 50 fields (format 1.98, as 2.00 prints it and
//! `bon_csv2html` reads it), of 48 (1.96 and 1.97), or of 27 (1.03).

use super::{Cell, Latency, NotUnderstood, Rate, SEEKS, Scan, is_too_short, latency};
use std::fmt;
use std::str::FromStr;

/// The format that is printed.
const FORMAT: &str = "1.98";
/// The version of bonnie++ that prints it.
const VERSION: &str = "2.00a";

/// What a line says of its run besides the figures. All of it is kept as it
/// stands; an absent field is empty. No field has a comma in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conditions {
    /// Version of the CSV, `1.98`; empty with 1.03, which had none.
    pub format_version: String,
    /// Version of bonnie++, `2.00a`.
    pub bonnie_version: String,
    /// Name of the machine.
    pub name: String,
    /// Copies of the tests at once.
    pub concurrency: String,
    /// Seed of the random numbers.
    pub seed: String,
    /// Size of the file, `64M`.
    pub file_size: String,
    /// Bytes of a block, where it is not the usual one.
    pub chunk_size: String,
    /// Number of seeks.
    pub seeks: String,
    /// Processes that seek.
    pub seekers: String,
    /// Files, in units of 1024.
    pub num_files: String,
    /// Largest of them, bytes.
    pub max_size: String,
    /// Smallest of them, bytes.
    pub min_size: String,
    /// Folders.
    pub num_dirs: String,
    /// Bytes of a block of these files.
    pub file_chunk_size: String,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// What it says besides.
    pub conditions: Conditions,
    /// The tests of the file, [`super::IO_TESTS`].
    pub io: [Rate; 6],
    /// The tests of files, [`super::FILE_TESTS`].
    pub files: [Rate; 6],
    /// The longest latency of each test, those of the file first.
    pub latencies: [Option<Latency>; 12],
}

impl Row {
    /// A line of today's format: its versions filled in.
    pub fn of_today() -> Self {
        Self {
            conditions: Conditions {
                format_version: FORMAT.to_owned(),
                bonnie_version: VERSION.to_owned(),
                ..Conditions::default()
            },
            ..Self::default()
        }
    }
}

/// `,RATE,CPU`; `seeks` have a decimal below 1000, all else none.
fn write_rate(f: &mut fmt::Formatter<'_>, rate: Rate, seeks: bool) -> fmt::Result {
    match rate.rate {
        Cell::NotMeasured => f.write_str(",")?,
        Cell::TooShort => f.write_str(",+++++")?,
        Cell::Measured(value) if seeks && value < 1000.0 => write!(f, ",{value:.1}")?,
        Cell::Measured(value) if seeks => write!(f, ",{value:.0}")?,
        Cell::Measured(value) => write!(f, ",{:.0}", value.trunc())?,
    }
    match rate.cpu_percent {
        Cell::NotMeasured => f.write_str(","),
        Cell::TooShort => f.write_str(",+++"),
        Cell::Measured(percent) => write!(f, ",{:.0}", percent.trunc()),
    }
}

impl fmt::Display for Row {
    /// In the format of 50 fields, whichever it was read from.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let c = &self.conditions;
        let head = [
            &c.format_version,
            &c.bonnie_version,
            &c.name,
            &c.concurrency,
            &c.seed,
            &c.file_size,
            &c.chunk_size,
            &c.seeks,
            &c.seekers,
        ];
        for (i, field) in head.into_iter().enumerate() {
            write!(f, "{}{field}", if i == 0 { "" } else { "," })?;
        }
        for (i, rate) in self.io.into_iter().enumerate() {
            write_rate(f, rate, i == SEEKS)?;
        }
        let files = [
            &c.num_files,
            &c.max_size,
            &c.min_size,
            &c.num_dirs,
            &c.file_chunk_size,
        ];
        files
            .into_iter()
            .try_for_each(|field| write!(f, ",{field}"))?;
        for rate in self.files {
            write_rate(f, rate, false)?;
        }
        self.latencies.iter().try_for_each(|latency| match latency {
            Some(latency) => write!(f, ",{latency}"),
            None => f.write_str(","),
        })
    }
}

fn cell(field: &str, what: &str) -> Result<Cell, NotUnderstood> {
    if field.is_empty() {
        return Ok(Cell::NotMeasured);
    }
    if is_too_short(field) {
        return Ok(Cell::TooShort);
    }
    let mut scan = Scan::new(field);
    let value = scan.number(what)?;
    scan.end()?;
    Ok(Cell::Measured(value))
}

/// The fields of a line, taken from left to right.
struct Fields<'a> {
    left: std::vec::IntoIter<&'a str>,
    /// Column at which the next one begins, from 1.
    column: usize,
}

impl<'a> Fields<'a> {
    fn next(&mut self) -> &'a str {
        let field = self.left.next().unwrap_or("");
        self.column += field.chars().count() + 1;
        field
    }

    fn text(&mut self) -> String {
        self.next().to_owned()
    }

    fn rates(&mut self) -> Result<[Rate; 6], NotUnderstood> {
        let mut rates = [Rate::default(); 6];
        for rate in &mut rates {
            rate.rate = self.cell("a rate")?;
            rate.cpu_percent = self.cell("%CP")?;
        }
        Ok(rates)
    }

    fn cell(&mut self, what: &str) -> Result<Cell, NotUnderstood> {
        let column = self.column;
        cell(self.next(), what).map_err(|error| shifted(error, column))
    }

    fn latencies(&mut self) -> Result<[Option<Latency>; 12], NotUnderstood> {
        let mut latencies = [None; 12];
        for slot in &mut latencies {
            let column = self.column;
            let field = self.next();
            if !field.is_empty() {
                let read = latency(field).map_err(|error| shifted(error, column))?;
                *slot = Some(read);
            }
        }
        Ok(latencies)
    }
}

fn shifted(error: NotUnderstood, column: usize) -> NotUnderstood {
    NotUnderstood {
        column: error.column + column - 1,
        ..error
    }
}

impl FromStr for Row {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let fields: Vec<&str> = line.trim_end().split(',').collect();
        let (count, first) = (fields.len(), fields[0]);
        let versioned = first.starts_with("1.9");
        let known = match count {
            48 | 50 => versioned,
            27 => !versioned,
            _ => false,
        };
        if !known {
            return Err(NotUnderstood {
                column: 1,
                expected: "50 fields of bonnie++ 2.00, 48 of 1.96 or 27 of 1.03".to_owned(),
                found: format!("{count} fields"),
            });
        }
        let mut fields = Fields {
            left: fields.into_iter(),
            column: 1,
        };
        let mut c = Conditions::default();
        if versioned {
            c.format_version = fields.text();
            c.bonnie_version = fields.text();
        }
        c.name = fields.text();
        if versioned {
            c.concurrency = fields.text();
            c.seed = fields.text();
        }
        c.file_size = fields.text();
        if versioned {
            c.chunk_size = fields.text();
        }
        if count == 50 {
            c.seeks = fields.text();
            c.seekers = fields.text();
        }
        let io = fields.rates()?;
        c.num_files = fields.text();
        if versioned {
            c.max_size = fields.text();
            c.min_size = fields.text();
            c.num_dirs = fields.text();
            c.file_chunk_size = fields.text();
        }
        let files = fields.rates()?;
        let latencies = if versioned {
            fields.latencies()?
        } else {
            [None; 12]
        };
        Ok(Self {
            conditions: c,
            io,
            files,
            latencies,
        })
    }
}
