//! Names in a column, each with a row beside it: as wide as the longest that is not too
//! wide; one that is has a line of its own above its row.

use super::look::{Look, Style};
use super::page::Page;
use super::wrap::columns;

/// Names as they can be shown.
pub(super) struct Names {
    shown: Vec<String>,
    /// Columns of the column.
    pub(super) width: usize,
}

impl Names {
    /// Those of up to `longest` columns stand beside their rows.
    pub(super) fn of(names: impl Iterator<Item = String>, longest: usize, look: &Look) -> Self {
        let shown: Vec<String> = names.map(|name| look.clean(&name).into_owned()).collect();
        let fitting = shown.iter().map(|name| columns(name));
        let width = fitting.filter(|width| *width <= longest).max();
        Self {
            width: width.unwrap_or(0),
            shown,
        }
    }

    /// A row behind its name.
    pub(super) fn write(&self, page: &mut Page<'_>, place: usize, style: Style, row: &str) {
        let name = &self.shown[place];
        let painted = page.look.paint(style, name);
        if columns(name) > self.width {
            page.line(&painted);
            page.line(&format!("{:width$}{row}", "", width = self.width));
        } else {
            let pad = " ".repeat(self.width - columns(name));
            page.line(&format!("{painted}{pad}{row}"));
        }
    }
}
