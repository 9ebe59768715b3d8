//! A matrix as a coloured table: what was varied down and across, a table for each condition.
//!
//! The shade of a cell is its rate, in steps of one colour that the colour-blind and paper tell
//! apart; the rate stands in it in figures. What was refused is hatched. Which is best is said
//! by a word, and so is what cannot be told from it.

mod cells;
mod markup;
mod notes;
mod scattered;
#[cfg(test)]
mod tests;

pub(crate) use markup::figure;

use super::ends::Ends;
use crate::html::scale::Unit;
use crate::text::marks::Marks;
use crate::text::matrix::grids;
use crate::text::pivot::is_pivoted;
use cells::Cells;
use diskfacts_record::Run;

/// Steps of the shade.
pub(crate) const SHADES: u8 = 9;
/// From how many times the least on the greatest would hide what is small.
const WIDE: f64 = 20.0;

/// One matrix of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    /// Name of its stage.
    pub(crate) stage: String,
    /// What the plan says of it.
    pub(crate) about: String,
    /// What its rates are.
    pub(crate) unit: Unit,
    /// A table for each condition; one without any.
    pub(crate) tables: Vec<Table>,
    /// What the marks mean, and what is missing, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// The cells under one condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// Under which condition; empty without.
    pub(crate) under: String,
    /// Names of what stands down.
    pub(crate) down: Vec<String>,
    /// Name of what stands across; empty where its values say enough.
    pub(crate) across: String,
    /// What stands across.
    pub(crate) heads: Vec<String>,
    /// What stands down, and the cells behind it.
    pub(crate) rows: Vec<(Vec<String>, Vec<Cell>)>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// The plan has no such combination, or it was not measured.
    Absent,
    /// Direct I/O was refused, and why.
    Refused(String),
    /// So many operations failed.
    Failed(u64),
    /// Its rate.
    Rate(Rate),
}

/// The rate of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rate {
    /// Bytes or operations per second.
    pub(crate) value: f64,
    /// Around it.
    pub(crate) ends: Option<Ends>,
    /// Which of the steps of the shade, from 0 for the least.
    pub(crate) shade: u8,
    /// How it stands to the best of its table.
    pub(crate) mark: Option<Mark>,
    /// Whether its settings were in force when the run began.
    pub(crate) in_force: bool,
    /// Letter of what limits it.
    pub(crate) letter: Option<String>,
    /// Word of the layer that served it, with a mark where that is not nearly all.
    pub(crate) by: String,
}

/// How a cell stands to the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The best beyond noise.
    Best,
    /// Not told apart from the best.
    AsGood,
    /// The highest, of which nobody knows the noise.
    Highest,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::AsGood => "as good",
            Self::Highest => "highest",
        }
    }
}

impl Matrix {
    /// All cells that have a rate.
    pub(crate) fn rates(&self) -> impl Iterator<Item = &Rate> {
        let rows = self.tables.iter().flat_map(|table| &table.rows);
        rows.flat_map(|(_, cells)| cells).filter_map(Cell::rate)
    }

    fn rates_mut(&mut self) -> impl Iterator<Item = &mut Rate> {
        let rows = self.tables.iter_mut().flat_map(|table| &mut table.rows);
        let cells = rows.flat_map(|(_, cells)| cells);
        cells.filter_map(|cell| match cell {
            Cell::Rate(rate) => Some(rate),
            _ => None,
        })
    }

    /// Whether nothing was varied across.
    pub(crate) fn is_column(&self) -> bool {
        self.tables.iter().all(|table| table.heads.len() == 1)
    }

    /// The least and the greatest rate; `None` without any.
    pub(crate) fn reach(&self) -> Option<(f64, f64)> {
        let mut values = self.rates().map(|rate| rate.value);
        let first = values.next()?;
        Some(values.fold((first, first), |(low, high), value| {
            (low.min(value), high.max(value))
        }))
    }

    /// Whether shades are by the logarithm.
    pub(crate) fn is_logarithmic(&self) -> bool {
        self.reach().is_some_and(|(low, high)| high > WIDE * low)
    }

    /// Which shade each rate has: steps of equal width from the least, or from nothing, to the
    /// greatest.
    fn shade(&mut self) {
        let Some((low, high)) = self.reach() else {
            return;
        };
        let logarithmic = self.is_logarithmic();
        for rate in self.rates_mut() {
            let along = if logarithmic {
                (rate.value / low).ln() / (high / low).ln()
            } else {
                rate.value / high
            };
            rate.shade = ((along * f64::from(SHADES)) as u8).min(SHADES - 1);
        }
    }
}

impl Cell {
    fn rate(&self) -> Option<&Rate> {
        match self {
            Self::Rate(rate) => Some(rate),
            _ => None,
        }
    }
}

/// The matrices of a run: where something is to be chosen as its answers have it, all others as
/// they were varied, and of a document whose lines are no crossing what of it is.
pub(crate) fn matrices(run: &Run) -> Vec<Matrix> {
    let marks = Marks::of(run);
    let looked_up = Cells::of(run, &marks);
    let chosen = run.effects.iter().filter(|effects| is_pivoted(effects));
    let chosen = chosen.map(|effects| looked_up.chosen(effects));
    let grids = grids(run);
    let others = grids.iter().map(|grid| looked_up.grid(grid));
    let mut all: Vec<Matrix> = chosen.chain(others).collect();
    all.extend(looked_up.scattered(&all));
    all.iter_mut().for_each(Matrix::shade);
    all.retain(|matrix| matrix.reach().is_some());
    all
}
