//! What a rule is, and how it looks at a run.

use super::found::{FindingPart, Found};
use super::shown::StageCheck;
use crate::claim::Claim;
use crate::context::Context;
use crate::device_physics::no_drives;
use crate::stage_facts::Need;
use diskfacts_record::{Confidence, Finding, Severity};

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name, as in [`Finding::rule`]: `served-from-cache`.
    pub name: &'static str,
    /// What it finds, in a few words.
    pub about: &'static str,
    /// What must be there for it to speak.
    pub(crate) needs: &'static [Needs],
    /// How much it matters, where a finding says nothing else.
    pub(crate) severity: Severity,
    /// How sure it is, where a finding says nothing else.
    pub(crate) confidence: Confidence,
    /// What would show it to be wrong, where a finding says nothing else.
    pub(crate) refuted_by: &'static str,
    /// What to do about it, where a finding says nothing else.
    pub(crate) remedy: &'static str,
    pub(crate) check: Check,
}

/// What a rule rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// What was observed while it was measured: of an imported run only figures are known.
    Evidence,
    /// What another program or a person wrote, of which a run was read.
    Document,
    /// What a drive is made of: platters, their revolutions and zones, a cache of its own.
    /// [`device_physics`](crate::device_physics) says of which devices.
    Drives,
}

/// Stages that read or wrote blocks of the target. What is done to the files of a folder is names
/// and attributes: its bytes are not those of the target, and a filesystem writes them when it
/// likes.
pub(crate) const IO: &[Need] = &[Need::Something, Need::Blocks];

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
        about: "",
        needs: &[Needs::Evidence],
        severity: Severity::Warning,
        confidence: Confidence::Certain,
        refuted_by: "",
        remedy: "",
        check: Check::One(|_| None),
    };

    /// A note about what was measured.
    pub(crate) const NOTE: Self = Self {
        severity: Severity::Note,
        confidence: Confidence::Likely,
        ..Self::WARNING
    };

    /// What it finds in a run; empty when there is nothing to say, or when what it needs is
    /// not there.
    pub(crate) fn find(&self, part: &Part<'_, '_>) -> Vec<(Finding, Vec<usize>)> {
        let context = part.run();
        let is_there = |need: &Needs| match need {
            Needs::Evidence => !context.is_imported(),
            Needs::Document => context.is_imported(),
            Needs::Drives => no_drives(context.run).is_none(),
        };
        if !self.needs.iter().all(is_there) {
            return Vec::new();
        }
        let alone = |found| (found, Vec::new());
        let found: Vec<Shared> = match self.check {
            Check::One(check) => check(context).into_iter().map(alone).collect(),
            Check::Several(check) => check(context).into_iter().map(alone).collect(),
            Check::Stages(checks) => {
                let found = checks.iter().filter_map(|check| check.find(context));
                found.map(alone).collect()
            }
            Check::Beside(check) => check(part),
        };
        let found = found.into_iter();
        found
            .map(|(found, others)| (self.finding(found), others))
            .collect()
    }

    /// A claim of this rule, as grave and as sure as its row says.
    pub(crate) fn claim(&self, said: impl Into<String>) -> Found {
        let part = FindingPart {
            severity: self.severity,
            headline: String::new(),
            stages: Vec::new(),
        };
        Claim::of(part, self.confidence, said)
    }

    /// A claim of it as it stands in the record.
    pub(crate) fn finding(&self, found: Found) -> Finding {
        let (refuted_by, remedy) = (self.refuted_by.into(), self.remedy.into());
        Finding {
            rule: self.name.into(),
            severity: found.kind.severity,
            headline: found.kind.headline,
            claim: found.said,
            evidence: found.evidence,
            confidence: found.confidence,
            refuted_by: found.refuted_by.unwrap_or(refuted_by).into_owned(),
            remedy: found.remedy.unwrap_or(remedy).into_owned(),
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
