//! Tables of text and numbers.

use maud::{Markup, Render, html};

/// What stands in a cell.
pub(crate) enum Cell {
    /// Words, at the left.
    Text(String),
    /// A number with its unit, at the right.
    Number(String),
}

impl Cell {
    /// A number, or an empty cell.
    pub(crate) fn known(number: Option<String>) -> Self {
        Self::Number(number.unwrap_or_default())
    }

    /// Whether nothing stands in it.
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) | Self::Number(text) => text.is_empty(),
        }
    }
}

/// A table whose first cell of each row names the row.
#[derive(Default)]
pub(crate) struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<Cell>>,
    label: String,
}

impl Table {
    /// An empty table; `label` is what it is called where it is scrolled sideways.
    pub(crate) fn new(label: &str, heads: &[&str]) -> Self {
        Self {
            heads: heads.iter().map(|head| (*head).to_owned()).collect(),
            rows: Vec::new(),
            label: label.to_owned(),
        }
    }

    /// Adds a row, with as many cells as there are heads.
    pub(crate) fn push(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.heads.len(), "a cell for each head");
        self.rows.push(cells);
    }

    /// Whether it has no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Without the columns in which nothing stands.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        let is_used: Vec<bool> = (0..self.heads.len())
            .map(|place| place == 0 || self.rows.iter().any(|row| !row[place].is_empty()))
            .collect();
        let mut used = is_used.iter();
        self.heads.retain(|_| used.next() == Some(&true));
        for row in &mut self.rows {
            let mut used = is_used.iter();
            row.retain(|_| used.next() == Some(&true));
        }
        self
    }

    /// Whether the cells of a column are numbers: its head stands above them then.
    fn is_of_numbers(&self, place: usize) -> bool {
        let cells = self.rows.iter().map(|row| &row[place]);
        let mut said = cells.filter(|cell| !cell.is_empty()).peekable();
        said.peek().is_some() && said.all(|cell| matches!(cell, Cell::Number(_)))
    }
}

impl Render for Table {
    fn render(&self) -> Markup {
        // Most cells are numbers: the others are marked, and a page is smaller for it.
        let class = |place| (!self.is_of_numbers(place)).then_some("t");
        html! {
            // What can be scrolled can be reached by keys, and has a name.
            div class="scroll" tabindex="0" role="region" aria-label=(self.label) {
                table class="data" {
                    thead {
                        tr {
                            @for (place, head) in self.heads.iter().enumerate() {
                                @if head.is_empty() {
                                    td {}
                                } @else {
                                    th scope="col" class=[class(place)] { (head) }
                                }
                            }
                        }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                @for (place, cell) in row.iter().enumerate() {
                                    @if place == 0 {
                                        th scope="row" class=[class(place)] { (cell) }
                                    } @else {
                                        td class=[matches!(cell, Cell::Text(_)).then_some("t")] {
                                            (cell)
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Render for Cell {
    fn render(&self) -> Markup {
        match self {
            Self::Text(text) | Self::Number(text) => text.render(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_have_heads_and_empty_columns_are_left_out() {
        let mut table = Table::new("numbers", &["stage", "p50", "p99"]);
        table.push(vec![
            Cell::Text("a<b".into()),
            Cell::Number("8 µs".into()),
            Cell::known(None),
        ]);
        let table = table.without_empty_columns().render().into_string();
        assert!(
            table.contains(r#"<th scope="row" class="t">a&lt;b</th><td>8 µs</td></tr>"#),
            "{table}"
        );
        assert!(
            table.contains(r#"<th scope="col">p50</th></tr>"#),
            "{table}"
        );
        assert!(!table.contains("p99"), "{table}");
    }
}
