//! Where the time goes: the mean latency of each stage, divided, as a bar; and that of its
//! slowest hundredth.

use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::series;
use crate::html::scale::Unit;
use crate::html::svg::{self, Anchor, TEXT, WIDTH};
use crate::html::table::{Cell, Table};
use crate::text::budget::{initial, words};
use crate::text::stages::name;
use diskfacts_record::{BudgetPart, Spent, StageFigures};
use maud::{Markup, html};

/// Units of a bar's height, of that of the slowest, between two lines of a stage, and between
/// two stages.
const BAR: f64 = 15.0;
const GAP: f64 = 4.0;
const BETWEEN: f64 = 9.0;
/// Units from which on a part has its letter in it.
const LETTER: f64 = 12.0;
/// Where the bar of the slowest begins.
const SLOWEST: f64 = 80.0;

/// The divided time of a stage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Divided {
    pub(crate) name: String,
    pub(crate) mean: Bar,
    /// Of the slowest hundredth, where it is known.
    pub(crate) slowest: Option<Bar>,
}

/// A mean latency in its parts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    /// ns.
    pub(crate) latency_ns: f64,
    /// What each part is, its share of the latency, and its time, ns; in the order in which an
    /// operation meets them.
    pub(crate) parts: Vec<(Spent, f64, f64)>,
}

fn bar(latency_ns: f64, parts: &[BudgetPart]) -> Option<Bar> {
    let share = |part: &BudgetPart| {
        let ns = part.mean_ns.max(0.0);
        (part.part, ns / latency_ns, ns)
    };
    (latency_ns > 0.0).then(|| Bar {
        latency_ns,
        parts: parts.iter().map(share).collect(),
    })
}

/// The stages of which it is known.
pub(crate) fn divided(stages: &[&StageFigures]) -> Vec<Divided> {
    let of = |figures: &&StageFigures| {
        let budget = figures.budget.as_ref()?;
        let slowest = budget.slowest.as_ref();
        Some(Divided {
            name: name(figures),
            mean: bar(budget.latency_ns, &budget.parts)?,
            slowest: slowest.and_then(|slowest| bar(slowest.latency_ns, &slowest.parts)),
        })
    };
    stages.iter().filter_map(of).collect()
}

/// `None` where nothing is known of any stage.
pub(crate) fn figure(id: String, stages: &[&StageFigures]) -> Option<Figure> {
    let all = divided(stages);
    if all.is_empty() {
        return None;
    }
    let mut kinds: Vec<Spent> = all.iter().flat_map(Divided::kinds).collect();
    kinds.sort_unstable();
    kinds.dedup();
    // What is not explained looks like nothing in particular, everywhere.
    let class = |part: Spent| match kinds.iter().position(|kind| *kind == part) {
        Some(place) if part != Spent::Unexplained => format!("bar {}", series(place)),
        _ => "rest".to_owned(),
    };
    let mut y = 0.0;
    let rows: Vec<Markup> = all
        .iter()
        .map(|stage| {
            let (markup, height) = row(stage, y, &class);
            y += height + BETWEEN;
            markup
        })
        .collect();
    let legend = kinds
        .iter()
        .map(|kind| Key::area(&class(*kind), &initial(*kind).to_string(), words(*kind)));
    Some(Figure {
        id,
        title: "Where the time of an operation goes".to_owned(),
        seen: seen(&all),
        drawing: Drawing::Svg(y, html! { @for row in rows { (row) } }),
        legend: legend.collect(),
        numbers: numbers(&all),
    })
}

impl Divided {
    fn kinds(&self) -> impl Iterator<Item = Spent> {
        let bars = std::iter::once(&self.mean).chain(&self.slowest);
        bars.flat_map(|bar| bar.parts.iter().map(|(part, ..)| *part))
    }
}

/// A stage from this height on, and how high it is.
fn row(stage: &Divided, y: f64, class: &dyn Fn(Spent) -> String) -> (Markup, f64) {
    let mean = Unit::Ns.show(stage.mean.latency_ns);
    let mean = format!("mean {mean}");
    let room = WIDTH - svg::text_width(&mean) - 10.0;
    let baseline = y + TEXT;
    let first = y + TEXT + GAP;
    let second = first + BAR + 2.0;
    let markup = html! {
        (svg::text((0.0, baseline), Anchor::Start, "", &svg::fitted(&stage.name, room)))
        (svg::text((WIDTH, baseline), Anchor::End, "soft", &mean))
        (parts(&stage.mean, (0.0, first), class))
        @if let Some(slowest) = &stage.slowest {
            (svg::text((0.0, second + 0.8 * BAR), Anchor::Start, "soft", "slowest 1 %"))
            (parts(slowest, (SLOWEST, second), class))
            @let time = Unit::Ns.show(slowest.latency_ns);
            (svg::text((WIDTH, second + 0.8 * BAR), Anchor::End, "soft", &time))
        }
    };
    let height = match stage.slowest {
        Some(_) => second + BAR - y,
        None => first + BAR - y,
    };
    (markup, height)
}

