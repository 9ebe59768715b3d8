//! The plans that come with diskfacts.
//!
//! Each is a TOML text under `plans/`, read by the same code as a user's plan
//! file: `diskfacts plans NAME` prints exactly what is run, ready to edit.

use crate::file;
use crate::plan::Plan;

/// Name and text of each built-in plan, in the order in which they are listed.
const TEXTS: [(&str, &str); 2] = [
    ("survey", include_str!("../plans/survey.toml")),
    ("overhead", include_str!("../plans/overhead.toml")),
];

/// The names of the built-in plans.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

/// The TOML text of the built-in plan of this name.
pub fn text(name: &str) -> Option<&'static str> {
    TEXTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The built-in plan of this name.
///
/// # Panics
/// Never: every built-in text is parsed by a test.
pub fn plan(name: &str) -> Option<Plan> {
    text(name).map(|text| file::parse(text).expect("built-in plans parse, a test says"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_plan_parses_has_no_problem_and_bears_its_name() {
        for name in names() {
            let parsed = file::parse(text(name).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(parsed.name, name);
            assert_eq!(parsed.problems(), [], "{name}");
            assert!(!parsed.about.is_empty());
        }
    }

    #[test]
    fn an_unknown_name_is_no_plan() {
        assert!(plan("no-such-plan").is_none());
    }
}
