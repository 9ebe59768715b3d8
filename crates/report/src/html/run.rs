//! The page of a run, in the order of the first page in a terminal; then the drawings, every
//! claim whole, and how it was measured.

use super::chart::stack;
use super::claims;
use super::drawings;
use super::links::{Links, anchor};
use super::rows;
use super::settings;
use crate::text::imports::{heading_of_readings, told_readings};
use crate::text::marks::Marks;
use crate::text::summary::{foot, head};
use crate::text::words::{shell, workload};
use crate::text::{Style, heading, unseen};
use diskfacts_plan::Stage;
use diskfacts_record::{Run, StageFigures};
use maud::{Markup, html};

/// A run, and where things of it are found.
pub(super) struct Scope<'a> {
    pub(super) run: &'a Run,
    pub(super) marks: Marks<'a>,
    pub(super) links: &'a Links,
    /// Its place among the runs of a file, from 0.
    pub(super) place: usize,
}

impl<'a> Scope<'a> {
    pub(super) fn new(run: &'a Run, place: usize, links: &'a Links) -> Self {
        Self {
            run,
            marks: Marks::of(run),
            links,
            place,
        }
    }

    /// A mark that leads to its claim.
    pub(super) fn link(&self, mark: &str) -> Markup {
        let to = self.links.claim(self.place, &self.run.run.id, mark);
        html! { a href=(to) { (mark) } }
    }

    /// The marks of a stage, each leading to its claim: `c !2 3`.
    pub(super) fn marks_of(&self, figures: &StageFigures) -> Markup {
        let marks = self.marks.about(figures);
        html! {
            @if let Some(letter) = &marks.limit { (self.link(letter)) " " }
            @if marks.doubtful { span class="doubt" title="do not quote" { "!" } }
            @for (place, number) in marks.findings.iter().enumerate() {
                @if place > 0 { " " }
                (self.link(&number.to_string()))
            }
        }
    }

    /// The command that shows it.
    pub(super) fn show(&self) -> String {
        format!("diskfacts show {}", self.run.run.id)
    }
}

/// The class of a style; its words say the same.
pub(super) fn class(style: Style) -> Option<&'static str> {
    match style {
        Style::Good => Some("good"),
        Style::Doubtful => Some("doubt"),
        Style::Bad => Some("bad"),
        Style::Minor => Some("soft"),
        Style::Plain | Style::Heading => None,
    }
}

/// A run, as an article of a page.
pub(super) fn article(scope: &Scope<'_>) -> Markup {
    let run = scope.run;
    let drawings = drawings::of_run(run, scope.place);
    html! {
        article id=(anchor(scope.place, "run")) {
            (top(scope))
            @let rows = rows::table(scope);
            // A matrix has its figures in its drawing.
            @if !rows.0.is_empty() {
                section {
                    h2 { "Figures" }
                    (rows)
                }
            }
            (readings(run))
            (claims::limits(scope))
            (claims::doubts(scope))
            (settings::answers(run))
            @if !drawings.is_empty() {
                section {
                    h2 { "Drawings" }
                    div class="figures" { @for figure in &drawings { (figure) } }
                }
            }
            (claims::whole(scope))
            @if !run.verdicts.is_empty() {
                section {
                    h2 { "Verdicts by use" }
                    (claims::verdicts(&run.verdicts))
                }
            }
            (how(scope))
        }
    }
}

/// What was measured, what it is good for, and how much of the figures can be trusted.
fn top(scope: &Scope<'_>) -> Markup {
    let run = scope.run;
    html! {
        header {
            @for text in heading::troubles(run) { p class="bad" { (text) } }
            h1 { (head::measured(run)) }
            @for leaf in heading::leaves(run) { p { (leaf) } }
            dl class="lines" { (claims::uses(scope)) }
            p class="soft" { (foot::about(run, "")) }
        }
    }
}

/// The rows of a document that are no trial.
fn readings(run: &Run) -> Markup {
    html! {
        @if let Some(source) = run.run.source.as_ref().filter(|source| !source.readings.is_empty()) {
            section {
                h2 { (heading_of_readings(source)) }
                dl class="lines" {
                    @for (line, text) in told_readings(source) {
                        dt { "line " (line) }
                        dd { (text) }
                    }
                }
            }
        }
    }
}

/// Machine, stack, settings, plan, notes, versions.
fn how(scope: &Scope<'_>) -> Markup {
    let run = scope.run;
    let stack = stack::figure(anchor(scope.place, "stack"), &run.stack);
    let unseen = unseen::by_reason(unseen::of_run(run));
    html! {
        section {
            h2 { "How it was measured" }
            dl class="lines" {
                @if !run.run.command.is_empty() {
                    dt { "Command" }
                    dd { pre { code { (shell(&run.run.command)) } } }
                }
                @for (label, texts) in heading::rows(run) {
                    dt { (label) }
                    dd { @for text in texts { p { (text) } } }
                }
            }
            @if let Some(stack) = stack { (stack) }
            (plan(run))
            @if !unseen.is_empty() {
                h3 { "Not observed" }
                ul { @for text in unseen { li { (text) } } }
            }
        }
    }
}

/// Each stage of the plan with what it does.
fn plan(run: &Run) -> Markup {
    // The cells of a matrix do the same but for what is varied, which stands at their figures.
    let mut stages: Vec<&Stage> = Vec::new();
    for stage in &run.plan.stages {
        if !stages.iter().any(|known| known.name == stage.name) {
            stages.push(stage);
        }
    }
    html! {
        @if !stages.is_empty() && run.run.source.is_none() {
            details {
                summary { "What each stage does" }
                dl {
                    @for stage in stages {
                        dt { (stage.name) }
                        dd {
                            p { (workload(&stage.workload)) }
                            @if !stage.about.is_empty() { p class="soft" { (stage.about) } }
                        }
                    }
                }
            }
        }
    }
}
