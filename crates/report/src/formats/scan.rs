//! Reading a line from left to right.

use std::fmt;

/// Longest part of a line that an error quotes, characters.
const QUOTED: usize = 24;

/// Where a line ceased to be of its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUnderstood {
    /// Column of the line, from 1, in characters.
    pub column: usize,
    /// What the format has there, a few words.
    pub expected: String,
    /// What stands there instead; empty at the end of the line.
    pub found: String,
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: expected {}, ", self.column, self.expected)?;
        if self.found.is_empty() {
            f.write_str("but the line ends")
        } else {
            write!(f, "found '{}'", self.found)
        }
    }
}

impl std::error::Error for NotUnderstood {}

/// What is left of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    /// Leaves out so many bytes, which have been looked at.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// That the format has something else here.
    pub(crate) fn expected(&self, what: impl Into<String>) -> NotUnderstood {
        NotUnderstood {
            column: self.line[..self.at].chars().count() + 1,
            expected: what.into(),
            found: self.rest().chars().take(QUOTED).collect(),
        }
    }

    /// Takes spaces, none or many.
    pub(crate) fn spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Takes this text if it stands here.
    pub(crate) fn maybe(&mut self, text: &str) -> bool {
        let here = self.rest().starts_with(text);
        if here {
            self.at += text.len();
        }
        here
    }

    /// Takes this text.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), NotUnderstood> {
        if self.maybe(text) {
            Ok(())
        } else {
            Err(self.expected(format!("'{text}'")))
        }
    }

    /// Takes spaces, if any, and this text.
    pub(crate) fn word(&mut self, text: &str) -> Result<(), NotUnderstood> {
        self.spaces();
        self.text(text)
    }

    /// Takes characters up to one of `ends`, or to the end of the line.
    pub(crate) fn until(&mut self, ends: &[char]) -> &'a str {
        let rest = self.rest();
        let taken = rest.find(|c| ends.contains(&c)).unwrap_or(rest.len());
        self.at += taken;
        &rest[..taken]
    }

    /// Takes a word without spaces in it; none at the end of the line.
    pub(crate) fn token(&mut self) -> Option<&'a str> {
        self.spaces();
        let token = self.until(&[' ', '\t']);
        (!token.is_empty()).then_some(token)
    }

    /// Takes spaces, if any, and an integer without a sign.
    pub(crate) fn integer(&mut self, what: &str) -> Result<u64, NotUnderstood> {
        self.spaces();
        let digits = self.digits();
        let value = digits.parse().map_err(|_| self.expected(what))?;
        self.at += digits.len();
        Ok(value)
    }

    /// Takes spaces, if any, and an integer that may be negative.
    pub(crate) fn signed(&mut self, what: &str) -> Result<i64, NotUnderstood> {
        self.spaces();
        let before = *self;
        let sign = if self.maybe("-") { "-" } else { "" };
        let digits = self.digits();
        let value = format!("{sign}{digits}").parse();
        self.at += digits.len();
        value.map_err(|_| before.expected(what))
    }

    fn digits(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit());
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Takes spaces, if any, and a number with a point, without a sign.
    pub(crate) fn number(&mut self, what: &str) -> Result<f64, NotUnderstood> {
        let before = *self;
        let (value, separator) = self.decimal(what)?;
        if separator == Some(',') {
            return Err(before.expected(what));
        }
        Ok(value)
    }

    /// Takes spaces, if any, and a number without a sign, and says which mark
    /// its decimals stand behind, if it has decimals. An exponent may follow,
    /// as `%g` prints it.
    pub(crate) fn decimal(&mut self, what: &str) -> Result<(f64, Option<char>), NotUnderstood> {
        self.spaces();
        let before = *self;
        let whole = self.digits();
        if whole.is_empty() {
            return Err(self.expected(what));
        }
        self.at += whole.len();
        let mut text = whole.to_owned();
        let mark = self
            .rest()
            .chars()
            .next()
            .filter(|c| matches!(c, '.' | ','));
        let behind = self.rest().get(1..).unwrap_or("");
        let separator = mark.filter(|_| behind.starts_with(|c: char| c.is_ascii_digit()));
        if separator.is_some() {
            self.at += 1;
            let decimals = self.digits();
            self.at += decimals.len();
            text = format!("{text}.{decimals}");
        }
        let mut ahead = *self;
        if ahead.maybe("e") {
            let sign = if ahead.maybe("-") { "-" } else { "" };
            if sign.is_empty() {
                ahead.maybe("+");
            }
            let digits = ahead.digits();
            if !digits.is_empty() {
                ahead.at += digits.len();
                text = format!("{text}e{sign}{digits}");
                *self = ahead;
            }
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((value, separator)),
            _ => Err(before.expected(what)),
        }
    }

    /// That nothing but spaces is left.
    pub(crate) fn end(&mut self) -> Result<(), NotUnderstood> {
        self.spaces();
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(self.expected("the end of the line"))
        }
    }
}
