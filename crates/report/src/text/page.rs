//! A page of text as it grows.

use super::look::{Look, Style};
use super::wrap::{columns, wrap, wrap_from};

/// Lines written so far, and how they may look.
pub(crate) struct Page<'a> {
    pub(crate) look: &'a Look,
    text: String,
}

impl<'a> Page<'a> {
    pub(crate) fn new(look: &'a Look) -> Self {
        Self {
            look,
            text: String::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// A line that is written as it is.
    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// The heading of a section, after a blank line.
    pub(crate) fn heading(&mut self, text: &str) {
        self.blank();
        let lines = wrap(&self.look.clean(text), self.look.columns());
        for line in lines {
            let line = self.look.paint(Style::Heading, &line);
            self.line(&line);
        }
    }

    /// A label and text that is not wrapped, so that it can be copied whole.
    pub(crate) fn verbatim(
        &mut self,
        (label_style, label): (Style, &str),
        column: usize,
        text: &str,
    ) {
        let pad = " ".repeat(column.saturating_sub(columns(label)));
        let label = self.look.paint(label_style, label);
        let line = format!("{label}{pad}{}", self.look.clean(text));
        self.line(&line);
    }

    /// Wrapped text, all of its lines indented.
    pub(crate) fn paragraph(&mut self, indent: usize, style: Style, text: &str) {
        self.labelled(indent, (Style::Plain, ""), 0, style, text);
    }

    /// A label, then wrapped text that begins `column` columns after the
    /// label's beginning, or a space after a label that is longer.
    pub(crate) fn labelled(
        &mut self,
        indent: usize,
        (label_style, label): (Style, &str),
        column: usize,
        style: Style,
        text: &str,
    ) {
        let used = columns(&self.look.clean(label));
        let gap = if used == 0 {
            column
        } else {
            column.saturating_sub(used).max(1)
        };
        self.lay(indent, (label_style, label), gap, column, style, text);
    }

    /// A label and a space, then wrapped text whose further lines begin
    /// `hanging` columns after the label's beginning.
    pub(crate) fn titled(
        &mut self,
        indent: usize,
        label: (Style, &str),
        hanging: usize,
        style: Style,
        text: &str,
    ) {
        self.lay(indent, label, 1, hanging, style, text);
    }

    fn lay(
        &mut self,
        indent: usize,
        (label_style, label): (Style, &str),
        gap: usize,
        column: usize,
        style: Style,
        text: &str,
    ) {
        let (label, text) = (self.look.clean(label), self.look.clean(text));
        let used = columns(&label);
        let hanging = indent + column;
        let width = self.look.columns().saturating_sub(hanging).max(20);
        let first = self.look.columns().saturating_sub(indent + used + gap);
        let lines = wrap_from(&text, first, width);
        for (i, line) in lines.iter().enumerate() {
            let line = self.look.paint(style, line);
            let start = if i == 0 {
                format!(
                    "{}{}{}",
                    " ".repeat(indent),
                    self.look.paint(label_style, &label),
                    " ".repeat(gap)
                )
            } else {
                " ".repeat(hanging)
            };
            self.line(&format!("{start}{line}"));
        }
    }
}
