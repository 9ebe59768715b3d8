//! The tables of bonnie++.
//!
//! ```text
//! Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
//!                     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
//! Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
//! mybox           64M 1354k  99 +++++ +++ +++++ +++ 2204k  99 +++++ +++ +++++ +++
//! Latency             10334us     172us      90us    7041us      72us   11313us
//! ```
//!
//! 2.00 prints rates with `k`, `m` or `g` (2^10, 2^20, 2^30 bytes per second);
//! 1.x and the table that is edited for a page print K without a letter
//! ([`Look`]). In its table of files 2.00a prints the number of files instead
//! of each rate (a number of another type than its format says); its CSV has
//! the rates. Here the rates are printed.

use super::{Cell, Latency, NotUnderstood, Rate, SEEKS, Scan, is_too_short, latency};
use std::fmt::Write as _;

/// Columns before the first test.
const HEAD: usize = 19;
/// Columns of a test: its rate and its %CP.
const TEST: usize = 10;
const RATE: usize = 6;

/// The lines above the table of the file, of 2.00a.
pub const IO_TITLE: &str = "\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
";

/// The lines above the same table as it is edited for a page.
pub const EDITED_TITLE: &str = "           \
           ------Sequential Output------   --Sequential Input- --Random-
           -Per Chr- --Block-- -Rewrite-   -Per Chr- --Block-- --Seeks--
Machine   K/sec %CP  K/sec %CP  K/sec %CP K/sec %CP K/sec  %CP  /sec %CP
";

/// The lines above the table of files, of 2.00a; `name` is the machine.
pub fn files_title(name: &str) -> String {
    format!(
        "Version 2.00a       ------Sequential Create------ --------Random Create--------\n\
         {name:<19} -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n              \
         files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n"
    )
}

/// How rates are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As 2.00 does.
    Lettered,
    /// In K, wider columns, no size: the table edited for a page.
    Edited,
}

/// A line of the table of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Io {
    /// Name of the machine.
    pub name: String,
    /// Size of the file and what follows it, `64M` or `64M:64k:2`; empty where
    /// the table has none.
    pub size: String,
    /// The tests, [`super::IO_TESTS`].
    pub rates: [Rate; 6],
}

impl Io {
    /// The line, in this look.
    pub fn line(&self, look: Look) -> String {
        match look {
            Look::Lettered => self.lettered(),
            Look::Edited => self.edited(),
        }
    }

    fn lettered(&self) -> String {
        let room = HEAD.saturating_sub(self.name.chars().count());
        let mut line = format!("{}{:>room$}", self.name, self.size);
        for (i, rate) in self.rates.into_iter().enumerate() {
            let number = match rate.rate {
                Cell::NotMeasured => String::new(),
                Cell::TooShort => "+++++".to_owned(),
                Cell::Measured(value) if i == SEEKS && value >= 1000.0 => format!("{value:>5.0}"),
                Cell::Measured(value) if i == SEEKS => format!("{value:>5.1}"),
                Cell::Measured(value) => letters(value),
            };
            push(&mut line, &number, rate.cpu_percent);
        }
        line
    }

    fn edited(&self) -> String {
        // Writing to a String cannot fail.
        let mut line = format!("{:<9}", self.name);
        let widths = [5, 6, 6, 5, 6, 5];
        for (i, (rate, width)) in self.rates.into_iter().zip(widths).enumerate() {
            let decimals = usize::from(i == SEEKS);
            let _ = match rate.rate {
                Cell::NotMeasured => write!(line, " {:width$}", ""),
                Cell::TooShort => write!(line, " {:>width$}", "+++++"),
                Cell::Measured(value) => write!(line, " {value:>width$.decimals$}"),
            };
            line += &percent(rate.cpu_percent);
        }
        line
    }
}

/// Adds a test to a line of 2.00: its rate, and its %CP.
fn push(line: &mut String, number: &str, cpu_percent: Cell) {
    // Writing to a String cannot fail.
    let _ = write!(line, " {number:>5}{}", percent(cpu_percent));
}

