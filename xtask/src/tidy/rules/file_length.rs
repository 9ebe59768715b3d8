//! A file holds one thing; when it grows long, it holds two.

use crate::project::has_extension;
use crate::tidy::{File, Violation};

const LINES_MAX: usize = 600;

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    files
        .iter()
        .filter(|file| {
            ["rs", "js", "mjs", "ts", "sh", "py"]
                .iter()
                .any(|extension| has_extension(&file.path, extension))
        })
        .filter_map(|file| {
            let lines = file.text.lines().count();
            (lines > LINES_MAX).then(|| Violation {
                rule: "file-length",
                path: file.path.clone(),
                line: 0,
                what: format!(
                    "{lines} lines, more than {LINES_MAX}: cut where few parameters cross"
                ),
                weight: lines,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_long_file_is_found_and_one_of_the_longest_length_is_not() {
        let path = "crates/a/src/lib.rs";
        let long = "x\n".repeat(LINES_MAX + 1);
        assert_eq!(found(find, &[(path, &long)]), [(path.to_owned(), 0)]);
        assert_eq!(found(find, &[(path, &long[2..])]), []);
        assert_eq!(found(find, &[("CHANGELOG.md", &long)]), []);
    }
}
