//! From cells to what a terminal is told: ECMA-48's CUP and SGR, with the colours that every
//! terminal has. That is all that a screen of text needs, so there is no library for it here.

use ratatui_core::buffer::Cell;
use ratatui_core::style::{Color, Modifier};
use std::io::Write;

/// Puts cells at their columns and rows, from 0; the cursor and the style are anywhere
/// before, and afterwards the style is none.
pub(super) fn encode(cells: &[(u16, u16, &Cell)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut cursor = None;
    let mut style = None;
    for (column, row, cell) in cells {
        let wanted = (cell.fg, cell.modifier);
        // Writing to a vector does not fail.
        if cursor != Some((*column, *row)) {
            let _ = write!(out, "\x1b[{};{}H", row + 1, column + 1);
        }
        if style != Some(wanted) {
            let _ = write!(out, "\x1b[{}m", sgr(wanted));
            style = Some(wanted);
        }
        out.extend(cell.symbol().as_bytes());
        // After a wide character it is farther on, and is put where it belongs.
        cursor = Some((column + 1, *row));
    }
    out.extend(b"\x1b[0m");
    out
}

fn sgr((colour, modifier): (Color, Modifier)) -> String {
    let foreground = match colour {
        Color::Red => Some("31"),
        Color::Green => Some("32"),
        Color::Yellow => Some("33"),
        // Views use no others.
        _ => None,
    };
    let bold = modifier.contains(Modifier::BOLD).then_some("1");
    let dim = modifier.contains(Modifier::DIM).then_some("2");
    let parts = [Some("0"), bold, dim, foreground];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    parts.join(";")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::buffer::Buffer;
    use ratatui_core::layout::Rect;
    use ratatui_core::style::Style;
    use std::num::NonZeroU16;

    const AREA: Rect = Rect::new(0, 0, 20, 4);

    /// The screen of a terminal, as text, after it was told this.
    fn terminal(told: &[Vec<u8>]) -> vt100::Parser {
        let some = |length| NonZeroU16::new(length).expect("a screen");
        let mut terminal = vt100::Parser::new(some(AREA.height), some(AREA.width), 0);
        for piece in told {
            terminal.process(piece);
        }
        terminal
    }

    fn rows(terminal: &vt100::Parser) -> Vec<String> {
        let rows = terminal.screen().rows(0, AREA.width);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    #[test]
    fn a_terminal_shows_the_cells_whatever_it_showed_before() {
        let mut first = Buffer::empty(AREA);
        first.set_string(0, 0, "measure", Style::new());
        first.set_string(3, 2, "\u{8aad}\u{307f} \u{2591}\u{2588}|", Style::new());
        first.set_string(0, 3, "x".repeat(20), Style::new());
        let mut second = first.clone();
        second.set_string(0, 0, "pause  ", Style::new());
        second.set_string(5, 2, "ab", Style::new());
        let told = [
            encode(&Buffer::empty(AREA).diff(&first)),
            encode(&first.diff(&second)),
        ];
        let shown = terminal(&told);
        let fresh = terminal(&[encode(&Buffer::empty(AREA).diff(&second))]);
        assert_eq!(rows(&shown), rows(&fresh));
        assert_eq!(rows(&shown)[0], "pause");
        assert_eq!(rows(&shown)[2], "   \u{8aad}ab \u{2591}\u{2588}|");
        assert_eq!(rows(&shown)[3], "x".repeat(20));
    }

    #[test]
    fn styles_are_those_of_the_cells_and_end_with_them() {
        let mut buffer = Buffer::empty(AREA);
        let bad = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
        buffer.set_string(0, 0, "bad", bad);
        buffer.set_string(4, 0, "ok", Style::new().fg(Color::Green));
        let mut told = encode(&Buffer::empty(AREA).diff(&buffer));
        told.extend(b"\x1b[2;1Hplain");
        let shown = terminal(&[told]);
        let cell = |row, column| shown.screen().cell(row, column).expect("a cell");
        assert_eq!(cell(0, 0).fgcolor(), vt100::Color::Idx(1));
        assert!(cell(0, 0).bold() && !cell(0, 4).bold());
        assert_eq!(cell(0, 4).fgcolor(), vt100::Color::Idx(2));
        assert_eq!(cell(1, 0).fgcolor(), vt100::Color::Default);
    }
}