/// ` %CP`, four columns.
fn percent(cell: Cell) -> String {
    match cell {
        Cell::NotMeasured => "    ".to_owned(),
        Cell::TooShort => " +++".to_owned(),
        Cell::Measured(percent) => format!(" {:>3.0}", percent.trunc()),
    }
}

/// KiB per second with a letter, five columns.
fn letters(kib: f64) -> String {
    if kib < 10_000.0 {
        return format!("{:>4.0}k", kib.trunc());
    }
    let mib = kib / 1024.0;
    if mib < 100.0 {
        format!("{mib:>4.1}m")
    } else if mib < 1000.0 {
        format!("{:>4.0}m", (mib + 0.5).trunc())
    } else {
        format!("{:>4.1}g", mib / 1024.0)
    }
}

/// A line of the table of files.
#[derive(Debug, Clone, PartialEq)]
pub struct Files {
    /// How many in units of 1024, and what follows: `16` or `1:2000:1000/2`.
    pub number: String,
    /// The tests, [`super::FILE_TESTS`].
    pub rates: [Rate; 6],
}

impl Files {
    /// The line.
    pub fn line(&self) -> String {
        let mut line = format!("{:>HEAD$}", self.number);
        for rate in self.rates {
            let number = match rate.rate {
                Cell::NotMeasured => String::new(),
                Cell::TooShort => "+++++".to_owned(),
                Cell::Measured(value) => format!("{value:>5.0}"),
            };
            push(&mut line, &number, rate.cpu_percent);
        }
        line
    }
}

/// The line of latencies below a table.
pub fn latency_line(latencies: &[Option<Latency>; 6]) -> String {
    let mut line = format!("{:17}", "Latency");
    for latency in latencies {
        // Writing to a String cannot fail.
        let _ = match latency {
            Some(latency) => write!(line, " {latency:>9}"),
            None => write!(line, " {:9}", ""),
        };
    }
    line
}

/// Whether a line of names stands above the table of the file.
pub fn is_io_columns(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let known = matches!(words.next(), Some("Machine" | "Name:Size"));
    known && line.matches("%CP").count() == 6
}

/// Whether a line of names stands above the table of files.
pub fn is_files_columns(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("");
    first.starts_with("files") && line.matches("%CP").count() == 6
}

/// Reads a line of the table of the file.
///
/// # Errors
/// It has not a name and six rates with their %CP.
pub fn io(line: &str) -> Result<Io, NotUnderstood> {
    let (head, rates) = rates(line, true)?;
    let head = head.trim();
    let (name, size) = match head.rsplit_once(char::is_whitespace) {
        Some((name, size)) if is_size(size) => (name.trim_end(), size),
        _ => (head, ""),
    };
    if name.is_empty() {
        return Err(Scan::new(line).expected("the name of a machine"));
    }
    Ok(Io {
        name: name.to_owned(),
        size: size.to_owned(),
        rates,
    })
}

/// Reads a line of the table of files.
///
/// # Errors
/// It has not a number of files and six rates with their %CP.
pub fn files(line: &str) -> Result<Files, NotUnderstood> {
    let (head, rates) = rates(line, false)?;
    let number = head.trim();
    if !number.starts_with(|c: char| c.is_ascii_digit()) || number.contains(' ') {
        return Err(Scan::new(line).expected("a number of files"));
    }
    Ok(Files {
        number: number.to_owned(),
        rates,
    })
}

