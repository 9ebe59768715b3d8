//! Two or three ways over some values: a line for each value, each way with its number and a
//! bar.

use super::super::super::look::Style;
use super::super::super::matrix::Grid;
use super::super::super::page::Page;
use super::super::super::words::rate;
use super::super::super::wrap::columns;
use super::Rates;
use std::fmt::Write as _;

/// Ways beside each other, and lines below each other.
const WAYS: usize = 3;
const ROWS: usize = 18;
/// Columns of a number, of the longest bar, and between two ways.
const NUMBER: usize = 7;
const BAR: usize = 20;
const GAP: usize = 2;

/// Says whether it was written: it has to be small enough, and its heads have to fit.
pub(super) fn write(page: &mut Page<'_>, grid: &Grid<'_>, rates: &Rates) -> bool {
    if grid.heads.len() > WAYS || grid.rows.len() > ROWS {
        return false;
    }
    let clean = |text: &String| page.look.clean(text).into_owned();
    let rows: Vec<String> = grid.rows.iter().map(clean).collect();
    let heads: Vec<String> = grid.heads.iter().map(clean).collect();
    let label = rows.iter().map(|row| columns(row)).max().unwrap_or(0);
    let room = page.look.columns().saturating_sub(label);
    let each = room / heads.len().max(1);
    let beside = NUMBER + 1 + rates.letter_columns();
    let bar = each.saturating_sub(GAP + beside).min(BAR);
    let cell = beside + bar;
    if bar == 0 || heads.iter().any(|head| columns(head) > cell) {
        return false;
    }
    super::title(page, grid, rates);
    let mut line = " ".repeat(label);
    for head in &heads {
        // Writing to a String cannot fail.
        let _ = write!(line, "{:GAP$}{head}{:2$}", "", "", cell - columns(head));
    }
    let line = page.look.paint(Style::Heading, line.trim_end());
    page.line(&line);
    let mark = if page.look.unicode { "█" } else { "#" };
    for (at, row) in rows.iter().enumerate() {
        let mut line = format!("{row}{:1$}", "", label - columns(row));
        for (place, way) in rates.of_ways.iter().enumerate() {
            let (number, drawn) = match way[at] {
                Some(known) => {
                    let length = (rates.place(known) * bar as f64).round() as usize;
                    (rate(known), mark.repeat(length.max(1)))
                }
                None => ("-".to_owned(), String::new()),
            };
            let letter = rates.letter_at(place, at);
            let _ = write!(line, "{:GAP$}{number:>NUMBER$} {letter}{drawn:<bar$}", "");
        }
        page.line(line.trim_end());
    }
    true
}
