//! A drawing with two axes: its margins, grid and labels, and lines, bands and marks in it.

use super::scale::{Scale, Unit};
use super::svg::{self, Anchor, TEXT, WIDTH, number, text_width};
use maud::{Markup, html};

/// Units of the height of a plot, and the most ticks of its axes.
const HEIGHT: f64 = 250.0;
const TICKS_X: usize = 8;
const TICKS_Y: usize = 6;
/// Between an axis and its labels.
const GAP: f64 = 5.0;
/// Series that can be told apart; what is beyond begins again.
pub(crate) const SERIES: usize = 8;

/// The class of a series: its colour, dashes and mark.
pub(crate) fn series(place: usize) -> String {
    format!("s{}", place % SERIES)
}

/// An axis: what it is of, and where its values lie.
pub(crate) struct Axis {
    title: String,
    pub(crate) scale: Scale,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis from a round value to a round value.
    pub(crate) fn linear(title: &str, unit: Unit, low: f64, high: f64) -> Self {
        Self::of(title, unit, Scale::linear(low, high).rounded(TICKS_Y))
    }

    /// A logarithmic axis from a round value to a round value.
    pub(crate) fn logarithmic(title: &str, unit: Unit, low: f64, high: f64) -> Self {
        Self::of(title, unit, Scale::logarithmic(low, high).rounded(TICKS_Y))
    }

    /// An axis of a scale as it is.
    pub(crate) fn of(title: &str, unit: Unit, scale: Scale) -> Self {
        let title = match (title, unit.name()) {
            (title, "") => title.to_owned(),
            ("", name) => name.to_owned(),
            (title, name) => format!("{title}, {name}"),
        };
        let ticks = scale.ticks(TICKS_Y.min(TICKS_X));
        let ticks = ticks.into_iter().map(|tick| (tick, unit.show(tick)));
        Self {
            title,
            scale,
            ticks: ticks.collect(),
        }
    }

    /// What it is of, with its unit.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The values that are labelled.
    pub(crate) fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }

    /// The same with these values labelled.
    pub(crate) fn with_ticks(self, ticks: Vec<(f64, String)>) -> Self {
        Self { ticks, ..self }
    }
}

/// Two axes, laid out.
pub(crate) struct Plot {
    x: Axis,
    y: Axis,
    /// Units of its height.
    pub(crate) height: f64,
}

impl Plot {
    /// A plot of the usual height.
    pub(crate) fn new(x: Axis, y: Axis) -> Self {
        Self::with_height(x, y, HEIGHT)
    }

    /// A plot of so many units in height.
    pub(crate) fn with_height(mut x: Axis, mut y: Axis, height: f64) -> Self {
        let labels = y.ticks.iter().map(|(_, label)| text_width(label));
        let left = labels.fold(0.0, f64::max) + GAP + 2.0;
        // Half of the last label may stand beyond the axis.
        let last = x.ticks.last().map_or(0.0, |(_, label)| text_width(label));
        x.scale = x.scale.onto(left, WIDTH - (last / 2.0).max(6.0));
        y.scale = y.scale.onto(height - 2.6 * TEXT - GAP, 1.8 * TEXT);
        Self { x, y, height }
    }

