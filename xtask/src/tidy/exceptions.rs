//! What was there before a rule: it may stay, and may not grow.

use super::Violation;
use std::collections::BTreeMap;

/// Where the list is.
pub(super) const PATH: &str = "xtask/tidy-exceptions.txt";

/// How much of each rule each file may break.
#[derive(Debug)]
pub(super) struct Exceptions {
    allowed: BTreeMap<(String, String), usize>,
}

impl Exceptions {
    /// Lines of rule, path and number, separated by blanks; `#` begins a
    /// comment, where the reason stands.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut allowed = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let fields: Vec<&str> = line.split_whitespace().collect();
            match fields.as_slice() {
                [] => {}
                [rule, path, number] => {
                    let number = number
                        .parse()
                        .map_err(|_| format!("{PATH}:{}: '{number}' is no number", index + 1))?;
                    allowed.insert(((*rule).to_owned(), (*path).to_owned()), number);
                }
                _ => {
                    return Err(format!("{PATH}:{}: write rule, path and number", index + 1));
                }
            }
        }
        Ok(Self { allowed })
    }

    /// What is wrong: more than allowed, or less, for then the list must follow.
    pub(super) fn judge(&self, violations: &[Violation]) -> Vec<String> {
        let mut found: BTreeMap<(String, String), Vec<&Violation>> = BTreeMap::new();
        for violation in violations {
            found
                .entry((violation.rule.to_owned(), violation.path.clone()))
                .or_default()
                .push(violation);
        }
        let mut problems = Vec::new();
        for (key, violations) in &found {
            let sum: usize = violations.iter().map(|violation| violation.weight).sum();
            let allowed = self.allowed.get(key).copied().unwrap_or(0);
            if sum > allowed {
                problems.extend(violations.iter().map(|violation| show(violation)));
            }
            if sum > allowed && allowed > 0 {
                problems.push(format!(
                    "{} {}: {sum}, and only {allowed} allowed by {PATH}",
                    key.0, key.1
                ));
            }
            if sum < allowed {
                problems.push(format!(
                    "{} {}: write {sum} instead of {allowed} in {PATH}, which may only shrink",
                    key.0, key.1
                ));
            }
        }
        for (rule, path) in self.allowed.keys() {
            if !found.contains_key(&(rule.clone(), path.clone())) {
                problems.push(format!(
                    "{rule} {path}: mended, so take the line out of {PATH}"
                ));
            }
        }
        problems
    }
}

fn show(violation: &Violation) -> String {
    let place = match violation.line {
        0 => violation.path.clone(),
        line => format!("{}:{line}", violation.path),
    };
    format!("{place}: {} ({})", violation.what, violation.rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(path: &str, line: usize) -> Violation {
        Violation {
            rule: "no-notes",
            path: path.to_owned(),
            line,
            what: "do it".to_owned(),
            weight: 1,
        }
    }

    fn exceptions(text: &str) -> Exceptions {
        Exceptions::parse(text).expect("a list")
    }

    #[test]
    fn what_no_exception_allows_is_shown_with_its_place() {
        assert_eq!(
            exceptions("").judge(&[violation("a.rs", 3)]),
            ["a.rs:3: do it (no-notes)"]
        );
    }

    #[test]
    fn as_much_as_allowed_is_fine_and_more_is_not() {
        let list = exceptions("# why\nno-notes a.rs 2 # older than the rule\n");
        let (one, two, three) = (
            violation("a.rs", 1),
            violation("a.rs", 2),
            violation("a.rs", 3),
        );
        assert_eq!(
            list.judge(&[one.clone(), two.clone()]),
            Vec::<String>::new()
        );
        let problems = list.judge(&[one, two, three]);
        assert_eq!(problems.len(), 4, "{problems:?}");
    }

    #[test]
    fn the_list_may_only_shrink() {
        let list = exceptions("no-notes a.rs 2\n");
        let problems = list.judge(&[violation("a.rs", 1)]);
        assert!(problems[0].contains("write 1 instead of 2"), "{problems:?}");
        let problems = list.judge(&[]);
        assert!(problems[0].contains("take the line out"), "{problems:?}");
    }

    #[test]
    fn a_line_that_is_none_is_refused() {
        assert!(Exceptions::parse("no-notes a.rs\n").is_err());
        assert!(Exceptions::parse("no-notes a.rs many\n").is_err());
    }
}
