//! What a rule is, and how it looks at a run.

use super::found::{FindingPart, Found};
use super::shown::StageCheck;
use crate::claim::Claim;
use crate::context::Context;
use crate::explanations::{ABOUT, REFUTED_BY, REMEDY, Words};
use crate::stage_facts::Need;
use diskfacts_record::{Confidence, Finding, Severity};

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name, as in [`Finding::rule`]: `served-from-cache`.
    pub name: &'static str,
    /// What has to be so for it to speak: of the run and, where it looks at stages, of each of them.
    pub(crate) needs: &'static [Need],
    /// How much it matters, where a finding says nothing else.
    pub(crate) severity: Severity,
    /// How sure it is, where a finding says nothing else.
    pub(crate) confidence: Confidence,
    /// Which of the [words](crate::explanations) of its name are its; those of a claim's case go
    /// before.
    pub(crate) case: &'static str,
    pub(crate) check: Check,
}

/// How a rule looks at a run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    One(fn(&Context<'_>) -> Option<Found>),
    Several(fn(&Context<'_>) -> Vec<Found>),
    /// At one stage after the other.
    Stages(&'static [StageCheck]),
    /// With the other runs of its document beside it.
    Beside(fn(&Part<'_, '_>) -> Vec<Shared>),
}

/// A finding, and the other runs that it rests on, by their places.
pub(crate) type Shared = (Found, Vec<usize>);

/// A run of a document, with all of them beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'d, 'a> {
    pub(crate) place: usize,
    pub(crate) all: &'d [Context<'a>],
}

impl<'d, 'a> Part<'d, 'a> {
    pub(crate) fn run(&self) -> &'d Context<'a> {
        &self.all[self.place]
    }

    /// The other runs, with their places.
    pub(crate) fn others(&self) -> impl Iterator<Item = (usize, &'d Context<'a>)> + use<'d, 'a> {
        let own = self.place;
        let all = self.all.iter().enumerate();
        all.filter(move |(place, _)| *place != own)
    }
}

impl Rule {
    /// A warning about what was measured.
    pub(crate) const WARNING: Self = Self {
        name: "",
        needs: &[Need::NoDocument],
        severity: Severity::Warning,
        confidence: Confidence::Certain,
        case: "",
        check: Check::One(|_| None),
    };

    /// A note about what was measured.
    pub(crate) const NOTE: Self = Self {
        severity: Severity::Note,
        confidence: Confidence::Likely,
        ..Self::WARNING
    };

    /// What it finds, in a few words.
    pub fn about(&self) -> &'static str {
        Words::of(self.name).say(ABOUT, self.case)
    }

    /// What it finds in a run; empty when there is nothing to say, or when what it needs is
    /// not there.
    pub(crate) fn find(&self, part: &Part<'_, '_>) -> Vec<(Finding, Vec<usize>)> {
        let context = part.run();
        let is_missing = |need: &Need| need.of_run(context) == Some(false);
        if self.needs.iter().any(is_missing) {
            return Vec::new();
        }
        let found: Vec<Found> = match self.check {
            Check::One(check) => check(context).into_iter().collect(),
            Check::Several(check) => check(context),
            Check::Stages(checks) => {
                let found = checks.iter();
                let found = found.filter_map(|check| check.find(context, self.needs));
                found.collect()
            }
            Check::Beside(check) => {
                let shared = check(part).into_iter();
                let shared = shared.map(|(found, others)| (self.finding(found), others));
                return shared.collect();
            }
        };
        let found = found.into_iter();
        found
            .map(|found| (self.finding(found), Vec::new()))
            .collect()
    }

    /// A claim of this rule, as grave and as sure as its row says.
    pub(crate) fn claim(&self, said: impl Into<String>) -> Found {
        let part = FindingPart {
            severity: self.severity,
            headline: String::new(),
            stages: Vec::new(),
        };
        Claim::of(part, self.confidence, said).case(self.case)
    }

    /// A claim of it as it stands in the record.
    pub(crate) fn finding(&self, found: Found) -> Finding {
        let said = |label| Words::of(self.name).say(label, found.case).to_owned();
        Finding {
            rule: self.name.into(),
            severity: found.kind.severity,
            headline: found.kind.headline,
            claim: found.said,
            evidence: found.evidence,
            confidence: found.confidence,
            refuted_by: found.refuted_by.unwrap_or_else(|| said(REFUTED_BY)),
            remedy: found.remedy.unwrap_or_else(|| said(REMEDY)),
            stages: found.kind.stages,
        }
    }
}

/// A warning where this is so, else a note.
pub(crate) fn warning_if(grave: bool) -> Severity {
    if grave {
        Severity::Warning
    } else {
        Severity::Note
    }
}
