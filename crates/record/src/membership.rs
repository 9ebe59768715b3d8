//! What a run belongs to: a group of runs, and what else tells it from others of a fleet.
//!
//! It is said when a run is made and never changed, so unlike a [name](crate::labels) it is a part of
//! the run's document, goes where the run goes, and two runs that differ in it are two.

use crate::labels::{self, LABEL_CHARS_MAX, LabelError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Labels of a run, at most.
pub const PAIRS_MAX: usize = 64;

/// What a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Membership {
    /// The runs that are looked at together: those of a day, of an order of disks, of a moment.
    pub group: Option<String>,
    /// What else is known of where it was made, by key: `rack`, `firmware`, `team`.
    pub labels: BTreeMap<String, String>,
}

/// A group: a word as a [tag](labels::tag) is one, because it is typed in selectors.
///
/// # Errors
/// Where it is no single word.
pub fn group(text: &str) -> Result<String, LabelError> {
    labels::word("group", text)
}

/// A label, `KEY=VALUE`: the key a word without `=`, the value one line of up to
/// [`LABEL_CHARS_MAX`] characters, which may have spaces and dots in it (`firmware=1.2.3 b`).
///
/// # Errors
/// Where there is no `=`, the key is no word, or the value empty, too long or no line.
pub fn label(text: &str) -> Result<(String, String), LabelError> {
    let (key, value) = text.split_once('=').ok_or_else(|| LabelError::NoValue {
        text: text.escape_debug().to_string(),
    })?;
    pair(key, value)
}

fn pair(key: &str, value: &str) -> Result<(String, String), LabelError> {
    let key = labels::word("key of a label", key)?;
    if key.contains('=') {
        return Err(LabelError::NoValue {
            text: key.escape_debug().to_string(),
        });
    }
    let value = value.trim();
    let chars = value.chars().count();
    if value.is_empty() {
        return Err(LabelError::Empty {
            what: "value of a label",
        });
    }
    if chars > LABEL_CHARS_MAX {
        return Err(LabelError::Long {
            what: "value of a label",
            most: format!("{LABEL_CHARS_MAX} characters"),
            found: chars,
        });
    }
    match value.chars().find(|c| c.is_control()) {
        None => Ok((key, value.to_owned())),
        Some(found) => Err(LabelError::Line {
            found: found.escape_debug().to_string(),
        }),
    }
}

impl Membership {
    /// What was said on a command line. Of a key that was said twice the last value counts.
    ///
    /// # Errors
    /// Where there are too many labels.
    pub fn of(
        group: Option<String>,
        labels: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, LabelError> {
        let membership = Self {
            group,
            labels: labels.into_iter().collect(),
        };
        membership.check()?;
        Ok(membership)
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.group.is_none() && self.labels.is_empty()
    }

    /// Whether all of it is what [`group`] and [`label`] take: that of a file from elsewhere need
    /// not be.
    ///
    /// # Errors
    /// What is wrong with the first that is not.
    pub fn check(&self) -> Result<(), LabelError> {
        self.group.as_deref().map(group).transpose()?;
        if self.labels.len() > PAIRS_MAX {
            return Err(LabelError::Long {
                what: "run",
                most: format!("{PAIRS_MAX} labels"),
                found: self.labels.len(),
            });
        }
        for (key, value) in &self.labels {
            pair(key, value)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_key_and_a_line() {
        let good = |text: &str| label(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(good("rack=r12"), ("rack".into(), "r12".into()));
        // Versions have dots, and a value may have what parts a key from it.
        assert_eq!(
            good("firmware=1.2.3 b"),
            ("firmware".into(), "1.2.3 b".into())
        );
        assert_eq!(good("of=a=b"), ("of".into(), "a=b".into()));
        for (bad, said) in [
            ("rack", "KEY=VALUE"),
            ("=x", "at least one"),
            ("rack=", "at least one"),
            ("rack= ", "at least one"),
            ("a b=c", "one word"),
            ("a.b=c", "'.'"),
            ("a=b\u{1b}[2J", "\\u{1b}"),
            ("a=b\nc", "\\n"),
        ] {
            let error = label(bad).expect_err(bad).to_string();
            assert!(error.contains(said), "{bad}: {error}");
            assert!(
                !error.contains('\u{1b}') && !error.contains('\n'),
                "{error}"
            );
        }
        assert!(label(&format!("k={}", "ü".repeat(LABEL_CHARS_MAX))).is_ok());
        assert!(label(&format!("k={}", "ü".repeat(LABEL_CHARS_MAX + 1))).is_err());
    }

    #[test]
    fn a_group_is_a_word_and_may_be_a_number() {
        assert_eq!(group("2026-w47").as_deref(), Ok("2026-w47"));
        assert_eq!(group("42").as_deref(), Ok("42"));
        for bad in ["", "a/b", "a b", "a,b", "a:b", "-x", "a\u{7}"] {
            assert!(group(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_comes_from_elsewhere_is_checked_one_by_one() {
        let good = Membership::of(Some("monday".into()), [("rack".into(), "r1".into())]).unwrap();
        assert!(!good.is_empty() && Membership::default().is_empty());
        let with = |key: &str, value: &str| Membership {
            labels: [(key.to_owned(), value.to_owned())].into(),
            ..good.clone()
        };
        for bad in [
            Membership {
                group: Some("a b".into()),
                ..good.clone()
            },
            with("", "x"),
            with("a=b", "x"),
            with("a", ""),
            with("a", "b\nc"),
            Membership {
                labels: (0..=PAIRS_MAX)
                    .map(|n| (format!("k{n}"), "v".into()))
                    .collect(),
                ..good.clone()
            },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
