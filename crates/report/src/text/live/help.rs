//! What the parts of a screen mean.

use super::super::heat::shades;
use super::super::look::{Look, Style};
use super::super::wrap::wrap;
use super::line::Line;

/// What each key does, and paragraphs of a view, as many as have room.
pub(super) fn lines(
    paragraphs: &[&str],
    quits: &str,
    look: &Look,
    width: usize,
    height: usize,
) -> Vec<Line> {
    let mut lines = vec![
        Line::of(Style::Heading, &format!("q  {quits}; so does Ctrl-C")),
        Line::of(
            Style::Heading,
            "p  pauses the display, and nothing else; again to go on",
        ),
        Line::of(
            Style::Heading,
            "Ctrl-Z  stops all of it until `fg`; Ctrl-L draws anew",
        ),
    ];
    let shades = shades(look).map(String::from).join(" ");
    for paragraph in paragraphs {
        lines.push(Line::default());
        let text = paragraph.replace("{shades}", &shades);
        lines.extend(wrap(&text, width).iter().map(|line| Line::plain(line)));
    }
    lines.truncate(height);
    lines
}
