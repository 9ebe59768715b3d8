//! Words that are banned, and what to write instead.

use super::text::lines_with;
use crate::project::has_extension;
use crate::tidy::{File, Violation};

/// Where a word is looked for.
#[derive(Clone, Copy)]
enum Part {
    /// Rust, without comments and strings.
    Code,
    /// The comments of Rust.
    Comments,
    /// Everything.
    Text,
}

struct Ban {
    rule: &'static str,
    words: &'static [&'static str],
    part: Part,
    /// Which files it is about.
    files: fn(&str) -> bool,
    /// Whether it is about tests too.
    in_tests: bool,
    instead: &'static str,
}

const BANS: [Ban; 12] = [
    Ban {
        rule: "unfinished-code",
        words: &["todo!", "unimplemented!"],
        part: Part::Code,
        files: |_| true,
        in_tests: true,
        instead: "finish it, or return an error that says what is not supported",
    },
    Ban {
        rule: "debug-print",
        words: &["dbg!"],
        part: Part::Code,
        files: |_| true,
        in_tests: true,
        instead: "take it out; what is worth seeing belongs in an error or an assert",
    },
    Ban {
        rule: "silent-skip",
        words: &["#[ignore"],
        part: Part::Code,
        files: |_| true,
        in_tests: true,
        instead: "call diskfacts_testkit::skip with what is missing, so that it is counted",
    },
    Ban {
        rule: "abort-on-panic",
        words: &["panic = \"abort\"", "panic=abort", "panic=\"abort\""],
        part: Part::Text,
        files: |path| has_extension(path, "toml") || path.starts_with(".cargo/"),
        in_tests: true,
        instead: "let panics unwind: guards put settings back",
    },
    Ban {
        rule: "machine-path",
        words: &["/work/", "/root/"],
        part: Part::Text,
        files: |path| !is_data(path) && !states_the_rules(path),
        in_tests: true,
        instead: "a path of one machine: take it as an argument, or write it relative to the project",
    },
    Ban {
        rule: "machine-path",
        words: &["/home/"],
        part: Part::Text,
        files: |path| !is_data(path) && !states_the_rules(path),
        // As the value of a variable: HOME=/home/ada.
        in_tests: false,
        instead: "a path of one machine: take it as an argument, or write it relative to the project",
    },
    Ban {
        rule: "unfinished-note",
        words: &["TODO", "FIXME", "XXX"],
        part: Part::Comments,
        files: |path| !states_the_rules(path),
        in_tests: true,
        instead: "do it now, or file it; the code says what it does today",
    },
    Ban {
        rule: "unfinished-note",
        words: &["TODO", "FIXME", "XXX"],
        part: Part::Text,
        files: |path| is_script(path) && !is_data(path),
        in_tests: true,
        instead: "do it now, or file it; the code says what it does today",
    },
    Ban {
        rule: "provisional",
        words: &["for now", "For now"],
        part: Part::Text,
        files: |path| {
            (has_extension(path, "rs") || has_extension(path, "md") || is_script(path))
                && !is_data(path)
                && !states_the_rules(path)
        },
        in_tests: true,
        instead: "make it right, or say what it does without an apology",
    },
    Ban {
        rule: "document-border",
        words: &["documents::"],
        part: Part::Code,
        files: |path| {
            ["rules", "limits"]
                .iter()
                .any(|part| path.starts_with(&format!("crates/facts/src/{part}")))
        },
        in_tests: true,
        instead: "rules and limiters know nothing of documents; move what both use out of there",
    },
    Ban {
        rule: "row-border",
        words: &["limits::"],
        part: Part::Code,
        files: |path| path.starts_with("crates/facts/src/rules"),
        in_tests: false,
        instead: ROW_BORDER,
    },
    Ban {
        rule: "row-border",
        words: &["rules::"],
        part: Part::Code,
        files: |path| {
            ["limits", "stage_facts"]
                .iter()
                .any(|part| path.starts_with(&format!("crates/facts/src/{part}")))
        },
        in_tests: false,
        instead: ROW_BORDER,
    },
];