/// The parts side by side from a place on; what is after the slowest has room for its time.
fn parts(bar: &Bar, (x, y): (f64, f64), class: &dyn Fn(Spent) -> String) -> Markup {
    let whole = if x > 0.0 {
        WIDTH - x - svg::text_width(&Unit::Ns.show(bar.latency_ns)) - 6.0
    } else {
        WIDTH
    };
    let places = svg::side_by_side(x, bar.parts.iter().map(|(_, share, _)| share * whole));
    html! {
        @for ((part, share, ns), (from, wide)) in bar.parts.iter().zip(places) {
            @let said = format!("{}: {} ({})", words(*part), Unit::Ns.show(*ns), Unit::Share.show(*share));
            (svg::rectangle((from, y), (wide, BAR), &class(*part), &said))
            @if wide >= LETTER {
                @let text = if *part == Spent::Unexplained { "soft" } else { "on" };
                @let letter = initial(*part).to_string();
                (svg::text((from + wide / 2.0, y + 0.75 * BAR), Anchor::Middle, text, &letter))
            }
        }
    }
}

/// The largest part of each stage, stages that it is the same of together.
fn seen(all: &[Divided]) -> String {
    let mut largest: Vec<(Spent, f64, f64, Vec<&str>)> = Vec::new();
    for stage in all {
        let parts = stage.mean.parts.iter();
        let Some((part, share, _)) = parts.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            continue;
        };
        match largest.iter_mut().find(|(known, ..)| known == part) {
            Some((_, low, high, names)) => {
                *low = low.min(*share);
                *high = high.max(*share);
                names.push(&stage.name);
            }
            None => largest.push((*part, *share, *share, vec![&stage.name])),
        }
    }
    let said: Vec<String> = largest
        .into_iter()
        .map(|(part, low, high, names)| {
            let shares = if Unit::Share.show(low) == Unit::Share.show(high) {
                Unit::Share.show(high)
            } else {
                format!("{} to {}", Unit::Share.show(low), Unit::Share.show(high))
            };
            let stages = match names.as_slice() {
                [only] => (*only).to_owned(),
                many if many.len() == all.len() => "each stage".to_owned(),
                [first, second] => format!("{first} and {second}"),
                many => format!("{} and {} more", many[0], many.len() - 1),
            };
            format!("{} takes most of {stages} ({shares})", words(part))
        })
        .collect();
    let mut text = said.join("; ");
    if let Some(first) = text.get(..1) {
        text = format!("{}{}", first.to_uppercase(), &text[1..]);
    }
    format!("{text}.")
}

fn numbers(all: &[Divided]) -> Table {
    let heads = ["stage", "of", "part", "time", "share"];
    let mut table = Table::new("Where the time of an operation goes", &heads);
    for stage in all {
        let bars = [
            ("all", Some(&stage.mean)),
            ("slowest 1 %", stage.slowest.as_ref()),
        ];
        for (of, bar) in bars {
            for (part, share, ns) in bar.iter().flat_map(|bar| &bar.parts) {
                table.push(vec![
                    Cell::Text(stage.name.clone()),
                    Cell::Text(of.to_owned()),
                    Cell::Text(words(*part).to_owned()),
                    Cell::Number(Unit::Ns.show(*ns)),
                    Cell::Number(Unit::Share.show(*share)),
                ]);
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage() -> Divided {
        Divided {
            name: "random-read-qd1".into(),
            mean: Bar {
                latency_ns: 80_000.0,
                parts: vec![
                    (Spent::Kernel, 0.25, 20_000.0),
                    (Spent::Device, 0.625, 50_000.0),
                    (Spent::Unexplained, 0.125, 10_000.0),
                ],
            },
            slowest: None,
        }
    }

    #[test]
    fn parts_are_as_wide_as_their_shares_and_fill_the_bar() {
        let class = |part: Spent| format!("bar {}", part.name());
        let (markup, height) = row(&stage(), 0.0, &class);
        let markup = markup.into_string();
        let of = |attribute: &str| -> Vec<f64> {
            let values = svg::attributes(&markup, "bar", attribute);
            values.iter().map(|value| value.parse().unwrap()).collect()
        };
        assert_eq!(of("x"), [0.0, 100.0, 350.0]);
        assert_eq!(of("width"), [100.0, 250.0, 50.0]);
        assert!(of("y").iter().all(|y| y + BAR <= height));
        assert!(markup.contains("device: 50 µs (62 %)"), "{markup}");
    }

    #[test]
    fn what_is_seen_names_the_largest_part_of_each_stage() {
        assert_eq!(
            seen(&[stage()]),
            "Device takes most of random-read-qd1 (62 %)."
        );
        let mut other = stage();
        other.mean.parts[1].1 = 0.9;
        assert_eq!(
            seen(&[stage(), other]),
            "Device takes most of each stage (62 % to 90 %)."
        );
    }
}
