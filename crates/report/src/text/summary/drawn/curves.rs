//! Many ways: a line for each, its rates over the rows of the matrix as one character each, all
//! on one scale.

use super::super::super::eighths::eighth;
use super::super::super::look::Style;
use super::super::super::matrix::Grid;
use super::super::super::names::Names;
use super::super::super::page::Page;
use super::super::super::words::{count, rate};
use super::super::super::wrap::columns;
use super::Rates;

/// Curves of one matrix that are drawn.
const CURVES: usize = 16;
/// Longest name beside which a curve stands.
const NAME: usize = 34;

pub(super) fn write(page: &mut Page<'_>, grid: &Grid<'_>, rates: &Rates) {
    super::title(page, grid, rates);
    let shown = &grid.heads[..grid.heads.len().min(CURVES)];
    let names = Names::of(shown.iter().cloned(), NAME, page.look);
    for (place, way) in rates.of_ways.iter().take(CURVES).enumerate() {
        // The lowest is one that is known, too.
        let level = |known| eighth(rates.place(known).max(f64::MIN_POSITIVE), 1.0, page.look);
        let curve: String = way.iter().map(|known| known.map_or('?', level)).collect();
        let known = grid.rows.iter().zip(way);
        let known = known.filter_map(|(row, known)| Some((row, (*known)?)));
        let best = known.max_by(|a, b| a.1.total_cmp(&b.1));
        let best = best.map_or_else(
            || "refused".to_owned(),
            |(row, most)| format!("most {} at {row}", rate(most)),
        );
        let best = format!("{best}  {}", rates.letters_of(place));
        let best = best.trim_end();
        let row = format!("  {curve}  {best}");
        let fits = names.width + columns(&row) <= page.look.columns();
        let row = if fits { row } else { format!("  {curve}") };
        names.write(page, place, Style::Plain, &row);
    }
    let more = grid.heads.len().saturating_sub(CURVES) as u64;
    if more > 0 {
        let text = format!("{}: --explain has them all.", count(more, "more line"));
        page.paragraph(0, Style::Minor, &text);
    }
}
