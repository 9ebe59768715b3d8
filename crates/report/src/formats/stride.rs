//! The lines of the strided-block measurement:
//!
//! ```text
//! offset0:0, access:false, fixed:false, val:false
//! raw: read  1/1024 of  16384MB (2^34), bs: 4096, skip:256 blocks, in  24.23s -->  169.049MB/s,    0.660MB/s real,  169.049 seeks/sec
//! ```
//!
//! Its MB are 2^20 bytes. Of the `2^34 / bs` blocks of the file, one in
//! `fraction` is visited, one of every `skip`: `operations` = blocks /
//! fraction. The last three numbers follow from the seconds: operations per
//! second ("seeks", printed as 0 where `skip` is 1 and nothing is skipped);
//! the bytes of these per second ("real"); and that times `skip`, the speed at
//! which the span is crossed.

use super::scan::{NotUnderstood, Scan};
use std::fmt;
use std::str::FromStr;

/// What the lines call a MB, bytes.
pub const MB: u64 = 1 << 20;

/// Where the blocks lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a file of a filesystem, `ext: `.
    Ext,
    /// On a device, `raw: `.
    Raw,
}

/// What is done to each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read, changed and written back.
    Modify,
}

impl Op {
    /// As the line has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Modify => "modify",
        }
    }
}

/// What stands behind the numbers of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suffix {
    /// `, fixed`: every skip is the same.
    Fixed,
    /// `, not fixed`: skips are drawn with that mean.
    NotFixed,
    /// `, /data/raw`: where it was done.
    At(String),
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// `ext: ` or `raw: `; some lines have neither.
    pub place: Option<Place>,
    /// What is done to each block.
    pub op: Op,
    /// One block in so many is visited, at least 1.
    pub fraction: u64,
    /// Size of the file, MiB.
    pub total_mib: u64,
    /// Its binary logarithm in bytes, at most 63.
    pub log2_bytes: u32,
    /// Bytes of a block, at least 1.
    pub block_size: u64,
    /// Blocks from one to the next, at least 1; 1 is sequential.
    pub skip_blocks: u64,
    /// Seconds in all, two decimals.
    pub seconds: f64,
    /// Span crossed, MiB per second, three decimals.
    pub span_mib_per_s: f64,
    /// Bytes read or written, MiB per second, three decimals.
    pub real_mib_per_s: f64,
    /// Operations per second, three decimals; 0 where `skip_blocks` is 1.
    pub seeks_per_s: f64,
    /// What stands behind.
    pub suffix: Option<Suffix>,
}

impl Row {
    /// The row of `operations` in `seconds`, its numbers worked out.
    #[must_use]
    pub fn worked_out(self, operations: u64) -> Self {
        let per_s = operations as f64 / self.seconds;
        let real = per_s * self.block_size as f64 / MB as f64;
        Self {
            span_mib_per_s: real * self.skip_blocks as f64,
            real_mib_per_s: real,
            seeks_per_s: if self.skip_blocks == 1 { 0.0 } else { per_s },
            ..self
        }
    }

    /// Bytes of the file, 2^`log2_bytes`.
    pub fn total_bytes(&self) -> u64 {
        1_u64.checked_shl(self.log2_bytes).unwrap_or(0)
    }

    /// Blocks that were visited.
    pub fn operations(&self) -> u64 {
        let blocks = self.total_bytes().checked_div(self.block_size);
        blocks
            .and_then(|blocks| blocks.checked_div(self.fraction))
            .unwrap_or(0)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.place {
            None => "",
            Some(Place::Ext) => "ext: ",
            Some(Place::Raw) => "raw: ",
        })?;
        write!(
            f,
            "{:<5} 1/{:<4} of {:>6}MB (2^{}), bs:{:>5}, skip:{:>2} blocks, in {:>6.2}s --> \
             {:>8.3}MB/s, {:>8.3}MB/s real, {:>8.3} seeks/sec",
            self.op.word(),
            self.fraction,
            self.total_mib,
            self.log2_bytes,
            self.block_size,
            self.skip_blocks,
            self.seconds,
            self.span_mib_per_s,
            self.real_mib_per_s,
            self.seeks_per_s
        )?;
        match &self.suffix {
            None => Ok(()),
            Some(Suffix::Fixed) => f.write_str(", fixed"),
            Some(Suffix::NotFixed) => f.write_str(", not fixed"),
            Some(Suffix::At(place)) => write!(f, ", {place}"),
        }
    }
}

