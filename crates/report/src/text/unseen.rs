//! What could not be observed, and why.

use super::look::Style;
use super::page::Page;
use super::words::{add_once, list};
use diskfacts_record::{Run, Unseen};

/// Of the stack, of all trials and of the end of the run, each once.
pub(crate) fn of_run(run: &Run) -> Vec<&Unseen> {
    let mut all: Vec<&Unseen> = Vec::new();
    let trials = run.trials.iter().flat_map(|trial| &trial.evidence.unseen);
    let after = run.health_after.iter().flat_map(|after| &after.unseen);
    for unseen in run.stack.unseen.iter().chain(trials).chain(after) {
        add_once(&mut all, unseen);
    }
    all
}

/// One paragraph for each reason, with all that it hid.
pub(crate) fn write(page: &mut Page<'_>, unseen: Vec<&Unseen>) {
    if unseen.is_empty() {
        return;
    }
    page.heading("Not observed");
    for text in by_reason(unseen) {
        page.paragraph(2, Style::Plain, &text);
    }
}

/// All that a reason hid, and the reason: a paragraph for each.
pub(crate) fn by_reason(unseen: Vec<&Unseen>) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for Unseen { what, why } in unseen {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, whats)) => whats.push(what),
            None => reasons.push((why, vec![what])),
        }
    }
    let paragraph = |(why, whats): (&str, Vec<&str>)| format!("{}: {why}", list(&whats));
    reasons.into_iter().map(paragraph).collect()
}
