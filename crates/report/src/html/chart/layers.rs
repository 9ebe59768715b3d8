//! Who served the bytes of each stage: a bar of 100 %, from this machine's memory down.

use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::series;
use crate::html::scale::Unit;
use crate::html::svg::{self, Anchor, TEXT, WIDTH};
use crate::html::table::{Cell, Table};
use crate::text::stages::{name, shares, tells_layers};
use diskfacts_record::{Run, StageFigures};
use maud::{Markup, html};

/// Units of a bar's height, and between two stages.
const BAR: f64 = 12.0;
const BETWEEN: f64 = 8.0;
/// Least share that is drawn.
const LEAST: f64 = 0.0005;

/// Who served a stage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Served {
    pub(crate) name: String,
    /// The share of each layer and its name.
    pub(crate) shares: Vec<(f64, &'static str)>,
}

/// The stages that have bytes.
pub(crate) fn served(run: &Run, stages: &[&StageFigures]) -> Vec<Served> {
    let told = stages.iter().filter(|figures| tells_layers(run, figures));
    told.map(|figures| Served {
        name: name(figures),
        shares: shares(&figures.layers).to_vec(),
    })
    .collect()
}

/// `None` where nothing was observed.
pub(crate) fn figure(id: String, run: &Run, stages: &[&StageFigures]) -> Option<Figure> {
    let all = served(run, stages);
    let layers = shares(&diskfacts_record::Layers::default()).map(|(_, layer)| layer);
    let most = |layer: &str| {
        let shares = all.iter().flat_map(|served| &served.shares);
        let shares = shares.filter(|(_, name)| *name == layer);
        shares.map(|(share, _)| *share).fold(0.0, f64::max)
    };
    let used: Vec<&str> = layers
        .into_iter()
        .filter(|layer| most(layer) >= LEAST)
        .collect();
    if used.is_empty() || used == ["unknown"] {
        return None;
    }
    let class = |layer: &str| match layers.iter().position(|known| *known == layer) {
        Some(place) if layer != "unknown" => format!("bar {}", series(place)),
        _ => "rest".to_owned(),
    };
    let mut y = 0.0;
    let rows: Vec<Markup> = all
        .iter()
        .map(|served| {
            let markup = row(served, y, &class);
            y += TEXT + 4.0 + BAR + BETWEEN;
            markup
        })
        .collect();
    Some(Figure {
        id,
        title: "Who served the bytes".to_owned(),
        seen: seen(&all),
        drawing: Drawing::Svg(y, html! { @for row in rows { (row) } }),
        legend: used
            .iter()
            .map(|layer| Key::area(&class(layer), "", *layer))
            .collect(),
        numbers: numbers(&all, &used),
    })
}

fn largest(served: &Served) -> (f64, &'static str) {
    let shares = served.shares.iter().copied();
    shares
        .reduce(|a, b| if b.0 > a.0 { b } else { a })
        .unwrap_or((0.0, "unknown"))
}

fn row(served: &Served, y: f64, class: &dyn Fn(&str) -> String) -> Markup {
    let (share, layer) = largest(served);
    let said = format!("{layer} {}", Unit::Share.show(share));
    let room = WIDTH - svg::text_width(&said) - 10.0;
    let drawn = served.shares.iter().filter(|(share, _)| *share >= LEAST);
    let places = svg::side_by_side(0.0, drawn.clone().map(|(share, _)| share * WIDTH));
    html! {
        (svg::text((0.0, y + TEXT), Anchor::Start, "", &svg::fitted(&served.name, room)))
        (svg::text((WIDTH, y + TEXT), Anchor::End, "soft", &said))
        @for ((share, layer), (from, wide)) in drawn.zip(places) {
            @let said = format!("{layer} {}", Unit::Share.show(*share));
            (svg::rectangle((from, y + TEXT + 4.0), (wide, BAR), &class(layer), &said))
        }
    }
}

/// Which layer served most of how many stages.
fn seen(all: &[Served]) -> String {
    let mut most: Vec<(&str, Vec<&str>)> = Vec::new();
    for served in all {
        let (_, layer) = largest(served);
        match most.iter_mut().find(|(known, _)| *known == layer) {
            Some((_, names)) => names.push(&served.name),
            None => most.push((layer, vec![&served.name])),
        }
    }
    let said: Vec<String> = most
        .into_iter()
        .map(|(layer, names)| {
            let stages = match names.as_slice() {
                [only] => (*only).to_owned(),
                many if many.len() == all.len() => format!("all {} stages", many.len()),
                many => format!("{} stages", many.len()),
            };
            format!("{layer} for {stages}")
        })
        .collect();
    format!("Most bytes were served by {}.", said.join(", "))
}

fn numbers(all: &[Served], used: &[&str]) -> Table {
    let mut heads = vec!["stage"];
    heads.extend(used);
    let mut table = Table::new("Who served the bytes", &heads);
    for served in all {
        let mut row = vec![Cell::Text(served.name.clone())];
        for layer in used {
            let share = served.shares.iter().find(|(_, name)| name == layer);
            row.push(Cell::known(
                share.map(|(share, _)| Unit::Share.show(*share)),
            ));
        }
        table.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_as_wide_as_their_shares() {
        let served = Served {
            name: "a".into(),
            shares: vec![(0.25, "page cache"), (0.0, "media"), (0.75, "device")],
        };
        let markup = row(&served, 0.0, &|_| "bar".to_owned()).into_string();
        assert_eq!(svg::attributes(&markup, "bar", "x"), ["0", "100"]);
        assert_eq!(svg::attributes(&markup, "bar", "width"), ["100", "300"]);
        assert_eq!(seen(&[served]), "Most bytes were served by device for a.");
    }
}
