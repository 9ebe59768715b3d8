//! A module called `utils` says nothing, and so collects everything.

use super::text::lines_with;
use crate::tidy::{File, Violation};

const NAMES: [&str; 8] = [
    "common", "helper", "helpers", "misc", "stuff", "tools", "util", "utils",
];

const INSTEAD: &str = "name the module after what it holds";

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(source) = &file.source else { continue };
        let violation = |line, name| Violation {
            rule: "module-name",
            path: file.path.clone(),
            line,
            what: format!("{name}: {INSTEAD}"),
            weight: 1,
        };
        let in_path = file
            .path
            .trim_end_matches(".rs")
            .split('/')
            .find(|part| NAMES.contains(part));
        if let Some(name) = in_path {
            violations.push(violation(0, name));
        }
        for name in NAMES {
            let declared = format!("mod {name}");
            let lines = lines_with(&source.code, &declared).collect::<Vec<_>>();
            violations.extend(lines.into_iter().map(|line| violation(line, name)));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_module_without_a_subject_is_found_by_file_folder_or_declaration() {
        for path in [
            "crates/a/src/utils.rs",
            "crates/a/tests/common/mod.rs",
            "crates/a/src/misc/size.rs",
        ] {
            assert_eq!(found(find, &[(path, "")]), [(path.to_owned(), 0)]);
        }
        let path = "crates/a/src/lib.rs";
        assert_eq!(
            found(find, &[(path, "mod units;\nmod helpers {}\n")]),
            [(path.to_owned(), 2)]
        );
    }

    #[test]
    fn a_module_with_a_subject_is_fine() {
        let text = "mod units;\nmod util_linux;\nuse other::utils;\n";
        assert_eq!(found(find, &[("crates/a/src/utilisation.rs", text)]), []);
    }
}
