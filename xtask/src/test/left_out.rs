//! How many tests a step has that was not run: as they stand in its sources, so that nothing is
//! built to count them. What a test is one of depends on who runs it: a function for cargo, a call
//! for Node.

use crate::project::Project;
use std::fs;

/// Where tests of a step stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources {
    /// How the paths of their files begin, from the project's folder.
    pub(super) paths: &'static [&'static str],
    /// What the line of each is known by.
    pub(super) line: Line,
}

/// What the line of a test is known by.
#[derive(Debug, Clone, Copy)]
pub(super) enum Line {
    /// It begins so.
    Begins(&'static str),
    /// It has this in it.
    Has(&'static str),
}

/// A function that cargo runs.
pub(super) const FUNCTION: Line = Line::Begins("#[test]");
/// A call in a test of Node.
pub(super) const CALL: Line = Line::Begins("test(");

/// The tests in these sources.
///
/// # Errors
/// When the files cannot be listed, or one not be read.
pub(super) fn count(project: &Project, all: &[Sources]) -> Result<u64, String> {
    let files = project.files()?;
    let mut found = 0;
    for sources in all {
        let is_one = |file: &&String| sources.paths.iter().any(|path| file.starts_with(path));
        for file in files.iter().filter(is_one) {
            let text = fs::read_to_string(project.root.join(file))
                .map_err(|error| format!("reading {file}: {error}"))?;
            found += in_text(&text, sources.line);
        }
    }
    Ok(found)
}

/// `29 tests`, `1 test`.
pub(super) fn said(number: u64) -> String {
    match number {
        1 => "1 test".to_owned(),
        many => format!("{many} tests"),
    }
}

fn in_text(text: &str, line: Line) -> u64 {
    let is_one = |one: &&str| match line {
        Line::Begins(begin) => one.trim_start().starts_with(begin),
        Line::Has(part) => one.contains(part),
    };
    text.lines().filter(is_one).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_a_line_is_counted_and_what_is_spoken_of_is_not() {
        let text = "// #[test] is above\n#[test]\nfn a() {}\n    #[test]\nlet x = \"#[test]\";\n";
        assert_eq!(in_text(text, FUNCTION), 2);
        assert_eq!(
            in_text("test('a', () => {\n  test(\n});\nmytest(\n", CALL),
            2
        );
        assert_eq!(
            [said(0), said(1), said(29)],
            ["0 tests", "1 test", "29 tests"]
        );
    }

    #[test]
    fn each_step_that_is_left_out_has_tests_in_its_sources() {
        let project = Project::find().expect("the project");
        for step in super::super::STEPS.iter().filter(|step| !step.default) {
            let number = count(&project, step.sources).expect(step.name);
            assert!(number > 0, "{}", step.name);
        }
    }

    /// What the step `cargo` passes over is some other step's, and counted there.
    #[test]
    fn what_the_first_step_skips_is_counted_in_another() {
        let project = Project::find().expect("the project");
        let files = project.files().expect("the files");
        for name in super::super::cargo::passed_over() {
            let module = name.split("::").next().unwrap_or(name);
            let stands = |file: &&String| {
                let in_step = |step: &super::super::Step| {
                    let mut paths = step.sources.iter().flat_map(|sources| sources.paths);
                    paths.any(|path| file.starts_with(path))
                };
                let named = fs::read_to_string(project.root.join(file)).unwrap_or_default();
                let is_it = file.contains(module) || named.contains(&format!("fn {name}"));
                is_it && super::super::STEPS.iter().any(in_step)
            };
            assert!(
                files.iter().any(|file| stands(&file)),
                "{name} is in no step"
            );
        }
    }
}
