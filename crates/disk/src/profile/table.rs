//! One table of a profile, read key by key; in the end it says which keys
//! nobody asked for.

use super::error::ProfileError;
use diskfacts_plan::file::nearest;
use diskfacts_plan::units::{self, UnitError};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key of a table, where it stands, and its value.
type Entry<'a> = (String, Range<usize>, Spanned<DeValue<'a>>);

/// A key that a profile leaves out, and what is taken for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The table, for example `[hdd.seek]`.
    pub table: String,
    /// The key.
    pub key: &'static str,
    /// Its value, as it would be written.
    pub value: String,
}

/// A table whose keys are taken out one by one.
pub(super) struct Table<'a> {
    text: &'a str,
    /// What was taken for keys that are not there, in all tables of a text.
    filled: Rc<RefCell<Vec<Filled>>>,
    /// What the table is called in errors, for example `[hdd.seek]`.
    name: String,
    start: usize,
    entries: Vec<Entry<'a>>,
    known: Vec<&'static str>,
    seen: Vec<(&'static str, usize)>,
}

type Read<T> = Result<T, ProfileError>;

impl<'a> Table<'a> {
    /// The whole document.
    pub(super) fn document(text: &'a str) -> Read<Self> {
        let table = DeTable::parse(text).map_err(|error| ProfileError {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            message: format!("not TOML: {}", error.message()),
        })?;
        let name = "a profile".to_owned();
        let filled = Rc::default();
        Ok(Self::new(text, filled, name, 0, table.into_inner()))
    }

    fn new(
        text: &'a str,
        filled: Rc<RefCell<Vec<Filled>>>,
        name: String,
        start: usize,
        table: DeTable<'a>,
    ) -> Self {
        let entries = table
            .into_iter()
            .map(|(key, value)| (key.get_ref().to_string(), key.span(), value))
            .collect();
        Self {
            text,
            filled,
            name,
            start,
            entries,
            known: Vec::new(),
            seen: Vec::new(),
        }
    }

    fn error(&self, position: usize, message: String) -> ProfileError {
        ProfileError {
            line: line_of(self.text, position),
            message,
        }
    }

    /// An error about a key, or, if it was not written, about the table.
    pub(super) fn refuse(&self, key: &str, message: &str) -> ProfileError {
        let position = self
            .seen
            .iter()
            .find(|(seen, _)| *seen == key)
            .map_or(self.start, |(_, position)| *position);
        self.error(position, format!("{key} in {}: {message}", self.name))
    }

    /// Refuses a key unless `is_good`.
    pub(super) fn require(&self, key: &str, is_good: bool, message: &str) -> Read<()> {
        if is_good {
            Ok(())
        } else {
            Err(self.refuse(key, message))
        }
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'a>>> {
        self.known.push(key);
        let index = self.entries.iter().position(|(name, _, _)| name == key)?;
        let (_, span, value) = self.entries.remove(index);
        self.seen.push((key, span.start));
        Some(value)
    }