/// Reads the line of latencies below a table.
///
/// # Errors
/// It does not begin with `Latency`, or one is no number with its unit.
pub fn latencies(line: &str) -> Result<[Option<Latency>; 6], NotUnderstood> {
    let mut scan = Scan::new(line);
    scan.word("Latency")?;
    let mut latencies = [None; 6];
    let columns: Vec<&str> = (0..6)
        .filter_map(|i| piece(line, 17 + i * 10, 10))
        .collect();
    let fixed = columns.iter().all(one_word);
    let tokens: Vec<&str> = if fixed {
        columns.iter().map(|piece| piece.trim()).collect()
    } else {
        scan.rest().split_whitespace().collect()
    };
    if tokens.len() > 6 || tokens.iter().all(|token| token.is_empty()) {
        return Err(scan.expected("a latency for each of six tests"));
    }
    for (slot, token) in latencies.iter_mut().zip(tokens) {
        if !token.is_empty() {
            *slot = Some(latency(token)?);
        }
    }
    Ok(latencies)
}

/// Bytes of a line, or what there is of them.
fn piece(line: &str, at: usize, length: usize) -> Option<&str> {
    let end = (at + length).min(line.len());
    line.get(at.min(end)..end)
}

fn one_word(piece: &&str) -> bool {
    piece.is_empty() || (piece.starts_with(' ') && piece.split_whitespace().count() <= 1)
}

fn is_size(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit()) && token.contains(['M', 'G', 'k'])
}

/// What stands before the tests, and the tests: by columns, where blanks mean a
/// test that was not made, else by words.
fn rates(line: &str, io: bool) -> Result<(&str, [Rate; 6]), NotUnderstood> {
    let line = line.trim_end();
    if let Some(found) = by_columns(line, io) {
        return Ok(found);
    }
    let mut starts: Vec<usize> = Vec::new();
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if !c.is_whitespace() && before.is_whitespace() {
            starts.push(at);
        }
        before = c;
    }
    let Some(first) = starts.len().checked_sub(12) else {
        return Err(Scan::new(line).expected("six rates, each with its %CP"));
    };
    let mut rates = [Rate::default(); 6];
    let tokens: Vec<&str> = line[starts[first]..].split_whitespace().collect();
    for (i, pair) in tokens.chunks(2).enumerate().take(6) {
        let mut scan = Scan::new(line);
        scan.skip(starts[first + 2 * i]);
        let rate = cell(pair[0], io && i != SEEKS);
        let cpu = cell(pair[1], false);
        let (Some(rate), Some(cpu_percent)) = (rate, cpu) else {
            return Err(scan.expected("a rate and its %CP"));
        };
        rates[i] = Rate { rate, cpu_percent };
    }
    Ok((&line[..starts[first]], rates))
}

fn by_columns(line: &str, io: bool) -> Option<(&str, [Rate; 6])> {
    if line.len() > HEAD + 6 * TEST || line.len() <= HEAD {
        return None;
    }
    let mut rates = [Rate::default(); 6];
    for (i, rate) in rates.iter_mut().enumerate() {
        let at = HEAD + i * TEST;
        let (number, share) = (piece(line, at, RATE)?, piece(line, at + RATE, TEST - RATE)?);
        if !one_word(&number) || !one_word(&share) {
            return None;
        }
        *rate = Rate {
            rate: cell(number.trim(), io && i != SEEKS)?,
            cpu_percent: cell(share.trim(), false)?,
        };
    }
    Some((line.get(..HEAD)?, rates))
}

/// A number of a table; `lettered` ones may have a `k`, `m` or `g` behind.
fn cell(token: &str, lettered: bool) -> Option<Cell> {
    if token.is_empty() {
        return Some(Cell::NotMeasured);
    }
    if is_too_short(token) {
        return Some(Cell::TooShort);
    }
    let (number, factor) = match token.as_bytes().last()? {
        b'k' if lettered => (&token[..token.len() - 1], 1.0),
        b'm' if lettered => (&token[..token.len() - 1], 1024.0),
        b'g' if lettered => (&token[..token.len() - 1], 1024.0 * 1024.0),
        _ => (token, 1.0),
    };
    let mut scan = Scan::new(number);
    let value = scan.number("a number").ok()?;
    scan.end().ok()?;
    Some(Cell::Measured(value * factor))
}
