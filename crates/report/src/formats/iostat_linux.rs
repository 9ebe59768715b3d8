//! Device lines of Linux's `iostat -x` (sysstat):
//!
//! ```text
//! Device: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await svctm %util
//! sda 0.00 14098.00 0.00 115.00 0.00 57868.00 1006.40 140.86 1325.40 0.00 1325.40 8.70 100.00
//! ```
//!
//! The columns changed over the years (sysstat 9, 11.6, 12.1), so a row is read
//! under its line of names, and a value is asked for by its name. kB are 2^10
//! bytes, MB 2^20, sectors (`rsec/s`, `avgrq-sz`) 512; `areq-sz` is in kB; times
//! are milliseconds.
//!
//! Printed with [`Display`](fmt::Display) are two decimals and one space, as a page
//! of text keeps of sysstat's columns. The tables of columns that sysstat itself
//! prints ([`Columns::extended`], [`Columns::basic`], [`Columns::old`]) know the
//! width of each too, and print rows to the character with [`Columns::aligned`]
//! (sysstat 12.7 and 11.0: `iostat.c`, `write_disk_stat_header`,
//! `write_plain_ext_stat`, `write_plain_basic_stat`, `write_ext_stat`).

use super::scan::{NotUnderstood, Scan};
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// A column as sysstat prints it: its name, its width behind a space, and its
/// decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    name: &'static str,
    width: usize,
    decimals: usize,
}

const fn cell(name: &'static str, width: usize, decimals: usize) -> Cell {
    Cell {
        name,
        width,
        decimals,
    }
}

/// `iostat -x` since sysstat 12.1.
const EXTENDED: [Cell; 22] = [
    cell("r/s", 7, 2),
    cell("rkB/s", 9, 2),
    cell("rrqm/s", 8, 2),
    cell("%rrqm", 6, 2),
    cell("r_await", 7, 2),
    cell("rareq-sz", 8, 2),
    cell("w/s", 7, 2),
    cell("wkB/s", 9, 2),
    cell("wrqm/s", 8, 2),
    cell("%wrqm", 6, 2),
    cell("w_await", 7, 2),
    cell("wareq-sz", 8, 2),
    cell("d/s", 7, 2),
    cell("dkB/s", 9, 2),
    cell("drqm/s", 8, 2),
    cell("%drqm", 6, 2),
    cell("d_await", 7, 2),
    cell("dareq-sz", 8, 2),
    cell("f/s", 7, 2),
    cell("f_await", 7, 2),
    cell("aqu-sz", 7, 2),
    cell("%util", 6, 2),
];

/// `iostat` since sysstat 12.1.
const BASIC: [Cell; 7] = [
    cell("tps", 8, 2),
    cell("kB_read/s", 12, 2),
    cell("kB_wrtn/s", 12, 2),
    cell("kB_dscd/s", 12, 2),
    cell("kB_read", 10, 0),
    cell("kB_wrtn", 10, 0),
    cell("kB_dscd", 10, 0),
];

/// `iostat -x` of sysstat 10 and 11.
const OLD: [Cell; 13] = [
    cell("rrqm/s", 8, 2),
    cell("wrqm/s", 8, 2),
    cell("r/s", 7, 2),
    cell("w/s", 7, 2),
    cell("rkB/s", 8, 2),
    cell("wkB/s", 8, 2),
    cell("avgrq-sz", 8, 2),
    cell("avgqu-sz", 8, 2),
    cell("await", 7, 2),
    cell("r_await", 7, 2),
    cell("w_await", 7, 2),
    cell("svctm", 6, 2),
    cell("%util", 6, 2),
];

/// What else sysstat has had, 9 to 12.7.
const OTHERS: [&str; 13] = [
    "rsec/s", "wsec/s", "rMB/s", "wMB/s", "areq-sz", "dMB/s", "dsec/s", "rqm/s", "%rqm", "kB/s",
    "MB/s", "sec/s", "kB_w+d/s",
];

/// Columns of the device's name.
const NAME: usize = 13;

