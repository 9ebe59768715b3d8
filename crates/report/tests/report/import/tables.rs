//! The tables that were made of the documents by hand-checked scripts, as rows.

use std::collections::BTreeMap;

/// A row of a table, by the names of its columns.
pub(super) struct Row(BTreeMap<String, String>);

impl Row {
    /// A value as it stands.
    pub(super) fn text(&self, column: &str) -> &str {
        let value = self.0.get(column);
        value.unwrap_or_else(|| panic!("there is no column {column}"))
    }

    pub(super) fn line(&self) -> u64 {
        self.text("line").parse().expect("a line number")
    }

    pub(super) fn number(&self, column: &str) -> f64 {
        let text = self.text(column);
        text.parse()
            .unwrap_or_else(|_| panic!("{column}: {text} is not a number"))
    }

    /// That a number is the one of the table: the same decimal text gives the
    /// same float.
    #[track_caller]
    pub(super) fn is(&self, column: &str, value: f64) {
        let expected = self.number(column);
        assert!(
            expected.to_bits() == value.to_bits(),
            "line {}, {column}: {value} is not {expected}",
            self.line()
        );
    }
}

/// Reads a table: a line of names, then rows; quotes around what has commas, and
/// doubled quotes within.
pub(super) fn table(text: &str) -> Vec<Row> {
    let mut lines = text.lines().map(fields);
    let names = lines.next().expect("a line of names");
    lines
        .map(|values| {
            assert_eq!(values.len(), names.len());
            Row(names.iter().cloned().zip(values).collect())
        })
        .collect()
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                fields.last_mut().expect("never empty").push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().expect("never empty").push(c),
        }
    }
    fields
}