    /// The place of a point.
    pub(crate) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.scale.at(x), self.y.scale.at(y))
    }

    /// The scale of the horizontal axis, and of the vertical one, whose range begins below.
    pub(crate) fn scales(&self) -> (&Scale, &Scale) {
        (&self.x.scale, &self.y.scale)
    }

    /// The grid, the axes, their labels and titles. A label without room is left out.
    pub(crate) fn frame(&self) -> Markup {
        let (left, right) = self.x.scale.range;
        let (bottom, top) = self.y.scale.range;
        let baseline = bottom + GAP + 0.8 * TEXT;
        let mut free = f64::MIN;
        let labelled: Vec<(f64, Option<(f64, &str)>)> = self
            .x
            .ticks
            .iter()
            .map(|(value, label)| {
                let at = self.x.scale.at(*value);
                let half = text_width(label) / 2.0;
                // What would stand before the axis is moved behind its beginning.
                let middle = at.max(left + half - GAP);
                let fits = middle - half >= free;
                if fits {
                    free = middle + half + 6.0;
                }
                (at, fits.then_some((middle, label.as_str())))
            })
            .collect();
        let mut below = f64::MAX;
        let beside: Vec<(f64, Option<&str>)> = self
            .y
            .ticks
            .iter()
            .map(|(value, label)| {
                let at = self.y.scale.at(*value);
                let fits = at <= below;
                if fits {
                    below = at - TEXT;
                }
                (at, fits.then_some(label.as_str()))
            })
            .collect();
        html! {
            g class="grid" {
                @for (at, _) in &labelled {
                    path d=(svg::line([(*at, bottom), (*at, top)])) {}
                }
                @for (at, _) in &beside {
                    path d=(svg::line([(left, *at), (right, *at)])) {}
                }
            }
            path class="axis" d=(svg::line([(left, top), (left, bottom), (right, bottom)])) {}
            @for (middle, label) in labelled.iter().filter_map(|(_, label)| *label) {
                (svg::text((middle, baseline), Anchor::Middle, "", label))
            }
            @for (at, label) in &beside {
                @if let Some(label) = label {
                    (svg::text((left - GAP, at + 0.35 * TEXT), Anchor::End, "", label))
                }
            }
            (svg::text((0.0, TEXT), Anchor::Start, "title", &self.y.title))
            (svg::text((right, self.height - 3.0), Anchor::End, "title", &self.x.title))
        }
    }

    /// A line through points.
    pub(crate) fn line(&self, place: usize, points: &[(f64, f64)]) -> Markup {
        let path = svg::line(points.iter().map(|point| self.at(*point)));
        html! { path class={ "line " (series(place)) } d=(path) {} }
    }

    /// An area from the lower to the upper values: x, low, high.
    pub(crate) fn band(&self, place: usize, values: &[(f64, f64, f64)]) -> Markup {
        let above = values.iter().map(|(x, _, high)| self.at((*x, *high)));
        let below = values.iter().rev().map(|(x, low, _)| self.at((*x, *low)));
        html! { path class={ "band " (series(place)) } d=(svg::area(above.chain(below))) {} }
    }

    /// The interval of a value as a line, upright: x, low, high.
    pub(crate) fn interval(&self, place: usize, (x, low, high): (f64, f64, f64)) -> Markup {
        let path = svg::line([self.at((x, low)), self.at((x, high))]);
        html! { path class={ "interval " (series(place)) } d=(path) {} }
    }

    /// The mark of a series at a point, with what is said of it when it is pointed at.
    pub(crate) fn mark(&self, place: usize, point: (f64, f64), title: &str) -> Markup {
        mark(place, self.at(point), title)
    }
}

/// The mark of a series at a place of the drawing.
pub(crate) fn mark(place: usize, (x, y): (f64, f64), title: &str) -> Markup {
    const SHAPES: [&str; SERIES] = [
        "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
        "M-3 -3H3V3H-3Z",
        "M0 -4L4 3H-4Z",
        "M0 -4.5L4.5 0L0 4.5L-4.5 0Z",
        "M-4 -1.2H-1.2V-4H1.2V-1.2H4V1.2H1.2V4H-1.2V1.2H-4Z",
        "M0 4L4 -3H-4Z",
        "M-4 0L-2 -3.5H2L4 0L2 3.5H-2Z",
        "M-4 -2H4V2H-4Z",
    ];
    html! {
        path class={ "mark " (series(place)) } d=(SHAPES[place % SERIES])
            transform={ "translate(" (number(x)) " " (number(y)) ")" } {
            @if !title.is_empty() { title { (title) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        let x = Axis::logarithmic("queue depth", Unit::Plain, 1.0, 32.0);
        Plot::new(x, Axis::linear("rate", Unit::PerS, 0.0, 52_000.0))
    }

    #[test]
    fn a_line_is_read_back_as_its_values() {
        let plot = plot();
        let values = [(1.0, 10_000.0), (8.0, 43_210.0), (32.0, 52_000.0)];
        let markup = plot.line(9, &values).into_string();
        let path = &svg::attributes(&markup, "s1", "d")[0];
        let (x, y) = plot.scales();
        let read = svg::points(path)
            .into_iter()
            .map(|(a, b)| (x.value(a), y.value(b)));
        for ((x, y), (wanted_x, wanted_y)) in read.zip(values) {
            assert!((x / wanted_x - 1.0).abs() < 1e-3, "{x} for {wanted_x}");
            assert!((y / wanted_y - 1.0).abs() < 1e-2, "{y} for {wanted_y}");
        }
    }

    #[test]
    fn titles_have_units_and_everything_is_within_the_drawing() {
        let plot = plot();
        let frame = plot.frame().into_string();
        assert!(frame.contains(">rate, IOPS</text>"), "{frame}");
        assert!(frame.contains(">60,000</text>"), "{frame}");
        let (x, y) = plot.scales();
        assert!(x.range.0 > text_width("60,000") && x.range.1 < WIDTH);
        assert!(y.range.0 < plot.height && y.range.1 > 0.0);
    }
}
