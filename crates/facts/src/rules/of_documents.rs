//! The rules over all runs of a document.

use super::{
    Context, flash_like_disks, one_unit, read_ahead_limit, text_against_rows, volume_choice,
};
use diskfacts_record::Finding;

/// One rule over all runs of a document: what one of its formats says beside
/// what another one does.
#[derive(Debug, Clone, Copy)]
pub struct DocumentRule {
    /// Its name, as in [`Finding::rule`].
    pub name: &'static str,
    /// What it finds, in a few words.
    pub about: &'static str,
    /// What it finds in the runs of a document; empty when there is nothing to
    /// say.
    pub check: fn(&[Context<'_>]) -> Vec<Shared>,
}

/// A finding over several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// What is so.
    pub finding: Finding,
    /// The runs that it rests on, by their places; each once.
    pub runs: Vec<usize>,
}

pub(super) const DOCUMENT_RULES: &[DocumentRule] = &[
    DocumentRule {
        name: one_unit::NAME,
        about: "two programs agree once their figures have one unit",
        check: one_unit::check,
    },
    DocumentRule {
        name: text_against_rows::NAME,
        about: "numbers of the text are not what the document's figures give",
        check: text_against_rows::check,
    },
    DocumentRule {
        name: read_ahead_limit::NAME,
        about: "read-ahead has grown to its limit, and that is small",
        check: read_ahead_limit::check,
    },
    DocumentRule {
        name: flash_like_disks::NAME,
        about: "flash is no faster than disks, so something else limits it",
        check: flash_like_disks::check,
    },
    DocumentRule {
        name: volume_choice::NAME,
        about: "no volume is the best at everything",
        check: volume_choice::check,
    },
];
