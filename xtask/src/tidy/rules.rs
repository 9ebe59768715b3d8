//! All rules.

mod addresses;
mod bans;
mod file_length;
mod library_prints;
mod module_names;
mod pure_crates;
mod silenced;
mod test_tools;
mod text;
mod unsafe_code;
mod waiting_tests;

use super::{File, Violation};

/// One rule: all its violations in all files.
type Rule = fn(&[File]) -> Vec<Violation>;

const RULES: [Rule; 10] = [
    addresses::find,
    bans::find,
    file_length::find,
    library_prints::find,
    module_names::find,
    pure_crates::find,
    silenced::find,
    test_tools::find,
    unsafe_code::find,
    waiting_tests::find,
];

/// What breaks any rule.
pub(super) fn violations(files: &[File]) -> Vec<Violation> {
    RULES.iter().flat_map(|rule| rule(files)).collect()
}

/// What a rule finds in files made up of path and text.
#[cfg(test)]
fn found(rule: Rule, files: &[(&str, &str)]) -> Vec<(String, usize)> {
    let files: Vec<File> = files
        .iter()
        .map(|(path, text)| File::new(path, (*text).to_owned()))
        .collect();
    rule(&files)
        .into_iter()
        .map(|violation| (violation.path, violation.line))
        .collect()
}
