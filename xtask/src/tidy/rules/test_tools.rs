//! The tools that tests ask for are those that the continuous integration
//! installs: a test that is skipped there is skipped everywhere.

use crate::project::has_extension;
use crate::tidy::source::line_at;
use crate::tidy::{File, Violation};

const LIST: &str = ".ci/packages";

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    let listed: Vec<&str> = files
        .iter()
        .find(|file| file.path == LIST)
        .map_or("", |file| &*file.text)
        .lines()
        .filter_map(|line| line.split('#').next()?.split_whitespace().next())
        .collect();
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| !file.path.starts_with("xtask/")) {
        for (line, package) in asked_for(file) {
            if !listed.contains(&package) {
                violations.push(Violation {
                    rule: "unlisted-test-tool",
                    path: file.path.clone(),
                    line,
                    what: format!(
                        "{package}: add it to {LIST}, which is installed before the tests"
                    ),
                    weight: 1,
                });
            }
        }
    }
    violations
}

/// The packages that the tests of a file ask for, with their lines.
fn asked_for(file: &File) -> Vec<(usize, &str)> {
    if let Some(source) = &file.source {
        let calls = source.code.match_indices("require_tool(");
        let lines = calls.map(|(at, call)| (line_at(&source.code, at), call));
        return lines
            .filter_map(|(line, call)| Some((line, second_string(&file.text, line, call)?)))
            .collect();
    }
    // The npm package's tests: `tool('strace', 'strace', [...])`.
    if !(file.path.starts_with("node/") && has_extension(&file.path, "js")) {
        return Vec::new();
    }
    let calls = file.text.match_indices("tool(");
    calls
        .filter_map(|(at, call)| {
            let second = file.text[at + call.len()..].split([',', ')']).nth(1)?;
            let package = second.trim().strip_prefix('\'')?.strip_suffix('\'')?;
            Some((line_at(&file.text, at), package))
        })
        .collect()
}

/// The second string in the arguments of the call on this line, if they are
/// strings: `require_tool("fio", "fio")`.
fn second_string<'a>(text: &'a str, line: usize, call: &str) -> Option<&'a str> {
    let start: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let (_, arguments) = text[start..].split_once(call)?;
    let arguments = &arguments[..arguments.find(')')?];
    arguments.split('"').nth(3)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_tool_that_is_not_installed_for_the_tests_is_found() {
        let list = (LIST, "fio # the peer\n");
        let path = "crates/a/tests/b.rs";
        for call in [
            "require_tool(\"jq\", \"jq\")",
            "require_tool(\n    \"jq\",\n    \"jq\",\n)",
        ] {
            let text = format!("\n{call};\n");
            assert_eq!(found(find, &[list, (path, &text)]), [(path.to_owned(), 2)]);
        }
    }

    #[test]
    fn a_listed_tool_and_the_function_itself_are_fine() {
        let list = (LIST, "fio # the peer\n");
        let text = "or_skip!(require_tool(\"fio\", \"fio\"));\n\
                    fn require_tool(program: &str, package: &str) {}\n";
        assert_eq!(found(find, &[list, ("crates/a/tests/b.rs", text)]), []);
    }

    #[test]
    fn the_tests_of_the_npm_package_are_held_against_the_list_too() {
        let list = (LIST, "strace\n");
        let text = "tool('strace', 'strace', []);\ntool(LINKER, 'gcc-mingw', ['-x']);\n\
                    function tool(program, debianPackage, args) {}\n";
        let path = "node/test/a.test.js";
        assert_eq!(found(find, &[list, (path, text)]), [(path.to_owned(), 2)]);
        assert_eq!(found(find, &[list, ("docs/a.js", text)]), []);
    }
}
