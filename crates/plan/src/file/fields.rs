//! One table of a plan file, read key by key, that can say what it did not know.

use super::FileError;
use crate::check::STAGES_MAX;
use crate::share::Share;
use crate::units::{self, UnitError};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key with its place, and its value.
pub(super) type Field<'a> = (String, Range<usize>, Spanned<DeValue<'a>>);

/// The fields of a table. Each reader takes its field out; [`finish`](Self::finish)
/// then names what is left.
#[derive(Clone)]
pub(super) struct Fields<'a> {
    text: &'a str,
    /// Where the table begins, for errors about what is missing in it.
    start: usize,
    fields: Vec<Field<'a>>,
    /// Every key that was asked for, for the nearest name.
    known: Vec<&'static str>,
    /// Where each key stood that was found.
    seen: Vec<(&'static str, usize)>,
}

impl<'a> Fields<'a> {
    /// The top-level table of a TOML document.
    pub(super) fn document(text: &'a str) -> Result<Self, FileError> {
        let table = DeTable::parse(text).map_err(|error| FileError {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            message: format!("not TOML: {}", error.message()),
        })?;
        Ok(Self::new(text, 0, table.into_inner()))
    }

    fn new(text: &'a str, start: usize, table: DeTable<'a>) -> Self {
        let fields = table
            .into_iter()
            .map(|(key, value)| (key.get_ref().to_string(), key.span(), value))
            .collect();
        Self {
            text,
            start,
            fields,
            known: Vec::new(),
            seen: Vec::new(),
        }
    }

    fn error(&self, position: usize, message: String) -> FileError {
        FileError {
            line: line_of(self.text, position),
            message,
        }
    }

    /// An error about a key that was read before.
    pub(super) fn error_at(&self, key: &str, message: &str) -> FileError {
        let position = self
            .seen
            .iter()
            .find(|(seen, _)| *seen == key)
            .map_or(self.start, |(_, position)| *position);
        self.error(position, format!("{key}: {message}"))
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'a>>> {
        self.known.push(key);
        let index = self.fields.iter().position(|(name, _, _)| name == key)?;
        let (_, span, value) = self.fields.swap_remove(index);
        self.seen.push((key, span.start));
        Some(value)
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) -> FileError {
        self.error(
            value.span().start,
            format!(
                "{key}: it should be {wanted}, not {} {}",
                article(value.get_ref().type_str()),
                value.get_ref().type_str()
            ),
        )
    }

