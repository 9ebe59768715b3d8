//! What drawings are written with: numbers, path data and text of SVG.
//!
//! All drawings share one unit: a drawing is [`WIDTH`] units wide, and its text is [`TEXT`]
//! units high, so that it is read on a telephone, too. Presentation is in `style.css`, by
//! classes.

use crate::text::columns;
use maud::{Markup, html};
use std::fmt::Write as _;

/// Units that a drawing is wide.
pub(crate) const WIDTH: f64 = 400.0;
/// Units of the height of text.
pub(crate) const TEXT: f64 = 12.0;
/// Units that a character takes, on average of the widest of the fonts in `style.css`.
const CHARACTER: f64 = 7.2;

/// A coordinate with two decimals at most: `12`, `12.5`, `12.34`.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// Units that a text is wide, estimated: fonts differ.
pub(crate) fn text_width(text: &str) -> f64 {
    columns(text) as f64 * CHARACTER
}

/// As much of a text as has room in so many units, with an ellipsis where that is not all.
pub(crate) fn fitted(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let fitting = ((room / CHARACTER) as usize).saturating_sub(1);
    format!("{}…", crate::text::cut(text, fitting).trim_end())
}

/// Path data of a line through points: `M1 2L3 4`.
pub(crate) fn line(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let command = if path.is_empty() { 'M' } else { 'L' };
        // Writing to a String cannot fail.
        let _ = write!(path, "{command}{} {}", number(x), number(y));
    }
    path
}

/// Path data of the area within points.
pub(crate) fn area(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = line(points);
    if !path.is_empty() {
        path.push('Z');
    }
    path
}

/// How a text stands to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A text whose baseline is at a place; `class` may be empty.
pub(crate) fn text((x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) -> Markup {
    let anchor = match anchor {
        Anchor::Start => None,
        Anchor::Middle => Some("middle"),
        Anchor::End => Some("end"),
    };
    let class = Some(class).filter(|class| !class.is_empty());
    html! {
        text x=(number(x)) y=(number(y)) text-anchor=[anchor] class=[class] { (text) }
    }
}

/// A rectangle with what is said of it when it is pointed at; that may be empty.
pub(crate) fn rectangle(
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    class: &str,
    title: &str,
) -> Markup {
    html! {
        rect x=(number(x)) y=(number(y)) width=(number(width.max(0.0)))
            height=(number(height.max(0.0))) class=(class) {
            @if !title.is_empty() { title { (title) } }
        }
    }
}

/// Where each of these widths begins, side by side from a place on, and the width itself.
pub(crate) fn side_by_side(
    mut from: f64,
    widths: impl IntoIterator<Item = f64>,
) -> impl Iterator<Item = (f64, f64)> {
    widths.into_iter().map(move |wide| {
        let begins = from;
        from += wide;
        (begins, wide)
    })
}

/// The points of path data that [`line`] or [`area`] made, for tests.
#[cfg(test)]
pub(crate) fn points(path: &str) -> Vec<(f64, f64)> {
    let pairs = path.split(['M', 'L', 'Z']).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (x, y) = pair.split_once(' ').expect("two numbers");
            let number = |text: &str| text.parse().expect("a number");
            (number(x), number(y))
        })
        .collect()
}

/// The values of an attribute of the elements that have a class, in their order, for tests.
#[cfg(test)]
pub(crate) fn attributes(markup: &str, class: &str, attribute: &str) -> Vec<String> {
    let has_class = |tag: &&str| {
        let classes = value(tag, "class");
        classes.is_some_and(|classes| classes.split(' ').any(|one| one == class))
    };
    let tags = markup
        .split('<')
        .filter_map(|piece| piece.split('>').next());
    tags.filter(has_class)
        .filter_map(|tag| value(tag, attribute).map(str::to_owned))
        .collect()
}

#[cfg(test)]
fn value<'a>(tag: &'a str, attribute: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {attribute}=\""))?;
    Some(rest.split('"').next().unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_points_are_read_back() {
        assert_eq!(
            [0.0, -0.001, 12.5, 12.345, 300.0].map(number).join(" "),
            "0 0 12.5 12.35 300"
        );
        let path = line([(0.0, 1.0), (2.5, -3.25)]);
        assert_eq!(path, "M0 1L2.5 -3.25");
        assert_eq!(points(&path), [(0.0, 1.0), (2.5, -3.25)]);
        assert_eq!(
            points(&area([(1.0, 2.0), (3.0, 4.0)])),
            [(1.0, 2.0), (3.0, 4.0)]
        );
        assert_eq!(area([]), "");
    }

    #[test]
    fn what_has_no_room_ends_with_an_ellipsis() {
        assert_eq!(fitted("short", 100.0), "short");
        let cut = fitted("random-read-qd32", 50.0);
        assert!(cut.ends_with('…') && text_width(&cut) <= 50.0, "{cut}");
    }

    #[test]
    fn attributes_of_a_class_are_found() {
        let markup = r#"<g class="bar s1" x="3"></g><path class="line" d="M1 2"></path>"#;
        assert_eq!(attributes(markup, "s1", "x"), ["3"]);
        assert_eq!(attributes(markup, "line", "d"), ["M1 2"]);
    }
}
