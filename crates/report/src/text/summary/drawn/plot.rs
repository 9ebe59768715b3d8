//! One way over many values: the area below its curve, a few lines high.

use super::super::super::eighths::EIGHTHS;
use super::super::super::look::Style;
use super::super::super::matrix::Grid;
use super::super::super::page::Page;
use super::super::super::words::rate;
use super::super::super::wrap::columns;
use super::Rates;
use std::fmt::Write as _;

/// Lines of the area.
const HEIGHT: usize = 6;
/// Columns of one value at most.
const WIDEST: usize = 4;
/// A line of text in eighths, from nothing on: in ASCII three heights can be told apart.
const ASCII: [char; 9] = [' ', '.', '.', '.', ':', ':', ':', '#', '#'];
/// What has no rate.
const NONE: char = '?';

/// Says whether it was written: of one way, whose values have room.
pub(super) fn write(page: &mut Page<'_>, grid: &Grid<'_>, rates: &Rates) -> bool {
    let [way] = rates.of_ways.as_slice() else {
        return false;
    };
    let (top, bottom) = (rate(rates.high), rate(rates.low));
    let bottom = if rates.logarithmic {
        bottom
    } else {
        "0".to_owned()
    };
    let label = columns(&top).max(columns(&bottom));
    // The label, a space, the axis.
    let room = page.look.columns().saturating_sub(label + 2);
    let each = (room / way.len().max(1)).min(WIDEST);
    if each == 0 {
        return false;
    }
    let glyphs = if page.look.unicode { EIGHTHS } else { ASCII };
    super::title(page, grid, rates);
    for line in (0..HEIGHT).rev() {
        let area: String = way
            .iter()
            .flat_map(|known| {
                let glyph = match known {
                    None if line == 0 => NONE,
                    None => ' ',
                    Some(known) => glyphs[eighths(rates.place(*known), line)],
                };
                std::iter::repeat_n(glyph, each)
            })
            .collect();
        let beside = match line {
            0 => &bottom,
            _ if line == HEIGHT - 1 => &top,
            _ => "",
        };
        page.line(&format!("{beside:>label$} |{area}"));
    }
    // What limits it, below: where each value has room for its letter.
    let mut letters = String::new();
    for row in 0..way.len() {
        let letter = rates.letter_at(0, row);
        // Writing to a String cannot fail.
        let _ = write!(letters, "{:<each$}", letter.trim_end());
    }
    if rates.letter_columns() <= each + 1 && !letters.trim().is_empty() {
        page.line(&format!("{:label$}  {}", "", letters.trim_end()));
    }
    let shown = |row: &String| page.look.clean(row).into_owned();
    if let (Some(first), Some(last)) = (grid.rows.first(), grid.rows.last()) {
        let (first, last) = (shown(first), shown(last));
        let between = (way.len() * each).saturating_sub(columns(&first));
        page.line(&format!("{:label$}  {first}{last:>between$}", ""));
    }
    let known = || {
        let rows = grid.rows.iter().zip(way);
        rows.filter_map(|(row, known)| Some((row, (*known)?)))
    };
    let most = known().max_by(|a, b| a.1.total_cmp(&b.1));
    let least = known().min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some(((at, most), (under, least))) = most.zip(least) {
        let text = format!(
            "most {} at {at}, least {} at {under}",
            rate(most),
            rate(least)
        );
        page.paragraph(label + 2, Style::Minor, &text);
    }
    true
}

/// How much of this line lies below the curve, in eighths. Above nothing something is seen.
fn eighths(place: f64, line: usize) -> usize {
    let filled = ((place * (HEIGHT * 8) as f64).round() as usize).max(1);
    filled.saturating_sub(line * 8).min(8)
}

#[cfg(test)]
mod tests {
    use super::{HEIGHT, eighths};

    #[test]
    fn an_area_fills_its_lines_from_below_and_is_never_unseen() {
        let of = |place| {
            (0..HEIGHT)
                .map(|line| eighths(place, line))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(1.0), [8, 8, 8, 8, 8, 8]);
        assert_eq!(of(0.5), [8, 8, 8, 0, 0, 0]);
        assert_eq!(of(0.25), [8, 4, 0, 0, 0, 0]);
        assert_eq!(of(0.0), [1, 0, 0, 0, 0, 0]);
    }
}
