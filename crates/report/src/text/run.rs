//! What `measure` prints at its end, and `show` later.

use super::look::{Look, Style};
use super::page::Page;
use super::wrap::columns;
use super::{
    block_layer, copy, effects, findings, heading, imports, limits, requests, stages, streams,
    unseen, verdicts,
};
use diskfacts_record::Run;

/// What only the caller knows: where the run is kept, and what to type next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Closing {
    /// A sentence on where the run is stored, or why it is not; empty to leave
    /// it out.
    pub stored: String,
    /// Commands, each with what it does: `("diskfacts show last", "this again")`.
    pub next: Vec<(String, String)>,
    /// The command that shows the run again, `diskfacts show last`; empty where none does.
    pub show: String,
}

/// The facts of a run: what was measured on what, the figures of each stage,
/// what limited them, the findings, the verdicts, what could not be observed, and what is next.
/// Whatever kept the run from being whole stands at the top.
pub fn run(run: &Run, closing: &Closing, look: &Look) -> String {
    let mut page = Page::new(look);
    heading::write(&mut page, run);
    stages::write(&mut page, run);
    effects::write(&mut page, run);
    streams::write(&mut page, run);
    copy::write(&mut page, run);
    requests::write(&mut page, run);
    block_layer::write(&mut page, run);
    if let Some(source) = &run.run.source {
        imports::readings(&mut page, source);
    }
    limits::write(&mut page, &closing.show, &run.limits);
    if !run.figures.is_empty() || !run.findings.is_empty() {
        findings::write(&mut page, run);
    }
    verdicts::write(&mut page, &run.verdicts);
    unseen::write(&mut page, unseen::of_run(run));
    close(&mut page, closing);
    page.finish()
}

pub(crate) fn close(page: &mut Page<'_>, closing: &Closing) {
    if !closing.stored.is_empty() {
        page.blank();
        page.paragraph(0, Style::Plain, &closing.stored);
    }
    if closing.next.is_empty() {
        return;
    }
    page.heading("What to type next");
    // As a shell has comments, so that a line can be copied whole.
    let longest = closing.next.iter().map(|(command, _)| columns(command));
    let column = longest.max().unwrap_or(0) + 2;
    let beside = column <= page.look.columns() / 2;
    for (command, purpose) in &closing.next {
        let comment = format!("# {purpose}");
        if beside {
            page.labelled(2, (Style::Plain, command), column, Style::Minor, &comment);
        } else {
            page.paragraph(2, Style::Minor, &comment);
            page.verbatim((Style::Plain, ""), 2, command);
        }
    }
}
