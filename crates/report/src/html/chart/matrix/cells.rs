//! The cells of a matrix, from the figures of a run.

use super::super::ends::Ends;
use super::notes::{of_layers, of_marks};
use super::scattered::{self, Varied};
use super::{Cell, Mark, Matrix, Rate, Table};
use crate::html::scale::Unit;
use crate::notes::direct_refused;
use crate::text::columns;
use crate::text::marks::Marks;
use crate::text::matrix::{Grid, NEARLY_ALL, most};
use crate::text::pivot::{self, Layout, Standing, combinations, said};
use diskfacts_record::effects::{CellRate, RateOf, Settings, StageEffects};
use diskfacts_record::{Figure as Measured, Run, StageFigures};
use std::collections::HashMap;

/// What cells are made of.
pub(super) struct Cells<'r> {
    run: &'r Run,
    marks: &'r Marks<'r>,
    figures: HashMap<(&'r str, &'r Settings), &'r StageFigures>,
}

impl<'r> Cells<'r> {
    pub(super) fn of(run: &'r Run, marks: &'r Marks<'r>) -> Self {
        let figures = run.figures.iter();
        Self {
            run,
            marks,
            figures: figures
                .map(|figures| ((figures.stage.as_str(), &figures.settings), figures))
                .collect(),
        }
    }

    /// The cell of these figures; `rate` is the figure to show, in whatever unit.
    fn cell(&self, figures: &StageFigures, rate: &Measured) -> Cell {
        if let Some(why) = direct_refused(self.run, figures) {
            return Cell::Refused(why.to_owned());
        }
        if figures.errors > 0 {
            return Cell::Failed(figures.errors);
        }
        if rate.trials == 0 || !rate.median.is_finite() || rate.median <= 0.0 {
            return Cell::Absent;
        }
        let (share, word) = most(&figures.layers);
        let partly = if share < NEARLY_ALL { "~" } else { "" };
        Cell::Rate(Rate {
            value: rate.median,
            ends: Ends::of(rate),
            shade: 0,
            mark: None,
            in_force: false,
            letter: self.marks.letter_of(figures),
            by: format!("{word}{partly}"),
        })
    }

    /// A matrix in which something is to be chosen.
    pub(super) fn chosen(&self, effects: &StageEffects) -> Matrix {
        let layout = Layout::of(&effects.axes);
        let names = |places: &[usize]| -> Vec<String> {
            let names = places.iter().map(|place| &effects.axes[*place].name);
            names.cloned().collect()
        };
        let across: Vec<usize> = layout.across.into_iter().collect();
        let heads = combinations(&effects.axes, &across);
        let rows = combinations(&effects.axes, &layout.down);
        let known: HashMap<&Settings, &CellRate> = effects
            .cells
            .iter()
            .map(|cell| (&cell.settings, cell))
            .collect();
        let cell = |parts: [&Settings; 3]| {
            let settings: Settings = parts.into_iter().flatten().map(owned).collect();
            let cell = known.get(&settings);
            cell.map_or(Cell::Absent, |cell| self.of_choice(effects, cell))
        };
        let table = |under: &Settings| Table {
            under: said(under),
            down: names(&layout.down),
            across: names(&across).concat(),
            heads: heads.iter().map(|head| values(head).concat()).collect(),
            rows: rows
                .iter()
                .map(|row| {
                    let cells = heads.iter().map(|head| cell([under, row, head]));
                    let labels = names(&layout.down).into_iter();
                    let labels = labels.map(|name| row.get(&name).cloned().unwrap_or_default());
                    (labels.collect(), cells.collect())
                })
                .collect(),
        };
        let tables: Vec<Table> = combinations(&effects.axes, &layout.apart)
            .iter()
            .map(table)
            .collect();
        let mut matrix = Matrix {
            stage: effects.stage.clone(),
            about: self.about(&effects.stage),
            unit: match effects.rate {
                RateOf::ThroughputBytesPerS => Unit::BytesPerS,
                RateOf::Iops => Unit::PerS,
            },
            tables,
            notes: vec![format!("{}.", pivot::medians(effects))],
        };
        matrix.notes.extend(of_marks(&matrix));
        let of_layers = of_layers(&mut matrix);
        matrix.notes.extend(of_layers);
        matrix.notes.extend(pivot::missing_trials(effects));
        matrix
    }

    fn of_choice(&self, effects: &StageEffects, cell: &CellRate) -> Cell {
        let figures = self.figures.get(&(effects.stage.as_str(), &cell.settings));
        let Some(figures) = figures else {
            return Cell::Absent;
        };
        // One that failed or was refused has no rate, and is told by its figures.
        let rate = cell
            .rate
            .as_ref()
            .unwrap_or(&figures.throughput_bytes_per_s);
        match self.cell(figures, rate) {
            Cell::Rate(rate) => Cell::Rate(Rate {
                mark: pivot::standing(effects, cell).map(|standing| match standing {
                    Standing::Best => Mark::Best,
                    Standing::AsGood => Mark::AsGood,
                }),
                in_force: cell.in_force == Some(true),
                ..rate
            }),
            other => other,
        }
    }

