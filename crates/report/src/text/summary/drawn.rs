//! Matrices drawn: whatever form shows most in few lines. Settings to choose from have a bar
//! each; a matrix of few values has its numbers; one way over many values is a curve with
//! height, up to three ways stand side by side, and more have a line each.

mod bars;
mod curves;
mod numbers;
mod plot;
mod side_by_side;

use super::super::look::Style;
use super::super::marks::Marks;
use super::super::matrix::{self, Grid};
use super::super::page::Page;
use crate::notes::direct_refused;
use diskfacts_record::{Run, StageFigures};

/// From how many times the least on the greatest would hide what is small.
const WIDE: f64 = 20.0;

pub(super) fn write(page: &mut Page<'_>, run: &Run, marks: &Marks<'_>) {
    bars::write(page, run);
    for grid in matrix::grids(run) {
        let Some(rates) = Rates::of(run, &grid, marks) else {
            continue;
        };
        page.blank();
        if !numbers::write(page, &grid, &rates)
            && !plot::write(page, &grid, &rates)
            && !side_by_side::write(page, &grid, &rates)
        {
            curves::write(page, &grid, &rates);
        }
    }
}

/// The rates of a matrix in MB/s, and the scale on which they are drawn.
struct Rates {
    /// For each way the rate of each row; `None` where there is none to show: refused, failed,
    /// or not measured.
    of_ways: Vec<Vec<Option<f64>>>,
    /// Likewise the letter of what limits it.
    letters: Vec<Vec<Option<String>>>,
    /// Where a drawing begins: nothing, or below the least on a logarithmic scale.
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Rates {
    /// `None` of a matrix without any rate.
    fn of(run: &Run, grid: &Grid<'_>, marks: &Marks<'_>) -> Option<Self> {
        let rate_of = |figures: &StageFigures| {
            let refused = direct_refused(run, figures).is_some() || figures.errors > 0;
            let rate = &figures.throughput_bytes_per_s;
            (!refused && rate.trials > 0 && rate.median > 0.0).then_some(rate.median / 1e6)
        };
        let of_ways: Vec<Vec<Option<f64>>> = of_cells(grid, rate_of);
        let known = || of_ways.iter().flatten().flatten().copied();
        let high = known().max_by(f64::total_cmp)?;
        let least = known().min_by(f64::total_cmp)?;
        let logarithmic = high > WIDE * least;
        Some(Self {
            low: if logarithmic { least / 2.0 } else { 0.0 },
            high,
            logarithmic,
            of_ways,
            letters: of_cells(grid, |figures| marks.letter_of(figures)),
        })
    }

    /// What limits the cells of a way: the letters of all of them.
    fn letters_of(&self, way: usize) -> String {
        let known = self.letters[way].iter().flatten().map(String::as_str);
        let mut letters: Vec<&str> = known.collect();
        letters.sort_unstable_by_key(|letter| (letter.len(), *letter));
        letters.dedup();
        letters.join(",")
    }

    /// The letter of a cell, in as many columns for all and one more; nothing where no cell has
    /// one.
    fn letter_at(&self, way: usize, row: usize) -> String {
        let letter = self.letters[way][row].as_deref().unwrap_or_default();
        format!("{letter:<0$}", self.letter_columns())
    }

    fn letter_columns(&self) -> usize {
        let letters = self.letters.iter().flatten().flatten();
        letters.map(|letter| letter.len() + 1).max().unwrap_or(0)
    }

    /// Where a rate lies between the low end and the high end, from 0 to 1.
    fn place(&self, rate: f64) -> f64 {
        let place = if self.logarithmic {
            (rate / self.low).ln() / (self.high / self.low).ln()
        } else {
            rate / self.high
        };
        place.clamp(0.0, 1.0)
    }
}

/// Something of each cell, by ways and rows; of those that were not measured nothing.
fn of_cells<T>(grid: &Grid<'_>, of: impl Fn(&StageFigures) -> Option<T>) -> Vec<Vec<Option<T>>> {
    let of_way = |head: &String| {
        let rows = grid.rows.iter();
        rows.map(|row| grid.at(row, head).and_then(&of)).collect()
    };
    grid.heads.iter().map(of_way).collect()
}

/// `stride: MB/s by distance, 4KiB to 1GiB; logarithmic`.
fn title(page: &mut Page<'_>, grid: &Grid<'_>, rates: &Rates) {
    let (Some(first), Some(last)) = (grid.rows.first(), grid.rows.last()) else {
        return;
    };
    let title = format!("{}:", grid.name());
    let scale = if rates.logarithmic {
        "; logarithmic"
    } else {
        ""
    };
    let what = format!("MB/s by {}, {first} to {last}{scale}", grid.shown());
    page.titled(0, (Style::Heading, &title), 4, Style::Plain, &what);
}
