//! Code that nobody uses stays only if the compiler is told to be quiet.

use crate::tidy::source::line_at;
use crate::tidy::{File, Violation};

const LINTS: [&str; 4] = ["dead_code", "unused", "unused_variables", "unused_imports"];

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(source) = &file.source else { continue };
        for attribute in ["allow(", "expect("] {
            for (at, _) in source.code.match_indices(attribute) {
                let inside = &source.code[at + attribute.len()..];
                let inside = inside.split(')').next().unwrap_or_default();
                let Some(lint) = inside
                    .split(',')
                    .map(str::trim)
                    .find(|lint| LINTS.contains(lint))
                else {
                    continue;
                };
                violations.push(Violation {
                    rule: "silenced-dead-code",
                    path: file.path.clone(),
                    line: line_at(&source.code, at),
                    what: format!("{attribute}{lint}): take the code out, or use it"),
                    weight: 1,
                });
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn silenced_dead_code_is_found_among_other_lints() {
        let path = "crates/a/src/lib.rs";
        for attribute in [
            "#[allow(dead_code)]",
            "#![allow(clippy::all, dead_code)]",
            "#[cfg_attr(test, expect(unused, reason = \"x\"))]",
        ] {
            let text = format!("\n{attribute}\nfn a() {{}}\n");
            assert_eq!(found(find, &[(path, &text)]), [(path.to_owned(), 2)]);
        }
        let fine = "#[allow(clippy::cast_lossless)]\nfn a() { x.expect(\"dead_code\"); }\n";
        assert_eq!(found(find, &[(path, fine)]), []);
    }
}
