//! A drawing with all that belongs to it: title, one sentence on what is seen, a legend, and
//! its numbers.

use super::plot::{self, series};
use super::svg::{self, WIDTH, number};
use super::table::Table;
use maud::{Markup, Render, html};

/// A drawing and what is said of it.
pub(crate) struct Figure {
    /// Unique in its page; links lead there.
    pub(crate) id: String,
    /// What question it answers, a few words.
    pub(crate) title: String,
    /// What is seen, a sentence with figures, for those who do not see it too.
    pub(crate) seen: String,
    /// What it is drawn with.
    pub(crate) drawing: Drawing,
    /// The names of its series, in their order.
    pub(crate) legend: Vec<Key>,
    /// All numbers that are drawn.
    pub(crate) numbers: Table,
}

/// What is drawn.
pub(crate) enum Drawing {
    /// The elements of an SVG of [`WIDTH`] units by this height.
    Svg(f64, Markup),
    /// A table is seen as it is.
    Marked(Markup),
}

/// A series in a legend.
pub(crate) struct Key {
    /// Which of the series, from 0; of a kind of its own by its class.
    pub(crate) swatch: Swatch,
    /// What it is called.
    pub(crate) name: String,
}

/// How a series is shown.
pub(crate) enum Swatch {
    /// By a line with a mark.
    Line(usize),
    /// By an area of these classes, with a letter in it, which may be empty.
    Area(String, String),
}

impl Key {
    /// A line of the series at this place.
    pub(crate) fn line(place: usize, name: impl Into<String>) -> Self {
        Self {
            swatch: Swatch::Line(place),
            name: name.into(),
        }
    }

    /// An area of these classes with a letter in it.
    pub(crate) fn area(class: &str, letter: &str, name: impl Into<String>) -> Self {
        Self {
            swatch: Swatch::Area(class.to_owned(), letter.to_owned()),
            name: name.into(),
        }
    }
}

impl Render for Key {
    fn render(&self) -> Markup {
        html! {
            li {
                svg viewBox="0 0 28 14" class="swatch" aria-hidden="true" {
                    @match &self.swatch {
                        Swatch::Line(place) => {
                            path class={ "line " (series(*place)) } d="M0 7L28 7" {}
                            (plot::mark(*place, (14.0, 7.0), ""))
                        }
                        Swatch::Area(class, letter) => {
                            (svg::rectangle((0.0, 0.0), (28.0, 14.0), class, ""))
                            (svg::text((14.0, 11.0), svg::Anchor::Middle, "on", letter))
                        }
                    }
                }
                " " (self.name)
            }
        }
    }
}

impl Render for Figure {
    fn render(&self) -> Markup {
        let (title, seen) = (format!("{}-title", self.id), format!("{}-seen", self.id));
        // A table takes what room there is.
        let wide = matches!(self.drawing, Drawing::Marked(_)).then_some("wide");
        html! {
            figure id=(self.id) class=[wide] {
                figcaption {
                    h3 { (self.title) }
                    p { (self.seen) }
                }
                @match &self.drawing {
                    Drawing::Svg(height, elements) => {
                        svg viewBox={ "0 0 " (number(WIDTH)) " " (number(*height)) } role="img"
                            class="drawing" aria-labelledby={ (title) " " (seen) } {
                            title id=(title) { (self.title) }
                            desc id=(seen) { (self.seen) }
                            (elements)
                        }
                    }
                    Drawing::Marked(markup) => (markup),
                }
                @if !self.legend.is_empty() {
                    ul class="legend" { @for key in &self.legend { (key) } }
                }
                @if !self.numbers.is_empty() {
                    details class="numbers" {
                        summary { "Numbers" }
                        (self.numbers)
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Cell;
    use super::*;

    #[test]
    fn a_figure_is_named_described_and_has_its_numbers() {
        let mut numbers = Table::new("numbers", &["depth", "rate"]);
        numbers.push(vec![Cell::Number("1".into()), Cell::Number("2".into())]);
        let figure = Figure {
            id: "r1-depth".into(),
            title: "How deep".into(),
            seen: "It rises to <2>.".into(),
            drawing: Drawing::Svg(100.0, html! { path d="M0 0" {} }),
            legend: vec![Key::line(0, "a")],
            numbers,
        };
        let markup = figure.render().into_string();
        assert!(
            markup.contains(r#"role="img" class="drawing" aria-labelledby="r1-depth-title r1-depth-seen"><title id="r1-depth-title">How deep</title><desc id="r1-depth-seen">It rises to &lt;2&gt;.</desc>"#),
            "{markup}"
        );
        assert!(markup.contains("<summary>Numbers</summary>"), "{markup}");
    }
}
