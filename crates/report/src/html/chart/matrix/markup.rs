//! A matrix as a figure.

use super::{Cell, Mark, Matrix, Rate, SHADES, Table};
use crate::html::figure::{Drawing, Figure};
use crate::html::scale::Unit;
use crate::html::table::Table as Numbers;
use crate::text::words::count;
use maud::{Markup, html};

/// Conditions whose best is told in the sentence.
const TOLD: usize = 3;

/// A matrix as a figure.
pub(crate) fn figure(matrix: &Matrix, id: String) -> Figure {
    let about = if matrix.about.is_empty() {
        String::new()
    } else {
        format!(": {}", matrix.about)
    };
    Figure {
        id,
        title: format!("{}{about}", matrix.stage),
        seen: seen(matrix),
        drawing: Drawing::Marked(markup(matrix)),
        legend: Vec::new(),
        // The drawing is the table of its numbers.
        numbers: Numbers::default(),
    }
}

/// `36 cells from 4.2 to 101 MB/s; best is scheduler=bfq, 39.3 MB/s (39.1 to 39.5).`
fn seen(matrix: &Matrix) -> String {
    let Some((low, high)) = matrix.reach() else {
        return String::new();
    };
    let unit = matrix.unit;
    let cells = count(matrix.rates().count() as u64, "cell");
    let mut parts = vec![format!(
        "{cells} from {} to {} {}",
        unit.show(low),
        unit.show(high),
        unit.name()
    )];
    // Of many conditions the tables say it.
    let told = Some(&matrix.tables).filter(|tables| tables.len() <= TOLD);
    for table in told.into_iter().flatten() {
        let best = table.rows.iter().flat_map(|(labels, cells)| {
            let cells = cells.iter().zip(&table.heads);
            cells.filter_map(move |(cell, head)| Some((labels, head, cell.rate()?)))
        });
        let marked =
            best.filter(|(.., rate)| matches!(rate.mark, Some(Mark::Best | Mark::Highest)));
        let named: Vec<String> = marked
            .take(1)
            .map(|(labels, head, rate)| {
                let mut names = labels.clone();
                names.push(head.clone());
                names.retain(|name| !name.is_empty());
                let under = if table.under.is_empty() {
                    String::new()
                } else {
                    format!("with {} ", table.under)
                };
                let word = rate.mark.map_or("", Mark::word);
                format!(
                    "{under}{word}: {}, {}",
                    names.join(", "),
                    with_ends(unit, rate)
                )
            })
            .collect();
        parts.extend(named);
    }
    format!("{}.", parts.join("; "))
}

/// `39.3 MB/s (39.1 to 39.5)`.
fn with_ends(unit: Unit, rate: &Rate) -> String {
    let ends = rate.ends.map_or_else(String::new, |ends| {
        format!(" ({} to {})", unit.show(ends.low), unit.show(ends.high))
    });
    format!("{} {}{ends}", unit.show(rate.value), unit.name())
}

pub(super) fn markup(matrix: &Matrix) -> Markup {
    html! {
        div class="blocks" {
            @for table in &matrix.tables {
                div {
                    @if !table.under.is_empty() { h4 { (table.under) } }
                    (of_table(matrix, table))
                }
            }
        }
        (scale(matrix))
        p class="soft" { (matrix.notes.join(" ")) }
    }
}

fn of_table(matrix: &Matrix, table: &Table) -> Markup {
    let across = !table.across.is_empty();
    let label = format!("{} {}", matrix.stage, table.under);
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(label.trim_end()) {
            table class="matrix" {
                thead {
                    @if across {
                        tr {
                            @for _ in &table.down { td {} }
                            th scope="colgroup" colspan=(table.heads.len()) { (table.across) }
                        }
                    }
                    tr {
                        @for name in &table.down { (head(name, None)) }
                        @for name in &table.heads { (head(name, Some("n"))) }
                    }
                }
                tbody {
                    @for (labels, cells) in &table.rows {
                        tr {
                            @for label in labels { th scope="row" { (label) } }
                            @for cell in cells { (of_cell(matrix.unit, cell)) }
                        }
                    }
                }
            }
        }
    }
}

/// The head of a column; where nothing stands, none is told.
fn head(name: &str, class: Option<&str>) -> Markup {
    html! {
        @if name.is_empty() { td {} } @else { th scope="col" class=[class] { (name) } }
    }
}

fn of_cell(unit: Unit, cell: &Cell) -> Markup {
    match cell {
        Cell::Absent => html! { td class="n soft" { "–" } },
        Cell::Refused(why) => html! { td class="n hatched" title=(why) { "refused" } },
        Cell::Failed(errors) => html! {
            td class="n hatched bad" { (count(*errors, "operation")) " failed" }
        },
        Cell::Rate(rate) => {
            let marked = match rate.mark {
                Some(Mark::Best | Mark::Highest) => " first",
                Some(Mark::AsGood) => " equal",
                None => "",
            };
            let force = rate.in_force.then_some("in force");
            let words: Vec<&str> = rate.mark.map(Mark::word).into_iter().chain(force).collect();
            let by = Some(rate.by.as_str()).filter(|by| !by.is_empty());
            let from: Vec<&str> = rate.letter.as_deref().into_iter().chain(by).collect();
            html! {
                td class={ "n h" (rate.shade) (marked) } {
                    div {
                        b { (unit.show(rate.value)) }
                        @if !from.is_empty() { " " span { (from.join(" ")) } }
                    }
                    @if let Some(ends) = rate.ends {
                        span { (unit.show(ends.low)) "–" (unit.show(ends.high)) }
                    }
                    @if !words.is_empty() { em { (words.join(", ")) } }
                }
            }
        }
    }
}

/// The steps of the shade, with the rates at its ends.
fn scale(matrix: &Matrix) -> Markup {
    let Some((low, high)) = matrix.reach() else {
        return html! {};
    };
    let low = if matrix.is_logarithmic() { low } else { 0.0 };
    let unit = matrix.unit;
    html! {
        p class="shades" aria-hidden="true" {
            (unit.show(low)) " "
            @for shade in 0..SHADES { span class={ "h" (shade) } {} }
            " " (unit.show(high)) " " (unit.name())
        }
    }
}
