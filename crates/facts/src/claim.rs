//! A claim: what is so, what it rests on, how sure it is, what would refute it, and what to do
//! about it. Findings and limits are made from it; what a row says of all its claims is taken from
//! there, unless a claim says something else.

use crate::simulated::{edit_profile, planted};
use crate::words::of_document;
use diskfacts_record::{Confidence, Run};

/// One claim, with what only its kind has.
#[derive(Debug, Clone)]
pub(crate) struct Claim<Kind> {
    /// What is so, in a sentence.
    pub(crate) said: String,
    /// The figures it rests on and the arithmetic over them, each a sentence.
    pub(crate) evidence: Vec<String>,
    /// How sure it is.
    pub(crate) confidence: Confidence,
    /// Which of the [words](crate::explanations) of its row; empty: those of any case.
    pub(crate) case: &'static str,
    /// What would refute it, in place of those.
    pub(crate) refuted_by: Option<String>,
    /// What to do about it, in place of those.
    pub(crate) remedy: Option<String>,
    pub(crate) kind: Kind,
}

impl<Kind> Claim<Kind> {
    /// With the words of its row.
    pub(crate) fn of(kind: Kind, confidence: Confidence, said: impl Into<String>) -> Self {
        Self {
            said: said.into(),
            evidence: Vec::new(),
            confidence,
            case: "",
            refuted_by: None,
            remedy: None,
            kind,
        }
    }

    /// Which says this.
    pub(crate) fn said(mut self, said: impl Into<String>) -> Self {
        self.said = said.into();
        self
    }

    /// Resting on these figures, behind those that it has.
    pub(crate) fn evidence(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(lines);
        self
    }

    /// As sure as this.
    pub(crate) fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    /// In this case, with what its row says of that.
    pub(crate) fn case(mut self, name: &'static str) -> Self {
        self.case = name;
        self
    }

    /// In this case where it is so.
    pub(crate) fn case_if(self, so: bool, name: &'static str) -> Self {
        if so { self.case(name) } else { self }
    }

    /// Refuted by something else than its row says.
    pub(crate) fn refuted_by(mut self, said: impl Into<String>) -> Self {
        self.refuted_by = Some(said.into());
        self
    }

    /// With another remedy than its row has.
    pub(crate) fn remedy(mut self, said: impl Into<String>) -> Self {
        self.remedy = Some(said.into());
        self
    }

    /// With this remedy in the place of the one it has, where there is one.
    pub(crate) fn remedy_if(self, said: Option<impl Into<String>>) -> Self {
        match said {
            Some(said) => self.remedy(said),
            None => self,
        }
    }

    /// Of a simulated disk the remedy is this change of its profile.
    pub(crate) fn profile(self, run: &Run, change: &str) -> Self {
        self.remedy_if(edit_profile(run, change))
    }

    /// Of a simulated disk the cause stands in these tables of its profile.
    pub(crate) fn planted(self, run: &Run, tables: &str) -> Self {
        self.remedy_if(planted(run, tables).map(|sentence| format!("{sentence}.")))
    }

    /// Of a document the remedy is that the program which wrote it does this: `measure longer`.
    pub(crate) fn of_document(self, run: &Run, what: &str) -> Self {
        self.remedy_if(of_document(run, what))
    }
}
