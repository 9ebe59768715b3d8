//! What a rule says: a claim about a run, or about stages of it.

use super::Rule;
use crate::claim::Claim;
use diskfacts_record::{Finding, Severity};

/// A claim of a rule.
pub(crate) type Found = Claim<Telling>;

/// What a finding has beside its claim.
#[derive(Debug, Clone)]
pub(crate) struct Telling {
    severity: Severity,
    headline: String,
    stages: Vec<String>,
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

    /// As it stands in the record.
    pub(super) fn into_finding(self, row: &Rule) -> Finding {
        Finding {
            rule: row.name.into(),
            severity: self.kind.severity,
            headline: self.kind.headline,
            claim: self.said,
            evidence: self.evidence,
            confidence: self.confidence,
            refuted_by: self
                .refuted_by
                .unwrap_or(row.refuted_by.into())
                .into_owned(),
            remedy: self.remedy.unwrap_or(row.remedy.into()).into_owned(),
            stages: self.kind.stages,
        }
    }
}

impl Rule {
    /// A claim of this rule, as grave and as sure as its row says.
    pub(crate) fn claim(&self, said: impl Into<String>) -> Found {
        let telling = Telling {
            severity: self.severity,
            headline: String::new(),
            stages: Vec::new(),
        };
        Claim::of(telling, self.confidence, said)
    }
}
