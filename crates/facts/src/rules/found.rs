//! What a rule says: a claim about a run, or about stages of it.

use crate::claim::Claim;
use diskfacts_record::Severity;

/// A claim of a rule.
pub(crate) type Found = Claim<FindingPart>;

/// What a finding has beside its claim.
#[derive(Debug, Clone)]
pub(crate) struct FindingPart {
    pub(super) severity: Severity,
    pub(super) headline: String,
    pub(super) stages: Vec<String>,
}

impl Found {
    /// Under this headline.
    pub(crate) fn headline(mut self, words: impl Into<String>) -> Self {
        self.kind.headline = words.into();
        self
    }

    /// Which matters so much.
    pub(crate) fn severity(mut self, severity: Severity) -> Self {
        self.kind.severity = severity;
        self
    }

    /// About these stages.
    pub(crate) fn stages(mut self, names: Vec<String>) -> Self {
        self.kind.stages = names;
        self
    }
}
