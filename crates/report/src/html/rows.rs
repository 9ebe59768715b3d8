//! A row for each stage: its figures, its marks, and its latencies as a strip on one axis.

use super::LOOK;
use super::run::Scope;
use super::scale::Scale;
use super::svg::{self, Anchor, number};
use crate::text::stages::{about, listed, name};
use crate::text::summary::columns::{self, Column};
use crate::text::summary::rows::{Section, sections};
use diskfacts_record::{Latency, StageFigures};
use maud::{Markup, html};

/// Units of a strip.
const STRIP: (f64, f64) = (190.0, 16.0);
/// The head of the column that has links in its place.
const SEE: &str = "see";

pub(super) fn table(scope: &Scope<'_>) -> Markup {
    let run = scope.run;
    let listed = listed(run);
    if listed.is_empty() {
        return html! {
            @if run.figures.is_empty() {
                p { "No trial was completed, so there are no figures." }
            }
        };
    }
    let sections = sections(run, &listed);
    let ordered: Vec<&StageFigures> = sections
        .iter()
        .flat_map(|section| section.figures.iter().copied())
        .collect();
    let mut columns = columns::all(run, (&scope.marks, usize::MAX), &ordered, &LOOK);
    columns.retain(|column| column.head == SEE || column.cells.iter().any(|cell| !cell.is_empty()));
    let scale = scale(ordered.iter().map(|figures| &figures.latency_ns));
    let wide = columns.len() + 1 + usize::from(scale.is_some());
    let numbered = sections.iter().scan(0, |row, section| {
        let first = *row;
        *row += section.figures.len();
        Some((first, section))
    });
    html! {
        div class="scroll" tabindex="0" role="region" aria-label={ "Figures of the stages of " (run.run.id) } {
            table class="stages" {
                thead {
                    tr {
                        th scope="col" { "stage" }
                        @for column in &columns {
                            th scope="col" class=[(column.head != SEE).then_some("n")] { (column.head) }
                        }
                        @if let Some(scale) = &scale {
                            th scope="col" { span class="hidden" { "latency" } (axis(scale)) }
                        }
                    }
                }
                @for (first, section) in numbered {
                    tbody {
                        (title(section, wide))
                        @for (row, figures) in section.figures.iter().enumerate() {
                            (line(scope, figures, &columns, first + row, scale.as_ref()))
                        }
                    }
                }
            }
        }
        p class="soft" { (legend(scale.is_some(), &columns)) }
    }
}

fn title(section: &Section<'_>, wide: usize) -> Markup {
    html! {
        @if let Some((from, blocks)) = &section.title {
            tr class="soft" {
                th scope="rowgroup" colspan=(wide) {
                    (from) @if let Some(blocks) = blocks { ", " (blocks) }
                }
            }
        }
    }
}

fn line(
    scope: &Scope<'_>,
    figures: &StageFigures,
    columns: &[Column],
    row: usize,
    scale: Option<&Scale>,
) -> Markup {
    let about = about(scope.run, figures);
    html! {
        tr {
            th scope="row" title=[(!about.is_empty()).then_some(about)] { (name(figures)) }
            @for column in columns {
                @if column.head == SEE {
                    td class="marks" { (scope.marks_of(figures)) }
                } @else {
                    td class="n" { (column.cells[row]) }
                }
            }
            @if let Some(scale) = scale {
                td { (strip(&figures.latency_ns, scale)) }
            }
        }
    }
}

/// One logarithmic axis for all stages, in whole decades; `None` where no latency is known.
fn scale<'a>(all: impl Iterator<Item = &'a Latency>) -> Option<Scale> {
    let ends = all.flat_map(|latency| {
        [latency.min, latency.p50, latency.max]
            .into_iter()
            .flatten()
    });
    let (low, high) = ends.fold((u64::MAX, 0), |(low, high), ns| (low.min(ns), high.max(ns)));
    let decade = |ns: u64, round: fn(f64) -> f64| 10_f64.powf(round((ns.max(1) as f64).log10()));
    let (low, high) =
        (low <= high).then_some((decade(low, f64::floor), decade(high, f64::ceil)))?;
    let high = if low < high { high } else { low * 10.0 };
    Some(Scale::logarithmic(low, high).onto(4.0, STRIP.0 - 4.0))
}

