//! Plan, record, disk and facts are pure: the same input gives the same output,
//! on every machine and in five years. So they have no files, no clock, no
//! environment.

use super::text::lines_with;
use crate::tidy::source::line_at;
use crate::tidy::{File, Violation};

const FOLDERS: [&str; 4] = [
    "crates/plan/src/",
    "crates/record/src/",
    "crates/disk/src/",
    "crates/facts/src/",
];

/// What they may not use, and whatever lies under it.
const PATHS: [&str; 8] = [
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
];

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(source) = &file.source else { continue };
        if !FOLDERS.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        let mut found = |line, what: &str| {
            if !file.is_test(line) {
                violations.push(Violation {
                    rule: "impure",
                    path: file.path.clone(),
                    line,
                    what: format!("{what}: this crate is pure; take the value as a parameter"),
                    weight: 1,
                });
            }
        };
        for (line, path) in std_paths(&source.code) {
            let banned = PATHS.iter().find(|banned| {
                path.strip_prefix(**banned)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            });
            if let Some(banned) = banned {
                found(line, banned);
            }
        }
        for word in ["include_bytes!", "env!", "option_env!"] {
            for line in lines_with(&source.code, word) {
                found(line, word);
            }
        }
    }
    violations
}

/// Every path into the standard library, with its line; `std::{fs, io::Read}`
/// is two.
fn std_paths(code: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    for (at, word) in code.match_indices("std::") {
        let joined = code[..at]
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || c == '_');
        if !joined {
            let mut tree = code[at + word.len()..].chars().peekable();
            let line = line_at(code, at);
            expand("std", &mut tree, &mut |path| paths.push((line, path)));
        }
    }
    paths
}

/// Reads what may stand behind `prefix::`, and names every path in it.
fn expand(
    prefix: &str,
    tree: &mut std::iter::Peekable<std::str::Chars<'_>>,
    found: &mut dyn FnMut(String),
) {
    while tree.next_if(|c| c.is_whitespace()).is_some() {}
    if tree.next_if_eq(&'{').is_some() {
        loop {
            expand(prefix, tree, found);
            // Up to the next comma or the end: `as` and a new name, say.
            while tree.next_if(|c| !matches!(c, ',' | '}')).is_some() {}
            if tree.next() != Some(',') {
                return;
            }
        }
    }
    let mut path = format!("{prefix}::");
    while let Some(c) = tree.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '*')) {
        path.push(c);
    }
    if tree.next_if_eq(&':').is_some() && tree.next_if_eq(&':').is_some() {
        expand(&path, tree, found);
    } else {
        found(path);
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn paths(code: &str) -> Vec<String> {
        std_paths(code).into_iter().map(|(_, path)| path).collect()
    }

    #[test]
    fn nested_imports_are_expanded() {
        assert_eq!(
            paths("use std::{fmt, io::{self, Read as _}, time::Instant};"),
            [
                "std::fmt",
                "std::io::self",
                "std::io::Read",
                "std::time::Instant"
            ]
        );
        assert_eq!(paths("std::fs::read(x)"), ["std::fs::read"]);
        assert_eq!(paths("use std::{"), ["std::"]);
        assert_eq!(paths("my_std::fs"), Vec::<String>::new());
    }

    #[test]
    fn files_clock_and_environment_are_found_however_they_are_imported() {
        for code in [
            "use std::fs;",
            "use std::{fmt, fs::File};",
            "let t = std::time::SystemTime::now();",
            "use std::time::{Duration, Instant};",
            "std::env::var(x)",
            "let folder = env!(x);",
        ] {
            let text = format!("\n{code}\n");
            let path = "crates/plan/src/lib.rs";
            assert_eq!(
                found(find, &[(path, &text)]),
                [(path.to_owned(), 2)],
                "{code}"
            );
            assert_eq!(found(find, &[("crates/host/src/lib.rs", &text)]), []);
        }
    }

    #[test]
    fn what_is_pure_and_what_is_a_test_is_fine() {
        let text = "use std::time::Duration;\nuse std::fmt;\n\
                    #[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert_eq!(found(find, &[("crates/facts/src/lib.rs", text)]), []);
    }
}
