//! What a rule is, and the finding that it makes.

use crate::context::Context;
use crate::device_physics::no_drives;
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

/// How a rule looks at a run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    One(fn(&Context<'_>) -> Option<Finding>),
    Several(fn(&Context<'_>) -> Vec<Finding>),
    /// With the other runs of its document beside it.
    Beside(fn(&Part<'_, '_>) -> Vec<Shared>),
}

/// A finding, and the other runs that it rests on, by their places.
pub(crate) type Shared = (Finding, Vec<usize>);

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
    /// What it finds in a run; empty when there is nothing to say, or when what it needs is
    /// not there.
    pub(crate) fn find(&self, part: &Part<'_, '_>) -> Vec<Shared> {
        let context = part.run();
        let is_there = |need: &Needs| match need {
            Needs::Evidence => !context.is_imported(),
            Needs::Document => context.is_imported(),
            Needs::Drives => no_drives(context.run).is_none(),
        };
        let alone = |finding| (finding, Vec::new());
        match self.check {
            _ if !self.needs.iter().all(is_there) => Vec::new(),
            Check::One(check) => check(context).into_iter().map(alone).collect(),
            Check::Several(check) => check(context).into_iter().map(alone).collect(),
            Check::Beside(check) => check(part),
        }
    }

    /// A finding of this rule, which has yet to say what is so and what to do.
    pub(crate) fn finding(&self, stages: Vec<String>, evidence: Vec<String>) -> Finding {
        Finding {
            rule: self.name.into(),
            severity: self.severity,
            headline: String::new(),
            claim: String::new(),
            evidence,
            confidence: self.confidence,
            refuted_by: self.refuted_by.into(),
            remedy: String::new(),
            stages,
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
