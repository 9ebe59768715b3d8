//! Every row of the documents' tables: what became of it.

use super::Cell;
use super::table::{ALL, Table, TableOf};
use std::collections::BTreeSet;

/// What became of the rows of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The document, 0 to 4.
    pub seed: u32,
    /// What the table holds.
    pub about: &'static str,
    /// Its rows.
    pub rows: usize,
    /// Rows with a figure whose error a gate limits.
    pub gated: usize,
    /// Rows that are simulated or compared and not limited; each says why in
    /// its cells.
    pub reported: usize,
    /// Rows that no disk could be held against.
    pub apart: usize,
    /// Why these are apart; empty if there are none.
    pub reason: &'static str,
}

/// Accounts for every row of every table.
pub(super) fn of(cells: &[Cell]) -> Vec<Account> {
    ALL.iter().map(|table| of_table(table, cells)).collect()
}

fn of_table(table: &TableOf, cells: &[Cell]) -> Account {
    let rows = |is_gated: bool| -> BTreeSet<usize> {
        let cells = cells.iter().filter(|cell| {
            cell.table == table.name && is_gated == cell.gate.is_some_and(super::Gate::is_binding)
        });
        cells.flat_map(|cell| cell.rows.iter().copied()).collect()
    };
    let gated = rows(true);
    let reported = rows(false).difference(&gated).count();
    let all = Table::new(table.text).rows().count();
    Account {
        seed: table.seed,
        about: table.about,
        rows: all,
        gated: gated.len(),
        reported,
        apart: all - gated.len() - reported,
        reason: table.apart,
    }
}
