//! Values with their ends, one below the other on one axis: a row each, with its name and what
//! is said of it above, so that long names have room.

use crate::html::figure::Drawing;
use crate::html::plot::Axis;
use crate::html::scale::Scale;
use crate::html::svg::{self, Anchor, TEXT, WIDTH, fitted, number, text_width};
use maud::{Markup, html};

/// Units of the height of a row: a line of text, and the value below it.
const ROW: f64 = 29.0;
/// Units at either side, for half a label.
const MARGIN: f64 = 20.0;
/// Units below the rows, for the labels of the axis and its title.
const BELOW: f64 = 34.0;
/// Units between a name and what is said.
const GAP: f64 = 8.0;

/// What a row shows; its colour and its mark follow from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Better, or best: points to the right.
    Good,
    /// Worse: points to the left.
    Bad,
    /// As good as another: a disc.
    Same,
    /// Not told apart: a ring.
    Unclear,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "is-good",
            Self::Bad => "is-bad",
            Self::Same => "is-same",
            Self::Unclear => "is-unclear",
        }
    }

    fn shape(self) -> &'static str {
        match self {
            Self::Good => "M-3.5 -4.5L5 0L-3.5 4.5Z",
            Self::Bad => "M3.5 -4.5L-5 0L3.5 4.5Z",
            Self::Same | Self::Unclear => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
        }
    }
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// What is said of it, at the right.
    pub(crate) said: String,
    /// The value; `None` where there is none, and `said` says why.
    pub(crate) at: Option<f64>,
    pub(crate) ends: Option<[f64; 2]>,
    pub(crate) kind: Kind,
}

/// Rows on one axis.
pub(crate) struct Forest<'a> {
    pub(crate) axis: Axis,
    pub(crate) rows: &'a [Row],
    /// A span of the axis that is shaded.
    pub(crate) band: Option<[f64; 2]>,
    /// A value that all are held against.
    pub(crate) line: Option<f64>,
}

impl Forest<'_> {
    /// The scale of the values, as wide as the drawing.
    pub(crate) fn scale(&self) -> Scale {
        self.axis.scale.onto(MARGIN, WIDTH - MARGIN)
    }

    /// Where the value of a row stands.
    fn middle(place: usize) -> f64 {
        place as f64 * ROW + 1.6 * TEXT + 1.0
    }

    /// The drawing.
    pub(crate) fn draw(&self) -> Drawing {
        let scale = self.scale();
        let bottom = self.rows.len() as f64 * ROW + 4.0;
        let upright = |value: f64| svg::line([(scale.at(value), 0.0), (scale.at(value), bottom)]);
        let elements = html! {
            @if let Some([low, high]) = self.band {
                (svg::rectangle(
                    (scale.at(low), 0.0),
                    (scale.at(high) - scale.at(low), bottom),
                    "same",
                    "",
                ))
            }
            g class="grid" {
                @for (tick, _) in self.axis.ticks() { path d=(upright(*tick)) {} }
            }
            @if let Some(line) = self.line { path class="axis" d=(upright(line)) {} }
            @for (place, row) in self.rows.iter().enumerate() { (one(row, place, scale)) }
            path class="axis" d=(svg::line([(MARGIN, bottom), (WIDTH - MARGIN, bottom)])) {}
            @for (tick, label) in labelled(self.axis.ticks(), scale) {
                (svg::text((scale.at(tick), bottom + 1.2 * TEXT), Anchor::Middle, "", label))
            }
            (svg::text(
                (WIDTH - MARGIN, bottom + BELOW - 7.0),
                Anchor::End,
                "title",
                self.axis.title(),
            ))
        };
        Drawing::Svg(bottom + BELOW, elements)
    }
}

/// The ticks whose labels have room beside those before.
fn labelled(ticks: &[(f64, String)], scale: Scale) -> Vec<(f64, &str)> {
    let mut free = f64::MIN;
    let fitting = ticks.iter().filter(|(tick, label)| {
        let (at, half) = (scale.at(*tick), text_width(label) / 2.0);
        let fits = at - half >= free;
        if fits {
            free = at + half + 4.0;
        }
        fits
    });
    fitting
        .map(|(tick, label)| (*tick, label.as_str()))
        .collect()
}

fn one(row: &Row, place: usize, scale: Scale) -> Markup {
    let baseline = place as f64 * ROW + TEXT;
    let middle = Forest::middle(place);
    let said = fitted(&row.said, WIDTH * 0.6);
    let room = WIDTH - text_width(&said) - GAP;
    html! {
        g class=(row.kind.class()) {
            title { (row.name) ": " (row.said) }
            (svg::text((0.0, baseline), Anchor::Start, "", &fitted(&row.name, room)))
            (svg::text((WIDTH, baseline), Anchor::End, "soft", &said))
            @if let Some([low, high]) = row.ends {
                path class="interval"
                    d=(svg::line([(scale.at(low), middle + 4.0), (scale.at(high), middle + 4.0)])) {}
            }
            @if let Some(at) = row.at {
                path class="mark" d=(row.kind.shape())
                    transform={ "translate(" (number(scale.at(at))) " " (number(middle + 4.0)) ")" } {}
            }
        }
    }
}

/// The values that a drawing shows, and the ends, read back from it, for tests.
#[cfg(test)]
pub(crate) fn read(markup: &str, scale: Scale) -> (Vec<f64>, Vec<[f64; 2]>) {
    let marks = svg::attributes(markup, "mark", "transform");
    let at = marks.iter().map(|transform| {
        let inner = transform.trim_start_matches("translate(");
        let (x, _) = inner.split_once(' ').expect("two numbers");
        scale.value(x.parse().expect("a number"))
    });
    let lines = svg::attributes(markup, "interval", "d");
    let ends = lines.iter().map(|path| {
        let points = svg::points(path);
        [points[0].0, points[1].0].map(|x| scale.value(x))
    });
    (at.collect(), ends.collect())
}