/// An integer that is at least 1.
fn positive(scan: &mut Scan<'_>, what: &str) -> Result<u64, NotUnderstood> {
    let before = *scan;
    match scan.integer(what)? {
        0 => Err(before.expected(format!("{what}, at least 1"))),
        value => Ok(value),
    }
}

impl FromStr for Row {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        scan.spaces();
        let place = if scan.maybe("ext:") {
            Some(Place::Ext)
        } else if scan.maybe("raw:") {
            Some(Place::Raw)
        } else {
            None
        };
        scan.spaces();
        let op = [Op::Read, Op::Write, Op::Modify]
            .into_iter()
            .find(|op| scan.maybe(op.word()))
            .ok_or_else(|| scan.expected("'read', 'write' or 'modify'"))?;
        scan.word("1/")?;
        let fraction = positive(&mut scan, "the fraction of the blocks")?;
        scan.word("of")?;
        let total_mib = scan.integer("the size of the file")?;
        scan.text("MB")?;
        scan.word("(2^")?;
        let before = scan;
        let log2_bytes = u32::try_from(scan.integer("the exponent of the size")?)
            .ok()
            .filter(|log2| *log2 < 64)
            .ok_or_else(|| before.expected("an exponent below 64"))?;
        scan.text("),")?;
        scan.word("bs:")?;
        let block_size = positive(&mut scan, "the bytes of a block")?;
        scan.text(",")?;
        scan.word("skip:")?;
        let skip_blocks = positive(&mut scan, "the blocks of a skip")?;
        scan.word("blocks,")?;
        scan.word("in")?;
        let seconds = scan.number("seconds")?;
        scan.text("s")?;
        scan.word("-->")?;
        let span_mib_per_s = scan.number("the rate over the span")?;
        scan.text("MB/s,")?;
        let real_mib_per_s = scan.number("the real rate")?;
        scan.text("MB/s")?;
        scan.word("real,")?;
        let seeks_per_s = scan.number("the operations per second")?;
        scan.word("seeks/sec")?;
        scan.spaces();
        let suffix = if scan.maybe(",") {
            scan.spaces();
            match scan.rest().trim_end() {
                "" => return Err(scan.expected("'fixed', 'not fixed' or a path")),
                "fixed" => Some(Suffix::Fixed),
                "not fixed" => Some(Suffix::NotFixed),
                place => Some(Suffix::At(place.to_owned())),
            }
        } else {
            scan.end()?;
            None
        };
        Ok(Self {
            place,
            op,
            fraction,
            total_mib,
            log2_bytes,
            block_size,
            skip_blocks,
            seconds,
            span_mib_per_s,
            real_mib_per_s,
            seeks_per_s,
            suffix,
        })
    }
}

/// The line that stands above a group of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// 1 where every pass begins at block 0, and 0 where each begins a block later
    /// than the one before. The original's lines only show 0, so that this is its
    /// meaning is our choice; another number is kept and means nothing here.
    pub offset0: u64,
    /// Every byte of a block is touched, not only the first.
    pub access: bool,
    /// Every skip is the same.
    pub fixed: bool,
    /// The values that are read are checked.
    pub val: bool,
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "offset0:{}, access:{}, fixed:{}, val:{}",
            self.offset0, self.access, self.fixed, self.val
        )
    }
}

fn truth(scan: &mut Scan<'_>) -> Result<bool, NotUnderstood> {
    scan.spaces();
    if scan.maybe("true") {
        Ok(true)
    } else if scan.maybe("false") {
        Ok(false)
    } else {
        Err(scan.expected("'true' or 'false'"))
    }
}

impl FromStr for Header {
    type Err = NotUnderstood;

    fn from_str(line: &str) -> Result<Self, NotUnderstood> {
        let mut scan = Scan::new(line);
        scan.word("offset0:")?;
        let offset0 = scan.integer("0 or 1")?;
        scan.text(",")?;
        scan.word("access:")?;
        let access = truth(&mut scan)?;
        scan.text(",")?;
        scan.word("fixed:")?;
        let fixed = truth(&mut scan)?;
        scan.text(",")?;
        scan.word("val:")?;
        let val = truth(&mut scan)?;
        scan.end()?;
        Ok(Self {
            offset0,
            access,
            fixed,
            val,
        })
    }
}
