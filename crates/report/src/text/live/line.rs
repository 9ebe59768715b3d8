//! A row of a screen: pieces of text, each in a style.

use super::super::look::{Look, Style};
use super::super::wrap::{columns, cut};
use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier, Style as Shown};

/// A row, from left to right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<(Style, String)>,
}

impl Line {
    /// A text in a style.
    pub(super) fn of(style: Style, text: &str) -> Self {
        Self::default().and(style, text)
    }

    /// A text as any other.
    pub(super) fn plain(text: &str) -> Self {
        Self::of(Style::Plain, text)
    }

    /// The same with more behind it.
    pub(super) fn and(mut self, style: Style, text: &str) -> Self {
        self.pieces.push((style, text.to_owned()));
        self
    }

    /// A text at the left end and one at the right end. Where both have no room, the left
    /// one is cut.
    pub(super) fn ends(look: &Look, style: Style, left: &str, right: &str, width: usize) -> Self {
        let (left, right) = (look.clean(left), look.clean(right));
        let right = cut(&right, width);
        let left = cut(&left, width.saturating_sub(columns(&right) + 1));
        let gap = " ".repeat(width.saturating_sub(columns(&left) + columns(&right)));
        Self::of(style, &left).and(Style::Minor, &format!("{gap}{right}"))
    }

    /// This one and, from a column on, another one.
    pub(super) fn beside(mut self, look: &Look, column: usize, other: Self) -> Self {
        let mut left = column;
        for (_, text) in &mut self.pieces {
            *text = cut(&look.clean(text), left);
            left -= columns(text);
        }
        self.pieces.push((Style::Plain, " ".repeat(left)));
        self.pieces.extend(other.pieces);
        self
    }

    /// Draws it over a row of a buffer, as far as that is wide.
    pub(super) fn draw(&self, look: &Look, buffer: &mut Buffer, row: u16) {
        let area = *buffer.area();
        let mut column = area.x;
        for (style, text) in &self.pieces {
            let left = usize::from(area.right().saturating_sub(column));
            let text = look.clean(text);
            (column, _) = buffer.set_stringn(column, row, text, left, shown(*style, look));
        }
    }
}

/// What a style looks like, where colours are wanted.
fn shown(style: Style, look: &Look) -> Shown {
    let plain = Shown::new();
    if !look.colour {
        return plain;
    }
    match style {
        Style::Plain => plain,
        Style::Heading => plain.add_modifier(Modifier::BOLD),
        Style::Good => plain.fg(Color::Green),
        Style::Doubtful => plain.fg(Color::Yellow),
        Style::Bad => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
        Style::Minor => plain.add_modifier(Modifier::DIM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::layout::Rect;

    fn drawn(line: &Line, width: u16) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
        line.draw(&Look::default(), &mut buffer, 0);
        let cells = buffer.content().iter();
        cells.map(ratatui_core::buffer::Cell::symbol).collect()
    }

    #[test]
    fn the_right_end_stays_and_the_left_one_is_cut() {
        let ends = |width| Line::ends(&Look::default(), Style::Plain, "measure .", "0:42", width);
        assert_eq!(drawn(&ends(20), 20), "measure .       0:42");
        assert_eq!(drawn(&ends(10), 10), "measu 0:42");
        assert_eq!(drawn(&ends(3), 3), "0:4");
    }

    #[test]
    fn two_lines_stand_side_by_side_whatever_the_first_is_wide() {
        let look = Look::default();
        let right = || Line::plain("right");
        let beside = |text| Line::plain(text).beside(&look, 6, right());
        assert_eq!(drawn(&beside("a"), 12), "a     right ");
        assert_eq!(drawn(&beside("longer than"), 12), "longerright ");
    }

    #[test]
    fn what_commands_a_terminal_is_shown_and_not_done() {
        assert_eq!(drawn(&Line::plain("a\x1b[2J"), 10), "a\\u{1b}[2J");
    }
}
