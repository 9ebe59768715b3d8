//! Rust source with its code, its comments and its tests told apart, so that a
//! rule about code does not stumble over a sentence, nor the other way round.
//!
//! This reads tokens only as far as that takes: comments, strings and
//! characters (The Rust Reference, "Lexical structure").

/// Both texts have the lines and columns of the original; what belongs to the
/// other one is blank. Strings are blank in both, but for their quotes.
pub(super) struct Source {
    pub(super) code: String,
    pub(super) comments: String,
    /// First and last line, from 1, of each item that is only for tests.
    tests: Vec<(usize, usize)>,
}

impl Source {
    pub(super) fn read(text: &str) -> Self {
        let mut reader = Reader {
            text: text.chars().collect(),
            at: 0,
            code: String::with_capacity(text.len()),
            comments: String::with_capacity(text.len()),
        };
        while reader.at < reader.text.len() {
            reader.token();
        }
        let tests = test_items(&reader.code);
        Self {
            code: reader.code,
            comments: reader.comments,
            tests,
        }
    }

    pub(super) fn is_test(&self, line: usize) -> bool {
        self.tests
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&line))
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Code,
    Comment,
    Inside,
}

struct Reader {
    text: Vec<char>,
    at: usize,
    code: String,
    comments: String,
}

impl Reader {
    fn peek(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn take(&mut self, count: usize, kind: Kind) {
        let end = (self.at + count).min(self.text.len());
        for c in &self.text[self.at..end] {
            let (code, comment) = match kind {
                _ if *c == '\n' => ('\n', '\n'),
                Kind::Code => (*c, ' '),
                Kind::Comment => (' ', *c),
                Kind::Inside => (' ', ' '),
            };
            self.code.push(code);
            self.comments.push(comment);
        }
        self.at = end;
    }

    fn token(&mut self) {
        match (self.peek(0), self.peek(1)) {
            ('/', '/') => {
                let length = self.length_until(|c| c == '\n');
                self.take(length, Kind::Comment);
            }
            ('/', '*') => self.block_comment(),
            ('"', _) => self.string(),
            ('\'', _) => self.character_or_lifetime(),
            (c, _) if c.is_alphabetic() || c == '_' => self.word(),
            _ => self.take(1, Kind::Code),
        }
    }

    fn length_until(&self, end: impl Fn(char) -> bool) -> usize {
        let rest = &self.text[self.at..];
        rest.iter().position(|c| end(*c)).unwrap_or(rest.len())
    }

    /// They nest.
    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => {
                    depth += 1;
                    self.take(2, Kind::Comment);
                }
                ('*', '/') => {
                    depth -= 1;
                    self.take(2, Kind::Comment);
                }
                _ => self.take(1, Kind::Comment),
            }
            if depth == 0 || self.at == self.text.len() {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take(1, Kind::Code);
        while self.at < self.text.len() && self.peek(0) != '"' {
            let length = if self.peek(0) == '\\' { 2 } else { 1 };
            self.take(length, Kind::Inside);
        }
        self.take(1, Kind::Code);
    }

    fn character_or_lifetime(&mut self) {
        let length = match (self.peek(1), self.peek(2)) {
            // The escaped character itself may be a quote.
            ('\\', _) => {
                let rest = self.text.get(self.at + 3..).unwrap_or_default();
                rest.iter().position(|c| *c == '\'').map(|end| end + 2)
            }
            (_, '\'') => Some(1),
            _ => None,
        };
        self.take(1, Kind::Code);
        if let Some(length) = length {
            self.take(length, Kind::Inside);
            self.take(1, Kind::Code);
        }
    }

    /// An identifier, or the prefix of a raw string: `r"`, `br##"`, `cr"`.
    fn word(&mut self) {
        let length = self.length_until(|c| !c.is_alphanumeric() && c != '_');
        let word: String = self.text[self.at..self.at + length].iter().collect();
        self.take(length, Kind::Code);
        if !matches!(word.as_str(), "r" | "br" | "cr") {
            return;
        }
        let hashes = self.length_until(|c| c != '#');
        if self.peek(hashes) != '"' {
            return;
        }
        self.take(hashes + 1, Kind::Code);
        while self.at < self.text.len() {
            let ends = self.peek(0) == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == '#');
            if ends {
                self.take(hashes + 1, Kind::Code);
                return;
            }
            self.take(1, Kind::Inside);
        }
    }
}

/// The lines of what stands behind each `#[cfg(test)]`.
fn test_items(code: &str) -> Vec<(usize, usize)> {
    code.match_indices("#[cfg(test)]")
        .map(|(start, _)| {
            let end = start + item_length(&code[start..]);
            (line_at(code, start), line_at(code, end))
        })
        .collect()
}

/// Up to the brace that closes the item's first one, or to its semicolon.
fn item_length(code: &str) -> usize {
    let mut depth = 0_u32;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            ';' if depth == 0 => return at,
            _ => {}
        }
    }
    code.len()
}

/// The line, from 1, of a byte.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    1 + text[..at].bytes().filter(|b| *b == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_told_apart_in_place() {
        let source = Source::read("let a = 1; // one\n/* two /* deep */ */ let b = 2;\n");
        assert_eq!(
            source.code,
            "let a = 1;       \n                     let b = 2;\n"
        );
        assert_eq!(
            source.comments,
            "           // one\n/* two /* deep */ */           \n"
        );
    }

    #[test]
    fn strings_hold_neither_code_nor_comments() {
        for (text, code) in [
            (r#"f("// \" dbg!") + 1"#, r#"f("          ") + 1"#),
            (r##"f(r#"a " b"#) + 1"##, r##"f(r#"     "#) + 1"##),
            (r#"f(b"x", br"\") + 1"#, r#"f(b" ", br" ") + 1"#),
            ("f('\"', '\\'', '/') + g", "f(' ', '  ', ' ') + g"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("let r#type = 1;", "let r#type = 1;"),
            ("'\\u{1F600}' // x", "'         '     "),
        ] {
            assert_eq!(Source::read(text).code, code, "{text}");
        }
    }

    #[test]
    fn an_end_in_the_middle_of_a_token_is_an_end() {
        for text in ["\"open", "r#\"open", "/* open", "'", "'\\", "r#"] {
            let source = Source::read(text);
            assert_eq!(source.code.chars().count(), text.chars().count(), "{text}");
        }
    }

    #[test]
    fn a_module_of_tests_reaches_to_its_closing_brace() {
        let source = Source::read(
            "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { '}'; }\n}\nfn c() {}\n",
        );
        let tests: Vec<usize> = (1..=6).filter(|line| source.is_test(*line)).collect();
        assert_eq!(tests, [2, 3, 4, 5]);
        let source = Source::read("#[cfg(test)]\nmod tests;\nfn c() {}\n");
        assert!(source.is_test(2) && !source.is_test(3));
    }
}
