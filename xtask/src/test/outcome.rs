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
}
