//! What the kernel's read-ahead debugging of 2009 printed (a patch to Linux
//! 2.6.29, `mm/readahead.c`):
//!
//! ```text
//! readahead-marker(pid=3838(vdiskd3_3), dev=00:02(bdev), ino=0(raid-1st), req=10596+1, ra=10628+32-32, async=1) = 32
//! ```
//!
//! and its table by pattern (`/sys/kernel/debug/readahead/stats`), a line of
//! names and a line per pattern:
//!
//! ```text
//! pattern count sync_count eof_count size async_size actual
//! marker 4222 0 1 31 31 31
//! ```
//!
//! Everything is counted in pages; a page is 4 KiB on x86.

use super::scan::{NotUnderstood, Scan};
use std::fmt;
use std::str::FromStr;

/// A line of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// `marker`, `subsequent`, ...; without brackets.
    pub pattern: String,
    /// Process.
    pub pid: u64,
    /// Its name; without brackets.
    pub comm: String,
    /// Device, major and minor.
    pub device: (u32, u32),
    /// Name of the filesystem's device.
    pub device_name: String,
    /// Inode.
    pub inode: u64,
    /// Name of the file.
    pub file: String,
    /// First page that was asked for.
    pub request_page: u64,
    /// Pages that were asked for.
    pub request_pages: u64,
    /// First page read ahead.
    pub start_page: u64,
    /// Pages read ahead.
    pub size_pages: i64,
    /// Of these, pages behind the mark that starts the next.
    pub async_pages: i64,
    /// Nobody waits for it.
    pub asynchronous: bool,
    /// Pages that were really read.
    pub actual_pages: i64,
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "readahead-{}(pid={}({}), dev={:02x}:{:02x}({}), ino={}({}), req={}+{}, \
             ra={}+{}-{}, async={}) = {}",
            self.pattern,
            self.pid,
            self.comm,
            self.device.0,
            self.device.1,
            self.device_name,
            self.inode,
            self.file,
            self.request_page,
            self.request_pages,
            self.start_page,
            self.size_pages,
            self.async_pages,
            u8::from(self.asynchronous),
            self.actual_pages
        )
    }
}

/// Hexadecimal digits up to `end`.
fn hexadecimal(scan: &mut Scan<'_>, end: char) -> Result<u32, NotUnderstood> {
    let before = *scan;
    let digits = scan.until(&[end]);
    let valid = digits.len() >= 2 && digits.chars().all(|c| c.is_ascii_hexdigit());
    let value = u32::from_str_radix(digits, 16).ok().filter(|_| valid);
    value.ok_or_else(|| before.expected("a device number of two hexadecimal digits"))
}

/// `(name)`, with no bracket in the name.
fn bracketed(scan: &mut Scan<'_>) -> Result<String, NotUnderstood> {
    scan.text("(")?;
    let name = scan.until(&['(', ')']).to_owned();
    scan.text(")")?;
    Ok(name)
}

impl FromStr for Trace {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        scan.word("readahead-")?;
        let pattern = scan.until(&['(', ' ']).to_owned();
        scan.text("(pid=")?;
        let pid = scan.integer("a process")?;
        let comm = bracketed(&mut scan)?;
        scan.text(", dev=")?;
        let major = hexadecimal(&mut scan, ':')?;
        scan.text(":")?;
        let minor = hexadecimal(&mut scan, '(')?;
        let device_name = bracketed(&mut scan)?;
        scan.text(", ino=")?;
        let inode = scan.integer("an inode")?;
        let file = bracketed(&mut scan)?;
        scan.text(", req=")?;
        let request_page = scan.integer("a page")?;
        scan.text("+")?;
        let request_pages = scan.integer("pages")?;
        scan.text(", ra=")?;
        let start_page = scan.integer("a page")?;
        scan.text("+")?;
        let size_pages = scan.signed("pages")?;
        scan.text("-")?;
        let async_pages = scan.signed("pages")?;
        scan.text(", async=")?;
        let asynchronous = scan.maybe("1");
        if !asynchronous {
            scan.text("0")?;
        }
        scan.text(")")?;
        scan.word("=")?;
        let actual_pages = scan.signed("pages")?;
        scan.end()?;
        Ok(Self {
            pattern,
            pid,
            comm,
            device: (major, minor),
            device_name,
            inode,
            file,
            request_page,
            request_pages,
            start_page,
            size_pages,
            async_pages,
            asynchronous,
            actual_pages,
        })
    }
}

/// The line of names above the table.
pub const STATISTICS: &str = "pattern count sync_count eof_count size async_size actual";

/// The patterns of the table, in its order.
pub const PATTERNS: [&str; 14] = [
    "none",
    "initial0",
    "initial",
    "subsequent",
    "marker",
    "trail",
    "oversize",
    "reverse",
    "stride",
    "thrash",
    "mmap",
    "fadvise",
    "random",
    "all",
];

/// A line of the table: how often read-ahead found a pattern, and how many
/// pages it then read, on average. A number that is not known is `-`, as today's
/// kernels leave some (that of 2009 knew all).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistics {
    /// One of [`PATTERNS`].
    pub pattern: &'static str,
    /// How often.
    pub count: Option<u64>,
    /// Of these, how often somebody waited.
    pub sync_count: Option<u64>,
    /// Of these, how often the end of the file was reached.
    pub eof_count: Option<u64>,
    /// Pages, mean of `ra=...+SIZE`.
    pub size_pages: Option<u64>,
    /// Pages, mean of those behind the mark.
    pub async_pages: Option<u64>,
    /// Pages, mean of those really read.
    pub actual_pages: Option<u64>,
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pattern)?;
        for number in self.numbers() {
            match number {
                Some(number) => write!(f, " {number}")?,
                None => f.write_str(" -")?,
            }
        }
        Ok(())
    }
}

impl Statistics {
    /// What stands behind the pattern, in the order of [`STATISTICS`].
    pub fn numbers(&self) -> [Option<u64>; 6] {
        [
            self.count,
            self.sync_count,
            self.eof_count,
            self.size_pages,
            self.async_pages,
            self.actual_pages,
        ]
    }
}

/// A number, or `-` where it is not known.
fn known(scan: &mut Scan<'_>, what: &str) -> Result<Option<u64>, NotUnderstood> {
    let before = *scan;
    if scan.token() == Some("-") {
        return Ok(None);
    }
    *scan = before;
    scan.integer(what).map(Some)
}

impl FromStr for Statistics {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        let before = scan;
        let name = scan.token().unwrap_or("");
        let pattern = PATTERNS.into_iter().find(|pattern| *pattern == name);
        let pattern = pattern.ok_or_else(|| before.expected("a pattern of read-ahead"))?;
        let row = Self {
            pattern,
            count: known(&mut scan, "count")?,
            sync_count: known(&mut scan, "sync_count")?,
            eof_count: known(&mut scan, "eof_count")?,
            size_pages: known(&mut scan, "size")?,
            async_pages: known(&mut scan, "async_size")?,
            actual_pages: known(&mut scan, "actual")?,
        };
        scan.end()?;
        Ok(row)
    }
}
