//! A test that waits, or that asks the clock, fails on a busy machine and hides
//! on a fast one.

use super::text::lines_with;
use crate::tidy::{File, Violation};

/// What is banned in tests, and what to do instead.
const WORDS: [(&str, &str); 3] = [
    ("sleep(", "wait for the event itself, or pass the time in"),
    ("park_timeout(", "wait for the event itself"),
    (
        ".elapsed()",
        "count something that does not depend on the machine",
    ),
];

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(source) = &file.source else { continue };
        // Benchmarks measure time; that is what they are for.
        if file.path.contains("/benches/") {
            continue;
        }
        for (word, instead) in WORDS {
            let lines = lines_with(&source.code, word).filter(|line| file.is_test(*line));
            violations.extend(lines.map(|line| Violation {
                rule: "waiting-test",
                path: file.path.clone(),
                line,
                what: format!("{word}: {instead}"),
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
    fn a_test_that_waits_or_asks_the_clock_is_found() {
        for word in ["std::thread::sleep(second)", "start.elapsed()"] {
            let path = "crates/a/tests/b.rs";
            let text = format!("\n{word};\n");
            assert_eq!(found(find, &[(path, &text)]), [(path.to_owned(), 2)]);
            let path = "crates/a/src/lib.rs";
            let inside = format!("{word};\n#[cfg(test)]\nmod tests {{\n{word};\n}}\n");
            assert_eq!(found(find, &[(path, &inside)]), [(path.to_owned(), 4)]);
        }
    }

    #[test]
    fn a_benchmark_may_ask_the_clock() {
        let path = "crates/a/benches/b.rs";
        assert_eq!(found(find, &[(path, "start.elapsed();")]), []);
    }
}
