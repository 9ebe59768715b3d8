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
//! are milliseconds. Printed are two decimals and one space, as a page of text
//! keeps of sysstat's columns.

use super::scan::{NotUnderstood, Scan};
use std::fmt;
use std::str::FromStr;

/// Every column that sysstat has had, 9 to 12.7.
const KNOWN: [&str; 43] = [
    "rrqm/s",
    "wrqm/s",
    "r/s",
    "w/s",
    "rsec/s",
    "wsec/s",
    "rkB/s",
    "wkB/s",
    "rMB/s",
    "wMB/s",
    "avgrq-sz",
    "avgqu-sz",
    "await",
    "r_await",
    "w_await",
    "svctm",
    "%util",
    "%rrqm",
    "%wrqm",
    "rareq-sz",
    "wareq-sz",
    "areq-sz",
    "aqu-sz",
    "d/s",
    "dkB/s",
    "dMB/s",
    "dsec/s",
    "drqm/s",
    "%drqm",
    "d_await",
    "dareq-sz",
    "f/s",
    "f_await",
    "rqm/s",
    "%rqm",
    "kB/s",
    "MB/s",
    "sec/s",
    "tps",
    "kB_read/s",
    "kB_wrtn/s",
    "kB_read",
    "kB_wrtn",
];

/// The line of names above the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    names: Vec<String>,
    colon: bool,
}

impl Columns {
    /// Those of sysstat 10 and 11, in which the oldest results are.
    pub fn old() -> Self {
        let names = [
            "rrqm/s", "wrqm/s", "r/s", "w/s", "rkB/s", "wkB/s", "avgrq-sz", "avgqu-sz", "await",
            "r_await", "w_await", "svctm", "%util",
        ];
        Self {
            names: names.map(str::to_owned).to_vec(),
            colon: true,
        }
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
            if !KNOWN.contains(&name) || names.iter().any(|known| known == name) {
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
