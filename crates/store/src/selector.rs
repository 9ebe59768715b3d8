//! How people name a stored run.

/// Which run is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The one that began last, or this many before it: `last`, `last~1`.
    Last {
        /// How many to go back.
        back: u32,
    },
    /// The one with this id, or the only one whose id begins so.
    Id(String),
}

impl Selector {
    /// Reads `last`, `last~N`, or takes the text for an id or its beginning.
    /// Every text is a selector; whether it selects a run is another matter.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let back = match text.strip_prefix("last") {
            Some("") => Some(0),
            Some(rest) => rest.strip_prefix('~').and_then(|n| n.parse().ok()),
            None => None,
        };
        back.map_or_else(|| Self::Id(text.to_owned()), |back| Self::Last { back })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_counts_back_and_all_else_is_an_id() {
        assert_eq!(Selector::parse("last"), Selector::Last { back: 0 });
        assert_eq!(Selector::parse(" last~12 "), Selector::Last { back: 12 });
        for id in [
            "20261121-024150-7f3a",
            "2026",
            "last~",
            "last~x",
            "lastly",
            "",
        ] {
            assert_eq!(Selector::parse(id), Selector::Id(id.into()));
        }
    }
}