    /// Whether a key stands there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _, _)| name == key)
    }

    fn mismatch(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) -> ProfileError {
        let found = value.get_ref().type_str();
        self.error(
            value.span().start,
            format!("{key} in {}: {wanted} is needed, found {found}", self.name),
        )
    }

    fn missing(&self, key: &str, example: &str) -> ProfileError {
        // A key that nobody has asked for yet and that is a letter off.
        let typo = self
            .entries
            .iter()
            .find(|(name, _, _)| is_a_letter_off(name, key));
        let hint = typo.map_or_else(String::new, |(name, span, _)| {
            let line = line_of(self.text, span.start);
            format!(". Did you mean it by '{name}' in line {line}?")
        });
        self.error(
            self.start,
            format!(
                "{} lacks {key}; write for example {key} = {example}{hint}",
                self.name
            ),
        )
    }

    /// What was taken for keys that are not there, so far.
    pub(super) fn filled(&self) -> Vec<Filled> {
        self.filled.borrow().clone()
    }

    /// What is given, or `plain`, which is remembered as `value`.
    pub(super) fn or<T>(
        &self,
        key: &'static str,
        given: Option<T>,
        plain: T,
        value: impl FnOnce() -> String,
    ) -> T {
        given.unwrap_or_else(|| {
            self.filled.borrow_mut().push(Filled {
                table: self.name.clone(),
                key,
                value: value(),
            });
            plain
        })
    }

    /// A size with its unit, bytes, or `plain`.
    pub(super) fn size_or(&mut self, key: &'static str, plain: u64) -> Read<u64> {
        let given = self.size(key)?;
        Ok(self.or(key, given, plain, || {
            format!("\"{}\"", units::exact_size(plain))
        }))
    }

    /// A duration with its unit, ns, or `plain`.
    pub(super) fn duration_or(&mut self, key: &'static str, plain: u64) -> Read<u64> {
        let given = self.duration(key)?;
        Ok(self.or(key, given, plain, || {
            format!("\"{}\"", units::exact_duration(plain))
        }))
    }

    /// A rate, bytes/s, above 0, or `plain`.
    pub(super) fn rate_or(&mut self, key: &'static str, plain: u64) -> Read<u64> {
        const MEGABYTE: u64 = 1_000_000;
        let given = self.rate(key)?;
        Ok(self.or(key, given, plain, || {
            if plain.is_multiple_of(MEGABYTE) {
                format!("\"{}MB/s\"", plain / MEGABYTE)
            } else {
                format!("\"{}/s\"", units::exact_size(plain))
            }
        }))
    }

    /// A whole number, or `plain`.
    pub(super) fn number_or(&mut self, key: &'static str, plain: u64) -> Read<u64> {
        let given = self.number(key)?;
        Ok(self.or(key, given, plain, || plain.to_string()))
    }

    /// A number with a fraction, or `plain`.
    pub(super) fn float_or(&mut self, key: &'static str, plain: f64) -> Read<f64> {
        let given = self.float(key)?;
        Ok(self.or(key, given, plain, || format!("{plain:?}")))
    }

    /// `true` or `false`, or `plain`.
    pub(super) fn flag_or(&mut self, key: &'static str, plain: bool) -> Read<bool> {
        let given = self.flag(key)?;
        Ok(self.or(key, given, plain, || plain.to_string()))
    }

    /// One of the words that a key takes, or the first of them.
    pub(super) fn choice_or_first<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Read<T> {
        let (word, plain) = choices[0];
        let given = self.choice(key, choices)?;
        Ok(self.or(key, given, plain, || format!("\"{word}\"")))
    }

    /// A text.
    pub(super) fn text(&mut self, key: &'static str) -> Read<Option<String>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        if let DeValue::String(text) = value.get_ref() {
            Ok(Some(text.to_string()))
        } else {
            Err(self.mismatch(key, &value, "a text in quotes"))
        }
    }

    /// A text that must be there.
    pub(super) fn required_text(&mut self, key: &'static str) -> Read<String> {
        self.text(key)?.ok_or_else(|| self.missing(key, "\"...\""))
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, key: &'static str) -> Read<Option<bool>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        if let DeValue::Boolean(flag) = value.get_ref() {
            Ok(Some(*flag))
        } else {
            Err(self.mismatch(key, &value, "true or false"))
        }
    }

    /// A whole number.
    pub(super) fn number(&mut self, key: &'static str) -> Read<Option<u64>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let DeValue::Integer(integer) = value.get_ref() else {
            return Err(self.mismatch(key, &value, "a whole number without quotes"));
        };
        u64::from_str_radix(integer.as_str(), integer.radix())
            .map(Some)
            .map_err(|_| self.refuse(key, "the number is negative or too large"))
    }

    /// A whole number that must be there.
    pub(super) fn required_number(&mut self, key: &'static str) -> Read<u64> {
        self.number(key)?.ok_or_else(|| self.missing(key, "4"))
    }

    /// A number with a fraction.
    pub(super) fn float(&mut self, key: &'static str) -> Read<Option<f64>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let text = match value.get_ref() {
            DeValue::Float(float) => float.as_str(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            _ => return Err(self.mismatch(key, &value, "a number without quotes")),
        };
        // TOML allows inf and nan, and underscores between digits.
        text.replace('_', "")
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .map(Some)
            .ok_or_else(|| self.refuse(key, "it must be a finite number"))
    }

    /// A number with a fraction that must be there.
    pub(super) fn required_float(&mut self, key: &'static str, example: &str) -> Read<f64> {
        self.float(key)?.ok_or_else(|| self.missing(key, example))
    }

    fn quantity(
        &mut self,
        key: &'static str,
        wanted: &str,
        parse: impl Fn(&str) -> Result<u64, UnitError>,
    ) -> Read<Option<u64>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let DeValue::String(text) = value.get_ref() else {
            return Err(self.mismatch(key, &value, wanted));
        };
        parse(text)
            .map(Some)
            .map_err(|error| self.refuse(key, &error.to_string()))
    }

    /// A size with its unit, bytes.
    pub(super) fn size(&mut self, key: &'static str) -> Read<Option<u64>> {
        self.quantity(key, "a size such as \"4KiB\"", units::parse_size)
    }

    /// A size that must be there, bytes.
    pub(super) fn required_size(&mut self, key: &'static str) -> Read<u64> {
        self.size(key)?.ok_or_else(|| self.missing(key, "\"4KiB\""))
    }

    /// A duration with its unit, ns.
    pub(super) fn duration(&mut self, key: &'static str) -> Read<Option<u64>> {
        self.quantity(key, "a duration such as \"8.5ms\"", units::parse_duration)
    }

    /// A duration that must be there, ns.
    pub(super) fn required_duration(&mut self, key: &'static str) -> Read<u64> {
        self.duration(key)?
            .ok_or_else(|| self.missing(key, "\"8.5ms\""))
    }

    /// A rate, bytes/s, above 0.
    fn rate(&mut self, key: &'static str) -> Read<Option<u64>> {
        let rate = self.quantity(key, "a rate such as \"150MB/s\"", |text| {
            units::parse_size(text.trim().trim_end_matches("/s"))
        })?;
        self.require(
            key,
            rate != Some(0),
            "a rate of 0 would never end; write for example \"150MB/s\"",
        )?;
        Ok(rate)
    }

    /// A rate that must be there, bytes/s, above 0.
    pub(super) fn required_rate(&mut self, key: &'static str) -> Read<u64> {
        self.rate(key)?
            .ok_or_else(|| self.missing(key, "\"150MB/s\""))
    }

    /// One of the words that a key takes.
    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Read<Option<T>> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == text) {
            return Ok(Some(*choice));
        }
        let hint = nearest(&text, &words)
            .map(|word| format!("did you mean \"{word}\"? "))
            .unwrap_or_default();
        let message = format!(
            "\"{text}\" is unknown; {hint}it takes \"{}\"",
            words.join("\", \"")
        );
        Err(self.refuse(key, &message))
    }

    /// One of the words that a key takes; it must be there.
    pub(super) fn required_choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Read<T> {
        let example = choices.first().map_or("...", |(word, _)| word);
        self.choice(key, choices)?
            .ok_or_else(|| self.missing(key, &format!("\"{example}\"")))
    }

    /// The table under a key, called `name` in errors.
    pub(super) fn table(&mut self, key: &'static str, name: &str) -> Read<Option<Table<'a>>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let start = self.seen.last().map_or(self.start, |(_, at)| *at);
        let wanted = format!("a table, {name},");
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(Self::new(
                self.text,
                Rc::clone(&self.filled),
                name.to_owned(),
                start,
                table.clone(),
            ))),
            _ => Err(self.mismatch(key, &value, &wanted)),
        }
    }

    /// The table under a key that must be there.
    pub(super) fn required_table(&mut self, key: &'static str, name: &str) -> Read<Table<'a>> {
        match self.table(key, name)? {
            Some(table) => Ok(table),
            None => Err(self.error(self.start, format!("{} lacks the table {name}", self.name))),
        }
    }

    /// The tables under a key that may stand several times.
    pub(super) fn tables(&mut self, key: &'static str, name: &str) -> Read<Vec<Table<'a>>> {
        let Some(value) = self.take(key) else {
            return Ok(Vec::new());
        };
        let wanted = format!("tables that begin with {name}");
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.mismatch(key, &value, &wanted));
        };
        let mut tables = Vec::new();
        for item in items {
            let DeValue::Table(table) = item.get_ref() else {
                return Err(self.mismatch(key, item, &wanted));
            };
            let start = item.span().start;
            let filled = Rc::clone(&self.filled);
            let name = name.to_owned();
            tables.push(Self::new(self.text, filled, name, start, table.clone()));
        }
        Ok(tables)
    }

    /// Refuses the first key that nobody asked for.
    pub(super) fn finish(mut self) -> Read<()> {
        self.entries.sort_by_key(|(_, span, _)| span.start);
        let Some((key, span, _)) = self.entries.first() else {
            return Ok(());
        };
        let hint = nearest(key, &self.known)
            .map_or(".".to_owned(), |known| format!("; did you mean '{known}'?"));
        self.known.sort_unstable();
        let known = self.known.join(", ");
        Err(self.error(
            span.start,
            format!("unknown key '{key}' in {}{hint} It has: {known}", self.name),
        ))
    }
}

/// Whether one word becomes the other by one letter more, less or changed.
fn is_a_letter_off(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let before = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&a[before..], &b[before..]);
    let behind = rest_a.iter().rev().zip(rest_b.iter().rev());
    let behind = behind.take_while(|(a, b)| a == b).count();
    a != b && rest_a.len() - behind <= 1 && rest_b.len() - behind <= 1
}

/// The line, from 1, of the byte at `position`.
fn line_of(text: &str, position: usize) -> usize {
    let end = position.min(text.len());
    let before = &text.as_bytes()[..end];
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_more_less_or_changed_is_a_typing_error() {
        for (word, key, expected) in [
            ("rpmm", "rpm", true),
            ("rp", "rpm", true),
            ("heds", "heads", true),
            ("rpn", "rpm", true),
            ("heads", "heads", false),
            ("head_skew", "heads", false),
            ("speed", "rpm", false),
        ] {
            assert_eq!(is_a_letter_off(word, key), expected, "{word} {key}");
        }
    }
}