    /// Any other matrix.
    pub(super) fn grid(&self, grid: &Grid<'_>) -> Matrix {
        let cell = |row: &str, head: &str| {
            let figures = grid.at(row, head);
            figures.map_or(Cell::Absent, |figures| {
                self.cell(figures, &figures.throughput_bytes_per_s)
            })
        };
        let rows = grid.rows.iter().map(|row| {
            let cells = grid.heads.iter().map(|head| cell(row, head));
            (vec![row.clone()], cells.collect())
        });
        let mut table = Table {
            under: String::new(),
            down: vec![grid.shown().to_owned()],
            across: String::new(),
            heads: grid.heads.clone(),
            rows: rows.collect(),
        };
        mark_highest(&mut table);
        // Long names make rows, and short ones columns.
        let longest = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0);
        let across = longest(&mut grid.heads.iter().map(|head| columns(head)));
        let down = longest(&mut grid.rows.iter().map(|row| columns(row)));
        if across > down {
            table = transposed(table);
        }
        let mut matrix = Matrix {
            stage: grid.name().to_owned(),
            about: self.about(grid.name()),
            unit: Unit::BytesPerS,
            tables: vec![table],
            notes: vec!["MB/s are 10^6 bytes per second.".to_owned()],
        };
        matrix.notes.extend(of_marks(&matrix));
        let of_layers = of_layers(&mut matrix);
        matrix.notes.extend(of_layers);
        matrix
    }

    /// The cells of stages that stand in no other matrix, as those of a document, whose lines
    /// lack what the others have: by the two axes with the most values, a table for each
    /// combination of the others that fills one.
    pub(super) fn scattered(&self, known: &[Matrix]) -> Vec<Matrix> {
        let mut stages: Vec<(&str, Vec<&StageFigures>)> = Vec::new();
        for figures in &self.run.figures {
            let name = &figures.stage;
            if figures.settings.is_empty() || known.iter().any(|matrix| matrix.stage == *name) {
                continue;
            }
            match stages.iter_mut().find(|(known, _)| known == name) {
                Some((_, cells)) => cells.push(figures),
                None => stages.push((name, vec![figures])),
            }
        }
        stages
            .iter()
            .filter_map(|(name, cells)| self.of_scattered(name, cells))
            .collect()
    }

    fn of_scattered(&self, name: &str, cells: &[&StageFigures]) -> Option<Matrix> {
        let axes = scattered::axes(cells);
        let (down, across) = scattered::sides(&axes)?;
        let mut tables = Vec::new();
        for (under, cells) in scattered::apart(cells, [&down.name, &across.name]) {
            let at = |row: &str, head: &str| {
                let is_here = |figures: &&&StageFigures| {
                    let of = |axis: &Varied| scattered::value(figures, &axis.name);
                    of(down) == row && of(across) == head
                };
                let mut here = cells.iter().filter(is_here);
                // Lines of which nobody can say how they differ stand in no table.
                let first = here.next().filter(|_| here.next().is_none());
                first.map_or(Cell::Absent, |figures| {
                    self.cell(figures, &figures.throughput_bytes_per_s)
                })
            };
            let mut table = Table {
                under,
                down: vec![down.name.clone()],
                across: across.name.clone(),
                heads: across.values.clone(),
                rows: down
                    .values
                    .iter()
                    .map(|row| {
                        let cells = across.values.iter().map(|head| at(row, head));
                        (vec![row.clone()], cells.collect())
                    })
                    .collect(),
            };
            if scattered::is_filled(&mut table) {
                mark_highest(&mut table);
                tables.push(table);
            }
        }
        let mut matrix = Matrix {
            stage: name.to_owned(),
            about: self.about(name),
            unit: Unit::BytesPerS,
            tables,
            notes: vec!["MB/s are 10^6 bytes per second.".to_owned()],
        };
        // Where most of it stands in no table, a table would be a part that looks like all.
        if matrix.rates().count() * 2 < cells.len() {
            return None;
        }
        matrix.notes.extend(of_marks(&matrix));
        let of_layers = of_layers(&mut matrix);
        matrix.notes.extend(of_layers);
        Some(matrix)
    }

    fn about(&self, stage: &str) -> String {
        let stage = self.run.plan.stage(stage);
        stage.map_or_else(String::new, |stage| stage.about.clone())
    }
}

fn owned((name, value): (&String, &String)) -> (String, String) {
    (name.clone(), value.clone())
}

fn values(settings: &Settings) -> Vec<String> {
    settings.values().cloned().collect()
}

/// Marks the highest of a table, and what cannot be told from it where intervals are known.
fn mark_highest(table: &mut Table) {
    let cells = table.rows.iter().flat_map(|(_, cells)| cells);
    let rates = cells.filter_map(Cell::rate);
    let highest = rates.max_by(|a, b| a.value.total_cmp(&b.value)).cloned();
    let Some(highest) = highest else {
        return;
    };
    let sure = highest.ends.filter(|ends| ends.interval);
    for (_, cells) in &mut table.rows {
        for cell in cells {
            let Cell::Rate(rate) = cell else {
                continue;
            };
            let is_highest = rate.value >= highest.value;
            rate.mark = match (sure, rate.ends.filter(|ends| ends.interval)) {
                (Some(_), _) if is_highest => Some(Mark::Best),
                (None, _) if is_highest => Some(Mark::Highest),
                (Some(best), Some(own)) if own.overlap(best) => Some(Mark::AsGood),
                _ => None,
            };
        }
    }
}

/// Rows for columns.
fn transposed(table: Table) -> Table {
    let mut columns: Vec<Vec<Cell>> = table.heads.iter().map(|_| Vec::new()).collect();
    let mut heads = Vec::new();
    for (labels, cells) in table.rows {
        heads.push(labels.concat());
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.push(cell);
        }
    }
    Table {
        under: table.under,
        down: vec![table.across],
        across: table.down.concat(),
        rows: table
            .heads
            .into_iter()
            .map(|head| vec![head])
            .zip(columns)
            .collect(),
        heads,
    }
}
