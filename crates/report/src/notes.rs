//! What was done otherwise than asked, for every view.

use diskfacts_record::{Run, StageFigures};

/// What was done otherwise than asked: by the session, and by the engines; a
/// sentence each, and each once.
pub(crate) fn notes(run: &Run) -> Vec<String> {
    let mut notes = run.run.notes.clone();
    let fallbacks = run.trials.iter().flat_map(|t| &t.evidence.engine.fallbacks);
    for fallback in fallbacks {
        if !notes.contains(fallback) {
            notes.push(fallback.clone());
        }
    }
    notes
}

/// Why direct I/O was refused in a trial of these figures; `None` where it was
/// done, or not asked for.
pub(crate) fn direct_refused<'r>(run: &'r Run, figures: &StageFigures) -> Option<&'r str> {
    let trials = run
        .trials
        .iter()
        .filter(|t| t.stage == figures.stage && t.settings == figures.settings);
    trials.into_iter().find_map(|trial| trial.direct_refused())
}
