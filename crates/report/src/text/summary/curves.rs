//! Matrices drawn: a curve over the sizes for each way that was varied, and a bar for each
//! setting of which something is to be chosen.

use super::super::look::{Look, Style};
use super::super::matrix::{self, Grid};
use super::super::names::Names;
use super::super::page::Page;
use super::super::pivot;
use super::super::words::{count, percent, rate};
use crate::notes::direct_refused;
use diskfacts_record::effects::{CellRate, RateOf, StageEffects};
use diskfacts_record::{Run, StageFigures};

/// Curves of one matrix that are drawn, and bars.
const CURVES: usize = 16;
const BARS: usize = 10;
/// Columns of the longest bar.
const BAR: usize = 20;
/// Longest name beside which a curve or a bar stands.
const NAME: usize = 34;
/// Eighths of a line of text, from nothing on.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '#', '@'];

pub(super) fn write(page: &mut Page<'_>, run: &Run) {
    for effects in run
        .effects
        .iter()
        .filter(|effects| pivot::is_pivoted(effects))
    {
        bars(page, effects);
    }
    for grid in matrix::grids(run) {
        curves(page, run, &grid);
    }
}

fn levels(look: &Look) -> [char; 9] {
    if look.unicode { EIGHTHS } else { ASCII }
}

/// A line for each way: its rates over the rows of the matrix, all on one linear scale.
fn curves(page: &mut Page<'_>, run: &Run, grid: &Grid<'_>) {
    let rate_of = |figures: &StageFigures| {
        let refused = direct_refused(run, figures).is_some() || figures.errors > 0;
        let rate = &figures.throughput_bytes_per_s;
        (!refused && rate.trials > 0).then_some(rate.median)
    };
    let all = grid.cells().filter_map(|(_, figures)| rate_of(figures));
    let most = all.fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    let (Some(first), Some(last)) = (grid.rows.first(), grid.rows.last()) else {
        return;
    };
    page.blank();
    let title = format!("{}:", grid.name());
    let what = format!("MB/s by {}, {first} to {last}", grid.shown());
    page.titled(0, (Style::Heading, &title), 4, Style::Plain, &what);
    let shown = &grid.heads[..grid.heads.len().min(CURVES)];
    let names = Names::of(shown.iter().cloned(), NAME, page.look);
    let levels = levels(page.look);
    for (place, head) in shown.iter().enumerate() {
        let of_way: Vec<Option<f64>> = grid
            .rows
            .iter()
            .map(|row| grid.at(row, head).and_then(rate_of))
            .collect();
        let curve: String = of_way
            .iter()
            .map(|rate| match rate {
                None => '?',
                // Above nothing something is always seen.
                Some(rate) => levels[((rate / most * 8.0).ceil() as usize).clamp(1, 8)],
            })
            .collect();
        let known = grid
            .rows
            .iter()
            .zip(&of_way)
            .filter_map(|(row, rate)| Some((row, (*rate)?)));
        let best = known.max_by(|a, b| a.1.total_cmp(&b.1));
        let best = best.map_or_else(
            || "refused".to_owned(),
            |(row, most)| format!("most {} at {row}", rate(most / 1e6)),
        );
        names.write(page, place, Style::Plain, &format!("  {curve}  {best}"));
    }
    let more = grid.heads.len().saturating_sub(CURVES) as u64;
    if more > 0 {
        let text = format!("{}: --explain has them all.", count(more, "more line"));
        page.paragraph(0, Style::Minor, &text);
    }
}

/// A bar for each setting, the fastest first; what is in force is marked, and what is best
/// beyond noise.
fn bars(page: &mut Page<'_>, effects: &StageEffects) {
    let mut cells: Vec<(&CellRate, f64)> = effects
        .cells
        .iter()
        .filter_map(|cell| Some((cell, pivot::value(effects, cell.rate.as_ref()?))))
        .collect();
    cells.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some((_, most)) = cells.first().copied().filter(|(_, most)| *most > 0.0) else {
        return;
    };
    page.blank();
    let unit = match effects.rate {
        RateOf::ThroughputBytesPerS => "MB/s",
        RateOf::Iops => "IOPS",
    };
    let title = format!("{}:", effects.stage);
    let what = format!("{unit} by setting; * best beyond noise, = in force");
    page.titled(0, (Style::Heading, &title), 4, Style::Plain, &what);
    // Those in force are what the others are held against.
    let mut shown: Vec<(&CellRate, f64)> = cells.iter().take(BARS).copied().collect();
    let beyond = cells.iter().skip(BARS);
    shown.extend(beyond.filter(|(cell, _)| cell.in_force == Some(true)));
    let names = shown.iter().map(|(cell, _)| pivot::said(&cell.settings));
    let names = Names::of(names, NAME, page.look);
    for (place, (cell, value)) in shown.iter().enumerate() {
        let length = (value / most * BAR as f64).round() as usize;
        let bar = if page.look.unicode { "█" } else { "#" }.repeat(length.max(1));
        let spread = cell.rate.and_then(|figure| figure.spread);
        let spread = spread.map_or_else(String::new, |spread| {
            format!(" {}{}", page.look.plus_minus(), percent(spread / 2.0))
        });
        let marks = pivot::marks(effects, cell);
        let figure = format!("{marks} {:>7}{spread}", rate(*value));
        let row = format!("  {bar:<BAR$} {figure}");
        names.write(page, place, Style::Plain, &row);
    }
    let more = cells.len().saturating_sub(shown.len()) as u64;
    if more > 0 {
        let text = format!("{}: --explain has them all.", count(more, "slower setting"));
        page.paragraph(0, Style::Minor, &text);
    }
}
