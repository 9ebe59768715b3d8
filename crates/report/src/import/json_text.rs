//! JSON within a document: from a line that begins with `{` to the bracket that
//! closes it.

use super::{Document, quoted};

/// Most bytes of one JSON value; fio's json+ of some hundred jobs has a few MB.
const BYTES_MAX: usize = 64 << 20;

/// A JSON value as it is gathered.
#[derive(Debug, Default)]
pub(super) struct JsonText {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    line: u64,
    text: String,
    depth: u32,
    in_string: bool,
    escaped: bool,
    too_long: bool,
}

impl JsonText {
    /// Whether a line belongs to a value: one is open, or it begins here.
    pub(super) fn takes(&self, text: &str) -> bool {
        self.open.is_some() || begins(text)
    }

    /// Takes a line; answers the value and the line it began at when it is whole.
    pub(super) fn line(
        &mut self,
        line: u64,
        text: &str,
        document: &mut Document,
    ) -> Option<(u64, String)> {
        let open = self.open.get_or_insert_with(|| Open {
            line,
            text: String::new(),
            depth: 0,
            in_string: false,
            escaped: false,
            too_long: false,
        });
        if open.text.len() + text.len() > BYTES_MAX {
            open.too_long = true;
            open.text.clear();
        }
        open.scan(text);
        if !open.too_long {
            open.text.push_str(text);
            open.text.push('\n');
        }
        if open.depth > 0 {
            return None;
        }
        let open = self.open.take()?;
        if open.too_long {
            let text = format!("The JSON that begins here has more than {BYTES_MAX} bytes.");
            document.note(open.line, text);
            return None;
        }
        Some((open.line, open.text))
    }

    /// The document has ended; a value that is still open breaks off.
    pub(super) fn end(&mut self, document: &mut Document) {
        if let Some(open) = self.open.take() {
            let text = format!(
                "The JSON that begins here breaks off at the end of the document: '{}'.",
                quoted(open.text.lines().next().unwrap_or(""))
            );
            document.note(open.line, text);
        }
    }
}

/// A bracket alone, or one with a key behind it; not a brace of a program.
fn begins(text: &str) -> bool {
    let Some(behind) = text.trim().strip_prefix('{') else {
        return false;
    };
    let behind = behind.trim_start();
    behind.is_empty() || behind.starts_with(['"', '}'])
}

impl Open {
    fn scan(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        // No string of JSON goes over a line.
        self.in_string = false;
        self.escaped = false;
    }
}