/// The decades that have room.
fn axis(scale: &Scale) -> Markup {
    let mut free = 0.0;
    let labels = scale
        .ticks(16)
        .into_iter()
        .filter(|tick| (tick.log10().fract()).abs() < 1e-9);
    let mut shown: Vec<(f64, Anchor, String)> = Vec::new();
    for tick in labels {
        let (at, label) = (scale.at(tick), LOOK.duration(tick.round() as u64));
        let wide = svg::text_width(&label) * 0.85;
        let left = (at - wide / 2.0).clamp(0.0, STRIP.0 - wide);
        if left >= free {
            free = left + wide + 8.0;
            shown.push((left, Anchor::Start, label));
        }
    }
    html! {
        svg viewBox={ "0 0 " (number(STRIP.0)) " " (number(STRIP.1)) } class="strip" aria-hidden="true" {
            @for (at, anchor, label) in shown {
                (svg::text((at, STRIP.1 - 4.0), anchor, "small", &label))
            }
        }
    }
}

/// From the shortest to the median, to p99, to p99.9, to the longest; the figures stand beside
/// it.
fn strip(latency: &Latency, scale: &Scale) -> Markup {
    let at = |ns: Option<u64>| ns.map(|ns| scale.at(ns as f64));
    let middle = STRIP.1 / 2.0;
    let bar = |from: Option<f64>, to: Option<f64>, height: f64, class: &str| {
        let ends = from.zip(to).filter(|(from, to)| to > from);
        ends.map(|(from, to)| {
            svg::rectangle(
                (from, middle - height / 2.0),
                (to - from, height),
                class,
                "",
            )
        })
    };
    let (min, p50, p99) = (at(latency.min), at(latency.p50), at(latency.p99));
    let (p99_9, max) = (at(latency.p99_9), at(latency.max));
    let until = p99.or(p50);
    html! {
        svg viewBox={ "0 0 " (number(STRIP.0)) " " (number(STRIP.1)) } class="strip" aria-hidden="true" {
            @if p50.is_some() {
                (bar(min, max, 1.0, "strip-all").unwrap_or_default())
                (bar(until, p99_9, 3.0, "strip-tail").unwrap_or_default())
                (bar(p50, p99, 7.0, "strip-most").unwrap_or_default())
                @if let Some(at) = p50 {
                    (svg::rectangle((at - 1.5, middle - 6.0), (3.0, 12.0), "strip-median", ""))
                }
            }
        }
    }
}

fn legend(drawn: bool, columns: &[Column]) -> String {
    let spread = LOOK.plus_minus();
    let mut said = Vec::new();
    if columns.iter().any(|column| column.head == spread) {
        said.push(format!(
            "{spread} is half the 95 % interval of the median, of few trials half their range"
        ));
    }
    said.push("see: what limits it, and what to know of it; ! do not quote".to_owned());
    if drawn {
        said.push(
            "latency: a thin line from the least to the most, the median upright, thick to p99, \
             half as thick to p99.9"
                .to_owned(),
        );
    }
    said.push("MB are 10^6 bytes".to_owned());
    format!("{}.", said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_has_each_percentile_at_its_place() {
        let latency = Latency {
            min: Some(1_000),
            p50: Some(10_000),
            p99: Some(100_000),
            p99_9: Some(1_000_000),
            max: Some(10_000_000),
            ..Latency::default()
        };
        let scale = scale([&latency].into_iter()).expect("it is known");
        assert_eq!(scale.domain, (1e3, 1e7));
        let markup = strip(&latency, &scale).into_string();
        let ends = |class: &str| {
            let of = |attribute: &str| -> f64 {
                svg::attributes(&markup, class, attribute)[0]
                    .parse()
                    .unwrap()
            };
            let value = |at: f64| scale.value(at).round();
            (value(of("x")), value(of("x") + of("width")))
        };
        let near = |(a, b): (f64, f64), (c, d): (f64, f64)| {
            assert!(
                (a / c - 1.0).abs() < 0.01 && (b / d - 1.0).abs() < 0.01,
                "{a} {b}"
            );
        };
        near(ends("strip-all"), (1e3, 1e7));
        near(ends("strip-most"), (1e4, 1e5));
        near(ends("strip-tail"), (1e5, 1e6));
    }
}
