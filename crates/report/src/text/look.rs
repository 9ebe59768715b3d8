//! What the place where text is shown can do.

use std::borrow::Cow;
use std::fmt::Write as _;

/// How text should look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns; less than 40 is taken for 40.
    pub width: usize,
    /// Whether ANSI colours are understood and wanted.
    pub colour: bool,
    /// Whether more than ASCII can be shown.
    pub unicode: bool,
}

impl Default for Look {
    /// Plain ASCII in 80 columns, right everywhere.
    fn default() -> Self {
        Self {
            width: 80,
            colour: false,
            unicode: false,
        }
    }
}

/// What a piece of text is; colours only repeat what its words say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Heading,
    Good,
    Doubtful,
    Bad,
    Minor,
}

impl Style {
    /// The parameter of ECMA-48's SGR sequence.
    fn sgr(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Heading => Some("1"),
            Self::Good => Some("32"),
            Self::Doubtful => Some("33"),
            Self::Bad => Some("1;31"),
            Self::Minor => Some("2"),
        }
    }
}

impl Look {
    /// The columns to fill.
    pub(crate) fn columns(&self) -> usize {
        self.width.max(40)
    }

    /// `text` in a style, if colours are wanted.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        match style.sgr() {
            Some(sgr) if self.colour && !text.is_empty() => format!("\x1b[{sgr}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }

    /// Text from anywhere, as it can be shown: control characters and those
    /// that change the direction of writing are escaped, and what is not ASCII
    /// is written with ASCII where only that can be shown.
    pub(crate) fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let shown = |c: char| c == ' ' || c.is_ascii_graphic() || (self.unicode && is_harmless(c));
        if text.chars().all(shown) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            if shown(c) {
                out.push(c);
            } else if let Some(ascii) = in_ascii(c) {
                out.push_str(ascii);
            } else {
                // Writing to a String cannot fail.
                let _ = write!(out, "{}", c.escape_default());
            }
        }
        Cow::Owned(out)
    }

    /// `±` or `+/-`.
    pub(crate) fn plus_minus(&self) -> &'static str {
        if self.unicode { "±" } else { "+/-" }
    }

    /// `µs` for `us` where it can be shown.
    pub(crate) fn duration(&self, ns: u64) -> String {
        let text = diskfacts_plan::units::show_duration(ns);
        match text.strip_suffix("us") {
            Some(number) if self.unicode => format!("{number}µs"),
            _ => text,
        }
    }
}

/// No control character, and none of the Unicode Bidirectional Algorithm's
/// (UAX #9) explicit formatting characters, which reorder what follows them.
pub(crate) fn is_harmless(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{61c}')
}

/// The usual ASCII for characters of technical prose.
fn in_ascii(c: char) -> Option<&'static str> {
    Some(match c {
        '±' => "+/-",
        'µ' | 'μ' => "u",
        '×' => "x",
        '≤' => "<=",
        '≥' => ">=",
        '≈' => "~",
        '→' => "->",
        '…' => "...",
        '–' | '—' | '−' | '‑' | '·' => "-",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        '\u{a0}' | '\u{2009}' | '\u{202f}' => " ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCII: Look = Look {
        width: 80,
        colour: false,
        unicode: false,
    };
    const FULL: Look = Look {
        width: 80,
        colour: true,
        unicode: true,
    };

    #[test]
    fn a_name_cannot_command_the_terminal() {
        for look in [ASCII, FULL] {
            assert_eq!(
                look.clean("a\x1b[2Jb\nc\u{9b}d"),
                "a\\u{1b}[2Jb\\nc\\u{9b}d"
            );
            assert_eq!(look.clean("x\u{202e}y"), "x\\u{202e}y");
        }
    }

    #[test]
    fn ascii_keeps_the_meaning_of_what_it_cannot_show() {
        assert_eq!(
            ASCII.clean("±3 % ≤ 10 µs — fünf"),
            "+/-3 % <= 10 us - f\\u{fc}nf"
        );
        assert_eq!(
            FULL.clean("±3 % ≤ 10 µs — fünf 磁盘"),
            "±3 % ≤ 10 µs — fünf 磁盘"
        );
        assert_eq!(ASCII.duration(312_000), "312 us");
        assert_eq!(FULL.duration(312_000), "312 µs");
    }

    #[test]
    fn colours_appear_only_where_they_are_wanted() {
        assert_eq!(ASCII.paint(Style::Bad, "fail"), "fail");
        assert_eq!(FULL.paint(Style::Bad, "fail"), "\x1b[1;31mfail\x1b[0m");
        assert_eq!(FULL.paint(Style::Plain, "fail"), "fail");
    }
}
