//! Standard output belongs to the command: with `--json` it holds one document
//! and nothing else.

use super::text::lines_with;
use crate::tidy::{File, Violation};

const WORDS: [&str; 4] = ["print!", "println!", "eprint!", "eprintln!"];

/// Libraries; the command and the test kit may speak.
fn is_library(path: &str) -> bool {
    path.starts_with("crates/")
        && !path.starts_with("crates/cli/")
        && !path.starts_with("crates/testkit/")
        && path.contains("/src/")
}

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| is_library(&file.path)) {
        let Some(source) = &file.source else { continue };
        for word in WORDS {
            let lines = lines_with(&source.code, word).filter(|line| !file.is_test(*line));
            violations.extend(lines.map(|line| Violation {
                rule: "library-prints",
                path: file.path.clone(),
                line,
                what: format!("{word}: return it; only the command prints"),
                weight: 1,
            }));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_library_that_prints_is_found() {
        let text = "fn a() { println!(); }\n#[cfg(test)]\nmod tests { fn b() { eprintln!(); } }\n";
        let path = "crates/store/src/lib.rs";
        assert_eq!(found(find, &[(path, text)]), [(path.to_owned(), 1)]);
        for path in ["crates/cli/src/main.rs", "crates/store/benches/load.rs"] {
            assert_eq!(found(find, &[(path, text)]), []);
        }
    }
}
