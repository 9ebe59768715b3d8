//! How people name a stored run.

/// Which run is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The one that began last, or this many before it: `last`, `last~1`.
    Last {
        /// How many to go back.
        back: u32,
    },
    /// Of those with this name the one that began this many before the last: `nightly~1`.
    Before {
        /// The name.
        name: String,
        /// How many to go back.
        back: u32,
    },
    /// The one with this id; else, of those with this name, the one that began last; else the
    /// only one whose id begins so. No name is the beginning of an id
    /// ([`labels::name`](diskfacts_record::labels::name)).
    Word(String),
}

impl Selector {
    /// Reads `last`, `last~N`, `NAME~N`, or takes the text for an id, a name or the beginning
    /// of an id. Every text is a selector; whether it selects a run is another matter.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let (word, back) = match text.split_once('~') {
            None => (text, None),
            Some((word, back)) => match back.parse() {
                Ok(back) => (word, Some(back)),
                // Nothing is called so, and the error says all of it.
                Err(_) => (text, None),
            },
        };
        match (word, back) {
            ("last", back) => Self::Last {
                back: back.unwrap_or(0),
            },
            (name, Some(back)) => Self::Before {
                name: name.to_owned(),
                back,
            },
            (word, None) => Self::Word(word.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_and_names_count_back_and_all_else_is_a_word() {
        assert_eq!(Selector::parse("last"), Selector::Last { back: 0 });
        assert_eq!(Selector::parse(" last~12 "), Selector::Last { back: 12 });
        let before = |name: &str, back| Selector::Before {
            name: name.into(),
            back,
        };
        assert_eq!(Selector::parse("nightly~1"), before("nightly", 1));
        assert_eq!(Selector::parse("nightly~0"), before("nightly", 0));
        assert_eq!(Selector::parse("~1"), before("", 1));
        for word in [
            "20261121-024150-7f3a",
            "2026",
            "nightly",
            "last~",
            "last~x",
            "last~4294967296",
            "lastly",
            "",
        ] {
            assert_eq!(Selector::parse(word), Selector::Word(word.into()));
        }
    }
}
