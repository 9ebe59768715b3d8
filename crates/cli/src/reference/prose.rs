//! What stands below the options in `--help`, as blocks: a paragraph, and rows of what may be
//! typed with what it means.

/// What stands between two empty lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// The lines that are not indented, as one; they end with a colon where rows follow.
    pub(super) paragraph: String,
    /// The indented ones: what is typed, and what stands two spaces or more behind it.
    pub(super) rows: Vec<(String, String)>,
}

impl Block {
    /// Whether its rows are calls to copy.
    pub(super) fn has_examples(&self) -> bool {
        self.paragraph == "Examples:" || self.paragraph == "Example:"
    }
}

/// Reads it. A line that is indented further than the first row goes on with the row before.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = vec![Block::default()];
    for line in text.lines() {
        let Some(block) = blocks.last_mut() else {
            break;
        };
        let row = line.trim();
        if row.is_empty() {
            blocks.push(Block::default());
            continue;
        }
        match line.len() - line.trim_start().len() {
            0 => append(&mut block.paragraph, row),
            2 => {
                let (typed, meaning) = row.split_once("  ").unwrap_or((row, ""));
                let meaning = meaning.trim_start().to_owned();
                block.rows.push((typed.to_owned(), meaning));
            }
            _ => match block.rows.last_mut() {
                Some((typed, meaning)) if meaning.is_empty() => {
                    // A shell's sign that its line goes on.
                    let whole = typed.trim_end_matches('\\').trim_end().len();
                    typed.truncate(whole);
                    append(typed, row);
                }
                Some((_, meaning)) => append(meaning, row),
                None => append(&mut block.paragraph, row),
            },
        }
    }
    blocks.retain(|block| *block != Block::default());
    blocks
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(typed: &str, meaning: &str) -> (String, String) {
        (typed.to_owned(), meaning.to_owned())
    }

    #[test]
    fn paragraphs_and_rows_are_told_apart() {
        let read = blocks(
            "N takes c (1),\nand products.\n\nOperands:\n  if=FILE   what is read\n  of=FILE   what is \
             written: a file;\n            no device\n",
        );
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].paragraph, "N takes c (1), and products.");
        assert_eq!(read[1].paragraph, "Operands:");
        let rows = [
            row("if=FILE", "what is read"),
            row("of=FILE", "what is written: a file; no device"),
        ];
        assert_eq!(read[1].rows, rows);
        assert!(!read[1].has_examples());
    }

    #[test]
    fn a_call_over_two_lines_is_one() {
        let read = blocks("Examples:\n  tune a --vary x=1 \\\n      --vary y=2\n  tune b  short\n");
        assert!(read[0].has_examples());
        let rows = [
            row("tune a --vary x=1 --vary y=2", ""),
            row("tune b", "short"),
        ];
        assert_eq!(read[0].rows, rows);
    }
}
