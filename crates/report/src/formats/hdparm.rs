//! What `hdparm -T` and `hdparm -t` print:
//!
//! ```text
//!  Timing cached reads:   38120 MB in  1.99 seconds = 19160.44 MB/sec
//!  Timing buffered disk reads: 1126 MB in  3.00 seconds = 375.31 MB/sec
//!  Timing O_DIRECT disk reads (offset 100 GB): 400 MB in  3.01 seconds = 132.89 MB/sec
//! ```
//!
//! Its MB are 2^20 bytes and its kB 2^10; the rate is in kB where it is below
//! 1 MB. (hdparm 9.65.)

use super::scan::{NotUnderstood, Scan};
use std::fmt;
use std::str::FromStr;

/// What a MB is, bytes.
pub const MB: u64 = 1 << 20;

/// What was timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    /// `-T`: the same few MiB again and again, from memory.
    Cached,
    /// `-t`: the device, from its beginning or an offset.
    Disk,
}

/// The unit of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 2^10 bytes.
    Kb,
    /// 2^20 bytes.
    Mb,
}

impl Unit {
    /// Bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Kb => 1 << 10,
            Self::Mb => MB,
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What was timed.
    pub timed: Timed,
    /// With `--direct`.
    pub direct: bool,
    /// Where it began, GiB, if not at 0; of `Disk` only.
    pub offset_gib: Option<u64>,
    /// What was read, MiB.
    pub mib: u64,
    /// Seconds, two decimals.
    pub seconds: f64,
    /// Rate in `unit` per second, two decimals.
    pub rate: f64,
    /// Unit of the rate.
    pub unit: Unit,
}

impl Row {
    /// The row of so many MiB in so many seconds.
    pub fn of(timed: Timed, direct: bool, mib: u64, seconds: f64) -> Self {
        let below = mib as f64 <= seconds;
        Self {
            timed,
            direct,
            offset_gib: None,
            mib,
            seconds,
            rate: mib as f64 / seconds * if below { 1024.0 } else { 1.0 },
            unit: if below { Unit::Kb } else { Unit::Mb },
        }
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.rate * self.unit.bytes() as f64
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.timed, self.direct) {
            (Timed::Cached, false) => f.write_str(" Timing cached reads:   ")?,
            (Timed::Cached, true) => f.write_str(" Timing O_DIRECT cached reads:   ")?,
            (Timed::Disk, false) => f.write_str(" Timing buffered disk reads")?,
            (Timed::Disk, true) => f.write_str(" Timing O_DIRECT disk reads")?,
        }
        if self.timed == Timed::Disk {
            if let Some(offset) = self.offset_gib {
                write!(f, " (offset {offset} GB)")?;
            }
            f.write_str(": ")?;
        }
        let unit = match self.unit {
            Unit::Kb => "kB",
            Unit::Mb => "MB",
        };
        write!(
            f,
            "{:>3} MB in {:>5.2} seconds = {:>6.2} {unit}/sec",
            self.mib, self.seconds, self.rate
        )
    }
}

impl FromStr for Row {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        scan.word("Timing")?;
        scan.spaces();
        let direct = scan.maybe("O_DIRECT");
        scan.spaces();
        let timed = if scan.maybe("cached reads") {
            Timed::Cached
        } else {
            if !direct {
                scan.text("buffered")?;
            }
            scan.word("disk reads")?;
            Timed::Disk
        };
        scan.spaces();
        let offset_gib = if timed == Timed::Disk && scan.maybe("(offset") {
            let offset = scan.integer("the offset")?;
            scan.word("GB)")?;
            Some(offset)
        } else {
            None
        };
        scan.text(":")?;
        let mib = scan.integer("the MB read")?;
        scan.word("MB")?;
        scan.word("in")?;
        let seconds = scan.number("seconds")?;
        scan.word("seconds")?;
        scan.word("=")?;
        let rate = scan.number("a rate")?;
        scan.spaces();
        let unit = if scan.maybe("kB/sec") {
            Unit::Kb
        } else {
            scan.text("MB/sec")?;
            Unit::Mb
        };
        scan.end()?;
        Ok(Self {
            timed,
            direct,
            offset_gib,
            mib,
            seconds,
            rate,
            unit,
        })
    }
}
