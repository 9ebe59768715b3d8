//! A test that a document has twice, counted once: bonnie++ prints its tables, and
//! below them the same figures as CSV. The CSV is kept, because it also says how
//! the test was called, and has the rates of files that 2.00a prints wrongly.

use super::Document;
use super::row::{Measured, Row};
use crate::formats::bonnie::{Cell, Rate, csv};

/// Share by which a number of the table may differ from that of the CSV: the table
/// has seeks with fewer digits.
const ROUNDED: f64 = 0.001;

fn is_same(table: Cell, csv: Cell) -> bool {
    match (table, csv) {
        (Cell::Measured(table), Cell::Measured(csv)) => {
            (table - csv).abs() <= csv.abs() * ROUNDED + f64::EPSILON
        }
        (table, csv) => table == csv,
    }
}

fn is_table_of(row: &Row, line: &csv::Row) -> bool {
    let Measured::BonnieIo(table, _) = &row.measured else {
        return false;
    };
    let same = |(table, csv): (&Rate, &Rate)| is_same(table.rate, csv.rate);
    table.name == line.conditions.name && table.rates.iter().zip(&line.io).all(same)
}

/// Takes the rows of the tables away that this line is the CSV of, with a note.
pub(super) fn take_tables(line: u64, csv: &csv::Row, document: &mut Document) {
    let rows = &document.rows;
    let Some(first) = rows.iter().rposition(|row| is_table_of(row, csv)) else {
        return;
    };
    // The table of files is of the same call.
    let files = rows.get(first + 1);
    let has_files = files.is_some_and(|row| matches!(row.measured, Measured::BonnieFiles(..)));
    let last = first + usize::from(has_files);
    let at = if has_files {
        format!("lines {} and {}", rows[first].line, rows[last].line)
    } else {
        format!("line {}", rows[first].line)
    };
    document.rows.drain(first..=last);
    let text = format!("This is the same test as the table at {at}, and is counted once.");
    document.note(line, text);
}
