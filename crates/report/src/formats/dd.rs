//! What GNU dd prints at its end:
//!
//! ```text
//! 3+1 records in
//! 3+1 records out
//! 17179869184 bytes (17 GB) copied, 117.62 s, 146 MB/s
//! 17179869184 bytes (17 GB, 16 GiB) copied, 117.62 s, 146 MB/s
//! 100 bytes copied, 3.2469e-05 s, 3.1 MB/s
//! ```
//!
//! and what people copy of it: `a) 102 MB/s` for the first of several runs. The
//! second size came with coreutils 8.25; sizes below a unit are left out. Its
//! kB, MB and GB are powers of 1000, its KiB, MiB and GiB powers of 1024.
//! Locales with a decimal comma print `177,742 s`.
//!
//! Numbers are rounded as coreutils does (`lib/human.c`, 9.1): rates that are
//! not exact have one decimal below 100 and none from there on.

use super::printf::percent_g;
use super::scan::{NotUnderstood, Scan};
use std::fmt;
use std::str::FromStr;

const UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];

/// Which mark stands before the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DecimalMark {
    /// `21.6`
    #[default]
    Point,
    /// `21,6`
    Comma,
}

impl DecimalMark {
    fn write(self, number: &str) -> String {
        match self {
            Self::Point => number.to_owned(),
            Self::Comma => number.replace('.', ","),
        }
    }

    fn of(mark: Option<char>) -> Option<Self> {
        match mark {
            Some('.') => Some(Self::Point),
            Some(_) => Some(Self::Comma),
            None => None,
        }
    }
}

/// A rate as it is printed: a number and its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// In the unit, with the decimals that were printed.
    pub value: f64,
    /// Decimals that were printed, 0 or 1 by dd itself.
    pub decimals: usize,
    /// Power of 1000 of the unit: 2 is MB. At most 8.
    pub power: u32,
}

impl Rate {
    /// The rate that dd prints for this many bytes in so many nanoseconds;
    /// `None` for no time at all, which dd calls infinity.
    ///
    /// The division is exact, and ties go to the even digit. Where a second is
    /// a whole multiple of the time, or the other way round, dd counts in
    /// integers and prints tenths only below 10 of a unit.
    pub fn of(bytes: u64, nanoseconds: u64) -> Option<Self> {
        const SECOND: u64 = 1_000_000_000;
        if nanoseconds == 0 {
            return None;
        }
        let integers = SECOND.is_multiple_of(nanoseconds) || nanoseconds.is_multiple_of(SECOND);
        let (over, under) = (
            u128::from(bytes) * u128::from(SECOND),
            u128::from(nanoseconds),
        );
        let at_least = |power: u32| over >= under * 1000_u128.pow(power);
        // Not exact: never below a thousandth of kB.
        let lowest = u32::from(!integers);
        let mut power = (lowest..=6).rev().find(|power| at_least(*power));
        let power = power.take().unwrap_or(lowest);
        let unit = under * 1000_u128.pow(power);
        let tenths = round_half_even(over * 10, unit);
        let rate = if (tenths < 1000 && !integers) || (tenths < 100 && power > 0) {
            Self {
                value: tenths as f64 / 10.0,
                decimals: 1,
                power,
            }
        } else {
            Self {
                value: round_half_even(over, unit) as f64,
                decimals: 0,
                power,
            }
        };
        Some(if integers { rate.carried() } else { rate })
    }

    /// 1000 of a unit as 1.0 of the next.
    fn carried(self) -> Self {
        if self.value >= 1000.0 && self.power < 6 {
            Self {
                value: 1.0,
                decimals: 1,
                power: self.power + 1,
            }
        } else {
            self
        }
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.value * 1000_f64.powi(self.power.cast_signed())
    }

    /// With this mark before its decimals: `21,6 MB/s`.
    pub fn with(&self, mark: DecimalMark) -> String {
        let number = format!("{:.*}", self.decimals, self.value);
        let unit = UNITS.get(self.power as usize).unwrap_or(&"B");
        format!("{} {unit}/s", mark.write(&number))
    }
}