const ROW_BORDER: &str =
    "rules and limiters know nothing of each other; what both ask stands below them";

/// Captured or made-up input of tests.
fn is_data(path: &str) -> bool {
    path.starts_with("fuzz/corpus/")
        || path
            .split('/')
            .any(|part| matches!(part, "data" | "fixtures" | "snapshots" | "trees"))
}

/// The words stand here, to be found elsewhere.
fn states_the_rules(path: &str) -> bool {
    path.starts_with("xtask/src/tidy/")
}

fn is_script(path: &str) -> bool {
    path.starts_with(".ci/")
        || path.starts_with(".cargo/")
        || ["toml", "sh", "js", "mjs", "cjs", "ts", "py", "yml"]
            .iter()
            .any(|extension| has_extension(path, extension))
}

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        for ban in BANS.iter().filter(|ban| (ban.files)(&file.path)) {
            let Some(text) = part(file, ban.part) else {
                continue;
            };
            for word in ban.words {
                let lines = lines_with(text, word);
                let lines = lines.filter(|line| ban.in_tests || !file.is_test(*line));
                violations.extend(lines.map(|line| Violation {
                    rule: ban.rule,
                    path: file.path.clone(),
                    line,
                    what: format!("{word}: {}", ban.instead),
                    weight: 1,
                }));
            }
        }
    }
    violations
}

fn part(file: &File, part: Part) -> Option<&str> {
    match (part, &file.source) {
        (Part::Text, _) => Some(&file.text),
        (Part::Code, Some(source)) => Some(&source.code),
        (Part::Comments, Some(source)) => Some(&source.comments),
        (Part::Code | Part::Comments, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn at(path: &str, line: usize) -> Vec<(String, usize)> {
        vec![(path.to_owned(), line)]
    }

    #[test]
    fn every_ban_fires_on_each_of_its_words_in_a_file_it_is_about() {
        let files = [
            "crates/a/src/lib.rs",
            "crates/facts/src/limits/a.rs",
            "crates/facts/src/rules/a.rs",
            "Cargo.toml",
            "tool.sh",
            "README.md",
        ];
        for ban in &BANS {
            for word in ban.words {
                let planted = match ban.part {
                    Part::Comments => format!("\n// {word} this"),
                    Part::Code | Part::Text => format!("\n{word}"),
                };
                assert!(
                    files
                        .iter()
                        .any(|path| found(find, &[(path, &planted)]) == at(path, 2)),
                    "{word}"
                );
            }
        }
    }

    #[test]
    fn code_is_not_searched_in_sentences_nor_notes_in_code() {
        let text = "// todo! and dbg! and #[ignore\nlet a = \"todo!() TODO\"; const XXX: u8 = 1;\n";
        assert_eq!(found(find, &[("crates/a/src/lib.rs", text)]), []);
    }

    #[test]
    fn captured_input_may_hold_anything() {
        let text = "22 1 254:0 / /home/data rw # TODO\n";
        for path in ["fuzz/corpus/mountinfo/a", "crates/host/tests/data/m.toml"] {
            assert_eq!(found(find, &[(path, text)]), []);
        }
        let path = "docs/a.md";
        assert_eq!(found(find, &[(path, text)]), at(path, 1));
    }

    #[test]
    fn a_test_may_make_up_a_home_and_nothing_else_may() {
        let text = "const A: &str = \"/home/ada\";\n\
                    #[cfg(test)]\nconst B: &str = \"/home/ada\";\n";
        let path = "crates/a/src/lib.rs";
        assert_eq!(found(find, &[(path, text)]), at(path, 1));
    }

    #[test]
    fn an_ignored_test_is_found_with_and_without_a_reason() {
        let text = "#[test]\n#[ignore]\nfn a() {}\n#[ignore = \"slow\"]\nfn b() {}\n";
        let path = "crates/a/tests/b.rs".to_owned();
        assert_eq!(
            found(find, &[(&path, text)]),
            [(path.clone(), 2), (path.clone(), 4)]
        );
    }
}
