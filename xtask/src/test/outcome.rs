//! What a step found.

/// A test that did not run, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// The test, or what stands for several.
    pub(crate) test: String,
    /// What is missing, and how to have it.
    pub(crate) reason: String,
}

/// What a step found. Every test counts once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Number of tests that ran and passed.
    pub(crate) passed: u64,
    /// The tests that failed; also what could not be built or crashed.
    pub(crate) failed: Vec<String>,
    /// The tests that did not run.
    pub(crate) skipped: Vec<Skipped>,
}

impl Outcome {
    /// A step that could not be carried out.
    pub(crate) fn failed(why: &str) -> Self {
        Self {
            failed: vec![why.to_owned()],
            ..Self::default()
        }
    }
    /// A step that cannot run here. It counts as one skipped test: how many it
    /// has is not known before it runs.
    pub(crate) fn skipped(tests: &str, reason: String) -> Self {
        Self {
            skipped: vec![Skipped {
                test: tests.to_owned(),
                reason,
            }],
            ..Self::default()
        }
    }

    /// What two runners found that are one step.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
        self
    }

    /// The same, each test with the system behind its name that it was run for.
    pub(crate) fn on(mut self, system: &str) -> Self {
        let skipped = self.skipped.iter_mut().map(|skip| &mut skip.test);
        for test in self.failed.iter_mut().chain(skipped) {
            *test = format!("{test} ({system})");
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_cannot_run_is_counted_and_has_not_failed() {
        let outcome = Outcome::skipped("all of them", "why".to_owned());
        assert_eq!((outcome.passed, outcome.skipped.len()), (0, 1));
        assert_eq!(outcome.failed, Vec::<String>::new());
    }

    #[test]
    fn the_same_test_on_another_system_has_another_name() {
        let mut outcome = Outcome::skipped("a", "why".to_owned());
        outcome.failed.push("b".to_owned());
        let outcome = outcome.on("Windows");
        assert_eq!(outcome.failed, ["b (Windows)"]);
        assert_eq!(outcome.skipped[0].test, "a (Windows)");
    }
}