fn round_half_even(over: u128, under: u128) -> u128 {
    let (whole, rest) = (over / under, over % under);
    let up = rest * 2 > under || (rest * 2 == under && whole % 2 == 1);
    whole + u128::from(up)
}

/// A size as dd prints it between brackets: `17 GB`, or with base 1024 `16 GiB`.
fn human(bytes: u64, base: u64) -> String {
    let mut power = 0;
    let mut unit = 1_u64;
    while power < 6 && bytes / unit >= base {
        unit *= base;
        power += 1;
    }
    if power == 0 {
        return format!("{bytes} B");
    }
    let (over, unit) = (u128::from(bytes), u128::from(unit));
    let tenths = round_half_even(over * 10, unit);
    let mut number = if tenths < 100 {
        format!("{}.{}", tenths / 10, tenths % 10)
    } else {
        round_half_even(over, unit).to_string()
    };
    if number == base.to_string() && power < 6 {
        "1.0".clone_into(&mut number);
        power += 1;
    }
    let name = UNITS[power];
    if base == 1000 {
        format!("{number} {name}")
    } else {
        format!("{number} {}iB", name.trim_end_matches('B').to_uppercase())
    }
}

/// Which sizes stand behind the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `(17 GB, 16 GiB)`, since coreutils 8.25.
    Both,
    /// `(17 GB)`, before.
    Decimal,
}

/// The last line: bytes, seconds, rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Bytes copied.
    pub bytes: u64,
    /// Which sizes stand behind the bytes.
    pub form: Form,
    /// Seconds, six significant digits.
    pub seconds: f64,
    /// The rate; `None` is printed as infinity.
    pub rate: Option<Rate>,
    /// The mark before decimals.
    pub mark: DecimalMark,
}

impl Summary {
    /// What dd of today prints in the C locale.
    pub fn of(bytes: u64, nanoseconds: u64) -> Self {
        Self {
            bytes,
            form: Form::Both,
            // As printed, so that what is read back is the same.
            seconds: percent_g(nanoseconds as f64 / 1e9)
                .parse()
                .unwrap_or(nanoseconds as f64 / 1e9),
            rate: Rate::of(bytes, nanoseconds),
            mark: DecimalMark::Point,
        }
    }

    /// Finds the line within another: what stands before it, the summary, and
    /// what stands behind it. `None` when nothing here looks like one.
    pub fn find(line: &str) -> Option<Found<'_>> {
        let at = line
            .match_indices(" bytes")
            .chain(line.match_indices(" byte copied"))
            .map(|(at, _)| at)
            .find(|at| line[at + 1..].contains("copied"))?;
        let digits = line[..at].len()
            - line[..at]
                .trim_end_matches(|c: char| c.is_ascii_digit())
                .len();
        if digits == 0 {
            return None;
        }
        let start = at - digits;
        let mut scan = Scan::new(line);
        scan.skip(start);
        let summary = read(&mut scan);
        Some(Found {
            before: &line[..start],
            summary,
            behind: scan.rest(),
        })
    }
}

/// A summary within a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<'a> {
    /// What stands before.
    pub before: &'a str,
    /// The summary, or where it ceases to be one.
    pub summary: Result<Summary, NotUnderstood>,
    /// What stands behind; of a summary that is not one, the rest of the line.
    pub behind: &'a str,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.bytes == 1 { "byte" } else { "bytes" };
        write!(f, "{} {noun} ", self.bytes)?;
        let (si, iec) = (human(self.bytes, 1000), human(self.bytes, 1024));
        if self.bytes >= 1000 {
            if self.form == Form::Decimal || self.bytes < 1024 {
                write!(f, "({}) ", self.mark.write(&si))?;
            } else {
                write!(f, "({}, {}) ", self.mark.write(&si), self.mark.write(&iec))?;
            }
        }
        let seconds = self.mark.write(&percent_g(self.seconds));
        write!(f, "copied, {seconds} s, ")?;
        match &self.rate {
            Some(rate) => f.write_str(&rate.with(self.mark)),
            None => f.write_str("Infinity B/s"),
        }
    }
}

