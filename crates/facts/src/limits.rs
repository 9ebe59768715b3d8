//! What limited each stage: the candidates of a table, each with the arithmetic
//! that shows it, the best explanation first.
//!
//! A limiter looks at one stage, with the run beside it, and says how much of the
//! time of its operations it accounts for. A finding says that a figure does not
//! mean what it seems to mean; a limit says why it is not larger, of sound figures
//! too.

use crate::rules::Context;
use crate::stages::Stage;
use diskfacts_record::{Limit, Run, StageFigures, StageLimits};
use std::cmp::Ordering;

/// One candidate.
#[derive(Debug, Clone, Copy)]
pub struct Limiter {
    /// Its name, as in [`Limit::limiter`]: `rotation`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What it says of a stage; `None` when it does not hold, or when the evidence
    /// for it is missing.
    pub check: fn(&Context<'_>, &Stage<'_>, &StageFigures) -> Option<Limit>,
}

/// All limiters; among equals those that come first here are named first.
pub fn all() -> &'static [Limiter] {
    LIMITERS
}

const LIMITERS: &[Limiter] = &[];

/// What limited each stage that did something, in the order of the figures.
pub fn limits(run: &Run) -> Vec<StageLimits> {
    let context = Context::new(run);
    context
        .each()
        .filter(|(stage, _)| !stage.is_null())
        .map(|(stage, figures)| {
            let candidates = LIMITERS.iter();
            let mut limits: Vec<Limit> = candidates
                .filter_map(|limiter| (limiter.check)(&context, stage, figures))
                .collect();
            // The sort is stable and keeps the order of the table.
            limits.sort_by(best_first);
            StageLimits {
                stage: stage.name.to_owned(),
                settings: stage.settings.clone(),
                limits,
            }
        })
        .collect()
}

/// By confidence, then by the share that is accounted for.
fn best_first(a: &Limit, b: &Limit) -> Ordering {
    let share = |limit: &Limit| limit.share.unwrap_or(0.0);
    b.confidence
        .cmp(&a.confidence)
        .then_with(|| share(b).total_cmp(&share(a)))
}
