//! Device lines of Solaris' `iostat -xn` (`-M` for megabytes):
//!
//! ```text
//! extended device statistics
//! r/s w/s Mr/s Mw/s wait actv wsvc_t asvc_t %w %b device
//! 0.0 13006.1 0.0 101.6 133.5 256.4 10.3 19.7 100 100 c5t20360080E536D50Ed0
//! ```
//!
//! K are 2^10 bytes and M 2^20; `wait` and `actv` are requests in the queue
//! and in the device, `wsvc_t` and `asvc_t` their times in milliseconds, `%w`
//! and `%b` the shares of time in which these were not empty (illumos,
//! `usr/src/cmd/stat/iostat`).
//!
//! Linux does not tell requests that wait for the device from those that are in
//! it: rows made from its counters have `-` for `wait`, `wsvc_t` and `%w`, and the
//! whole of queue and time in `actv` and `asvc_t`.

use super::scan::{NotUnderstood, Scan};
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// The line above the names.
pub const TITLE: &str = "extended device statistics";

/// What the two rates of bytes are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `kr/s kw/s`: 2^10 bytes.
    Kib,
    /// `Mr/s Mw/s`: 2^20 bytes.
    Mib,
}

impl Unit {
    /// Bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Kib => 1 << 10,
            Self::Mib => 1 << 20,
        }
    }

    /// The line of names of rows in this unit.
    pub fn columns(self) -> &'static str {
        match self {
            Self::Kib => "r/s w/s kr/s kw/s wait actv wsvc_t asvc_t %w %b device",
            Self::Mib => "r/s w/s Mr/s Mw/s wait actv wsvc_t asvc_t %w %b device",
        }
    }

    /// The unit that a line of names says; `None` for any other line.
    pub fn of_columns(line: &str) -> Option<Self> {
        let names: Vec<&str> = line.split_whitespace().collect();
        [Self::Kib, Self::Mib]
            .into_iter()
            .find(|unit| unit.columns().split(' ').eq(names.iter().copied()))
    }
}

/// A device in one interval; one decimal, percents without.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Reads per second.
    pub reads_per_s: f64,
    /// Writes per second.
    pub writes_per_s: f64,
    /// Read per second, in the unit of the columns.
    pub data_read_per_s: f64,
    /// Written per second, in the unit of the columns.
    pub data_written_per_s: f64,
    /// Requests waiting for the device, mean; absent where they are not told from
    /// those in it, which are all.
    pub wait: Option<f64>,
    /// Requests in the device, mean.
    pub actv: f64,
    /// Time of a request in the queue, milliseconds; absent as above.
    pub wsvc_t_ms: Option<f64>,
    /// Time of a request in the device, milliseconds.
    pub asvc_t_ms: f64,
    /// Share of the time with requests waiting; absent as above.
    pub percent_waiting: Option<u64>,
    /// Share of the time with requests in the device.
    pub percent_busy: u64,
    /// Name of the device.
    pub device: String,
}

impl Unit {
    /// The two lines above the rows as `iostat -xn` prints them.
    pub fn aligned_names(self) -> String {
        let names = in_columns(self.columns().split(' '));
        // Centred over what stands before `device`, whose width is then missing
        // behind it (`write_core_header`).
        let all = names.len() + " device".len();
        let before = (all - TITLE.len()) / 2;
        let behind = all - before - TITLE.len() - " device".len();
        format!("{:before$}{TITLE}{:behind$}\n{names} device", "", "")
    }
}

/// Columns of each value, behind a space.
const WIDTHS: [usize; 10] = [6, 6, 6, 6, 4, 4, 6, 6, 3, 3];

/// Each right-aligned behind a space.
fn in_columns<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for (cell, width) in cells.into_iter().zip(WIDTHS) {
        // Writing to a String cannot fail.
        let _ = write!(line, " {:>width$}", cell.as_ref());
    }
    line
}

impl Row {
    /// The row as `iostat -xn` prints it.
    pub fn aligned(&self) -> String {
        let mut line = in_columns(self.cells());
        line.push(' ');
        line.push_str(&self.device);
        line
    }

    fn cells(&self) -> [String; 10] {
        let one = |value: f64| format!("{value:.1}");
        let unless = |known: Option<String>| known.unwrap_or_else(|| NOT_TOLD.to_owned());
        [
            one(self.reads_per_s),
            one(self.writes_per_s),
            one(self.data_read_per_s),
            one(self.data_written_per_s),
            unless(self.wait.map(one)),
            one(self.actv),
            unless(self.wsvc_t_ms.map(one)),
            one(self.asvc_t_ms),
            unless(self.percent_waiting.map(|percent| percent.to_string())),
            self.percent_busy.to_string(),
        ]
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.cells().join(" "), self.device)
    }
}

/// What stands where there is no value.
const NOT_TOLD: &str = "-";

/// A value, or the mark that there is none.
fn unless_not_told<'s, T>(
    scan: &mut Scan<'s>,
    read: impl Fn(&mut Scan<'s>) -> Result<T, NotUnderstood>,
) -> Result<Option<T>, NotUnderstood> {
    scan.spaces();
    if scan.maybe(NOT_TOLD) {
        return Ok(None);
    }
    read(scan).map(Some)
}

impl FromStr for Row {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        let reads_per_s = scan.number("r/s")?;
        let writes_per_s = scan.number("w/s")?;
        let data_read_per_s = scan.number("Mr/s or kr/s")?;
        let data_written_per_s = scan.number("Mw/s or kw/s")?;
        let wait = unless_not_told(&mut scan, |scan| scan.number("wait"))?;
        let actv = scan.number("actv")?;
        let wsvc_t_ms = unless_not_told(&mut scan, |scan| scan.number("wsvc_t"))?;
        let asvc_t_ms = scan.number("asvc_t")?;
        let percent_waiting = unless_not_told(&mut scan, |scan| scan.integer("%w"))?;
        let percent_busy = scan.integer("%b")?;
        let device = scan.token();
        let device = device.ok_or_else(|| scan.expected("the name of a device"))?;
        scan.end()?;
        Ok(Self {
            reads_per_s,
            writes_per_s,
            data_read_per_s,
            data_written_per_s,
            wait,
            actv,
            wsvc_t_ms,
            asvc_t_ms,
            percent_waiting,
            percent_busy,
            device: device.to_owned(),
        })
    }
}