    /// A text, if the key is there.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::String(text) => Ok(Some(text.to_string())),
            _ => Err(self.wrong_type(key, &value, "a text in quotes")),
        }
    }

    /// A list of texts; empty if the key is not there.
    pub(super) fn list(&mut self, key: &'static str) -> Result<Vec<String>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(Vec::new());
        };
        let wanted = "a list of texts in quotes";
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(key, &value, wanted));
        };
        let texts = items.iter().map(|item| match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.wrong_type(key, item, wanted)),
        });
        texts.collect()
    }

    /// A text that must be there.
    pub(super) fn required_text(&mut self, key: &'static str) -> Result<String, FileError> {
        self.text(key)?.ok_or_else(|| self.missing(key, "\"...\""))
    }

    fn missing(&self, key: &str, example: &str) -> FileError {
        self.error(
            self.start,
            format!("{key} is missing here; write {key} = {example}"),
        )
    }

    /// A whole number that fits its type.
    pub(super) fn number<T: TryFrom<u64>>(
        &mut self,
        key: &'static str,
    ) -> Result<Option<T>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let DeValue::Integer(integer) = value.get_ref() else {
            return Err(self.wrong_type(key, &value, "a whole number without quotes"));
        };
        u64::from_str_radix(integer.as_str(), integer.radix())
            .ok()
            .and_then(|number| T::try_from(number).ok())
            .map(Some)
            .ok_or_else(|| {
                self.error(
                    value.span().start,
                    format!("{key}: {} is out of range", integer.as_str()),
                )
            })
    }

    /// A number that may have a fraction.
    pub(super) fn float(&mut self, key: &'static str) -> Result<Option<f64>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let text = match value.get_ref() {
            DeValue::Float(float) => float.as_str(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            _ => return Err(self.wrong_type(key, &value, "a number without quotes")),
        };
        text.parse().map(Some).map_err(|_| {
            self.error(
                value.span().start,
                format!("{key}: '{text}' is not a number"),
            )
        })
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            _ => Err(self.wrong_type(key, &value, "true or false")),
        }
    }

    /// One of the words that the key takes.
    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let DeValue::String(text) = value.get_ref() else {
            let wanted = format!("one of \"{}\"", words.join("\", \""));
            return Err(self.wrong_type(key, &value, &wanted));
        };
        choices
            .iter()
            .find(|(word, _)| word == text)
            .map(|(_, choice)| Some(*choice))
            .ok_or_else(|| {
                let hint = nearest(text, &words)
                    .map(|word| format!("did you mean \"{word}\"? "))
                    .unwrap_or_default();
                self.error(
                    value.span().start,
                    format!(
                        "{key}: unknown value \"{text}\"; {hint}It takes \"{}\"",
                        words.join("\", \"")
                    ),
                )
            })
    }

    /// One of the words that the key takes; it must be there.
    pub(super) fn required_choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<T, FileError> {
        let example = choices.first().map_or("...", |(word, _)| word);
        self.choice(key, choices)?
            .ok_or_else(|| self.missing(key, &format!("\"{example}\"")))
    }

    fn quantity(
        &mut self,
        key: &'static str,
        wanted: &str,
        parse: impl Fn(&str) -> Result<u64, UnitError>,
    ) -> Result<Option<u64>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().to_owned(),
            _ => return Err(self.wrong_type(key, &value, wanted)),
        };
        parse(&text)
            .map(Some)
            .map_err(|error| self.error(value.span().start, format!("{key}: {error}")))
    }

    /// A size with its unit, or a bare number of bytes.
    pub(super) fn size(&mut self, key: &'static str) -> Result<Option<u64>, FileError> {
        self.quantity(key, "a size such as \"4KiB\"", units::parse_size)
    }

    /// A share of the target, if that is how the value is written.
    pub(super) fn share(&mut self, key: &'static str) -> Result<Option<Share>, FileError> {
        let is_share = self.fields.iter().any(|(name, _, value)| {
            name == key && matches!(value.get_ref(), DeValue::String(text) if text.trim_end().ends_with('%'))
        });
        if !is_share {
            return Ok(None);
        }
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let DeValue::String(text) = value.get_ref() else {
            return Ok(None);
        };
        Share::parse(text)
            .map(Some)
            .map_err(|error| self.error(value.span().start, format!("{key}: {error}")))
    }

    /// A duration with its unit, or a bare number of seconds.
    pub(super) fn duration(&mut self, key: &'static str) -> Result<Option<u64>, FileError> {
        self.quantity(key, "a duration such as \"5s\"", units::parse_duration)
    }

    /// The tables under `[[key]]`.
    pub(super) fn tables(&mut self, key: &'static str) -> Result<Vec<Fields<'a>>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(Vec::new());
        };
        let wanted = format!("tables that begin with [[{key}]]");
        let mut tables = Vec::new();
        match value.get_ref() {
            DeValue::Array(items) => {
                if items.len() > STAGES_MAX {
                    return Err(self.error_at(key, &super::too_many_stages(items.len())));
                }
                for item in items {
                    let DeValue::Table(table) = item.get_ref() else {
                        return Err(self.wrong_type(key, item, &wanted));
                    };
                    tables.push(Self::new(self.text, item.span().start, table.clone()));
                }
            }
            _ => return Err(self.wrong_type(key, &value, &wanted)),
        }
        Ok(tables)
    }

    /// The table that the key holds, to be read as this one is.
    pub(super) fn nested(&mut self, key: &'static str) -> Result<Option<Self>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Table(table) => {
                let start = value.span().start;
                Ok(Some(Self::new(self.text, start, table.clone())))
            }
            _ => Err(self.wrong_type(key, &value, &format!("a table, as in [stage.{key}]"))),
        }
    }

    /// The fields of the table that the key holds, in the order of the text.
    pub(super) fn table(&mut self, key: &'static str) -> Result<Vec<Field<'a>>, FileError> {
        let Some(value) = self.take(key) else {
            return Ok(Vec::new());
        };
        match value.get_ref() {
            DeValue::Table(table) => Ok(ordered(table)),
            _ => Err(self.wrong_type(key, &value, &format!("a table, as in [stage.{key}]"))),
        }
    }

    /// A table of texts, if the key is there.
    pub(super) fn texts(
        &mut self,
        key: &'static str,
    ) -> Result<BTreeMap<String, String>, FileError> {
        let fields = self.table(key)?;
        let text = |(name, span, value): Field<'a>| match value.get_ref() {
            DeValue::String(text) => Ok((name, text.to_string())),
            other => Err(self.error(
                span.start,
                format!(
                    "{key}: {name} should be a text in quotes, not {} {}",
                    article(other.type_str()),
                    other.type_str()
                ),
            )),
        };
        fields.into_iter().map(text).collect()
    }

    /// An error about the text at this place.
    pub(super) fn error_in(&self, span: &Range<usize>, message: String) -> FileError {
        self.error(span.start, message)
    }

    /// Whether a key that nobody has asked for yet is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.fields.iter().any(|(name, _, _)| name == key)
    }

    /// Leaves a field out, as if it were not there.
    pub(super) fn leave_out(&mut self, key: &str) {
        self.fields.retain(|(name, _, _)| name != key);
    }

    /// The same table with these fields besides.
    pub(super) fn with<'f>(&self, more: impl Iterator<Item = &'f Field<'a>>) -> Self
    where
        'a: 'f,
    {
        let mut table = self.clone();
        table.fields.extend(more.cloned());
        table
    }

    /// Refuses the first key that nobody asked for.
    pub(super) fn finish(mut self, of_what: &str) -> Result<(), FileError> {
        self.fields.sort_by_key(|(_, span, _)| span.start);
        let Some((name, span, _)) = self.fields.first() else {
            return Ok(());
        };
        let hint = super::kernel::hint(name, &self.known);
        let mut known = self.known.clone();
        known.sort_unstable();
        Err(self.error(
            span.start,
            format!(
                "unknown key '{name}' in {of_what}{hint} (known keys: {})",
                known.join(", ")
            ),
        ))
    }
}

/// The fields of a table in the order of the text; the parser sorts them by name.
pub(super) fn ordered<'a>(table: &DeTable<'a>) -> Vec<Field<'a>> {
    let mut fields: Vec<Field<'a>> = table
        .iter()
        .map(|(key, value)| (key.get_ref().to_string(), key.span(), value.clone()))
        .collect();
    fields.sort_by_key(|(_, span, _)| span.start);
    fields
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    }
}

/// The line, from 1, that holds the byte at `position`.
fn line_of(text: &str, position: usize) -> usize {
    let end = position.min(text.len());
    1 + text.as_bytes()[..end]
        .iter()
        .filter(|b| **b == b'\n')
        .count()
}

/// The known word most like `word`, if any is like it at all.
pub fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), *candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
