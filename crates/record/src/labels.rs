//! What people call a run: a name, a note, tags.
//!
//! Names and tags are typed as words, in commands and in selectors (`nightly~1`,
//! `last,nightly:scheduler=none`, `run.json`), so none of the characters that mean something
//! there may be in them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use thiserror::Error;

/// Characters of a name or a tag, at most: what stands in a column of a table.
pub const LABEL_CHARS_MAX: usize = 64;

/// Bytes of a note, at most: a screen full of text.
pub const NOTE_BYTES_MAX: usize = 4096;

/// Tags of a run, at most.
pub const TAGS_MAX: usize = 64;

/// What people call a run. It says nothing of what was measured, may be changed at any
/// time, and is no part of what makes two runs equal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Labels {
    /// Its name, which other runs may have too: `nightly` is the newest of them.
    pub name: Option<String>,
    /// What is to be known of it, in words.
    pub note: Option<String>,
    /// Words to find it by.
    pub tags: BTreeSet<String>,
}

/// Why a text is no name, tag or note.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LabelError {
    /// Nothing is written there.
    #[error("a {what} has at least one character")]
    Empty {
        /// `name`, `tag` or `note`.
        what: &'static str,
    },
    /// It is too long.
    #[error("a {what} has at most {most}, and this one has {found}")]
    Long {
        /// `name`, `tag` or `note`.
        what: &'static str,
        /// The limit, with its unit.
        most: String,
        /// How long it is, in the same unit.
        found: usize,
    },
    /// A character means something else where names are typed.
    #[error(
        "a {what} is one word without spaces, control characters, '~', '.', '/', ',' and ':', and \
         does not begin with '-'; '{found}' cannot be in '{text}'"
    )]
    Character {
        /// `name` or `tag`.
        what: &'static str,
        /// The whole text, its control characters escaped.
        text: String,
        /// The character, escaped.
        found: String,
    },
    /// It is the beginning of an id.
    #[error(
        "'{text}' could be the beginning of a run's id, so it cannot be a name; put a word \
         before it, as in run-{text}"
    )]
    LikeAnId {
        /// The text.
        text: String,
    },
    /// It is a selector already.
    #[error("'last' is the newest run, so it cannot be a name")]
    Last,
    /// A label of a fleet without its two parts.
    #[error("a label is KEY=VALUE, as in rack=r12, and '{text}' is not")]
    NoValue {
        /// The text, escaped.
        text: String,
    },
    /// Its value is not one line.
    #[error("the value of a label is one line without control characters; '{found}' is one")]
    Line {
        /// The character, escaped.
        found: String,
    },
    /// Text that moves the cursor, or that nothing shows.
    #[error("a note has no control characters but line ends; '{found}' is one")]
    Control {
        /// The character, escaped.
        found: String,
    },
}

/// Whether a text could be the beginning of a run's id, `20261121-024150-7f3a9c04`: hexadecimal
/// digits and hyphens, of which the first is a decimal digit.
pub fn is_like_an_id(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| matches!(c, '0'..='9' | 'a'..='f' | 'A'..='F' | '-'))
}

/// A name of a run.
///
/// # Errors
/// Where it is no single word, or one that means something else already.
pub fn name(text: &str) -> Result<String, LabelError> {
    let text = word("name", text)?;
    if text == "last" {
        return Err(LabelError::Last);
    }
    if is_like_an_id(&text) {
        return Err(LabelError::LikeAnId { text });
    }
    Ok(text)
}

/// A tag of a run.
///
/// # Errors
/// Where it is no single word.
pub fn tag(text: &str) -> Result<String, LabelError> {
    word("tag", text)
}

/// A note on a run: text of any length up to [`NOTE_BYTES_MAX`].
///
/// # Errors
/// Where it is empty, too long, or has control characters but line ends.
pub fn note(text: &str) -> Result<String, LabelError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(LabelError::Empty { what: "note" });
    }
    if text.len() > NOTE_BYTES_MAX {
        return Err(LabelError::Long {
            what: "note",
            most: format!("{NOTE_BYTES_MAX} bytes"),
            found: text.len(),
        });
    }
    if let Some(found) = text.chars().find(|c| c.is_control() && *c != '\n') {
        return Err(LabelError::Control {
            found: found.escape_default().to_string(),
        });
    }
    Ok(text.to_owned())
}

