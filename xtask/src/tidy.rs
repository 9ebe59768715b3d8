//! Rules of this project that no other tool knows.
//!
//! Each rule is one file in `tidy/rules/`, or a line in the table of
//! `rules/bans.rs`; each says what to do instead, and has a test in which it
//! fires. What was there before a rule stands in `tidy-exceptions.txt` with its
//! number, which may only go down.

mod exceptions;
mod rules;
mod source;

use crate::check::Found;
use crate::project::{Project, has_extension};
use exceptions::Exceptions;
use source::Source;
use std::fs;

/// A file that rules look at.
struct File {
    /// From the project's folder, with `/` between folders.
    path: String,
    text: String,
    /// Its code apart from its comments, if it is Rust.
    source: Option<Source>,
}

impl File {
    fn new(path: &str, text: String) -> Self {
        let is_rust = has_extension(path, "rs");
        Self {
            path: path.to_owned(),
            source: is_rust.then(|| Source::read(&text)),
            text,
        }
    }

    /// Whether a line, from 1, is part of a test.
    fn is_test(&self, line: usize) -> bool {
        is_test_file(&self.path)
            || self
                .source
                .as_ref()
                .is_some_and(|source| source.is_test(line))
    }
}

/// Folders of tests and benchmarks, and modules of tests in files of their own.
fn is_test_file(path: &str) -> bool {
    path.split('/')
        .any(|part| matches!(part, "tests" | "tests.rs" | "benches"))
}

/// That a rule is broken somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Violation {
    rule: &'static str,
    path: String,
    /// From 1; 0 when it is about the whole file.
    line: usize,
    what: String,
    /// What counts towards an exception: 1, or the size of what is too large.
    weight: usize,
}

/// Holds all files of the project against all rules.
///
/// # Errors
/// When the files, or the exceptions, cannot be read.
pub(crate) fn check(project: &Project) -> Result<Found, String> {
    let mut files = Vec::new();
    for path in project.files()? {
        let bytes = fs::read(project.root.join(&path))
            .map_err(|error| format!("reading {path}: {error}"))?;
        // What is not text has no lines to look at.
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(File::new(&path, text));
        }
    }
    let list = project.root.join(exceptions::PATH);
    let text = fs::read_to_string(&list)
        .map_err(|error| format!("reading {}: {error}", list.display()))?;
    let exceptions = Exceptions::parse(&text)?;
    Ok(Found {
        problems: exceptions.judge(&rules::violations(&files)),
        ..Found::default()
    })
}
