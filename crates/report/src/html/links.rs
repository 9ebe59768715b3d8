//! Where links lead: within one file, or to the pages of a server.

use std::fmt::Write as _;

/// Where the things of a run have their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Links {
    /// All in one file: to its anchors.
    File,
    /// Each on a page of a server, below this path, which has no slash at its end.
    Server {
        /// `/TOKEN`.
        prefix: String,
    },
}

impl Links {
    /// Another page of a server by its name, which may be empty; in a file the page itself.
    pub fn page(&self, name: &str) -> String {
        match self {
            Self::File => "#".to_owned(),
            Self::Server { prefix } => format!("{prefix}/{name}"),
        }
    }

    /// A run by its id. `place` is its place in a file of several, from 0.
    pub fn run(&self, place: usize, id: &str) -> String {
        match self {
            Self::File => format!("#{}", anchor(place, "run")),
            Self::Server { prefix } => format!("{prefix}/run/{}", segment(id)),
        }
    }

    /// A claim of a run by its mark on the first page, `3` or `b`, or the name of a use.
    pub fn claim(&self, place: usize, id: &str, mark: &str) -> String {
        match self {
            Self::File => format!("#{}", anchor(place, &format!("claim-{mark}"))),
            Self::Server { prefix } => {
                format!("{prefix}/run/{}/claim/{}", segment(id), segment(mark))
            }
        }
    }

    /// Two runs beside each other; `None` in a file, which has no comparison of theirs.
    pub fn compare(&self, baseline: &str, candidate: &str) -> Option<String> {
        match self {
            Self::File => None,
            Self::Server { prefix } => Some(format!(
                "{prefix}/compare?a={}&b={}",
                segment(baseline),
                segment(candidate)
            )),
        }
    }
}

/// The id of an element that is of one run of several: `r1-claim-3`. Marks are letters and
/// digits; what else a name has is left out.
pub(crate) fn anchor(place: usize, name: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
    let name: String = name.chars().filter(plain).collect();
    format!("r{}-{name}", place + 1)
}

/// A text as a segment of a path or a value of a query (RFC 3986): all but what is reserved for
/// nothing is escaped.
pub(crate) fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_file_links_lead_to_anchors_and_on_a_server_to_pages() {
        let server = Links::Server {
            prefix: "/secret".into(),
        };
        assert_eq!(Links::File.run(1, "2026"), "#r2-run");
        assert_eq!(server.run(1, "20/../x"), "/secret/run/20%2F..%2Fx");
        assert_eq!(Links::File.claim(0, "2026", "b"), "#r1-claim-b");
        assert_eq!(server.claim(0, "2026", "b"), "/secret/run/2026/claim/b");
        assert_eq!(Links::File.compare("a", "b"), None);
        assert_eq!(
            server.compare("a b", "c&d").as_deref(),
            Some("/secret/compare?a=a%20b&b=c%26d")
        );
    }

    #[test]
    fn an_anchor_is_of_plain_characters() {
        assert_eq!(anchor(0, "claim-\"<x>"), "r1-claim-x");
    }
}
