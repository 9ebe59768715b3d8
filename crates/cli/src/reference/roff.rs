//! Text in the language of manual pages, man(7): macros in lines that begin with a dot, and
//! prose, in which a backslash begins an escape.

use std::fmt::Write;

/// Columns after which a line of the source is broken, which readers of it expect; what is
/// shown does not depend on it.
const WIDTH: usize = 78;

/// A page that is being written.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// A line with a macro and its arguments, which are quoted.
    pub(super) fn request(&mut self, name: &str, arguments: &[&str]) {
        let _ = write!(self.text, ".{name}");
        for argument in arguments {
            let escaped = argument.replace('\\', "\\e").replace('"', "\\(dq");
            if escaped.is_empty() || escaped.contains(' ') {
                let _ = write!(self.text, " \"{escaped}\"");
            } else {
                let _ = write!(self.text, " {escaped}");
            }
        }
        self.text.push('\n');
    }

    /// Prose, in which words between backticks are bold; each sentence begins a line, as
    /// man(7) wants it.
    pub(super) fn prose(&mut self, text: &str) {
        let marked: String = spans(text).iter().map(Span::marked).collect();
        let mut line = String::new();
        let mut sentence_ended = false;
        for word in marked.split_whitespace() {
            let full = line.len() + 1 + word.len() > WIDTH;
            if !line.is_empty() && (full || sentence_ended && begins_a_sentence(word)) {
                self.push(&line);
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            sentence_ended = word.ends_with(['.', '!', '?']);
        }
        if !line.is_empty() {
            self.push(&line);
        }
    }

    /// One line, of which parts are in another font: the head of an item has to be one.
    pub(super) fn line(&mut self, spans: &[Span]) {
        let marked: String = spans.iter().map(Span::marked).collect();
        self.push(marked.trim_end());
    }

    /// A line that is not taken for a macro.
    fn push(&mut self, escaped: &str) {
        if escaped.starts_with(['.', '\'']) {
            self.text.push_str("\\&");
        }
        self.text.push_str(escaped);
        self.text.push('\n');
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

fn begins_a_sentence(word: &str) -> bool {
    word.starts_with(|c: char| c.is_uppercase() || c == '\\')
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Span {
    Roman(String),
    /// What is typed as it stands.
    Bold(String),
    /// What something else is put in the place of.
    Italic(String),
}

impl Span {
    /// Escaped, with the escapes of its font around each word, so that a line may be broken
    /// between them.
    fn marked(&self) -> String {
        let (font, text) = match self {
            Self::Roman(text) => return escape(text),
            Self::Bold(text) => ('B', text),
            Self::Italic(text) => ('I', text),
        };
        let words = text.split(' ').map(|word| match word {
            "" => String::new(),
            word => format!("\\f{font}{}\\fR", escape(word)),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Prose as parts: what stands between backticks is typed.
fn spans(text: &str) -> Vec<Span> {
    let parts = text.split('`').enumerate();
    let spans = parts.map(|(at, part)| match at % 2 {
        0 => Span::Roman(part.to_owned()),
        _ => Span::Bold(part.to_owned()),
    });
    spans.collect()
}

/// Text without characters that would mean something: a backslash, and those that groff
/// sets as typographic ones, so that what is copied from a page can be typed.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '^' => escaped.push_str("\\(ha"),
            '~' => escaped.push_str("\\(ti"),
            '`' => escaped.push_str("\\(ga"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(text: &str) -> String {
        let mut page = Page::default();
        page.prose(text);
        page.into_text()
    }

    #[test]
    fn what_groff_would_take_for_something_else_is_escaped() {
        assert_eq!(prose("a\\b"), "a\\eb\n");
        assert_eq!(prose(".SH is no macro here"), "\\&.SH is no macro here\n");
        assert_eq!(
            prose("it's --json ~ ^"),
            "it\\(aqs \\-\\-json \\(ti \\(ha\n"
        );
        let mut page = Page::default();
        page.request("TH", &["a \"b\"", "", "2026-11-25"]);
        assert_eq!(page.into_text(), ".TH \"a \\(dqb\\(dq\" \"\" 2026-11-25\n");
    }

    #[test]
    fn what_is_typed_is_bold_and_each_sentence_begins_a_line() {
        let text = prose("See `measure --help`. It is long. 3.5 s are not.");
        assert_eq!(
            text,
            "See \\fBmeasure\\fR \\fB\\-\\-help\\fR.\nIt is long. 3.5 s are not.\n"
        );
    }

    #[test]
    fn long_prose_is_broken_between_words() {
        let text = prose(&"word ".repeat(40));
        assert!(text.lines().count() > 2, "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.split_whitespace().count(), 40);
    }
}