impl Labels {
    /// Whether a run has none.
    pub fn is_empty(&self) -> bool {
        self.name.is_none() && self.note.is_none() && self.tags.is_empty()
    }

    /// Whether each of them is what [`name`], [`note`] and [`tag`] take: those of a file
    /// from elsewhere need not be.
    ///
    /// # Errors
    /// What is wrong with the first that is not.
    pub fn check(&self) -> Result<(), LabelError> {
        self.name.as_deref().map(name).transpose()?;
        self.note.as_deref().map(note).transpose()?;
        if self.tags.len() > TAGS_MAX {
            return Err(LabelError::Long {
                what: "run",
                most: format!("{TAGS_MAX} tags"),
                found: self.tags.len(),
            });
        }
        for one in &self.tags {
            tag(one)?;
        }
        Ok(())
    }
}

pub(crate) fn word(what: &'static str, text: &str) -> Result<String, LabelError> {
    if text.is_empty() {
        return Err(LabelError::Empty { what });
    }
    let chars = text.chars().count();
    if chars > LABEL_CHARS_MAX {
        return Err(LabelError::Long {
            what,
            most: format!("{LABEL_CHARS_MAX} characters"),
            found: chars,
        });
    }
    let is_apart =
        |c: char| c.is_control() || c.is_whitespace() || matches!(c, '~' | '.' | '/' | ',' | ':');
    let found = text.chars().find(|c| is_apart(*c));
    let found = found.or_else(|| text.starts_with('-').then_some('-'));
    match found {
        None => Ok(text.to_owned()),
        Some(found) => Err(LabelError::Character {
            what,
            text: text.chars().flat_map(char::escape_debug).collect(),
            found: found.escape_debug().to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_that_means_nothing_else() {
        for good in [
            "nightly",
            "after-fw_7",
            "lastly",
            "Last",
            "2026-w47",
            "4k",
            "ada",
            "größe",
        ] {
            assert_eq!(name(good).as_deref(), Ok(good));
        }
        for (bad, said) in [
            ("", "at least one"),
            ("last", "the newest run"),
            ("20261121", "beginning of a run's id"),
            ("2", "beginning of a run's id"),
            ("20261121-0241", "beginning of a run's id"),
            ("20261121-024150-7F3A", "beginning of a run's id"),
            ("nightly~1", "'~'"),
            ("v1.2", "'.'"),
            ("a/b", "'/'"),
            ("a,b", "','"),
            ("a:b", "':'"),
            ("after the firmware", "one word"),
            ("a\u{1b}[2J", "\\u{1b}"),
            ("a\nb", "\\n"),
            ("-x", "begin with '-'"),
        ] {
            let error = name(bad).expect_err(bad).to_string();
            assert!(error.contains(said), "{bad}: {error}");
            assert!(
                !error.contains('\u{1b}') && !error.contains('\n'),
                "{error}"
            );
        }
        assert!(name(&"n".repeat(LABEL_CHARS_MAX)).is_ok());
        let long = name(&"ü".repeat(LABEL_CHARS_MAX + 1)).unwrap_err();
        assert!(long.to_string().contains("has 65"), "{long}");
    }

    #[test]
    fn a_tag_may_be_a_number() {
        assert_eq!(tag("2026").as_deref(), Ok("2026"));
        assert!(tag("a b").is_err() && tag("a,b").is_err());
    }

    #[test]
    fn a_note_may_have_lines_but_nothing_that_moves_the_cursor() {
        assert_eq!(
            note(" after 1.2:\nslower ").as_deref(),
            Ok("after 1.2:\nslower")
        );
        for bad in ["", " \n ", "a\u{7}b", "a\rb"] {
            assert!(note(bad).is_err(), "{bad:?}");
        }
        assert!(note(&"n".repeat(NOTE_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn labels_from_elsewhere_are_checked_one_by_one() {
        let good = Labels {
            name: Some("nightly".into()),
            note: Some("after the firmware".into()),
            tags: ["ci".into()].into(),
        };
        assert_eq!(good.check(), Ok(()));
        assert!(!good.is_empty() && Labels::default().is_empty());
        for bad in [
            Labels {
                name: Some("last".into()),
                ..good.clone()
            },
            Labels {
                note: Some(String::new()),
                ..good.clone()
            },
            Labels {
                tags: ["a b".into()].into(),
                ..good.clone()
            },
            Labels {
                tags: (0..=TAGS_MAX).map(|n| format!("t{n}")).collect(),
                ..good
            },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
