//! Prose in lines of a width. It is the program's own, so a character is a column.

/// Less is taken for this, in columns.
const NARROWEST: usize = 40;

/// Lines that are no wider than asked for, but for a word that is.
pub(super) struct Lines {
    width: usize,
    text: String,
}

impl Lines {
    /// Of so many columns.
    pub(super) fn new(width: usize) -> Self {
        Self {
            width: width.max(NARROWEST),
            text: String::new(),
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A paragraph, all of its lines indented.
    pub(super) fn text(&mut self, indent: usize, text: &str) {
        self.labelled(indent, "", 0, text);
    }

    /// A label, and a text that begins `column` columns after the label's beginning.
    pub(super) fn labelled(&mut self, indent: usize, label: &str, column: usize, text: &str) {
        let hanging = " ".repeat(indent + column);
        let mut line = format!("{:indent$}{label:column$}", "");
        let mut is_new = true;
        for word in unbroken(text) {
            let wide = line.chars().count() + usize::from(!is_new) + word.chars().count();
            if wide > self.width && !is_new {
                self.line(&line);
                line.clone_from(&hanging);
                is_new = true;
            }
            if !is_new {
                line.push(' ');
            }
            line.push_str(&word);
            is_new = false;
        }
        self.line(&line);
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

/// The words of a text; what stands between backticks is one, so that it can be copied.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_inside = false;
    for word in text.split(' ') {
        match words.last_mut().filter(|_| is_inside) {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
        is_inside ^= word.matches('`').count() % 2 == 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_full_and_hang_below_their_text() {
        let mut lines = Lines::new(40);
        lines.labelled(
            2,
            "Remedy:",
            10,
            "Type `cat /proc/x y` or look for another way.",
        );
        assert_eq!(
            lines.finish(),
            "  Remedy:   Type `cat /proc/x y` or look\n            for another way.\n"
        );
    }

    #[test]
    fn a_command_is_not_broken_and_a_wide_word_has_a_line() {
        let mut lines = Lines::new(10);
        lines.text(
            0,
            "A narrow terminal, and `a command of more columns than it has` last.",
        );
        assert_eq!(
            lines.finish(),
            "A narrow terminal, and\n`a command of more columns than it has`\nlast.\n"
        );
    }
}