/// What a name prints as where no table has it.
const UNKNOWN_WIDTH: Cell = cell("", 8, 2);

fn is_known(name: &str) -> bool {
    let tables = EXTENDED.iter().chain(&BASIC).chain(&OLD);
    OTHERS.contains(&name) || tables.into_iter().any(|cell| cell.name == name)
}

/// The line of names above the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    names: Vec<String>,
    colon: bool,
}

impl Columns {
    /// Those of `iostat -x` of sysstat 10 and 11, in which the oldest results are.
    pub fn old() -> Self {
        Self::of(&OLD, true)
    }

    /// Those of `iostat -x` since sysstat 12.1.
    pub fn extended() -> Self {
        Self::of(&EXTENDED, false)
    }

    /// Those of `iostat` since sysstat 12.1.
    pub fn basic() -> Self {
        Self::of(&BASIC, false)
    }

    fn of(cells: &[Cell], colon: bool) -> Self {
        Self {
            names: cells.iter().map(|cell| cell.name.to_owned()).collect(),
            colon,
        }
    }

    /// How sysstat prints each of them.
    fn cells(&self) -> impl Iterator<Item = Cell> {
        let table: &[Cell] = if self.colon {
            &OLD
        } else if self.names.first().is_some_and(|name| name == BASIC[0].name) {
            &BASIC
        } else {
            &EXTENDED
        };
        self.names.iter().map(move |name| {
            let known = table.iter().find(|cell| cell.name == name);
            known.copied().unwrap_or(UNKNOWN_WIDTH)
        })
    }

    /// The line of names as sysstat prints it.
    pub fn aligned_names(&self) -> String {
        let device = if self.colon { "Device:" } else { "Device" };
        let mut line = format!("{device:NAME$}");
        for (name, cell) in self.names.iter().zip(self.cells()) {
            // Writing to a String cannot fail.
            let _ = write!(line, " {name:>width$}", width = cell.width);
        }
        line
    }

    /// A row under these names as sysstat prints it.
    pub fn aligned(&self, row: &Row) -> String {
        let mut line = format!("{:NAME$}", row.device);
        for (
            value,
            Cell {
                width, decimals, ..
            },
        ) in row.values.iter().zip(self.cells())
        {
            let _ = write!(line, " {value:width$.decimals$}");
        }
        line
    }

    /// The names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A row under these names.
    ///
    /// # Errors
    /// There are fewer or more values than names, or one is no number.
    pub fn row(&self, line: &str) -> Result<Row, NotUnderstood> {
        let mut scan = Scan::new(line);
        let device = scan.token();
        let device = device.ok_or_else(|| scan.expected("the name of a device"))?;
        let mut values = Vec::with_capacity(self.names.len());
        for name in &self.names {
            values.push(scan.decimal(&format!("a value for {name}"))?.0);
        }
        scan.end()?;
        Ok(Row {
            device: device.to_owned(),
            values,
        })
    }

    /// The value of a row under a name; `None` where there is no such column.
    pub fn value(&self, row: &Row, name: &str) -> Option<f64> {
        let at = self.names.iter().position(|known| known == name)?;
        row.values.get(at).copied()
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.colon { "Device:" } else { "Device" })?;
        self.names.iter().try_for_each(|name| write!(f, " {name}"))
    }
}

impl FromStr for Columns {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        scan.word("Device")?;
        let colon = scan.maybe(":");
        let mut names: Vec<String> = Vec::new();
        loop {
            scan.spaces();
            let before = scan;
            let Some(name) = scan.token() else { break };
            if !is_known(name) || names.iter().any(|known| known == name) {
                return Err(before.expected("a column of iostat"));
            }
            names.push(name.to_owned());
        }
        if names.is_empty() {
            return Err(scan.expected("a column of iostat"));
        }
        Ok(Self { names, colon })
    }
}

/// A device in one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the device.
    pub device: String,
    /// A value for each of the [`Columns`], two decimals.
    pub values: Vec<f64>,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.device)?;
        self.values
            .iter()
            .try_for_each(|value| write!(f, " {value:.2}"))
    }
}
