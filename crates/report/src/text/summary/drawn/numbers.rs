//! A matrix of few values: its numbers.

use super::super::super::look::Style;
use super::super::super::matrix::Grid;
use super::super::super::names::Names;
use super::super::super::page::Page;
use super::super::super::words::rate;
use super::super::super::wrap::columns;
use super::Rates;
use std::fmt::Write as _;

/// Values from which on a drawing shows more than numbers do.
const ROWS: usize = 6;
/// Ways that stand below each other.
const WAYS: usize = 16;
/// Longest name beside which numbers stand.
const NAME: usize = 34;
const GAP: usize = 2;

/// Says whether it was written: it has to be small, and to fit.
pub(super) fn write(page: &mut Page<'_>, grid: &Grid<'_>, rates: &Rates) -> bool {
    if grid.rows.len() > ROWS || grid.heads.len() > WAYS {
        return false;
    }
    let ways = 0..rates.of_ways.len();
    let figures: Vec<Vec<String>> = ways.map(|way| shown(rates, way)).collect();
    let heads: Vec<String> = grid
        .rows
        .iter()
        .map(|row| page.look.clean(row).into_owned())
        .collect();
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| {
            let below = figures.iter().map(|way| columns(&way[at]));
            below.chain([columns(head)]).max().unwrap_or(0)
        })
        .collect();
    let names = std::iter::once(grid.shown().to_owned()).chain(grid.heads.iter().cloned());
    let names = Names::of(names, NAME, page.look);
    let wide = names.width + widths.iter().map(|width| width + GAP).sum::<usize>();
    if wide > page.look.columns() {
        return false;
    }
    let line = |cells: &[String]| -> String {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let pad = GAP + width - columns(cell);
            // Writing to a String cannot fail.
            let _ = write!(line, "{:pad$}{cell}", "");
        }
        line
    };
    let title = format!("{}:", grid.name());
    page.titled(0, (Style::Heading, &title), 4, Style::Plain, "MB/s");
    names.write(page, 0, Style::Plain, &line(&heads));
    for (place, way) in figures.iter().enumerate() {
        names.write(page, place + 1, Style::Plain, &line(way));
    }
    true
}

/// The rates of a way, each with the letter of what limits it.
fn shown(rates: &Rates, way: usize) -> Vec<String> {
    let known = rates.of_ways[way].iter().enumerate();
    let shown = known.map(|(row, known)| {
        let number = known.map_or_else(|| "-".to_owned(), rate);
        let letter = rates.letter_at(way, row);
        if letter.is_empty() {
            number
        } else {
            format!("{number} {}", &letter[..letter.len() - 1])
        }
    });
    shown.collect()
}
