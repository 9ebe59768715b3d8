//! Cells that are no crossing of axes: which two of their settings make a table.

use super::{Cell, Table};
use crate::text::words::add_once;
use diskfacts_record::StageFigures;

/// Fewest cells of a stage.
const CELLS_MIN: usize = 6;
/// What stands in the place of a setting that a cell has not.
const NONE: &str = "–";

/// A setting that is not the same in all cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Varied {
    pub(super) name: String,
    /// In the order in which they are met.
    pub(super) values: Vec<String>,
}

/// What varies, by name.
pub(super) fn axes(cells: &[&StageFigures]) -> Vec<Varied> {
    let mut names: Vec<&String> = Vec::new();
    for figures in cells {
        for name in figures.settings.keys() {
            add_once(&mut names, name);
        }
    }
    names.sort();
    let axes = names.into_iter().map(|name| {
        let mut values = Vec::new();
        for figures in cells {
            add_once(&mut values, value(figures, name).to_owned());
        }
        Varied {
            name: name.clone(),
            values,
        }
    });
    axes.filter(|axis| axis.values.len() > 1).collect()
}

pub(super) fn value<'a>(figures: &'a StageFigures, name: &str) -> &'a str {
    figures.settings.get(name).map_or(NONE, String::as_str)
}

/// What stands down, which has the most values, and what stands across, which has the next; of
/// as many the last. `None` where that is no table.
pub(super) fn sides(axes: &[Varied]) -> Option<(&Varied, &Varied)> {
    let most = |but: Option<&Varied>| {
        let others = axes.iter().filter(|axis| Some(*axis) != but);
        others.max_by_key(|axis| axis.values.len())
    };
    let down = most(None)?;
    let across = most(Some(down))?;
    let slots = down.values.len() * across.values.len();
    (slots >= CELLS_MIN).then_some((down, across))
}

/// The cells by what they have in common besides these two settings, in words.
pub(super) fn apart<'f>(
    cells: &[&'f StageFigures],
    without: [&str; 2],
) -> Vec<(String, Vec<&'f StageFigures>)> {
    let varied = axes(cells);
    let others: Vec<&Varied> = varied
        .iter()
        .filter(|axis| !without.contains(&axis.name.as_str()))
        .collect();
    let mut all: Vec<(String, Vec<&StageFigures>)> = Vec::new();
    for figures in cells {
        let said = others.iter().map(|axis| {
            let value = value(figures, &axis.name);
            format!("{}={value}", axis.name)
        });
        let under = said.collect::<Vec<_>>().join(", ");
        match all.iter_mut().find(|(known, _)| *known == under) {
            Some((_, cells)) => cells.push(figures),
            None => all.push((under, vec![figures])),
        }
    }
    all
}

/// Leaves out the rows and columns in which nothing stands; whether most of what is left is
/// measured, and there is something to compare both ways.
pub(super) fn is_filled(table: &mut Table) -> bool {
    let is_there = |cell: &Cell| !matches!(cell, Cell::Absent);
    table.rows.retain(|(_, cells)| cells.iter().any(is_there));
    let used: Vec<bool> = (0..table.heads.len())
        .map(|place| table.rows.iter().any(|(_, cells)| is_there(&cells[place])))
        .collect();
    let mut each = used.iter();
    table.heads.retain(|_| each.next() == Some(&true));
    for (_, cells) in &mut table.rows {
        let mut each = used.iter();
        cells.retain(|_| each.next() == Some(&true));
    }
    let all = table.rows.len() * table.heads.len();
    let cells = table.rows.iter().flat_map(|(_, cells)| cells);
    let known = cells.filter(|cell| is_there(cell)).count();
    table.rows.len() > 1 && table.heads.len() > 1 && known * 4 >= all * 3
}
