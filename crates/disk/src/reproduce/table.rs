//! The measured rows, as comma-separated values with a line of names.

/// A table of the documents' figures, and what it is.
pub(super) struct TableOf {
    /// The document, 0 to 4.
    pub(super) seed: u32,
    pub(super) name: &'static str,
    /// What it holds.
    pub(super) about: &'static str,
    pub(super) text: &'static str,
    /// Why no disk is held against the rows that stand in no cell.
    pub(super) apart: &'static str,
}

macro_rules! tables {
    ($($id:ident: $seed:literal, $name:literal, $about:literal, $apart:literal;)*) => {
        $(pub(super) const $id: TableOf = TableOf {
            seed: $seed,
            name: $name,
            about: $about,
            text: include_str!(concat!("../../data/", $name, ".csv")),
            apart: $apart,
        };)*
        /// All tables, document by document.
        pub(super) const ALL: &[TableOf] = &[$($id),*];
    };
}

tables! {
    STRIDED: 0, "000_strided", "strided reads and writes", "";
    DD: 0, "000_dd", "dd", "";
    STREAMS: 1, "001_streams", "one reader and two", "the document has no figure there";
    LOCAL: 1, "001_local_md0", "dd on the server itself", "";
    READ_AHEAD: 1, "001_ra_trace", "the kernel's trace of read-ahead", "";
    RA_STATS: 1, "001_ra_stats", "the kernel's counts of read-ahead",
        "counts of a load that the document does not describe";
    QUOTED: 1, "001_quoted_numbers", "figures in the text", "they repeat those of the readers, rounded";
    BONNIE: 2, "002_bonnie", "bonnie++", "";
    HDPARM: 2, "002_hdparm", "hdparm -t", "";
    MATRIX: 3, "003_matrix", "writes by size and mode", "";
    TEXT: 4, "004_text", "figures in the text", "the document says 'depends', and no figure";
    IOSTAT_LINUX: 4, "004_iostat_linux", "iostat of Linux", "";
    IOSTAT_SOLARIS: 4, "004_iostat_solaris", "iostat of Solaris", "";
}

/// A table that is part of this crate.
pub(super) struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// One row of a table.
#[derive(Clone, Copy)]
pub(super) struct Row<'t> {
    table: &'t Table,
    /// Its place in the table, from 0.
    pub(super) number: usize,
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
        self.rows.iter().enumerate().map(|(number, fields)| Row {
            table: self,
            number,
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
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
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
        assert_eq!(row.figure("MBps"), Some(21.6));
        assert_eq!(row.text("nothing"), "");
    }

    #[test]
    fn the_tables_have_as_many_rows_as_the_documents() {
        let counts: Vec<usize> = ALL
            .iter()
            .map(|table| Table::new(table.text).rows().count())
            .collect();
        assert_eq!(counts, [42, 23, 182, 1, 26, 14, 22, 6, 3, 294, 6, 2, 3]);
        assert_eq!(counts.iter().sum::<usize>(), 624);
    }
}
