//! The measured rows, as comma-separated values with a line of names.

/// A table that is part of this crate.
pub(super) struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// One row of a table.
#[derive(Clone, Copy)]
pub(super) struct Row<'t> {
    table: &'t Table,
    fields: &'t [String],
}

impl Table {
    /// Reads a table. Fields with a comma stand in double quotes (RFC 4180).
    pub(super) fn new(text: &str) -> Self {
        let mut lines = text.lines().map(fields);
        Self {
            names: lines.next().unwrap_or_default(),
            rows: lines.collect(),
        }
    }

    /// Its rows in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|fields| Row {
            table: self,
            fields,
        })
    }
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => {
                if let Some(field) = fields.last_mut() {
                    field.push(c);
                }
            }
        }
    }
    fields
}

impl<'t> Row<'t> {
    /// The text under a name; empty if the table has no such name.
    pub(super) fn text(&self, name: &str) -> &'t str {
        let index = self.table.names.iter().position(|known| known == name);
        index
            .and_then(|index| self.fields.get(index))
            .map_or("", String::as_str)
    }

    /// The number under a name, if there is one.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.text(name).parse().ok()
    }

    /// The whole number under a name; 0 if there is none.
    pub(super) fn whole(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(0)
    }

    /// The line of the document that the row was read from.
    pub(super) fn line(&self) -> u32 {
        self.text("line").parse().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_commas_do_not_part() {
        let table = Table::new("line,raw,MBps\n171,\"21,6\",21.6\n");
        let row = table.rows().next().unwrap();
        assert_eq!(row.line(), 171);
        assert_eq!(row.text("raw"), "21,6");
        assert_eq!(row.number("MBps"), Some(21.6));
        assert_eq!(row.text("nothing"), "");
    }

    #[test]
    fn the_tables_have_as_many_rows_as_the_documents() {
        let count = |text: &str| Table::new(text).rows().count();
        assert_eq!(count(include_str!("../../data/000_strided.csv")), 42);
        assert_eq!(count(include_str!("../../data/000_dd.csv")), 23);
        assert_eq!(count(include_str!("../../data/001_streams.csv")), 182);
        assert_eq!(count(include_str!("../../data/002_bonnie.csv")), 6);
        assert_eq!(count(include_str!("../../data/002_hdparm.csv")), 3);
        assert_eq!(count(include_str!("../../data/003_matrix.csv")), 294);
        assert_eq!(count(include_str!("../../data/004_text.csv")), 6);
    }
}