fn read(scan: &mut Scan<'_>) -> Result<Summary, NotUnderstood> {
    let bytes = scan.integer("a number of bytes")?;
    scan.word("byte")?;
    scan.maybe("s");
    scan.spaces();
    let mut form = Form::Both;
    if scan.maybe("(") {
        scan.decimal("a size")?;
        scan.spaces();
        unit(scan)?;
        scan.spaces();
        if scan.maybe(",") {
            scan.decimal("a size in binary units")?;
            scan.spaces();
            scan.until(&[')']);
        } else if bytes >= 1024 {
            form = Form::Decimal;
        }
        scan.text(")")?;
    }
    scan.word("copied,")?;
    let (seconds, first) = scan.decimal("seconds")?;
    scan.word("s")?;
    scan.text(",")?;
    scan.spaces();
    let (rate, second) = if scan.maybe("Infinity B/s") {
        (None, None)
    } else {
        let (rate, mark) = rate(scan)?;
        (Some(rate), mark)
    };
    let mark = DecimalMark::of(first.or(second)).unwrap_or_default();
    Ok(Summary {
        bytes,
        form,
        seconds,
        rate,
        mark,
    })
}

/// A unit of dd's, as a power of 1000.
fn unit(scan: &mut Scan<'_>) -> Result<u32, NotUnderstood> {
    let found = UNITS.iter().rposition(|unit| scan.maybe(unit));
    let power = found.ok_or_else(|| scan.expected("a unit such as kB, MB or GB"))?;
    Ok(power as u32)
}

fn rate(scan: &mut Scan<'_>) -> Result<(Rate, Option<char>), NotUnderstood> {
    let before = scan.rest();
    let (value, mark) = scan.decimal("a rate")?;
    let number = before.trim_start();
    let number = &number[..number.len() - scan.rest().len()];
    let decimals = number.split_once(['.', ',']).map_or(0, |(_, d)| d.len());
    scan.spaces();
    let power = unit(scan)?;
    scan.text("/s")?;
    let rate = Rate {
        value,
        decimals,
        power,
    };
    Ok((rate, mark))
}

impl FromStr for Summary {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        let summary = read(&mut scan)?;
        scan.end()?;
        Ok(summary)
    }
}

/// In or out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Read.
    In,
    /// Written.
    Out,
}

/// `3+1 records in`: whole blocks and shorter ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Records {
    /// Blocks of the full size.
    pub whole: u64,
    /// Shorter ones.
    pub partial: u64,
    /// Read or written.
    pub direction: Direction,
}

impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::In => "in",
            Direction::Out => "out",
        };
        write!(f, "{}+{} records {direction}", self.whole, self.partial)
    }
}

impl FromStr for Records {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        let whole = scan.integer("a number of blocks")?;
        scan.text("+")?;
        let partial = scan.integer("a number of blocks")?;
        scan.word("records")?;
        scan.spaces();
        let direction = if scan.maybe("in") {
            Direction::In
        } else {
            scan.text("out")?;
            Direction::Out
        };
        scan.end()?;
        Ok(Self {
            whole,
            partial,
            direction,
        })
    }
}

/// One of several runs of the same: `b) 22,8 MB/s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repeat {
    /// Which run, from `a`.
    pub label: char,
    /// Its rate; `None` where the number is missing, which is printed as
    /// `c) MB/s`.
    pub rate: Option<Rate>,
    /// The mark before the decimals.
    pub mark: DecimalMark,
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rate {
            Some(rate) => write!(f, "{}) {}", self.label, rate.with(self.mark)),
            None => write!(f, "{}) MB/s", self.label),
        }
    }
}

impl FromStr for Repeat {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        scan.spaces();
        let label = scan.rest().chars().next();
        let label = label.filter(char::is_ascii_lowercase);
        let label = label.ok_or_else(|| scan.expected("a letter that numbers the run"))?;
        scan.skip(1);
        scan.text(")")?;
        scan.spaces();
        let (rate, mark) = if scan.maybe("MB/s") {
            (None, None)
        } else {
            let (rate, mark) = rate(&mut scan)?;
            (Some(rate), mark)
        };
        scan.end()?;
        Ok(Self {
            label,
            rate,
            mark: DecimalMark::of(mark).unwrap_or_default(),
        })
    }
}
